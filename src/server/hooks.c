/*
 * hooks.c
 *		Notices the DDL that matters to launcher and workers.
 *
 * Statements that need a database without other sessions (DROP, RENAME,
 * SET TABLESPACE, CREATE ... TEMPLATE) would fail because of an idle worker, as
 * the server waits five seconds for it and gives up.  So its workers are asked
 * to leave first, none is started until the transaction ends (a worker that
 * started earlier would find the database locked, or gone), and the launcher
 * looks again after it.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_database.h"
#include "commands/dbcommands.h"
#include "commands/defrem.h"
#include "commands/extension.h"
#include "compat.h"
#include "hooks.h"
#include "miscadmin.h"
#include "nodes/parsenodes.h"
#include "pgstat.h"
#include "shmem.h"
#include "storage/latch.h"
#include "tcop/utility.h"
#include "utils/acl.h"
#include "utils/memutils.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"
#include "wakeup.h"

/* as long as the server itself waits for other sessions to leave */
#define LEAVE_TIMEOUT_MS 5000

static ProcessUtility_hook_type next_hook = NULL;

/* databases that this transaction holds free of workers */
static List *held = NIL;

/* ---------------------------------------------------- keeping workers away */

/* ask this database's workers to leave; how many are still there */
static int
ask_to_leave(Oid database)
{
	int			count = 0;
	int			i;

	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	for (i = 0; i < MAX_WORKERS; i++)
	{
		WorkerSlot *slot = &shared->workers[i];

		if (slot->state == SLOT_FREE || slot->database != database)
			continue;
		count++;
		slot->leave = true;
		if (slot->latch != NULL)
			SetLatch(slot->latch);
	}
	LWLockRelease(shared->lock);
	return count;
}

static void
hold(Oid database, int change)
{
	DatabaseSlot *slot;

	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	slot = shmem_database(database);
	if (slot != NULL)
	{
		slot->holds = Max(slot->holds + change, 0);
		if (change < 0)
			slot->probe = true; /* whoever left may have left work */
	}
	if (change < 0)
	{
		shared->rescan = true;
		shmem_poke_launcher();
	}
	LWLockRelease(shared->lock);
}

/* whatever became of the transaction; FATAL comes along here too */
static void
release_holds(XactEvent event, void *arg)
{
	ListCell   *cell;

	if (event != XACT_EVENT_COMMIT && event != XACT_EVENT_ABORT && event != XACT_EVENT_PREPARE)
		return;
	foreach(cell, held)
		hold(lfirst_oid(cell), -1);
	list_free(held);
	held = NIL;
}

static void
hold_until_transaction_ends(Oid database)
{
	static bool registered = false;
	MemoryContext outside = MemoryContextSwitchTo(TopMemoryContext);

	if (!registered)
		RegisterXactCallback(release_holds, NULL);
	registered = true;
	held = lappend_oid(held, database);
	MemoryContextSwitchTo(outside);
	hold(database, 1);
}

static void
wait_until_left(Oid database)
{
	TimestampTz deadline = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), LEAVE_TIMEOUT_MS);

	while (ask_to_leave(database) > 0 && GetCurrentTimestamp() < deadline)
	{
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						 10, PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
}

/* the database that a statement needs for itself; InvalidOid for none */
static Oid
database_needed(Node *statement)
{
	const char *name = NULL;
	ListCell   *cell;

	switch (nodeTag(statement))
	{
		case T_DropdbStmt:
			name = ((DropdbStmt *) statement)->dbname;
			break;
		case T_RenameStmt:
			if (((RenameStmt *) statement)->renameType == OBJECT_DATABASE)
				name = ((RenameStmt *) statement)->subname;
			break;
		case T_AlterDatabaseStmt:
			foreach(cell, ((AlterDatabaseStmt *) statement)->options)
				if (strcmp(((DefElem *) lfirst(cell))->defname, "tablespace") == 0)
					name = ((AlterDatabaseStmt *) statement)->dbname;
			break;
		case T_CreatedbStmt:
			name = "template1";
			foreach(cell, ((CreatedbStmt *) statement)->options)
			{
				DefElem    *option = lfirst(cell);

				if (strcmp(option->defname, "template") == 0 && option->arg != NULL)
					name = defGetString(option);
			}
			break;
		default:
			break;
	}
	return name ? get_database_oid(name, true) : InvalidOid;
}

