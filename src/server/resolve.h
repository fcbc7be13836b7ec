/*
 * resolve.h
 *		Which function a signature means, as SQL found it before.
 *
 * To look it up anew at each call costs as much as a query.  What is remembered
 * holds until anything in the catalog changes that could make it mean another.
 */
#ifndef SANDBOX_EXEC_RESOLVE_H
#define SANDBOX_EXEC_RESOLVE_H

/* InvalidOid: not known */
extern Oid	resolve_known(const char *signature);

/* counts the changes of the catalog that we have heard of */
extern uint64 resolve_generation(void);

/* what the catalog said, when the generation was that one or later */
extern void resolve_remember(const char *signature, Oid function, uint64 generation);

/* a function of ours; ERROR when there is none */
extern Oid	resolve_own(const char *signature);

#endif
