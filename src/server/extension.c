/*
 * extension.c
 *		The extension as the catalog of this database has it.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/indexing.h"
#include "catalog/pg_extension.h"
#include "extension.h"
#include "fmgr.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"

static bool
is_known(Datum version)
{
	text	   *given = DatumGetTextPP(version);

	return VARSIZE_ANY_EXHDR(given) == strlen(SANDBOX_EXEC_VERSION) &&
		memcmp(VARDATA_ANY(given), SANDBOX_EXEC_VERSION, strlen(SANDBOX_EXEC_VERSION)) == 0;
}

static void
take(Extension *extension, HeapTuple tuple, TupleDesc desc)
{
	Form_pg_extension form = (Form_pg_extension) GETSTRUCT(tuple);
	bool		isnull;
	Datum		version = heap_getattr(tuple, Anum_pg_extension_extversion, desc, &isnull);

	extension->oid = form->oid;
	extension->owner = form->extowner;
	extension->known_version = !isnull && is_known(version);
}

Extension
extension_look(void)
{
	Extension	extension = {InvalidOid, InvalidOid, false};
	Relation	rel = table_open(ExtensionRelationId, AccessShareLock);
	ScanKeyData key;
	SysScanDesc scan;
	HeapTuple	tuple;

	ScanKeyInit(&key, Anum_pg_extension_extname, BTEqualStrategyNumber,
				F_NAMEEQ, CStringGetDatum("sandbox_exec"));
	scan = systable_beginscan(rel, ExtensionNameIndexId, true, NULL, 1, &key);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
		take(&extension, tuple, RelationGetDescr(rel));
	systable_endscan(scan);
	table_close(rel, AccessShareLock);
	return extension;
}
