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

#include "execution.h"
#include "guc.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "outcome.h"
#include "output.h"
#include "repair.h"
#include "sandbox.h"
#include "shmem.h"
#include "slot.h"
#include "storage/latch.h"
#include "utils/json.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"
#include "../protocol/json_check.h"
#include "../protocol/utf8.h"

/* outcomes wait this long for company */
#define FLUSH_AFTER_US INT64CONST(2000)

/* an execution longer than this doesn't keep the rest of its batch */
#define RELEASE_AFTER_US INT64CONST(20000)

/* an execution longer than this doesn't keep the queue from its repair */
#define REPAIR_AFTER_US INT64CONST(1000000)

/* after a failed or blocked renewal */
#define RENEW_RETRY_US INT64CONST(500000)

/* the batch as it shrinks from the front */
typedef struct Rest
{
	Claim	   *claims;
	int			next;			/* first that has not begun */
	int			count;
	bool		more;			/* the queue may hold more, and nobody was told */
} Rest;

/* one execution at work */
typedef struct Run
{
	const Claim *claim;
	Sandbox    *sandbox;
	Rest	   *rest;
	OutlogCursor cursor;
	StringInfoData events;		/* what was printed, as JSON */
	bool		sound;			/* the output area could be read */
	int64		timeout_at;		/* outcome_clock() times */
	int64		renew_at;
	int64		release_at;
	int64		repair_at;
} Run;

/* --------------------------------------------------------- what it came to */

static void
collect_output(Run *run)
{
	if (run->sound)
		run->sound = output_append_events(sandbox_output(run->sandbox), &run->cursor, &run->events);
}

static void
record(Run *run, Outcome *outcome)
{
	char		version[MAX_VERSION_BYTES + 1];

	strlcpy(version, sandbox_runtime_version(run->sandbox), sizeof(version));
	outcome->runtime_version = version[0] ? version : NULL;
	outcome->events = run->events.data;
	outcome_add(run->claim, outcome);
}

/* a NUL-terminated copy, or NULL */
static char *
copy_text(FrameText text)
{
	return text.data ? pnstrdup(text.data, text.length) : NULL;
}

static bool
valid_text(FrameText text)
{
	return text.data == NULL || utf8_valid(text.data, text.length);
}

/* the runner may be in the hands of the code: believe nothing it says */
static bool
plausible(const Run *run, const DoneMessage *done)
{
	return run->sound && valid_text(done->error) && valid_text(done->error_code) &&
		(done->result.data == NULL || json_check(done->result.data, done->result.length));
}

static void
record_end(Run *run, const DoneMessage *done)
{
	Outcome		outcome = {0};

	outcome.status = done->succeeded ? "succeeded" : "failed";
	outcome.has_exit_code = true;
	outcome.exit_code = done->exit_code;
	outcome.result = copy_text(done->result);
	outcome.error = copy_text(done->error);
	outcome.error_code = copy_text(done->error_code);

	/* this code means "not the program's fault, try again": ours alone to say */
	if (outcome.error_code && strcmp(outcome.error_code, "executor_error") == 0)
		outcome.error_code = "runtime_error";
	if (outcome.error_code == NULL && !done->succeeded)
		outcome.error_code = "runtime_error";
	record(run, &outcome);
}

static void
record_failure(Run *run, const char *status, const char *code, const char *message)
{
	Outcome		outcome = {0};

	outcome.status = status;
	outcome.error_code = code;
	outcome.error = message;
	record(run, &outcome);
}

static void
on_done(Run *run, const DoneMessage *done)
{
	collect_output(run);
	if (!plausible(run, done))
	{
		record_failure(run, "failed", "sandbox_violation", "the runner broke the protocol");
		sandbox_end(run->sandbox, NULL);
		return;
	}
	record_end(run, done);
	if (done->reusable)
		sandbox_keep(run->sandbox);
	else
		sandbox_end(run->sandbox, NULL);
}

static void
on_timeout(Run *run)
{
	collect_output(run);
	record_failure(run, "timed_out", "timeout",
				   psprintf("the execution exceeded its timeout of %d ms", run->claim->timeout_ms));
	sandbox_end(run->sandbox, NULL);
}

/* the record turns this into "cancelled", with the reason that was given */
static void
on_cancel(Run *run)
{
	collect_output(run);
	record_failure(run, "failed", "cancelled", "cancelled");
	sandbox_end(run->sandbox, NULL);
}

/*
 * Give back claims whose execution did not begin, or is interrupted by no fault
 * of its own.  What cannot be given back goes back when this worker is gone.
 */
