/*
 * launcher.c
 *		The one process that decides which database gets a worker.
 *
 * It reads shared catalogs only.  A database wants a worker when a row became
 * ready, when the time that its last worker published has come, or when nobody
 * knows whether it has the extension.  It gets one while the budget lasts,
 * those with the fewest first; when the budget is used up and a database has
 * none, the one with the most gives up one that had its turn.
 */
#include "postgres.h"

#include "databases.h"
#include "guc.h"
#include "launcher.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "shmem.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "utils/guc.h"
#include "utils/timestamp.h"
#include "worker.h"

/* looks at the list of databases that nothing asked for */
#define RESCAN_INTERVAL_MS (10 * 60 * 1000)

/* how long a worker serves its database while another one has none */
#define TURN_MS 1000

/* the launcher's own knowledge of the workers that it registered */
static BackgroundWorkerHandle *handles[MAX_WORKERS];

/*
 * The server had no place for another process.  Until this time those that
 * there are make do: one makes room for a database that has none.
 */
static TimestampTz crowded_until = 0;

void
launcher_register(void)
{
	BackgroundWorker worker;

	memset(&worker, 0, sizeof(worker));
	worker.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION;
	worker.bgw_start_time = BgWorkerStart_RecoveryFinished;
	worker.bgw_restart_time = 1;
	strlcpy(worker.bgw_library_name, "sandbox_exec", BGW_MAXLEN);
	strlcpy(worker.bgw_function_name, "sandbox_exec_launcher_main", BGW_MAXLEN);
	strlcpy(worker.bgw_name, "sandbox_exec launcher", BGW_MAXLEN);
	strlcpy(worker.bgw_type, "sandbox_exec launcher", BGW_MAXLEN);
	RegisterBackgroundWorker(&worker);
}

/* ------------------------------------------------------ workers that are gone */

/*
 * A worker clears its own slot when it exits.  One that never got so far is
 * cleared here, and its database is left alone for a while.
 */
static void
collect_workers(void)
{
	int			i;

	for (i = 0; i < MAX_WORKERS; i++)
	{
		WorkerSlot *slot = &shared->workers[i];
		pid_t		pid;

		if (handles[i] == NULL ||
			GetBackgroundWorkerPid(handles[i], &pid) != BGWH_STOPPED)
			continue;
		pfree(handles[i]);
		handles[i] = NULL;
		crowded_until = 0;
		LWLockAcquire(shared->lock, LW_EXCLUSIVE);
		if (slot->state == SLOT_STARTING && slot->pid == 0)
		{
			shmem_postpone(slot->database);
			memset(slot, 0, sizeof(WorkerSlot));
		}
		LWLockRelease(shared->lock);
	}
}

/* those that a predecessor of this launcher registered cannot be followed */
static void
forget_unattached_workers(void)
{
	int			i;

	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	for (i = 0; i < MAX_WORKERS; i++)
		if (shared->workers[i].state == SLOT_STARTING)
			memset(&shared->workers[i], 0, sizeof(WorkerSlot));
	LWLockRelease(shared->lock);
}

/* ------------------------------------------------------------------ decisions */

/* how the workers stand; the lock is held */
typedef struct Census
{
	int			total;
	int			free_slot;		/* index, or -1 */
} Census;

static Census
take_census(void)
{
	Census		census = {0, -1};
	int			i;

	for (i = 0; i < MAX_WORKERS; i++)
	{
		if (shared->workers[i].state != SLOT_FREE)
			census.total++;
		else if (census.free_slot < 0 && handles[i] == NULL)
			census.free_slot = i;
	}
	return census;
}

static int
workers_of(Oid database)
{
	int			count = 0;
	int			i;

	for (i = 0; i < MAX_WORKERS; i++)
		if (shared->workers[i].state != SLOT_FREE && shared->workers[i].database == database)
			count++;
	return count;
}

static bool
wants_worker(const DatabaseSlot *slot, TimestampTz now)
{
	if (!OidIsValid(slot->database) || slot->holds > 0 || now < slot->retry_at)
		return false;
	if (slot->probe || slot->next_due <= now)
		return workers_of(slot->database) == 0 || slot->work;
	return slot->work;
}

