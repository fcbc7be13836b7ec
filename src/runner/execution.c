/*
 * execution.c
 *		The state of the current execution outside of Lua.
 */
#include "execution.h"
#include "answer.h"
#include "error_codes.h"
#include "../protocol/utf8.h"

#include <stdio.h>
#include <string.h>

Execution	current;

/* half of the id as an integer, the same on every machine */
static int64_t
seed_from(const uint8_t *bytes)
{
	uint64_t	value = 0;

	for (int i = 0; i < 8; i++)
		value = value << 8 | bytes[i];
	return (int64_t) value;
}

/*
 * Field by field, without the buffers: clearing 8 kB for each execution would
 * cost more than restoring the Lua state.
 */
void
execution_begin(const RunMessage *request, void *area)
{
	current.clock_ms = request->clock_ms;
	current.readings = 0;
	current.calls = 0;
	current.seed[0] = seed_from(request->id);
	current.seed[1] = seed_from(request->id + 8);
	current.memory_limit = request->memory_limit;
	answer_reset();
	memset(&current.outcome, 0, sizeof(current.outcome));
	outlog_reset(&current.output, area, request->max_output_chars);
}

/* The first reading is the start itself. */
int64_t
execution_read_clock(void)
{
	return current.readings++;
}

/* the cap on characters is the writer's concern */
void
execution_set_clock(int64_t now_ms)
{
	if (now_ms - current.clock_ms > current.readings)
		current.readings = now_ms - current.clock_ms;
}

void
execution_print(OutlogStream stream, const char *text, size_t length)
{
	outlog_write(&current.output, stream, text, length);
}

/* all texts of an outcome are far shorter than 4 GB */
static FrameText
as_text(const char *data, size_t length)
{
	FrameText	text = {data, (uint32_t) length};

	return text;
}

/* The text isn't copied: it may be a megabyte. */
void
execution_succeed(const char *result, size_t length)
{
	current.outcome.succeeded = true;
	current.outcome.exit_code = 0;
	current.outcome.result = as_text(result, length);
}

/*
 * The text comes from the code and may be anything; the record takes valid
 * text of bounded length.  The code is one of error_codes.h, or was checked.
 */
void
execution_fail(const char *code, int exit_code, const char *text, size_t length)
{
	size_t		code_length = strlen(code);
	size_t		consumed;
	size_t		chars;
	size_t		n;

	memcpy(current.error_code, code, code_length);
	n = utf8_sanitize(text, length, current.error, sizeof(current.error), SIZE_MAX,
					  &consumed, &chars);
	current.outcome.succeeded = false;
	current.outcome.exit_code = exit_code;
	current.outcome.error_code = as_text(current.error_code, code_length);
	current.outcome.error = as_text(current.error, n);
}

/* see Execution.end for why this may skip Lua's frames */
void
execution_end(void)
{
	longjmp(current.end, 1);
}

/*
 * Called from within the allocator, so it must not use Lua.  Whatever was
 * going on, a result half written for instance, this is what the execution
 * came to.
 */
void
execution_out_of_memory(void)
{
	char		text[80];
	int			n = snprintf(text, sizeof(text), "memory limit of %lld kB exceeded",
							 (long long) (current.memory_limit / 1024));

	execution_fail(ERROR_MEMORY, 1, text, (size_t) n);
	execution_end();
}
