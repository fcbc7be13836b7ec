/*
 * internals.c
 *		The C functions that the queue's SQL is built on (src/sql/helpers.sql).
 *
 * They are granted to nobody: the implementation functions call them as the
 * extension's owner.
 */
#include "postgres.h"

#include "access/xlog.h"
#include "containment.h"
#include "funcapi.h"
#include "guc.h"
#include "miscadmin.h"
#include "shmem.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"
#include "wakeup.h"

PG_FUNCTION_INFO_V1(announce_v1);
PG_FUNCTION_INFO_V1(wake_v1);
PG_FUNCTION_INFO_V1(work_ready_v1);
PG_FUNCTION_INFO_V1(row_ready_v1);
PG_FUNCTION_INFO_V1(work_due_v1);
PG_FUNCTION_INFO_V1(worker_attention_v1);
PG_FUNCTION_INFO_V1(server_epoch_v1);
PG_FUNCTION_INFO_V1(live_workers_v1);
PG_FUNCTION_INFO_V1(keeping_workers_v1);
PG_FUNCTION_INFO_V1(home_v1);
PG_FUNCTION_INFO_V1(limits_v1);
PG_FUNCTION_INFO_V1(not_by_tool_v1);

/* a worker that keeps a claim says so more often than this */
#define SIGN_OF_LIFE_MS 5000

/* ------------------------------------------------------------------- wake-ups */

Datum
announce_v1(PG_FUNCTION_ARGS)
{
	wakeup_announce(PG_GETARG_UUID_P(0), text_to_cstring(PG_GETARG_TEXT_PP(1)));
	PG_RETURN_VOID();
}

Datum
wake_v1(PG_FUNCTION_ARGS)
{
	wakeup_readers(PG_GETARG_UUID_P(0));
	PG_RETURN_VOID();
}

Datum
work_ready_v1(PG_FUNCTION_ARGS)
{
	wakeup_work();
	PG_RETURN_VOID();
}

Datum
row_ready_v1(PG_FUNCTION_ARGS)
{
	ClaimKey	key = {
		.rank = PG_GETARG_INT32(0),
		.run_at = PG_GETARG_TIMESTAMPTZ(1),
		.id = *PG_GETARG_UUID_P(2)};

	wakeup_ready(&key);
	PG_RETURN_VOID();
}

Datum
work_due_v1(PG_FUNCTION_ARGS)
{
	wakeup_due(PG_GETARG_TIMESTAMPTZ(0));
	PG_RETURN_VOID();
}

Datum
worker_attention_v1(PG_FUNCTION_ARGS)
{
	if (shared != NULL && PG_GETARG_INT64(0) == shared->epoch)
		wakeup_attention(PG_GETARG_INT32(1));
	PG_RETURN_VOID();
}

/* ---------------------------------------------------------------- who is alive */

Datum
server_epoch_v1(PG_FUNCTION_ARGS)
{
	if (shared == NULL)
		PG_RETURN_NULL();
	PG_RETURN_INT64(shared->epoch);
}

/* the numbers of workers here that have kept a claim since then */
static Datum
workers_since(TimestampTz kept)
{
	Datum		numbers[MAX_WORKERS];
	int			count = 0;
	int			i;

	LWLockAcquire(shared->lock, LW_SHARED);
	for (i = 0; i < MAX_WORKERS; i++)
	{
		WorkerSlot *slot = &shared->workers[i];

		if (slot->state != SLOT_FREE && slot->database == MyDatabaseId && slot->kept_at >= kept)
			numbers[count++] = Int32GetDatum(slot->worker_no);
	}
	LWLockRelease(shared->lock);
	return PointerGetDatum(construct_array(numbers, count, INT4OID, sizeof(int32), true, 'i'));
}

Datum
live_workers_v1(PG_FUNCTION_ARGS)
{
	if (shared == NULL)
		PG_RETURN_NULL();
	return workers_since(DT_NOBEGIN);
}

Datum
keeping_workers_v1(PG_FUNCTION_ARGS)
{
	if (shared == NULL)
		PG_RETURN_NULL();
	return workers_since(TimestampTzPlusMilliseconds(GetCurrentTimestamp(),
													 -Max(guc_lease, SIGN_OF_LIFE_MS)));
}

/* where this queue is: what a copy of the database elsewhere is not */
Datum
home_v1(PG_FUNCTION_ARGS)
{
	char	   *home = psprintf(UINT64_FORMAT "/%u", GetSystemIdentifier(), MyDatabaseId);

	PG_RETURN_TEXT_P(cstring_to_text(home));
}

static Datum
interval_of(int64 ms)
{
	Interval   *interval = palloc0(sizeof(Interval));

	interval->time = ms * 1000;
	return IntervalPGetDatum(interval);
}

/* max_timeout interval, memory_limit_kb integer, enabled boolean, retention interval (null: off) */
Datum
limits_v1(PG_FUNCTION_ARGS)
{
	TupleDesc	desc;
	Datum		values[4] = {0};
	bool		nulls[4] = {false};

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE || desc->natts != 4)
		elog(ERROR, "unexpected result type");
	values[0] = interval_of(guc_max_timeout);
	values[1] = Int32GetDatum(guc_memory_limit);
	values[2] = BoolGetDatum(guc_enabled);
	nulls[3] = guc_retention < 0;
	if (guc_retention >= 0)
		values[3] = interval_of(guc_retention * INT64CONST(1000));
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls)));
}

/* the SQL functions that a tool must not call begin with this */
Datum
not_by_tool_v1(PG_FUNCTION_ARGS)
{
	containment_refuse_in_tool(text_to_cstring(PG_GETARG_TEXT_PP(0)));
	PG_RETURN_VOID();
}
