/*
 * worker_model.c
 *		A worker and its journal in memory.
 */
#include "worker_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define START_MS INT64_C(1700000000000)

static char *
copy_text(FrameText text)
{
	return text.data != NULL ? strndup(text.data, text.length) : NULL;
}

void
worker_model_begin(WorkerModel *model, const char *code)
{
	memset(model, 0, sizeof(*model));
	model->code = code;
	model->now_ms = START_MS;
}

/* ------------------------------------------------------------------------
 * Journal
 * ------------------------------------------------------------------------ */

static void
give_number(WorkerModel *model, ModelCall *call)
{
	call->delivered_no = ++model->delivered;
	call->clock_ms = ++model->now_ms;
}

void
worker_model_settle(WorkerModel *model, ModelCall *call, ReturnStatus status, const char *value)
{
	call->status = status;
	call->value = strdup(value);
	give_number(model, call);
}

void
worker_model_answer(WorkerModel *model, uint32_t seq, const char *value)
{
	ModelCall  *call = &model->calls[seq - 1];

	if (seq > model->count || call->status != RETURN_PENDING || call->answered != 0)
		abort();
	call->answered = ++model->answered;
	call->value = strdup(value);
}

/* what came in since the last attempt began, in the order in which it came */
static void
deliver(WorkerModel *model)
{
	for (uint32_t order = 1; order <= model->answered; order++)
		for (uint32_t i = 0; i < model->count; i++)
			if (model->calls[i].answered == order && model->calls[i].status == RETURN_PENDING)
			{
				model->calls[i].status = RETURN_OK;
				give_number(model, &model->calls[i]);
			}
}

static bool
same_text(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static bool
same_call(const ModelCall *a, const ModelCall *b)
{
	return same_text(a->kind, b->kind) && same_text(a->name, b->name) && same_text(a->args, b->args);
}

static void
forget_call(ModelCall *call)
{
	free(call->kind);
	free(call->name);
	free(call->args);
	free(call->value);
}

/* the journal's row for the call, a new one if need be; NULL: it is another call */
static ModelCall *
find_call(WorkerModel *model, const CallMessage *message)
{
	ModelCall	made = {.kind = copy_text(message->kind),
					  .name = copy_text(message->name),
					  .args = copy_text(message->args),
					  .status = RETURN_PENDING};
	ModelCall  *call = &model->calls[model->made++];

	if (message->seq != model->made || model->made > MODEL_CALLS)
		abort();
	if (model->made > model->count)
	{
		model->count++;
		*call = made;
		model->decide(model, call);
		return call;
	}
	if (!same_call(call, &made))
	{
		snprintf(model->why, sizeof(model->why), "call %u: the journal has %s %s %s, the code makes %s %s %s",
				 message->seq, call->kind, call->name, call->args ? call->args : "",
				 made.kind, made.name, made.args ? made.args : "");
		call = NULL;
	}
	forget_call(&made);
	return call;
}

/* ------------------------------------------------------------------------
 * One attempt
 * ------------------------------------------------------------------------ */

static bool
answer_call(WorkerModel *model, const ModelCall *call)
{
	ReturnMessage answer = {.status = call->status};

	if (call->status != RETURN_PENDING)
	{
		answer.delivered_no = call->delivered_no;
		answer.clock_ms = call->clock_ms;
		answer.value = (FrameText){call->value, (uint32_t) strlen(call->value)};
	}
	return runner_client_answer(&model->client, &answer);
}

static AttemptEnd
take_done(WorkerModel *model, const DoneMessage *done)
{
	model->succeeded = done->succeeded;
	model->error_code = copy_text(done->error_code);
	model->text = copy_text(done->succeeded ? done->result : done->error);
	return ATTEMPT_DONE;
}

static AttemptEnd
play(WorkerModel *model)
{
	for (;;)
	{
		RunnerSays	says = runner_client_listen(&model->client);
		ModelCall  *call;

		if (says.type == MESSAGE_DONE)
			return take_done(model, &says.done);
		if (says.type == MESSAGE_SUSPEND)
			return ATTEMPT_SUSPENDED;
		if (says.type != MESSAGE_CALL)
			return ATTEMPT_DIED;
		call = find_call(model, &says.call);
		if (call == NULL)
			return ATTEMPT_DIVERGED;
		if (model->between != NULL && !model->between(model, 0))
			return ATTEMPT_CRASHED;
		if (!answer_call(model, call))
			return ATTEMPT_DIED;
		if (model->between != NULL && !model->between(model, 1))
			return ATTEMPT_CRASHED;
	}
}

static void
forget_attempt(WorkerModel *model)
{
	if (model->client.inbox != NULL)
		runner_client_end(&model->client);
	free(model->text);
	free(model->error_code);
	free(model->output);
	model->text = model->error_code = model->output = NULL;
	model->made = 0;
}

AttemptEnd
worker_model_attempt(WorkerModel *model)
{
	RunnerOptions options = runner_client_defaults();
	RunMessage	request = runner_client_request(model->code);
	AttemptEnd	end;
	bool		truncated;

	forget_attempt(model);
	deliver(model);
	request.clock_ms = START_MS;
	if (!runner_client_spawn(&model->client, &options) ||
		!runner_client_await_ready(&model->client) ||
		!runner_client_send(&model->client, &request))
		return ATTEMPT_DIED;
	end = play(model);
	model->output = runner_client_output(&model->client, OUTLOG_STDOUT, &truncated);
	return end;
}

void
worker_model_end(WorkerModel *model)
{
	forget_attempt(model);
	for (uint32_t i = 0; i < model->count; i++)
		forget_call(&model->calls[i]);
	model->count = 0;
}