/*
 * The one with the fewest workers among those that want one, of several the one
 * that got none for longest; NULL for none.
 */
static DatabaseSlot *
most_in_need(TimestampTz now, int *its_workers)
{
	DatabaseSlot *chosen = NULL;
	int			i;

	for (i = 0; i < MAX_DATABASES; i++)
	{
		DatabaseSlot *slot = &shared->databases[i];
		int			count;

		if (!wants_worker(slot, now))
			continue;
		count = workers_of(slot->database);
		if (chosen == NULL || count < *its_workers ||
			(count == *its_workers && slot->last_start < chosen->last_start))
		{
			chosen = slot;
			*its_workers = count;
		}
	}
	return chosen;
}

/*
 * Ask one worker to leave in favour of a database that wants one: an idle one,
 * else, of the database with the most, the one that has served longest.  For a
 * database that has one already, only an idle worker that has run nothing for a while.
 */
static void
make_room(TimestampTz now, bool for_another)
{
	WorkerSlot *victim = NULL;
	int			victims_peers = 0;
	bool		making = false;
	int			i;

	for (i = 0; i < MAX_WORKERS; i++)
	{
		WorkerSlot *slot = &shared->workers[i];
		int			peers;

		if (slot->state == SLOT_FREE || slot->state == SLOT_STARTING)
			continue;
		if (slot->leave)
			return;				/* room is being made */
		if (slot->yield)
		{
			making = true;		/* in a while: an idle one would be sooner */
			continue;
		}
		if (slot->state == SLOT_IDLE &&
			(!for_another || TimestampDifferenceExceeds(slot->ran_at, now, TURN_MS)))
		{
			victim = slot;
			break;
		}
		if (for_another || !TimestampDifferenceExceeds(slot->started_at, now, TURN_MS))
			continue;
		peers = workers_of(slot->database);
		if (victim == NULL || peers > victims_peers ||
			(peers == victims_peers && slot->started_at < victim->started_at))
		{
			victim = slot;
			victims_peers = peers;
		}
	}
	if (victim == NULL || (making && victim->state != SLOT_IDLE))
		return;
	victim->yield = true;
	SetLatch(victim->latch);
}

/*
 * Reserve a place for one more worker; false: nobody is in need, or there is none.
 * Everything is decided under the lock; registering happens outside of it.
 */
static bool
reserve(int *index, int *worker_no, Oid *database, bool *in_need)
{
	TimestampTz now = GetCurrentTimestamp();
	DatabaseSlot *needy;
	Census		census;
	int			budget;
	int			its_workers = 0;
	bool		reserved = false;

	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	census = take_census();
	budget = now < crowded_until ? Min(census.total, guc_workers) : guc_workers;
	needy = most_in_need(now, &its_workers);
	if (needy != NULL && shmem_wake_worker(needy->database))
		needy = NULL;			/* an idle or starting one will see to it */
	*in_need = needy != NULL;
	if (needy != NULL && census.total < budget && census.free_slot >= 0)
	{
		WorkerSlot *slot = &shared->workers[census.free_slot];

		memset(slot, 0, sizeof(WorkerSlot));
		slot->state = SLOT_STARTING;
		slot->database = needy->database;
		slot->worker_no = shared->next_worker_no++;
		slot->since = now;
		needy->last_start = now;
		*index = census.free_slot;
		*worker_no = slot->worker_no;
		*database = slot->database;
		reserved = true;
	}
	else if (needy != NULL)
		make_room(now, its_workers > 0);
	LWLockRelease(shared->lock);
	return reserved;
}

static void
start_failed(int index, Oid database)
{
	DatabaseSlot *slot;
	const char *reason = "no background worker could be registered; raise max_worker_processes";

	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	memset(&shared->workers[index], 0, sizeof(WorkerSlot));
	slot = shmem_database(database);
	if (slot != NULL)
		slot->last_start = 0;	/* the next place is for this one */
	LWLockRelease(shared->lock);
	crowded_until = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), TURN_MS);
	if (shmem_set_reason(HEALTH_WORKER_START, reason))
		ereport(LOG, (errmsg("sandbox_exec could not start a worker"), errdetail("%s.", reason)));
}

