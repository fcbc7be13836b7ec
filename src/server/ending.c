/*
 * ending.c
 *		How one execution ends.
 *
 * The runner may be in the hands of the code it ran: nothing that it says is
 * believed before it is checked.
 */
#include "postgres.h"

#include "ending.h"
#include "outcome.h"
#include "shmem.h"
#include "../protocol/json_check.h"
#include "../protocol/utf8.h"

static void
record(Run *run, Outcome *outcome)
{
	outcome->runtime_version = sandbox_runtime_version(run->sandbox);
	outcome->events = run->output.events.data;
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

static bool
plausible(const Run *run, const DoneMessage *done)
{
	return run->output.sound && valid_text(done->error) && valid_text(done->error_code) &&
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

void
ending_forged(Run *run)
{
	record_failure(run, "failed", "sandbox_violation", "the runner broke the protocol");
	sandbox_end(run->sandbox, NULL);
}

void
ending_failed(Run *run, const char *reason)
{
	record_failure(run, "failed", "executor_error", reason);
	sandbox_end(run->sandbox, NULL);
}

void
ending_diverged(Run *run, const char *reason)
{
	record_failure(run, "failed", "nondeterministic", reason);
	sandbox_end(run->sandbox, NULL);
}

void
ending_done(Run *run, const DoneMessage *done, bool quiet)
{
	output_finish(&run->output, quiet);
	if (!plausible(run, done))
	{
		ending_forged(run);
		return;
	}
	record_end(run, done);
	if (done->reusable)
		sandbox_keep(run->sandbox);
	else
		sandbox_end(run->sandbox, NULL);
}

/*
 * Answers reach an attempt when it begins, so whoever was told "pending" in this
 * one still waits.  A runner that was not has nothing to suspend for.
 */
void
ending_suspend(Run *run)
{
	Outcome		outcome = {0};

	output_collect(&run->output, OUTPUT_OUTCOME_EVENTS);
	if (!run->waits || !run->output.sound)
	{
		ending_forged(run);
		return;
	}
	outcome.status = OUTCOME_PAUSED;
	outcome.events = run->output.events.data;
	outcome_add(run->claim, &outcome);
	sandbox_end(run->sandbox, NULL);
}

void
ending_timeout(Run *run)
{
	output_collect(&run->output, OUTPUT_OUTCOME_EVENTS);
	record_failure(run, "timed_out", "timeout",
				   psprintf("the execution exceeded its timeout of %d ms", run->claim->timeout_ms));
	sandbox_end(run->sandbox, NULL);
}

/* the record turns this into "cancelled", with the reason that was given */
void
ending_cancel(Run *run)
{
	output_collect(&run->output, OUTPUT_OUTCOME_EVENTS);
	record_failure(run, "failed", "cancelled", "cancelled");
	sandbox_end(run->sandbox, NULL);
}

bool
ending_death(Run *run)
{
	SandboxDeath death;
	char		version[MAX_VERSION_BYTES + 1];
	Outcome		outcome = {0};

	output_collect(&run->output, OUTPUT_OUTCOME_EVENTS);
	strlcpy(version, sandbox_runtime_version(run->sandbox), sizeof(version));
	sandbox_end(run->sandbox, &death);
	if (death.never_started)
	{
		if (shmem_set_reason(HEALTH_RUNNER_START, death.message))
			ereport(LOG, (errmsg("sandbox_exec cannot run code: %s", death.message)));
		return false;
	}
	outcome.status = "failed";
	outcome.error_code = death.error_code;
	outcome.error = death.message;
	outcome.runtime_version = version;
	outcome.events = run->output.events.data;
	outcome_add(run->claim, &outcome);
	return true;
}

void
ending_reject(const Claim *claim, const char *code, const char *message)
{
	Outcome		outcome = {0};

	outcome.status = "failed";
	outcome.error_code = code;
	outcome.error = message;
	outcome_add(claim, &outcome);
}