static void
give_back(const Claim *const *claims, int count)
{
	if (!store_release(claims, count))
		slot_leave();
}

static BatchResult
on_death(Run *run)
{
	SandboxDeath death;
	char		version[MAX_VERSION_BYTES + 1];
	Outcome		outcome = {0};

	collect_output(run);
	strlcpy(version, sandbox_runtime_version(run->sandbox), sizeof(version));
	sandbox_end(run->sandbox, &death);
	if (death.never_started)
	{
		if (shmem_set_reason(HEALTH_RUNNER_START, death.message))
			ereport(LOG, (errmsg("sandbox_exec cannot run code: %s", death.message)));
		give_back(&run->claim, 1);
		return BATCH_NO_RUNNER;
	}
	outcome.status = "failed";
	outcome.error_code = death.error_code;
	outcome.error = death.message;
	outcome.runtime_version = version[0] ? version : NULL;
	outcome.events = run->events.data;
	outcome_add(run->claim, &outcome);
	return BATCH_DONE;
}

/* -------------------------------------------------------- while it is running */

/* give back what has not begun */
static void
release_rest(Rest *rest)
{
	int			count = rest->count - rest->next;
	const Claim **claims;
	int			i;

	if (count <= 0)
		return;
	claims = palloc(sizeof(Claim *) * count);
	for (i = 0; i < count; i++)
		claims[i] = &rest->claims[rest->next + i];
	give_back(claims, count);
	rest->count = rest->next;
	pfree(claims);
}

/* this one takes long: let others have what waits behind it */
static void
share_the_rest(Run *run, int64 now)
{
	release_rest(run->rest);
	if (run->rest->more)
		slot_ask_for_help();
	run->rest->more = false;
	run->release_at = now + RENEW_RETRY_US;
}

/* the earliest instant at which run_chores() has something to do */
static int64
next_chore(const Run *run)
{
	int64		next = Min(Min(run->timeout_at, run->renew_at), run->repair_at);
	long		retry = outcome_retry_in();

	if (run->rest->next < run->rest->count || run->rest->more)
		next = Min(next, run->release_at);
	if (retry >= 0)
		next = Min(next, outcome_clock() + (int64) retry * 1000);
	if (outcome_waiting_since() > 0)
		next = Min(next, outcome_waiting_since() + FLUSH_AFTER_US);
	return next;
}

/* returns what the claim is worth now */
static Hold
renew(Run *run, int64 now)
{
	Hold		hold = HOLD_BUSY;
	XactResult	result = store_renew(run->claim, &hold);

	if (result == XACT_GONE)
		return HOLD_LOST;
	if (result == XACT_DONE && hold != HOLD_BUSY)
		run->renew_at = now + (int64) guc_lease * 1000 / 3;
	else
	{
		run->renew_at = now + RENEW_RETRY_US;
		hold = HOLD_HELD;
	}
	return hold;
}

/* what is needed of any worker is needed of one that is busy for long */
static Hold
repair_queue(Run *run, int64 now)
{
	bool		worked;
	XactResult	result = repair_if_due(&worked);

	run->repair_at = now + (int64) repair_due_in() * 1000;
	return result == XACT_GONE ? HOLD_LOST : HOLD_HELD;
}

static bool
flush_is_due(int64 now)
{
	int64		since = outcome_waiting_since();

	return (since > 0 && now >= since + FLUSH_AFTER_US) || outcome_retry_in() == 0;
}

static Hold
run_chores(Run *run)
{
	int64		now = outcome_clock();
	Hold		hold = HOLD_HELD;

	if (slot_take_attention() || now >= run->renew_at)
		hold = renew(run, now);
	if (hold != HOLD_HELD)
		return hold;
	if (now >= run->release_at)
		share_the_rest(run, now);
	if (flush_is_due(now))
		outcome_flush();
	if (now >= run->repair_at)
		hold = repair_queue(run, now);
	return hold;
}

static long
ms_until(int64 at)
{
	int64		us = at - outcome_clock();

	return us <= 0 ? 0 : (long) ((us + 999) / 1000);
}

/*
 * The one wait.  Timeouts, cancels, lost claims and shutdown kill the runner;
 * it is never asked.
 */
