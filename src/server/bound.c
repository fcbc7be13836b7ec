/*
 * bound.c
 *		Where a claim may begin to look.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "bound.h"
#include "funcapi.h"
#include "guc.h"
#include "miscadmin.h"
#include "utils/timestamp.h"

PG_FUNCTION_INFO_V1(look_v1);
PG_FUNCTION_INFO_V1(looked_v1);

/* looks from the very start take at most this part of the time */
#define FULL_LOOK_SHARE 20
#define MAX_PAUSE_US (60 * USECS_PER_SEC)

/* no rank is as low or as high */
const ClaimKey bound_first = {PG_INT32_MIN, DT_NOBEGIN, {{0}}};
const ClaimKey bound_last = {PG_INT32_MAX, DT_NOEND, {{0}}};

/* the order of the claim index */
bool
bound_precedes(const ClaimKey *a, const ClaimKey *b)
{
	if (a->rank != b->rank)
		return a->rank < b->rank;
	if (a->run_at != b->run_at)
		return a->run_at < b->run_at;
	return memcmp(&a->id, &b->id, sizeof(a->id)) < 0;
}

bool
bound_covers(const text *runtime)
{
	return VARSIZE_ANY_EXHDR(runtime) == 3 && memcmp(VARDATA_ANY(runtime), "lua", 3) == 0;
}

static void
lower(ClaimKey *key, const ClaimKey *to)
{
	if (bound_precedes(to, key))
		*key = *to;
}

void
bound_lower(DatabaseSlot *slot, const ClaimKey *key)
{
	lower(&slot->bound.from, key);
	lower(&slot->bound.announced, key);
}

static bool
full_look_is_due(ClaimBound *bound, TimestampTz now)
{
	int64		pause = bound->full_look_took * FULL_LOOK_SHARE;

	pause = Max(Min(pause, MAX_PAUSE_US), (int64) guc_poll_interval * 1000);
	return now - bound->full_look_at >= pause || now < bound->full_look_at;
}

/* the lock is held; the number of the look */
static uint64
open_look(ClaimBound *bound, ClaimKey *from)
{
	TimestampTz now = GetCurrentTimestamp();

	bound->look++;
	bound->announced = bound_last;
	*from = bound->from;
	if (full_look_is_due(bound, now))
	{
		bound->full_look = bound->look;
		bound->full_look_at = now;
		*from = bound_first;
	}
	return bound->look;
}

/* the lock is held; of two looks at once only the later one raises the bound */
static void
close_look(ClaimBound *bound, uint64 look, const ClaimKey *found)
{
	if (look == bound->full_look)
		bound->full_look_took = GetCurrentTimestamp() - bound->full_look_at;
	if (look == bound->look)
	{
		bound->from = *found;
		lower(&bound->from, &bound->announced);
	}
	else
		lower(&bound->from, found);
}

/*
 * look(runtime text): the number of the look that begins, and from where.  The
 * snapshot comes after: so a transaction that has one already doesn't raise the
 * bound (number 0).
 */
Datum
look_v1(PG_FUNCTION_ARGS)
{
	ClaimKey	from = bound_first;
	uint64		look = 0;
	DatabaseSlot *slot;
	TupleDesc	desc;
	Datum		values[4];
	bool		nulls[4] = {false};

	if (shared != NULL && bound_covers(PG_GETARG_TEXT_PP(0)))
	{
		LWLockAcquire(shared->lock, LW_EXCLUSIVE);
		slot = shmem_database(MyDatabaseId);
		if (slot != NULL && IsolationUsesXactSnapshot())
			from = slot->bound.from;
		else if (slot != NULL)
			look = open_look(&slot->bound, &from);
		LWLockRelease(shared->lock);
	}
	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE || desc->natts != 4)
		elog(ERROR, "unexpected result type");
	values[0] = Int64GetDatum((int64) look);
	values[1] = Int32GetDatum(from.rank);
	values[2] = TimestampTzGetDatum(from.run_at);
	values[3] = UUIDPGetDatum(&from.id);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls)));
}

/*
 * looked(look bigint, rank integer, run_at timestamptz, id uuid): what was the
 * first; nulls: nothing was there
 */
Datum
looked_v1(PG_FUNCTION_ARGS)
{
	ClaimKey	found = bound_last;
	DatabaseSlot *slot;

	if (shared == NULL || PG_GETARG_INT64(0) == 0)
		PG_RETURN_VOID();
	if (!PG_ARGISNULL(1))
	{
		found.rank = PG_GETARG_INT32(1);
		found.run_at = PG_GETARG_TIMESTAMPTZ(2);
		found.id = *PG_GETARG_UUID_P(3);
	}
	LWLockAcquire(shared->lock, LW_EXCLUSIVE);
	slot = shmem_database(MyDatabaseId);
	if (slot != NULL)
		close_look(&slot->bound, (uint64) PG_GETARG_INT64(0), &found);
	LWLockRelease(shared->lock);
	PG_RETURN_VOID();
}
