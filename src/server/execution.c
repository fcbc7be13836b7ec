/*
 * execution.c
 *		A batch of claimed executions, from claim to outcome.
 *
 * One execution runs at a time, so this is straight-line code around one wait.
 * While it waits for the runner, no transaction is open, and the clock brings
 * up what else is due: the timeout, the lease, the outcomes of its
 * predecessors, the rest of the batch that others could run meanwhile.
 */
#include "postgres.h"

#include "answer.h"
#include "ending.h"
#include "execution.h"
#include "guc.h"
#include "miscadmin.h"
#include "outcome.h"
#include "repair.h"
#include "request.h"
#include "rest.h"
#include "shmem.h"
#include "slot.h"
#include "storage/latch.h"
#include "tools.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

/* outcomes wait this long for company */
#define FLUSH_AFTER_US INT64CONST(10000)

/* an execution longer than this doesn't keep the rest of its batch */
#define RELEASE_AFTER_US INT64CONST(20000)

/* an execution longer than this doesn't keep the queue from its repair */
#define REPAIR_AFTER_US INT64CONST(1000000)

/* after a failed or blocked renewal */
#define RENEW_RETRY_US INT64CONST(500000)

/* what a runner that goes on by itself has left is collected so often */
#define COLLECT_US INT64CONST(5000)

/* one execution at work, and what is due when; outcome_clock() times */
typedef struct Watch
{
	Run			run;
	Rest	   *rest;
	int64		timeout_at;
	int64		renew_at;
	int64		release_at;		/* the rest of the batch */
	int64		flush_at;		/* output into the log */
	int64		repair_at;		/* the queue as a whole */
	int64		wake_at;		/* a short sleep is over; 0: the code does not sleep */
	CallMessage sleep;			/* that call */
} Watch;

/* -------------------------------------------------------- while it is running */

/* this one takes long: let others have what waits behind it */
static void
share_the_rest(Watch *watch, int64 now)
{
	rest_release(watch->rest, burst_hold(sandbox_burst(watch->run.sandbox)));
	if (watch->rest->more)
		slot_ask_for_help();
	watch->rest->more = false;
	watch->release_at = now + RENEW_RETRY_US;
}

/* the earliest instant at which run_chores() has something to do */
static int64
next_chore(const Watch *watch)
{
	int64		next = Min(Min(watch->timeout_at, watch->renew_at),
						   Min(watch->flush_at, watch->repair_at));
	long		retry = outcome_retry_in();

	if (watch->wake_at > 0)
		next = Min(next, watch->wake_at);
	if (burst_ahead(sandbox_burst(watch->run.sandbox)) > 0)
		next = Min(next, outcome_clock() + COLLECT_US);
	if (watch->rest->next < watch->rest->count || watch->rest->more)
		next = Min(next, watch->release_at);
	if (retry >= 0)
		next = Min(next, outcome_clock() + (int64) retry * 1000);
	if (outcome_waiting_since() > 0)
		next = Min(next, outcome_waiting_since() + FLUSH_AFTER_US);
	return next;
}

/* returns what the claim is worth now */
static Hold
renew(Watch *watch, int64 now)
{
	Hold		hold = HOLD_BUSY;
	XactResult	result = store_renew(watch->run.claim, &hold);

	if (result == XACT_GONE)
		return HOLD_LOST;
	if (result == XACT_DONE && hold != HOLD_BUSY)
		watch->renew_at = now + (int64) guc_lease * 1000 / 3;
	else
	{
		watch->renew_at = now + RENEW_RETRY_US;
		hold = HOLD_HELD;
		if (xact_may_pass())
			slot_keeps();
	}
	return hold;
}

/* what is needed of any worker is needed of one that is busy for long */
static Hold
repair_queue(Watch *watch, int64 now)
{
	bool		worked;
	XactResult	result;

	outcome_retry_all();
	result = repair_if_due(&worked);

	watch->repair_at = now + (int64) repair_due_in() * 1000;
	return result == XACT_GONE ? HOLD_LOST : HOLD_HELD;
}

/*
 * Bring what the code printed into its log while it runs.  A full page means
 * that there is more: come again at once.  While the runner may have gone on,
 * the output may be the next one's.
 */
