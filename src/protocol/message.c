/*
 * message.c
 *		The messages as fields of frames, and their bounds.
 *
 * Each get reads its fields in the order in which put wrote them and judges
 * once, at the end.
 */
#include "message.h"
#include "utf8.h"

/* absent texts are always within bounds */
static bool
within(FrameText text, size_t limit)
{
	return text.data == NULL || text.length <= limit;
}

/* a boolean travels as 0 or 1; anything else is no message of ours */
static bool
get_bool(FrameReader *r)
{
	uint8_t		value = frame_get_u8(r);

	if (value > 1)
		r->broken = true;
	return value == 1;
}

/*
 * The order of the fields is the protocol: put and get stand next to each
 * other, and a change of either raises PROTOCOL_VERSION.
 */
size_t
message_put_ready(void *buffer, size_t capacity, const ReadyMessage *m)
{
	FrameWriter w;

	frame_begin(&w, buffer, capacity, MESSAGE_READY);
	frame_put_u32(&w, m->protocol_version);
	frame_put_u8(&w, m->seccomp);
	frame_put_text(&w, m->runtime_version);
	return frame_end(&w);
}

/*
 * The version text goes into the record as it is, so it must be sound text.
 */
bool
message_get_ready(FrameReader *payload, ReadyMessage *m)
{
	m->protocol_version = frame_get_u32(payload);
	m->seccomp = get_bool(payload);
	m->runtime_version = frame_get_text(payload);
	return frame_complete(payload) &&
		m->runtime_version.data != NULL &&
		within(m->runtime_version, MAX_VERSION_BYTES) &&
		utf8_valid(m->runtime_version.data, m->runtime_version.length);
}

size_t
message_put_run(void *buffer, size_t capacity, const RunMessage *m)
{
	FrameWriter w;

	frame_begin(&w, buffer, capacity, MESSAGE_RUN);
	frame_put_bytes(&w, m->id, sizeof(m->id));
	frame_put_i64(&w, m->clock_ms);
	frame_put_i64(&w, m->memory_limit);
	frame_put_u32(&w, m->max_output_chars);
	frame_put_text(&w, m->execution);
	frame_put_text(&w, m->args);
	frame_put_text(&w, m->code);
	return frame_end(&w);
}

/*
 * The runner trusts its worker more than the reverse, but a wrong length here
 * would still be a wrong execution: everything is bounded all the same.
 */
bool
message_get_run(FrameReader *payload, RunMessage *m)
{
	frame_get_bytes(payload, m->id, sizeof(m->id));
	m->clock_ms = frame_get_i64(payload);
	m->memory_limit = frame_get_i64(payload);
	m->max_output_chars = frame_get_u32(payload);
	m->execution = frame_get_text(payload);
	m->args = frame_get_text(payload);
	m->code = frame_get_text(payload);
	return frame_complete(payload) &&
		m->memory_limit >= 0 &&
		m->execution.data != NULL &&
		m->code.data != NULL &&
		within(m->execution, MAX_EXECUTION_JSON_BYTES) &&
		within(m->args, MAX_ARGS_BYTES) &&
		within(m->code, MAX_CODE_BYTES);
}

size_t
message_put_burst(void *buffer, size_t capacity, const RunMessage *runs, int count)
{
	FrameWriter w;

	frame_begin(&w, buffer, capacity, MESSAGE_BURST);
	for (int i = 0; i < count; i++)
	{
		size_t		size = message_put_run(w.buffer + w.used, capacity - w.used, &runs[i]);

		if (size == 0)
			return 0;
		w.used += size;
	}
	return frame_end(&w);
}

bool
message_get_burst(FrameReader *payload, RunMessage *next)
{
	uint8_t		type;
	FrameReader run;
	size_t		size;

	if (frame_peek(payload->data + payload->position, payload->length - payload->position,
				   MAX_RUN_PAYLOAD, &type, &run, &size) <= 0 ||
		type != MESSAGE_RUN)
		return false;
	payload->position += size;
	return message_get_run(&run, next);
}

