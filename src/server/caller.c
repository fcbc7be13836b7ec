/*
 * caller.c
 *		Who calls, and as whom the implementation runs.
 */
#include "postgres.h"

#include "catalog/pg_extension.h"
#include "caller.h"
#include "extension.h"
#include "miscadmin.h"
#include "storage/lmgr.h"

/*
 * DROP EXTENSION locks the extension first and its tables after, so we do, too:
 * else the two would deadlock.  The oid is remembered, and looked up after it
 * was locked, so that the usual call needs one look.
 */
Oid
caller_extension_owner(void)
{
	static Oid	known = InvalidOid;
	Extension	found;

	for (;;)
	{
		if (OidIsValid(known))
			LockDatabaseObject(ExtensionRelationId, known, 0, AccessShareLock);
		found = extension_look();
		if (!OidIsValid(found.oid))
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_OBJECT),
					 errmsg("extension \"sandbox_exec\" does not exist")));
		if (found.oid == known)
			return found.owner;
		known = found.oid;
	}
}

Caller
caller_enter(void)
{
	Caller		caller;
	Oid			owner = caller_extension_owner();

	GetUserIdAndSecContext(&caller.user, &caller.security_context);
	SetUserIdAndSecContext(owner, caller.security_context | SECURITY_LOCAL_USERID_CHANGE);
	return caller;
}

void
caller_leave(const Caller *caller)
{
	SetUserIdAndSecContext(caller->user, caller->security_context);
}
