/*
 * caller.c
 *		Who calls, and as whom the implementation runs.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/indexing.h"
#include "catalog/pg_extension.h"
#include "caller.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"

/* the extension's oid and owner; InvalidOid when it is not there */
static Oid
find_extension(Oid *owner)
{
	Relation	rel = table_open(ExtensionRelationId, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;
	Oid			found = InvalidOid;

	ScanKeyInit(&key, Anum_pg_extension_extname, BTEqualStrategyNumber,
				F_NAMEEQ, CStringGetDatum("sandbox_exec"));
	scan = systable_beginscan(rel, ExtensionNameIndexId, true, NULL, 1, &key);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
	{
		found = ((Form_pg_extension) GETSTRUCT(tuple))->oid;
		*owner = ((Form_pg_extension) GETSTRUCT(tuple))->extowner;
	}
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return found;
}

/*
 * DROP EXTENSION locks the extension first and its tables after, so we do, too:
 * else the two would deadlock.  The oid is remembered, and looked up after it
 * was locked, so that the usual call needs one look.
 */
Oid
caller_extension_owner(void)
{
	static Oid	known = InvalidOid;
	Oid			owner = InvalidOid;
	Oid			found;

	for (;;)
	{
		if (OidIsValid(known))
			LockDatabaseObject(ExtensionRelationId, known, 0, AccessShareLock);
		found = find_extension(&owner);
		if (!OidIsValid(found))
			ereport(ERROR,
					(errcode(ERRCODE_UNDEFINED_OBJECT),
					 errmsg("extension \"sandbox_exec\" does not exist")));
		if (found == known)
			return owner;
		known = found;
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
