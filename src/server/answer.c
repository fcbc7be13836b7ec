/*
 * answer.c
 *		Answers a call of the code that runs.
 *
 * The tool's effect, its journal row and the log commit together, or not at
 * all.  So whatever goes wrong before the commit, the call has not happened,
 * and another attempt makes it; whatever goes wrong after it, another attempt
 * finds the answer in the journal.
 */
#include "postgres.h"

#include "answer.h"
#include "common/hashfn.h"
#include "deadline.h"
#include "miscadmin.h"
#include "slot.h"
#include "store.h"
#include "utils/timestamp.h"
#include "../protocol/json_check.h"
#include "../protocol/utf8.h"

/* a call that takes less holds nobody up */
#define QUICK_US 5000

/* by a hash of their names, which calls took less the last time */
static bool quick[256];

static bool *
quick_of(const CallMessage *call)
{
	uint32		hash = hash_bytes((const unsigned char *) call->name.data, (int) call->name.length);

	return &quick[hash % lengthof(quick)];
}

bool
answer_was_quick(const CallMessage *call)
{
	return *quick_of(call);
}

static bool
plausible(const CallMessage *call)
{
	return call->seq > 0 &&
		utf8_valid(call->kind.data, call->kind.length) &&
		utf8_valid(call->name.data, call->name.length) &&
		(call->args.data == NULL || json_check(call->args.data, call->args.length));
}

static CallRequest
request_of(Run *run, const CallMessage *call, bool slept)
{
	CallRequest request = {0};

	request.id = run->claim->id;
	request.token = run->claim->token;
	request.seq = (int) call->seq;
	request.kind = pnstrdup(call->kind.data, call->kind.length);
	request.name = pnstrdup(call->name.data, call->name.length);
	request.args = call->args.data ? pnstrdup(call->args.data, call->args.length) : NULL;
	request.events = run->output.count > 0 ? run->output.events.data : NULL;
	request.by_worker = true;
	request.slept = slept;
	return request;
}

/* the recorded time, so that a replay reads the same clock; 0 leaves it alone */
static int64
unix_ms(TimestampTz at)
{
	if (at == 0)
		return 0;
	return at / 1000 + ((int64) (POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE)) * SECS_PER_DAY * 1000;
}

static void
send_answer(Run *run, const CallAnswer *answer)
{
	ReturnMessage message = {0};

	message.status = answer->ok ? RETURN_OK : RETURN_ERROR;
	message.delivered_no = answer->delivered_no;
	message.clock_ms = unix_ms(answer->at);
	message.value.data = answer->value;
	message.value.length = answer->value ? strlen(answer->value) : 0;
	sandbox_answer(run->sandbox, &message);
}

static void
send_pending(Run *run)
{
	ReturnMessage message = {RETURN_PENDING};

	run->waits = true;
	sandbox_answer(run->sandbox, &message);
}

static Answered
take_answer(Run *run, const CallAnswer *answer, int *sleep_ms, const char **reason)
{
	switch (answer->status)
	{
		case CALL_PENDING:
			if (!answer->replayed)
				output_logged(&run->output);
			send_pending(run);
			return ANSWER_SENT;
		case CALL_SLEEPS:
			*sleep_ms = answer->wait_ms;
			return ANSWER_SLEEPS;
		case CALL_ANSWERED:
			if (!answer->replayed)
				output_logged(&run->output);
			send_answer(run, answer);
			return ANSWER_SENT;
		case CALL_CANCELLED:
			return ANSWER_CANCELLED;
		case CALL_DIVERGED:
			*reason = answer->value;
			return ANSWER_DIVERGED;
		case CALL_LOST:
			break;
	}
	return ANSWER_LOST;
}

Answered
answer_call(Run *run, const CallMessage *call, bool slept, int *sleep_ms, const char **reason)
{
	CallRequest request;
	CallAnswer	answer = {0};
	TimestampTz began = GetCurrentTimestamp();
	int			sqlerrcode;

	output_collect(&run->output, OUTPUT_OUTCOME_EVENTS);
	if (!plausible(call) || !run->output.sound)
		return ANSWER_FORGED;
	request = request_of(run, call, slept);
	for (;;)
	{
		switch (store_call(&request, &answer))
		{
			case XACT_DONE:
				*quick_of(call) = GetCurrentTimestamp() - began < QUICK_US;
				return take_answer(run, &answer, sleep_ms, reason);
			case XACT_GONE:
				return ANSWER_LOST;
			case XACT_HELD:
				*reason = "the extension is being changed or dropped";
				return ANSWER_FAILED;
			case XACT_FAILED:
				break;
		}
		if (slot_must_leave())
			return ANSWER_LEAVING;
		*reason = xact_last_error(&sqlerrcode);

		/* somebody holds what is needed: nothing has happened, ask again, for a while */
		if (sqlerrcode != ERRCODE_LOCK_NOT_AVAILABLE && sqlerrcode != ERRCODE_T_R_DEADLOCK_DETECTED)
			return ANSWER_FAILED;
		if (TimestampDifferenceExceeds(began, GetCurrentTimestamp(), deadline_wait_ms()))
			return ANSWER_LEAVING;
	}
}
