/*
 * databases.c
 *		The launcher's list of databases.
 *
 * Which of them have the extension only a worker can tell, from inside.
 */
#include "postgres.h"

#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "catalog/pg_database.h"
#include "databases.h"
#include "shmem.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

/* a DROP DATABASE that was interrupted leaves it with this limit, for good */
#define INVALID_DATABASE (-2)

/* oids of all databases that accept connections, in the current context */
static List *
read_databases(void)
{
	MemoryContext into = CurrentMemoryContext;
	List	   *oids = NIL;
	Relation	rel;
	TableScanDesc scan;
	HeapTuple	tuple;

	StartTransactionCommand();
	(void) GetTransactionSnapshot();
	rel = table_open(DatabaseRelationId, AccessShareLock);
	scan = table_beginscan_catalog(rel, 0, NULL);
	while ((tuple = heap_getnext(scan, ForwardScanDirection)) != NULL)
	{
		Form_pg_database database = (Form_pg_database) GETSTRUCT(tuple);
		MemoryContext outside;

		if (!database->datallowconn || database->datconnlimit == INVALID_DATABASE)
			continue;
		outside = MemoryContextSwitchTo(into);
		oids = lappend_oid(oids, database->oid);
		MemoryContextSwitchTo(outside);
	}
	table_endscan(scan);
	table_close(rel, AccessShareLock);
	CommitTransactionCommand();
	MemoryContextSwitchTo(into);
	return oids;
}

void
databases_rescan(bool probe_all)
{
	List	   *oids = read_databases();
	bool		overflow = false;
	ListCell   *cell;
	int			i;

	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	for (i = 0; i < MAX_DATABASES; i++)
		if (OidIsValid(shared->databases[i].database) &&
			!list_member_oid(oids, shared->databases[i].database))
			memset(&shared->databases[i], 0, sizeof(DatabaseSlot));
	foreach(cell, oids)
	{
		bool		known = false;
		DatabaseSlot *slot;

		for (i = 0; i < MAX_DATABASES; i++)
			known |= shared->databases[i].database == lfirst_oid(cell);
		slot = shmem_database(lfirst_oid(cell));
		if (slot == NULL)
			overflow = true;
		else if (probe_all || !known)
			slot->probe = true;
	}
	LWLockRelease(shared->lock);
	list_free(oids);
	if (shmem_set_reason(HEALTH_DATABASES, overflow ? "there are more databases than sandbox_exec can watch; some are not served" : NULL))
		ereport(LOG, (errmsg("sandbox_exec watches the first %d databases only", MAX_DATABASES)));
}