static BatchResult
watch(Run *run)
{
	for (;;)
	{
		DoneMessage done;

		switch (sandbox_wait(run->sandbox, ms_until(next_chore(run)), &done))
		{
			case SANDBOX_DONE:
				on_done(run, &done);
				return BATCH_DONE;
			case SANDBOX_DEAD:
				return on_death(run);
			case SANDBOX_WOKEN:
				break;
		}
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
		if (outcome_clock() >= run->timeout_at)
		{
			on_timeout(run);
			return BATCH_DONE;
		}
		if (slot_must_leave())
		{
			sandbox_end(run->sandbox, NULL);
			give_back(&run->claim, 1);
			return BATCH_DONE;
		}
		switch (run_chores(run))
		{
			case HOLD_CANCEL:
				on_cancel(run);
				return BATCH_DONE;
			case HOLD_LOST:
				sandbox_end(run->sandbox, NULL);
				return BATCH_DONE;
			default:
				break;
		}
	}
}

/* ------------------------------------------------------------------ begin */

static void
append_member(StringInfo json, const char *name, const char *value)
{
	if (value == NULL)
		return;
	appendStringInfo(json, "%s\"%s\":", json->len > 1 ? "," : "", name);
	escape_json(json, value);
}

static char *
describe(const Claim *claim)
{
	StringInfoData json;
	char		id[40];
	int			i;
	int			n = 0;

	for (i = 0; i < UUID_LEN; i++)
		n += snprintf(id + n, sizeof(id) - n, "%s%02x",
					  i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", claim->id.data[i]);
	initStringInfo(&json);
	appendStringInfoChar(&json, '{');
	append_member(&json, "id", id);
	append_member(&json, "owner", claim->owner);
	append_member(&json, "org_id", claim->org_id);
	append_member(&json, "thread_id", claim->thread_id);
	appendStringInfoChar(&json, '}');
	return json.data;
}

static FrameText
frame_text(const char *text)
{
	FrameText	result = {text, text ? strlen(text) : 0};

	return result;
}

static void
send_run(Run *run)
{
	const Claim *claim = run->claim;
	RunMessage	message = {{0}};

	memcpy(message.id, claim->id.data, UUID_LEN);
	message.clock_ms = claim->started_at / 1000 +
		((int64) (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE)) * SECS_PER_DAY * 1000;
	message.memory_limit = (int64) claim->memory_limit_kb * 1024;
	message.max_output_chars = claim->max_output_chars;
	message.execution = frame_text(describe(claim));
	message.args = frame_text(claim->args);
	message.code = frame_text(claim->code);
	sandbox_run(run->sandbox, &message);
}

static BatchResult
run_one(const Claim *claim, Rest *rest)
{
	Run			run = {0};
	const char *reason = NULL;
	int64		now;

	run.claim = claim;
	run.rest = rest;
	run.sandbox = sandbox_acquire(claim->submitter, claim->owner, &reason);
	if (run.sandbox == NULL)
	{
		if (shmem_set_reason(HEALTH_RUNNER_START, reason))
			ereport(LOG, (errmsg("sandbox_exec cannot run code: %s", reason)));
		give_back(&claim, 1);
		return BATCH_NO_RUNNER;
	}
	initStringInfo(&run.events);
	run.sound = true;
	run.cursor.previous = outlog_generation(sandbox_output(run.sandbox));
	now = outcome_clock();
	run.timeout_at = now + (int64) claim->timeout_ms * 1000;
	run.renew_at = now + (int64) guc_lease * 1000 / 3;
	run.release_at = now + RELEASE_AFTER_US;
	run.repair_at = now + REPAIR_AFTER_US;
	send_run(&run);
	return watch(&run);
}

static void
reject(const Claim *claim, const char *code, const char *message)
{
	Outcome		outcome = {0};

	outcome.status = "failed";
	outcome.error_code = code;
	outcome.error = message;
	outcome_add(claim, &outcome);
}

BatchResult
execution_run_batch(ClaimBatch *batch)
{
	MemoryContext memory = AllocSetContextCreate(CurrentMemoryContext, "sandbox_exec run",
												 ALLOCSET_DEFAULT_SIZES);
	MemoryContext outside = MemoryContextSwitchTo(memory);
	Rest		rest = {batch->claims, 0, batch->count, batch->full};
	BatchResult result = BATCH_DONE;

	while (rest.next < rest.count && result == BATCH_DONE && !slot_should_leave())
	{
		const Claim *claim = &rest.claims[rest.next++];

		slot_running(&claim->id);
		if (claim->submitter_exists)
			result = run_one(claim, &rest);
		else
			reject(claim, "submitter_dropped", "the role that enqueued this execution was dropped");
		slot_ran();
		MemoryContextReset(memory);
		if (flush_is_due(outcome_clock()))
			outcome_flush();
	}
	release_rest(&rest);
	outcome_flush();
	MemoryContextSwitchTo(outside);
	MemoryContextDelete(memory);
	return result;
}
