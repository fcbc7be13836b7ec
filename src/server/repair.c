/*
 * repair.c
 *		What a worker does for the queue as a whole.
 *
 * A worker that runs a long execution does it, too: it may be the only one, and
 * lost claims, requested cancels and deferred rows must not wait for its end.
 */
#include "postgres.h"

#include "guc.h"
#include "repair.h"
#include "slot.h"
#include "store.h"
#include "utils/timestamp.h"
#include "wakeup.h"

/* before another try when nothing could be done */
#define PAUSE_MS 1000

/* as with outcomes: what cannot be told to listeners is done all the same */
static XactResult
take_step(RepairStep step, bool *worked)
{
	XactResult	result = store_repair(step, worked);
	int			sqlerrcode;

	(void) xact_last_error(&sqlerrcode);
	if (result == XACT_FAILED && sqlerrcode == ERRCODE_PROGRAM_LIMIT_EXCEEDED)
	{
		wakeup_mute_notify(true);
		result = store_repair(step, worked);
		wakeup_mute_notify(false);
	}
	return result;
}

/*
 * Each step is a transaction of its own: a foreign key of the application's that
 * keeps records from being deleted keeps nothing from running.
 */
static XactResult
repair(bool *worked)
{
	XactResult	result = XACT_DONE;
	int			step;

	for (step = 0; step < REPAIR_STEPS; step++)
	{
		bool		some;
		XactResult	one;

		if (step == REPAIR_RETAIN && guc_retention < 0)
			continue;
		one = take_step(step, &some);
		if (one == XACT_GONE)
			return one;
		if (one != XACT_DONE)
			result = one;
		*worked |= some;
	}
	return result;
}

XactResult
repair_if_due(bool *worked)
{
	TimestampTz due = DT_NOEND;
	TimestampTz retry;
	XactResult	result;

	*worked = false;
	if (!slot_may_repair())
		return XACT_DONE;
	slot_begin_due();
	result = repair(worked);
	if (result == XACT_DONE)
		result = store_next_due(&due);

	/* what is overdue even so is held by another session: don't spin on it */
	retry = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), PAUSE_MS);
	if (result == XACT_HELD || result == XACT_FAILED)
		due = retry;
	else if (!*worked && due < retry - PAUSE_MS * INT64CONST(1000))
		due = retry;
	slot_end_due(due, *worked);
	return result;
}

long
repair_due_in(void)
{
	TimestampTz due = slot_next_due();
	long		ms = PAUSE_MS;

	if (due != DT_NOEND)
		ms = Min(ms, TimestampDifferenceMilliseconds(GetCurrentTimestamp(), due));
	return Max(ms, 1);
}
