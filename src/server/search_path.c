/*
 * search_path.c
 *		The search_path that a new session would begin with.
 *
 * In order of weight: ALTER ROLE in this database, ALTER ROLE, ALTER DATABASE,
 * ALTER ROLE ALL, the server.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/indexing.h"
#include "catalog/pg_db_role_setting.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "search_path.h"
#include "storage/bufmgr.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/rel.h"

/* where it is known */
static char *server_default = NULL;

void
search_path_note(void)
{
	const char *path = GetConfigOption("search_path", true, false);

	if (path != NULL)
		server_default = MemoryContextStrdup(TopMemoryContext, path);
}

char *
search_path_in(ArrayType *settings)
{
	static const char name[] = "search_path=";
	Datum	   *items;
	int			count;
	int			i;

	deconstruct_array(settings, TEXTOID, -1, false, TYPALIGN_INT, &items, NULL, &count);
	for (i = 0; i < count; i++)
	{
		char	   *setting = TextDatumGetCString(items[i]);

		if (strncmp(setting, name, strlen(name)) == 0)
			return setting + strlen(name);
	}
	return NULL;
}

/* ALTER ROLE role IN DATABASE database SET search_path; InvalidOid is all */
static char *
search_path_of(Relation rel, Oid database, Oid role)
{
	ScanKeyData keys[2];
	SysScanDesc scan;
	HeapTuple	tuple;
	char	   *path = NULL;

	ScanKeyInit(&keys[0], Anum_pg_db_role_setting_setdatabase, BTEqualStrategyNumber,
				F_OIDEQ, ObjectIdGetDatum(database));
	ScanKeyInit(&keys[1], Anum_pg_db_role_setting_setrole, BTEqualStrategyNumber,
				F_OIDEQ, ObjectIdGetDatum(role));
	scan = systable_beginscan(rel, DbRoleSettingDatidRolidIndexId, true, NULL, 2, keys);
	tuple = systable_getnext(scan);
	if (HeapTupleIsValid(tuple))
	{
		bool		isnull;
		Datum		settings = heap_getattr(tuple, Anum_pg_db_role_setting_setconfig,
											RelationGetDescr(rel), &isnull);

		if (!isnull)
			path = search_path_in(DatumGetArrayTypeP(settings));
	}
	systable_endscan(scan);
	return path;
}

const char *
search_path_of_session(Oid role)
{
	Relation	rel = table_open(DbRoleSettingRelationId, AccessShareLock);
	bool		empty = RelationGetNumberOfBlocks(rel) == 0;	/* the usual */
	char	   *path = NULL;

	if (!empty)
		path = search_path_of(rel, MyDatabaseId, role);
	if (path == NULL && !empty)
		path = search_path_of(rel, InvalidOid, role);
	if (path == NULL && !empty)
		path = search_path_of(rel, MyDatabaseId, InvalidOid);
	if (path == NULL && !empty)
		path = search_path_of(rel, InvalidOid, InvalidOid);
	table_close(rel, AccessShareLock);
	if (path == NULL)
		path = server_default;
	return path ? path : "\"$user\", public";
}
