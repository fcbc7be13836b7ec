/*
 * worker.c
 *		A worker process: claims batches, runs them, sleeps, leaves.
 *
 * It is a client of the queue's SQL functions that happens to live in the
 * server.  It connects as the bootstrap superuser, and so sets for itself every
 * session default that a database or a role could bend.
 */
#include "postgres.h"

#include "access/xact.h"
#include "execution.h"
#include "guc.h"
#include "miscadmin.h"
#include "outcome.h"
#include "pgstat.h"
#include "postmaster/interrupt.h"
#include "repair.h"
#include "sandbox.h"
#include "search_path.h"
#include "slot.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "store.h"
#include "tcop/tcopprot.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"
#include "worker.h"

/* a batch is as large as this lets it be, by the time executions took lately */
#define BATCH_TARGET_US 20000
#define BATCH_MAX 100
#define BATCH_GROWTH 4

#define PAUSE_MS 1000

typedef struct Worker
{
	int			batch_size;
	int			failures;		/* to start the runner, in a row */
	bool		found;			/* the last claim found something, or could not look */
	TimestampTz idle_since;		/* 0 while there is work */
	MemoryContext batch_memory;
} Worker;

void
worker_describe(BackgroundWorker *worker, int index, int worker_no)
{
	memset(worker, 0, sizeof(BackgroundWorker));
	worker->bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
	worker->bgw_start_time = BgWorkerStart_RecoveryFinished;
	worker->bgw_restart_time = BGW_NEVER_RESTART;
	worker->bgw_main_arg = Int32GetDatum(index);
	worker->bgw_notify_pid = MyProcPid;
	memcpy(worker->bgw_extra, &worker_no, sizeof(worker_no));
	strlcpy(worker->bgw_library_name, "sandbox_exec", BGW_MAXLEN);
	strlcpy(worker->bgw_function_name, "sandbox_exec_worker_main", BGW_MAXLEN);
	strlcpy(worker->bgw_type, "sandbox_exec worker", BGW_MAXLEN);
	snprintf(worker->bgw_name, BGW_MAXLEN, "sandbox_exec worker %d", worker_no);
}

static void
set_session_defaults(void)
{
	static const char *const settings[][2] = {
		{"role", "none"},		/* ALTER DATABASE ... SET role */
		{"default_transaction_isolation", "read committed"},
		{"default_transaction_read_only", "off"},
		{"default_transaction_deferrable", "off"},
		{"statement_timeout", "0"},
		{"lock_timeout", "1s"}, /* a table lock must not keep it from leaving */
		{"transaction_timeout", "0"},	/* since 17 */
		{"idle_in_transaction_session_timeout", "0"},
		{"idle_session_timeout", "0"},
		{"search_path", "pg_catalog, pg_temp"},
		{"session_replication_role", "origin"},
		{"standard_conforming_strings", "on"},
		{"transform_null_equals", "off"},
		{"row_security", "on"},
		{"datestyle", "ISO, MDY"},
		{"intervalstyle", "postgres"},
		{"timezone", "UTC"},
		{"bytea_output", "hex"},
		{"extra_float_digits", "1"},
		{"jit", "off"},
	};
	int			i;

	for (i = 0; i < lengthof(settings); i++)
		if (GetConfigOption(settings[i][0], true, false) != NULL)
			SetConfigOption(settings[i][0], settings[i][1], PGC_SUSET, PGC_S_OVERRIDE);
}

/* sleep at most that long; returns when the latch is set */
static void
nap(long ms)
{
	(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
					 ms, PG_WAIT_EXTENSION);
}

/* ------------------------------------------------------------------ working */

/*
 * Follow the time that executions take; long ones are claimed one by one, and
 * so are those that call tools which may take long.
 */
static void
adapt_batch_size(Worker *worker, BatchResult result, int count, int64 elapsed_us)
{
	int64		fits = BATCH_TARGET_US / Max(elapsed_us / Max(count, 1), 1);

	if (result == BATCH_SHED)
		fits = 1;

	fits = Min(fits, (int64) worker->batch_size * BATCH_GROWTH);
	worker->batch_size = (int) Max(Min(fits, BATCH_MAX), 1);
}

/* the first failure may be an accident, such as a kill; more are a condition */
static void
after_batch(Worker *worker, BatchResult result)
{
	if (result != BATCH_NO_RUNNER)
	{
		worker->failures = 0;
		return;
	}
	worker->batch_size = 1;
	if (++worker->failures > 1)
		nap(Min(PAUSE_MS * (worker->failures - 1), 10 * PAUSE_MS));
}