static Hold
flush_output(Watch *watch, int64 now)
{
	Output	   *output = &watch->run.output;
	Appended	appended = APPENDED_YES;
	XactResult	result = XACT_DONE;
	bool		more;

	watch->flush_at = now + COLLECT_US;
	if (burst_ahead(sandbox_burst(watch->run.sandbox)) > 0)
		return HOLD_HELD;
	output_collect(output, OUTPUT_APPEND_EVENTS);
	more = output->count >= OUTPUT_APPEND_EVENTS - 1;
	if (output->count > 0)
		result = store_append(watch->run.claim, output->events.data, &appended);
	if (result == XACT_GONE || (result == XACT_DONE && appended == APPENDED_LOST))
		return HOLD_LOST;
	if (result == XACT_DONE && appended == APPENDED_YES)
		output_logged(output);
	else
		more = false;
	watch->flush_at = now + (more ? 0 : (int64) guc_flush_interval * 1000);
	return HOLD_HELD;
}

static bool
flush_is_due(int64 now)
{
	int64		since = outcome_waiting_since();

	return (since > 0 && now >= since + FLUSH_AFTER_US) || outcome_retry_in() == 0;
}

static Hold
run_chores(Watch *watch)
{
	int64		now = outcome_clock();
	Hold		hold = HOLD_HELD;

	if (slot_take_attention())
	{
		watch->rest->attention = true;
		watch->renew_at = now;
	}
	if (now >= watch->renew_at)
		hold = renew(watch, now);
	if (hold == HOLD_HELD && now >= watch->flush_at)
		hold = flush_output(watch, now);
	if (hold != HOLD_HELD)
		return hold;
	if (now >= watch->release_at)
		share_the_rest(watch, now);
	if (flush_is_due(now))
		outcome_flush();
	if (now >= watch->repair_at)
		hold = repair_queue(watch, now);
	return hold;
}

static long
ms_until(int64 at)
{
	int64		us = at - outcome_clock();

	return us <= 0 ? 0 : (long) ((us + 999) / 1000);
}

static FrameText
copy_text(FrameText text)
{
	if (text.data != NULL)
		text.data = pnstrdup(text.data, text.length);
	return text;
}

/*
 * A short sleep is no pause: this loop goes on meanwhile.  What the runner said
 * is gone by then.
 */
static void
put_to_sleep(Watch *watch, const CallMessage *call, int ms)
{
	watch->sleep = *call;
	watch->sleep.kind = copy_text(call->kind);
	watch->sleep.name = copy_text(call->name);
	watch->sleep.args = copy_text(call->args);
	watch->wake_at = outcome_clock() + (int64) ms * 1000;
	watch->timeout_at += (int64) ms * 1000;
}

/* what others wait for must not wait behind a tool that may take long */
static void
before_call(Watch *watch, const CallMessage *call)
{
	Rest	   *rest = watch->rest;
	bool		waiting = rest->next < rest->count;

	if (answer_was_quick(call))
		return;
	if (waiting || rest->more)
		share_the_rest(watch, outcome_clock());
	rest->shed |= waiting;
	if (outcome_waiting_since() > 0)
		outcome_flush();
}

/* true when the code goes on; else its end is taken care of */
static bool
answered(Watch *watch, const CallMessage *call, bool slept)
{
	int			sleep_ms = 0;
	const char *reason = NULL;
	int64		began;

	watch->wake_at = 0;
	before_call(watch, call);
	began = outcome_clock();
	switch (answer_call(&watch->run, call, slept, &sleep_ms, &reason))
	{
		case ANSWER_SLEEPS:
			put_to_sleep(watch, call, sleep_ms);
			/* fall through */
		case ANSWER_SENT:
			/* the clock of the timeout stands while a tool runs */
			watch->timeout_at += outcome_clock() - began;
			return true;
		case ANSWER_CANCELLED:
			ending_cancel(&watch->run);
			break;
		case ANSWER_FORGED:
			ending_forged(&watch->run);
			break;
		case ANSWER_DIVERGED:
			ending_diverged(&watch->run, reason);
			break;
		case ANSWER_FAILED:
			ending_failed(&watch->run, reason);
			break;
		case ANSWER_LOST:
			sandbox_end(watch->run.sandbox, NULL);
			break;
		case ANSWER_LEAVING:
			sandbox_end(watch->run.sandbox, NULL);
			rest_give_back(watch->run.claim);
			break;
	}
	return false;
}

/* the claim at work, and those after it as far as the runner takes them */
static void
send_request(const Watch *watch)
{
	const Rest *rest = watch->rest;

	request_send(watch->run.sandbox, watch->run.claim, 1 + rest->count - rest->next);
}

/* not when the runner has gone on: then the claim at work has ended, and its end is here */
static bool
is_at_work(Watch *watch)
{
	return burst_hold(sandbox_burst(watch->run.sandbox)) == 0;
}

/*
 * The one wait.  Timeouts, cancels, lost claims and shutdown kill the runner;
 * it is never asked.
 */
