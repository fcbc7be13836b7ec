/*
 * drain.c
 *		drain(): no new claims in this database, and wait for what runs.
 *
 * The flag lives in shared memory: it ends with resume_queue() or a restart.
 */
#include "postgres.h"

#include "access/xlog.h"
#include "catalog/namespace.h"
#include "containment.h"
#include "drain.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "longpoll.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "shmem.h"
#include "spi.h"
#include "storage/latch.h"
#include "storage/lmgr.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"

PG_FUNCTION_INFO_V1(drain_v1);
PG_FUNCTION_INFO_V1(draining_v1);
PG_FUNCTION_INFO_V1(undrain_v1);

/* nobody wakes who drains: it happens rarely, and looks rarely */
#define LOOK_MS 50

/* executions may run for long, so sandbox_exec.max_wait is no bound here */
#define DEFAULT_TIMEOUT_MS (30 * 1000)
#define LONGEST_TIMEOUT_MS (24 * 60 * 60 * 1000)

static void
set_draining(bool draining)
{
	DatabaseSlot *slot;

	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	slot = draining ? shmem_database(MyDatabaseId) : shmem_known_database(MyDatabaseId);
	if (slot != NULL)
		slot->draining = draining;
	LWLockRelease(shared->lock);
	if (slot == NULL && draining)
		ereport(ERROR,
				(errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
				 errmsg("there are more databases than sandbox_exec can watch"),
				 errhint("Use pause_queue() instead.")));
}

/*
 * A claim reads queue_pause and keeps its lock on that table until it commits.
 * So once we had the table for ourselves, every claim that had not yet seen the
 * flag is committed, and the next look sees its row.  Asking for the lock must
 * not hold anybody up: behind a pg_dump that reads the table, claims of those
 * who came later would queue.
 */
static void
let_claims_pass(void *arg, const Caller *caller, MemoryContext outside)
{
	bool	   *passed = arg;
	Oid			table = get_relname_relid("queue_pause",
										  get_namespace_oid("sandbox_exec", false));

	*passed = ConditionalLockRelationOid(table, AccessExclusiveLock);
}

static void
look_for_running(void *arg, const Caller *caller, MemoryContext outside)
{
	static SPIPlanPtr plan = NULL;
	bool	   *running = arg;
	SpiRow		row;

	spi_look(&plan, "SELECT EXISTS (SELECT FROM sandbox_exec.execution "
					"WHERE status OPERATOR(pg_catalog.=) 'running') AS running",
			 0, NULL, NULL, NULL);
	row = spi_only_row();
	*running = DatumGetBool(spi_datum(&row, "running"));
}

static bool
something_runs(void)
{
	bool		passed = false;
	bool		running = true;

	longpoll_look(let_claims_pass, &passed);
	if (passed)
		longpoll_look(look_for_running, &running);
	return running;
}

/* drain(timeout interval) returns boolean */
Datum
drain_v1(PG_FUNCTION_ARGS)
{
	TimestampTz deadline =
		longpoll_deadline(fcinfo, 0, "timeout",
						  PG_ARGISNULL(0) ? DEFAULT_TIMEOUT_MS : LONGEST_TIMEOUT_MS);

	containment_refuse_in_tool("drain()");
	if (shared == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("sandbox_exec is not preloaded"),
				 errhint("Add sandbox_exec to shared_preload_libraries and restart the server, or use pause_queue().")));
	if (RecoveryInProgress())
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("cannot drain during recovery"),
				 errdetail("Nothing is claimed on a standby."),
				 errhint("Call drain() on the primary server.")));
	set_draining(true);
	while (something_runs())
	{
		if (GetCurrentTimestamp() >= deadline)
			PG_RETURN_BOOL(false);
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						 LOOK_MS, PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
	}
	PG_RETURN_BOOL(true);
}

bool
drain_is_on(void)
{
	DatabaseSlot *slot;
	bool		draining;

	if (shared == NULL)
		return false;
	LWLockAcquire(shared->lock, LW_SHARED);
	slot = shmem_known_database(MyDatabaseId);
	draining = slot != NULL && slot->draining;
	LWLockRelease(shared->lock);
	return draining;
}

Datum
draining_v1(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(drain_is_on());
}

Datum
undrain_v1(PG_FUNCTION_ARGS)
{
	if (shared != NULL)
		set_draining(false);
	PG_RETURN_VOID();
}