static bool
is_template(Oid database)
{
	HeapTuple	tuple = SearchSysCache1(DATABASEOID, ObjectIdGetDatum(database));
	bool		result = HeapTupleIsValid(tuple) &&
		((Form_pg_database) GETSTRUCT(tuple))->datistemplate;

	if (HeapTupleIsValid(tuple))
		ReleaseSysCache(tuple);
	return result;
}

static bool
may_create_databases(void)
{
	HeapTuple	tuple;
	bool		result;

	if (superuser())
		return true;
	tuple = SearchSysCache1(AUTHOID, ObjectIdGetDatum(GetUserId()));
	if (!HeapTupleIsValid(tuple))
		return false;
	result = ((Form_pg_authid) GETSTRUCT(tuple))->rolcreatedb;
	ReleaseSysCache(tuple);
	return result;
}

/*
 * Whether the server would refuse the statement before it looks for other
 * sessions.  Workers don't leave for what fails anyhow: anybody could have them
 * interrupt their work.
 */
static bool
is_hopeless(Node *statement, Oid database)
{
	bool		owns = compat_owns_database(database, GetUserId());

	if (IsTransactionBlock() && !IsA(statement, RenameStmt))
		return true;
	if (IsA(statement, CreatedbStmt))
		return !may_create_databases() || !(owns || is_template(database));
	return !owns;
}

/* ------------------------------------------------------------ what came of it */

static bool
is_ours(const char *extension)
{
	return extension != NULL && strcmp(extension, "sandbox_exec") == 0;
}

static bool
drops_ours(DropStmt *statement)
{
	ListCell   *cell;

	if (statement->removeType == OBJECT_EXTENSION)
		foreach(cell, statement->objects)
			if (is_ours(strVal(lfirst(cell))))
				return true;
	return false;
}

/* what they run has lost its row: they find out when they renew, so do it now */
static void
alarm_workers(void)
{
	int			i;

	if (shared == NULL)
		return;
	LWLockAcquire(shared->lock, LW_SHARED);
	for (i = 0; i < MAX_WORKERS; i++)
		if (shared->workers[i].database == MyDatabaseId)
			wakeup_attention(shared->workers[i].worker_no);
	LWLockRelease(shared->lock);
}

/* statements after which workers and launcher should look, once committed */
static void
note_effects(Node *statement)
{
	switch (nodeTag(statement))
	{
		case T_CreateExtensionStmt:
			if (is_ours(((CreateExtensionStmt *) statement)->extname))
				wakeup_probe();
			break;
		case T_AlterExtensionStmt:
			if (is_ours(((AlterExtensionStmt *) statement)->extname))
				wakeup_probe();
			break;
		case T_DropStmt:
			if (drops_ours((DropStmt *) statement))
				alarm_workers();
			break;
		case T_CreatedbStmt:
		case T_DropdbStmt:
		case T_AlterDatabaseStmt:	/* it may accept connections now */
			wakeup_rescan();
			break;
		case T_TransactionStmt:
			if (((TransactionStmt *) statement)->kind == TRANS_STMT_COMMIT_PREPARED &&
				OidIsValid(get_extension_oid("sandbox_exec", true)))
				wakeup_everybody();
			break;
		default:
			break;
	}
}

static void
run_next(PlannedStmt *statement, const char *query, bool read_only_tree,
		 ProcessUtilityContext context, ParamListInfo params,
		 QueryEnvironment *environment, DestReceiver *destination, QueryCompletion *completion)
{
	if (next_hook)
		next_hook(statement, query, read_only_tree, context, params,
				  environment, destination, completion);
	else
		standard_ProcessUtility(statement, query, read_only_tree, context, params,
								environment, destination, completion);
}

static void
utility_hook(PlannedStmt *statement, const char *query, bool read_only_tree,
			 ProcessUtilityContext context, ParamListInfo params,
			 QueryEnvironment *environment, DestReceiver *destination, QueryCompletion *completion)
{
	Node	   *node = statement->utilityStmt;
	Oid			needed = database_needed(node);

	if (OidIsValid(needed) && !is_hopeless(node, needed))
	{
		hold_until_transaction_ends(needed);
		wait_until_left(needed);
	}
	run_next(statement, query, read_only_tree, context, params,
			 environment, destination, completion);
	note_effects(node);
}

void
hooks_install(void)
{
	next_hook = ProcessUtility_hook;
	ProcessUtility_hook = utility_hook;
}