static void
run_batch(Worker *worker, ClaimBatch *batch)
{
	int64		began = outcome_clock();
	BatchResult result;

	if (batch->full && worker->batch_size > 1)
		slot_ask_for_help();
	slot_holds(true);
	result = execution_run_batch(batch);
	after_batch(worker, result);
	if (outcome_count() == 0)
		slot_holds(false);
	if (worker->failures == 0)
		adapt_batch_size(worker, result, batch->count, outcome_clock() - began);
}

/* ------------------------------------------------------------------- idling */

static bool
idle_for_too_long(Worker *worker, TimestampTz now)
{
	if (worker->idle_since == 0)
		worker->idle_since = now;
	return outcome_count() == 0 &&
		TimestampDifferenceExceeds(worker->idle_since, now, guc_worker_idle_timeout);
}

static long
time_to_sleep(Worker *worker, TimestampTz now)
{
	long		ms = guc_poll_interval;
	long		retry = outcome_retry_in();
	TimestampTz due = slot_next_due();

	if (due != DT_NOEND)
		ms = Min(ms, TimestampDifferenceMilliseconds(now, due));
	if (retry >= 0)
		ms = Min(ms, retry);
	return Max(Min(ms, guc_worker_idle_timeout), 1);
}

/* false when it is time to leave */
static bool
idle(Worker *worker)
{
	TimestampTz now = GetCurrentTimestamp();

	outcome_flush();
	if (outcome_count() == 0)
		slot_holds(false);
	if (idle_for_too_long(worker, now))
		return false;
	if (TimestampDifferenceExceeds(worker->idle_since, now, PAUSE_MS))
		sandbox_keep_at_most(1);
	if (outcome_enough() || slot_idle())
		nap(time_to_sleep(worker, now));
	return true;
}

/* --------------------------------------------------------------------- turns */

/* claim and run a batch; *found says whether there was one */
static XactResult
claim_and_run(Worker *worker, bool *found)
{
	ClaimBatch	batch;
	XactResult	result;

	*found = false;
	if (outcome_enough())
		return XACT_DONE;		/* first get rid of these */
	slot_claiming();
	result = store_claim(worker->batch_size, slot_worker_no(), &batch);
	*found = result == XACT_DONE && batch.count > 0;
	worker->found = *found || result == XACT_HELD || result == XACT_FAILED;
	if (*found)
	{
		worker->idle_since = 0;
		run_batch(worker, &batch);
	}
	return result;
}

/* one turn; false when there is no reason to stay */
static bool
turn(Worker *worker)
{
	bool		found;
	bool		repaired = false;
	XactResult	result = claim_and_run(worker, &found);

	if (result == XACT_HELD || result == XACT_FAILED)
	{
		outcome_flush();
		nap(PAUSE_MS);
		return true;
	}

	/* first what it has itself, or its own repair would take it for lost */
	if (result == XACT_DONE && !slot_should_leave() && repair_due_in() <= 1)
		outcome_retry_all();

	/* a repair that failed is tried again in its time, and stops nothing else */
	if (result == XACT_DONE && !slot_should_leave() &&
		repair_if_due(&repaired) == XACT_GONE)
		result = XACT_GONE;
	return result != XACT_GONE && (found || repaired || idle(worker));
}

static void
work(Worker *worker)
{
	bool		stay = true;

	while (stay)
	{
		/* first, so that nothing which sets it later is missed */
		ResetLatch(MyLatch);
		if (slot_should_leave())
			break;
		xact_check_interrupts();
		if (ConfigReloadPending)
		{
			ConfigReloadPending = false;
			ProcessConfigFile(PGC_SIGHUP);
			sandbox_start_afresh();
		}
		MemoryContextSwitchTo(worker->batch_memory);
		MemoryContextReset(worker->batch_memory);
		stay = turn(worker);
	}
}

void
sandbox_exec_worker_main(Datum arg)
{
	Worker		worker = {0};
	int			worker_no;
	Oid			database;

	memcpy(&worker_no, MyBgworkerEntry->bgw_extra, sizeof(worker_no));
	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	xact_handle_signals();
	BackgroundWorkerUnblockSignals();
	if (!slot_attach(DatumGetInt32(arg), worker_no, &database))
		proc_exit(0);
	search_path_note();
	BackgroundWorkerInitializeConnectionByOid(database, InvalidOid, 0);
	set_session_defaults();

	worker.batch_size = 1;
	worker.batch_memory = AllocSetContextCreate(TopMemoryContext, "sandbox_exec batch",
												ALLOCSET_DEFAULT_SIZES);
	work(&worker);
	outcome_flush();
	if (outcome_count() == 0)
		slot_holds(false);
	if (worker.found)
		slot_leaves_work();
	sandbox_keep_at_most(0);
	proc_exit(0);
}
