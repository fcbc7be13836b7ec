/*
 * status.c
 *		What shared memory knows, as rows: under the views workers and health.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "commands/dbcommands.h"
#include "drain.h"
#include "guc.h"
#include "miscadmin.h"
#include "shmem.h"
#include "srf.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

PG_FUNCTION_INFO_V1(processes_v1);
PG_FUNCTION_INFO_V1(health_v1);

static Datum
text_datum(const char *text)
{
	return CStringGetTextDatum(text);
}

/* --------------------------------------------------------------- processes */

static const char *
state_name(const WorkerSlot *slot)
{
	switch (slot->state)
	{
		case SLOT_STARTING:
			return "starting";
		case SLOT_IDLE:
			return "idle";
		default:
			return slot->running ? "running" : "busy";
	}
}

#define PROCESS_COLUMNS 8

static void
put_launcher(Tuplestorestate *store, TupleDesc desc, int pid)
{
	Datum		values[PROCESS_COLUMNS] = {0};
	bool		nulls[PROCESS_COLUMNS] = {false, false, true, true, false, true, true, true};

	values[0] = text_datum("launcher");
	values[1] = Int32GetDatum(pid);
	values[4] = text_datum("running");
	tuplestore_putvalues(store, desc, values, nulls);
}

static void
put_worker(Tuplestorestate *store, TupleDesc desc, WorkerSlot *slot)
{
	Datum		values[PROCESS_COLUMNS] = {0};
	bool		nulls[PROCESS_COLUMNS] = {false};
	char	   *database = get_database_name(slot->database);
	NameData	name;

	namestrcpy(&name, database ? database : "");
	values[0] = text_datum("worker");
	values[1] = Int32GetDatum(slot->pid);
	nulls[1] = slot->pid == 0;
	values[2] = Int32GetDatum(slot->worker_no);
	values[3] = NameGetDatum(&name);
	nulls[3] = database == NULL;
	values[4] = text_datum(state_name(slot));
	values[5] = UUIDPGetDatum(&slot->execution);
	nulls[5] = !slot->running;
	values[6] = TimestampTzGetDatum(slot->since);
	values[7] = Int64GetDatum((int64) slot->executions);
	tuplestore_putvalues(store, desc, values, nulls);
}

/* kind, pid, worker_no, database, state, execution_id, since, executions */
Datum
processes_v1(PG_FUNCTION_ARGS)
{
	Tuplestorestate *store = srf_begin(fcinfo);
	TupleDesc	desc = srf_row_type(fcinfo);
	WorkerSlot *copy;
	int			launcher_pid;
	int			i;

	if (shared == NULL)
		return (Datum) 0;
	copy = palloc(sizeof(shared->workers));
	LWLockAcquire(shared->lock, LW_SHARED);
	memcpy(copy, shared->workers, sizeof(shared->workers));
	launcher_pid = shared->launcher_pid;
	LWLockRelease(shared->lock);
	if (launcher_pid != 0)
		put_launcher(store, desc, launcher_pid);
	for (i = 0; i < MAX_WORKERS; i++)
		if (copy[i].state != SLOT_FREE)
			put_worker(store, desc, &copy[i]);
	return (Datum) 0;
}

/* ------------------------------------------------------------------ health */

static const char *const reason_names[HEALTH_REASONS] = {
	[HEALTH_WORKER_START] = "worker start",
	[HEALTH_RUNNER_START] = "runner start",
	[HEALTH_SECCOMP] = "seccomp",
	[HEALTH_DATABASES] = "databases",
};

static void
put_check(Tuplestorestate *store, TupleDesc desc, const char *name, bool ok, const char *detail)
{
	Datum		values[3];
	bool		nulls[3] = {false, false, detail == NULL || detail[0] == '\0'};

	values[0] = text_datum(name);
	values[1] = BoolGetDatum(ok);
	values[2] = nulls[2] ? (Datum) 0 : text_datum(detail);
	tuplestore_putvalues(store, desc, values, nulls);
}

/* check_name, ok, detail */
Datum
health_v1(PG_FUNCTION_ARGS)
{
	Tuplestorestate *store = srf_begin(fcinfo);
	TupleDesc	desc = srf_row_type(fcinfo);
	char		reasons[HEALTH_REASONS][REASON_SIZE];
	DatabaseSlot *database;
	bool		other_version;
	int			launcher_pid;
	int			i;

	put_check(store, desc, "preload", shared != NULL, shared ? NULL : "add sandbox_exec to shared_preload_libraries and restart the server");
	if (shared == NULL)
		return (Datum) 0;
	put_check(store, desc, "enabled", guc_enabled, guc_enabled ? NULL : "sandbox_exec.enabled is off: nothing is run");
	put_check(store, desc, "drain", !drain_is_on(), drain_is_on() ? "drain() stopped claims: run resume_queue() to let the queue go on" : NULL);
	LWLockAcquire(shared->lock, LW_SHARED);
	memcpy(reasons, shared->reasons, sizeof(reasons));
	launcher_pid = shared->launcher_pid;
	database = shmem_known_database(MyDatabaseId);
	other_version = database != NULL && database->other_version;
	LWLockRelease(shared->lock);
	put_check(store, desc, "launcher", launcher_pid != 0, launcher_pid != 0 ? NULL : "the launcher does not run (it starts at promotion on a standby)");
	for (i = 0; i < HEALTH_REASONS; i++)
		put_check(store, desc, reason_names[i], reasons[i][0] == '\0', reasons[i]);
	put_check(store, desc, "extension version", !other_version,
			  other_version ? "the installed version of the extension is not that of the library; "
							  "run ALTER EXTENSION sandbox_exec UPDATE, or restart the server with the new library" :
							  NULL);
	return (Datum) 0;
}
