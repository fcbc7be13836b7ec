/*
 * deadline.c
 *		The clock of a tool: what interrupts it.
 *
 * A tick every TICK_MS looks at the time and at what others want of this
 * worker; it stands in a signal handler, so it only reads and sets flags.
 * Ticks go on after the deadline, since a function may catch query_canceled.
 * One that goes on doing so ends with its process: an ERROR is all that an
 * interrupt can raise, and there is none that PL/pgSQL can't catch.
 */
#include "postgres.h"

#include "compat.h"
#include "deadline.h"
#include "guc.h"
#include "miscadmin.h"
#include "slot.h"
#include "storage/proc.h"
#include "utils/guc.h"
#include "utils/timeout.h"
#include "utils/timestamp.h"

#define TICK_MS 20

/* ticks after the deadline that a tool may ignore */
#define PATIENCE_TICKS 250

/* a row that is held: so long, but no longer than leaves a lease to renew */
#define WAIT_MS 10000

static TimeoutId clock_id = MAX_TIMEOUTS;	/* not registered yet */
static bool ticking = false;
static bool (*wanted)(void);	/* beside the time, what interrupts */
static TimestampTz ends_at;
static const char *what;		/* the name of the tool */
static volatile sig_atomic_t passed = false;
static volatile sig_atomic_t interrupted = false;
static volatile sig_atomic_t ignored = 0;

static void
tick(void)
{
	compat_repeat_timeout(clock_id, TICK_MS);
	if (GetCurrentTimestamp() >= ends_at)
		passed = true;
	else if (wanted())
		interrupted = true;
	if (!passed && !interrupted)
		return;
	if (++ignored > PATIENCE_TICKS)
	{
		if (passed && !ProcDiePending)
			slot_give_up(what);
		ProcDiePending = true;
	}
	QueryCancelPending = true;
	InterruptPending = true;
}

static void
begin(TimestampTz at, const char *name, bool (*condition)(void))
{
	if (clock_id == MAX_TIMEOUTS)
		clock_id = RegisterTimeout(USER_TIMEOUT, tick);
	ends_at = at;
	what = name;
	wanted = condition;
	passed = interrupted = false;
	ignored = 0;
	ticking = true;
	compat_start_ticks(clock_id, TICK_MS);
}

void
deadline_begin(TimestampTz at, const char *tool)
{
	begin(at, tool, slot_is_wanted);
}

int
deadline_wait_ms(void)
{
	return Min(WAIT_MS, guc_lease / 3);
}

void
deadline_begin_wait(bool by_worker)
{
	char		limit[12];

	snprintf(limit, sizeof(limit), "%d", deadline_wait_ms());
	if (by_worker || LockTimeout == 0 || LockTimeout > deadline_wait_ms())
		(void) set_config_option("lock_timeout", limit, PGC_USERSET, PGC_S_SESSION,
								 GUC_ACTION_SAVE, true, 0, false);
	if (by_worker)
		begin(DT_NOEND, "", slot_must_leave);
}

void
deadline_end(void)
{
	if (!ticking)
		return;
	ticking = false;
	disable_timeout(clock_id, false);
	if (passed || interrupted)
		QueryCancelPending = false;
}

bool
deadline_passed(void)
{
	return passed;
}

bool
deadline_interrupted(void)
{
	return interrupted && !passed;
}

void
deadline_check(void)
{
	if (passed || interrupted)
		ereport(ERROR,
				(errcode(ERRCODE_QUERY_CANCELED),
				 errmsg("canceling tool")));
}