static void
start_workers(void)
{
	BackgroundWorker worker;
	int			index;
	int			worker_no;
	Oid			database;
	bool		in_need = true;

	while (guc_enabled && reserve(&index, &worker_no, &database, &in_need))
	{
		worker_describe(&worker, index, worker_no);
		if (!RegisterDynamicBackgroundWorker(&worker, &handles[index]))
		{
			handles[index] = NULL;
			start_failed(index, database);
			continue;
		}
		shmem_set_reason(HEALTH_WORKER_START, NULL);
	}
	if (!in_need)				/* whoever could not be started was done without */
		shmem_set_reason(HEALTH_WORKER_START, NULL);
}

/* too many after the budget was lowered: some leave */
static void
trim_workers(void)
{
	int			surplus;
	int			i;

	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	surplus = take_census().total - guc_workers;
	for (i = MAX_WORKERS - 1; i >= 0 && surplus > 0; i--)
	{
		WorkerSlot *slot = &shared->workers[i];

		if (slot->state == SLOT_FREE || slot->latch == NULL)
			continue;
		slot->yield = true;
		SetLatch(slot->latch);
		surplus--;
	}
	LWLockRelease(shared->lock);
}

/* ----------------------------------------------------------------------- loop */

/*
 * ms until some database may want a worker without anybody saying so.  One that
 * has work and got no worker is looked at again soon: no commit says so once more.
 */
static long
time_to_sleep(TimestampTz next_rescan)
{
	TimestampTz now = GetCurrentTimestamp();
	TimestampTz until = next_rescan;
	int			i;

	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	for (i = 0; i < MAX_DATABASES; i++)
	{
		DatabaseSlot *slot = &shared->databases[i];
		TimestampTz at = slot->next_due;

		if (!OidIsValid(slot->database))
			continue;
		slot->watched = slot->work;
		if (slot->work || slot->probe)
			at = now;
		if (at == DT_NOEND)
			continue;

		/* one that waits for a place or for its turn is looked at again */
		at = Max(Max(at, slot->retry_at), TimestampTzPlusMilliseconds(now, TURN_MS / 10));
		until = Min(until, at);
	}
	LWLockRelease(shared->lock);
	return Max(TimestampDifferenceMilliseconds(now, until), 1);
}

static void
detach(int code, Datum arg)
{
	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	shared->launcher_latch = NULL;
	shared->launcher_pid = 0;
	LWLockRelease(shared->lock);
}

static void
attach(void)
{
	before_shmem_exit(detach, 0);
	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	shared->launcher_latch = MyLatch;
	shared->launcher_pid = MyProcPid;
	LWLockRelease(shared->lock);
	forget_unattached_workers();
}

static void
reload_if_asked(void)
{
	bool		was_enabled = guc_enabled;

	if (!ConfigReloadPending)
		return;
	ConfigReloadPending = false;
	ProcessConfigFile(PGC_SIGHUP);
	trim_workers();
	if (guc_enabled && !was_enabled)
		databases_rescan(true); /* workers that found it off claimed nothing */
}

static bool
take_rescan(void)
{
	bool		asked;

	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	asked = shared->rescan;
	shared->rescan = false;
	LWLockRelease(shared->lock);
	return asked;
}

static void
watch_databases(void)
{
	TimestampTz next_rescan = 0;

	for (;;)
	{
		bool		all = GetCurrentTimestamp() >= next_rescan;

		/* first, so that nothing which sets it later is missed */
		ResetLatch(MyLatch);
		if (ShutdownRequestPending)
			break;
		CHECK_FOR_INTERRUPTS();
		reload_if_asked();
		if (take_rescan() || all)
			databases_rescan(all);
		if (all)
			next_rescan = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), RESCAN_INTERVAL_MS);
		collect_workers();
		start_workers();
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						 time_to_sleep(next_rescan), PG_WAIT_EXTENSION);
	}
}

/* exit code 1: started again, unless the server is stopping */
void
sandbox_exec_launcher_main(Datum arg)
{
	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	pqsignal(SIGTERM, SignalHandlerForShutdownRequest);
	BackgroundWorkerUnblockSignals();
	BackgroundWorkerInitializeConnection(NULL, NULL, 0);
	attach();
	watch_databases();
	proc_exit(1);
}