size_t
message_put_call(void *buffer, size_t capacity, const CallMessage *m)
{
	FrameWriter w;

	frame_begin(&w, buffer, capacity, MESSAGE_CALL);
	frame_put_u32(&w, m->seq);
	frame_put_text(&w, m->kind);
	frame_put_text(&w, m->name);
	frame_put_text(&w, m->args);
	return frame_end(&w);
}

bool
message_get_call(FrameReader *payload, CallMessage *m)
{
	m->seq = frame_get_u32(payload);
	m->kind = frame_get_text(payload);
	m->name = frame_get_text(payload);
	m->args = frame_get_text(payload);
	return frame_complete(payload) &&
		m->kind.data != NULL && within(m->kind, MAX_CALL_KIND_BYTES) &&
		m->name.data != NULL && within(m->name, MAX_CALL_NAME_BYTES) &&
		within(m->args, MAX_CALL_ARGS_BYTES);
}

size_t
message_put_return(void *buffer, size_t capacity, const ReturnMessage *m)
{
	FrameWriter w;

	frame_begin(&w, buffer, capacity, MESSAGE_RETURN);
	frame_put_u8(&w, m->status);
	frame_put_u32(&w, m->delivered_no);
	frame_put_i64(&w, m->clock_ms);
	frame_put_text(&w, m->value);
	return frame_end(&w);
}

bool
message_get_return(FrameReader *payload, ReturnMessage *m)
{
	m->status = frame_get_u8(payload);
	m->delivered_no = frame_get_u32(payload);
	m->clock_ms = frame_get_i64(payload);
	m->value = frame_get_text(payload);
	if (!frame_complete(payload) || m->status > RETURN_PENDING || m->clock_ms < 0)
		return false;
	if (m->status == RETURN_PENDING)
		return m->delivered_no == 0 && m->clock_ms == 0 && m->value.data == NULL;
	return within(m->value, MAX_CALL_VALUE_BYTES);
}

size_t
message_put_suspend(void *buffer, size_t capacity)
{
	FrameWriter w;

	frame_begin(&w, buffer, capacity, MESSAGE_SUSPEND);
	return frame_end(&w);
}

bool
message_get_suspend(FrameReader *payload)
{
	return frame_complete(payload);
}

size_t
message_put_dropped(void *buffer, size_t capacity)
{
	FrameWriter w;

	frame_begin(&w, buffer, capacity, MESSAGE_DROPPED);
	return frame_end(&w);
}

bool
message_get_dropped(FrameReader *payload)
{
	return frame_complete(payload);
}

size_t
message_put_done(void *buffer, size_t capacity, const DoneMessage *m)
{
	FrameWriter w;

	frame_begin(&w, buffer, capacity, MESSAGE_DONE);
	frame_put_u8(&w, m->succeeded);
	frame_put_u32(&w, (uint32_t) m->exit_code);
	frame_put_u8(&w, m->reusable);
	frame_put_text(&w, m->error_code);
	frame_put_text(&w, m->error);
	frame_put_text(&w, m->result);
	return frame_end(&w);
}

/* texts of an outcome go into SQL as they are: in bounds and sound */
static bool
text_is_sound(FrameText text, size_t limit)
{
	return text.data == NULL ||
		(within(text, limit) && utf8_valid(text.data, text.length));
}

/*
 * The runner may have been taken over by the code: whatever this accepts must
 * be harmless to every later step.  The result's JSON is checked apart
 * (json_check.h), since only the worker needs that.
 */
bool
message_get_done(FrameReader *payload, DoneMessage *m)
{
	m->succeeded = get_bool(payload);
	m->exit_code = (int32_t) frame_get_u32(payload);
	m->reusable = get_bool(payload);
	m->error_code = frame_get_text(payload);
	m->error = frame_get_text(payload);
	m->result = frame_get_text(payload);
	if (!frame_complete(payload))
		return false;

	/* a success has no error, a failure has a code and no result */
	if (m->succeeded)
	{
		if (m->error_code.data != NULL || m->error.data != NULL)
			return false;
	}
	else if (m->error_code.data == NULL || m->error_code.length == 0 ||
			 m->result.data != NULL)
		return false;

	return text_is_sound(m->error_code, MAX_ERROR_CODE_BYTES) &&
		text_is_sound(m->error, MAX_ERROR_BYTES) &&
		text_is_sound(m->result, MAX_RESULT_BYTES);
}
