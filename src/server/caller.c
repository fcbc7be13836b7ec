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
#include "utils/fmgroids.h"
#include "utils/rel.h"

Oid
caller_extension_owner(void)
{
	Relation	rel = table_open(ExtensionRelationId, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;
	Oid			owner = InvalidOid;

	ScanKeyInit(&key, Anum_pg_extension_extname, BTEqualStrategyNumber,
				F_NAMEEQ, CStringGetDatum("sandbox_exec"));
	scan = systable_beginscan(rel, ExtensionNameIndexId, true, NULL, 1, &key);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
		owner = ((Form_pg_extension) GETSTRUCT(tuple))->extowner;
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	if (!OidIsValid(owner))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_OBJECT),
				 errmsg("extension \"sandbox_exec\" does not exist")));
	return owner;
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
