/*
 * longpoll.c
 *		Looking again and again at committed state from within one statement.
 *
 * Sleeping uses a condition variable and a generation: read the generation,
 * look, sleep until the generation differs.  A commit raises it before it
 * broadcasts, so none is missed.  Aborting a subtransaction cancels a prepared
 * sleep, so no look may come between preparing and sleeping.
 */
#include "postgres.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "executor/spi.h"
#include "longpoll.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "shmem.h"
#include "storage/latch.h"
#include "utils/fmgrprotos.h"
#include "utils/resowner.h"
#include "utils/snapmgr.h"
#include "utils/timestamp.h"

/* between looks where nobody wakes */
#define POLL_MS 200

static void
end_look(MemoryContext outside, ResourceOwner owner)
{
	RollbackAndReleaseCurrentSubTransaction();
	MemoryContextSwitchTo(outside);
	CurrentResourceOwner = owner;
}

/*
 * An ERROR must not leave the subtransaction open: outside of a transaction
 * block, the session would then wait for a ROLLBACK that nobody sends.
 */
void
longpoll_look(LongpollBody body, void *arg)
{
	MemoryContext outside = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	Caller		caller;

	BeginInternalSubTransaction(NULL);
	PG_TRY();
	{
		PushActiveSnapshot(GetLatestSnapshot());
		caller = caller_enter();
		SPI_connect();
		body(arg, &caller, outside);
		SPI_finish();
		caller_leave(&caller);
		PopActiveSnapshot();
	}
	PG_CATCH();
	{
		ErrorData  *error;

		MemoryContextSwitchTo(outside);
		error = CopyErrorData();
		FlushErrorState();
		end_look(outside, owner);
		ReThrowError(error);
	}
	PG_END_TRY();
	end_look(outside, owner);
}

uint64
longpoll_generation(const pg_uuid_t *id, Awaited what)
{
	return shared ? pg_atomic_read_u64(&shared->waits[shmem_wait_slot(id, what)].generation) : 0;
}

static void
sleep_until_woken(WaitSlot *slot, uint64 seen, long ms)
{
	ConditionVariablePrepareToSleep(&slot->changed);
	if (pg_atomic_read_u64(&slot->generation) == seen)
		(void) ConditionVariableTimedSleep(&slot->changed, ms, PG_WAIT_EXTENSION);
	ConditionVariableCancelSleep();
}

bool
longpoll_sleep(const pg_uuid_t *id, Awaited what, uint64 seen, TimestampTz deadline)
{
	TimestampTz now = GetCurrentTimestamp();
	long		ms = TimestampDifferenceMilliseconds(now, deadline);

	if (now >= deadline)
		return false;
	if (shared != NULL && !RecoveryInProgress())
		sleep_until_woken(&shared->waits[shmem_wait_slot(id, what)], seen, ms);
	else
	{
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						 Min(ms, POLL_MS), PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
	}
	CHECK_FOR_INTERRUPTS();
	return true;
}

void
longpoll_refuse_own(void)
{
	ereport(ERROR,
			(errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
			 errmsg("cannot wait for an execution that this transaction has just changed"),
			 errdetail("No worker sees it before the transaction commits."),
			 errhint("Commit first, then wait.")));
}

/* compared as intervals: now plus or minus a huge one is no timestamp */
static int
compare(Interval *interval, int ms)
{
	Interval	bound = {(TimeOffset) ms * 1000, 0, 0};

	return DatumGetInt32(DirectFunctionCall2(interval_cmp, IntervalPGetDatum(interval),
											 IntervalPGetDatum(&bound)));
}

TimestampTz
longpoll_deadline(FunctionCallInfo fcinfo, int argument, const char *name, int longest_ms)
{
	TimestampTz now = GetCurrentTimestamp();
	TimestampTz latest = TimestampTzPlusMilliseconds(now, longest_ms);
	Interval   *asked = PG_ARGISNULL(argument) ? NULL : PG_GETARG_INTERVAL_P(argument);

	if (asked == NULL || compare(asked, longest_ms) >= 0)
		return latest;
	if (compare(asked, 0) < 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s must not be negative", name),
				 errhint("Give zero to look once.")));
	return DatumGetTimestampTz(DirectFunctionCall2(timestamptz_pl_interval,
												   TimestampTzGetDatum(now),
												   IntervalPGetDatum(asked)));
}
