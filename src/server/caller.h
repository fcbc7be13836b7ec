/*
 * caller.h
 *		Who calls, and as whom the implementation runs.
 */
#ifndef SANDBOX_EXEC_CALLER_H
#define SANDBOX_EXEC_CALLER_H

/* what caller_leave() restores */
typedef struct Caller
{
	Oid			user;			/* the effective user: the caller */
	int			security_context;
} Caller;

/*
 * Note the effective user (GetUserId(): right under SET ROLE and in SECURITY
 * DEFINER wrappers, where session_user is not) and become the extension's owner
 * in a restricted context.  An ERROR restores by itself, as every
 * (sub)transaction abort does; leave on the ordinary path.  The extension stays
 * locked against DROP until the (sub)transaction ends.
 */
extern Caller caller_enter(void);
extern void caller_leave(const Caller *caller);

/* the owner of the extension, which stays locked in the same way */
extern Oid	caller_extension_owner(void);

#endif