static BatchResult
watch_run(Watch *watch)
{
	for (;;)
	{
		SandboxMessage message;

		switch (sandbox_wait(watch->run.sandbox, ms_until(next_chore(watch)), &message))
		{
			case SANDBOX_CALL:
				if (!answered(watch, &message.call, false))
					return BATCH_DONE;
				break;
			case SANDBOX_SUSPEND:
				ending_suspend(&watch->run);
				return BATCH_DONE;
			case SANDBOX_DONE:
				ending_done(&watch->run, &message.done, message.quiet);
				return BATCH_DONE;
			case SANDBOX_DROPPED:
				send_request(watch);
				break;
			case SANDBOX_DEAD:
				if (ending_death(&watch->run))
					return BATCH_DONE;
				rest_give_back(watch->run.claim);
				return BATCH_NO_RUNNER;
			case SANDBOX_WOKEN:
				break;
		}
		ResetLatch(MyLatch);
		xact_check_interrupts();
		if (outcome_clock() >= watch->timeout_at && is_at_work(watch))
		{
			ending_timeout(&watch->run);
			return BATCH_DONE;
		}
		if (slot_must_leave())
		{
			sandbox_end(watch->run.sandbox, NULL);
			rest_give_back(watch->run.claim);
			return BATCH_DONE;
		}
		switch (run_chores(watch))
		{
			case HOLD_CANCEL:
				if (!is_at_work(watch))
					break;
				ending_cancel(&watch->run);
				return BATCH_DONE;
			case HOLD_LOST:
				sandbox_end(watch->run.sandbox, NULL);
				return BATCH_DONE;
			default:
				break;
		}
		if (watch->wake_at > 0 && outcome_clock() >= watch->wake_at &&
			!answered(watch, &watch->sleep, true))
			return BATCH_DONE;
	}
}

/* ------------------------------------------------------------------ begin */

static BatchResult
run_one(const Claim *claim, Rest *rest)
{
	Watch		watch = {0};
	const char *reason = NULL;
	int64		now;

	watch.run.claim = claim;
	watch.rest = rest;
	watch.run.sandbox = sandbox_acquire(claim->submitter, claim->owner, &reason);
	if (watch.run.sandbox == NULL)
	{
		if (shmem_set_reason(HEALTH_RUNNER_START, reason))
			ereport(LOG, (errmsg("sandbox_exec cannot run code: %s", reason)));
		rest_give_back(claim);
		return BATCH_NO_RUNNER;
	}
	output_begin(&watch.run.output, sandbox_output(watch.run.sandbox),
				 burst_generation(sandbox_burst(watch.run.sandbox)),
				 claim->logged, claim->logged_count, claim->attempt);
	now = outcome_clock();
	watch.timeout_at = now + (int64) claim->timeout_ms * 1000;
	watch.renew_at = rest->attention ? now : now + (int64) guc_lease * 1000 / 3;
	watch.release_at = now + RELEASE_AFTER_US;
	watch.repair_at = now + REPAIR_AFTER_US;
	watch.flush_at = now + (int64) guc_flush_interval * 1000;
	if (!burst_has_it(sandbox_burst(watch.run.sandbox)))
		send_request(&watch);
	return watch_run(&watch);
}

/*
 * A process that keeps what a tool of one role left in it serves nobody else:
 * another worker takes over.
 */
static bool
may_serve(const Claim *claim)
{
	if (tools_may_serve(claim->submitter, claim->owner))
		return true;
	slot_retire();
	return false;
}

BatchResult
execution_run_batch(ClaimBatch *batch)
{
	MemoryContext memory = AllocSetContextCreate(CurrentMemoryContext, "sandbox_exec run",
												 ALLOCSET_DEFAULT_SIZES);
	MemoryContext outside = MemoryContextSwitchTo(memory);
	Rest		rest = {batch->claims, 0, batch->count, batch->full, false};
	BatchResult result = BATCH_DONE;

	while (rest.next < rest.count && result == BATCH_DONE && !slot_should_leave())
	{
		const Claim *claim = &rest.claims[rest.next];

		if (!may_serve(claim))
			break;
		rest.next++;
		slot_running(&claim->id);
		if (claim->submitter_exists)
			result = run_one(claim, &rest);
		else
			ending_reject(claim, "submitter_dropped", "the role that enqueued this execution was dropped");
		slot_ran(result != BATCH_NO_RUNNER);
		MemoryContextReset(memory);
		if (flush_is_due(outcome_clock()))
			outcome_flush();
	}
	sandbox_take_back();
	rest_release(&rest, 0);
	outcome_flush();
	batch->count = rest.next;
	MemoryContextSwitchTo(outside);
	MemoryContextDelete(memory);
	return result == BATCH_DONE && rest.shed ? BATCH_SHED : result;
}
