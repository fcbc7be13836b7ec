/*
 * fuzz_message.c
 *		Any bytes as a frame: decoders stay in bounds, and what they take comes
 *		out of the encoder as it went in.
 */
#include <stdlib.h>
#include <string.h>

#include "../../src/protocol/message.h"
#include "../../src/protocol/utf8.h"

#define MAX_PAYLOAD (1024 * 1024)

extern int	LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint8_t again[FRAME_HEADER_SIZE + MAX_RUN_PAYLOAD];

static void
must(int condition)
{
	if (!condition)
		abort();
}

/* touch every byte, so that the sanitizer sees each bound */
static void
touch(FrameText text)
{
	static volatile unsigned char sink;

	for (uint32_t i = 0; i < text.length; i++)
		sink = (unsigned char) text.data[i];
	(void) sink;
}

static void
must_equal(const uint8_t *frame, size_t size, size_t again_size)
{
	must(again_size == size && memcmp(frame, again, size) == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t		type;
	FrameReader payload;
	size_t		frame_size;
	ReadyMessage ready;
	RunMessage	run;
	CallMessage call;
	ReturnMessage answer;
	DoneMessage done;

	if (frame_peek(data, size, MAX_PAYLOAD, &type, &payload, &frame_size) <= 0)
		return 0;
	must(frame_size <= size);
	if (type == MESSAGE_READY && message_get_ready(&payload, &ready))
		must_equal(data, frame_size, message_put_ready(again, sizeof(again), &ready));
	else if (type == MESSAGE_BURST)
	{
		while (message_get_burst(&payload, &run))
			touch(run.code);
	}
	else if (type == MESSAGE_RUN && message_get_run(&payload, &run))
	{
		touch(run.execution);
		touch(run.args);
		touch(run.code);
		must_equal(data, frame_size, message_put_run(again, sizeof(again), &run));
	}
	else if (type == MESSAGE_CALL && message_get_call(&payload, &call))
	{
		touch(call.kind);
		touch(call.name);
		touch(call.args);
		must_equal(data, frame_size, message_put_call(again, sizeof(again), &call));
	}
	else if (type == MESSAGE_RETURN && message_get_return(&payload, &answer))
	{
		touch(answer.value);
		must_equal(data, frame_size, message_put_return(again, sizeof(again), &answer));
	}
	else if (type == MESSAGE_SUSPEND && message_get_suspend(&payload))
		must_equal(data, frame_size, message_put_suspend(again, sizeof(again)));
	else if (type == MESSAGE_DONE && message_get_done(&payload, &done))
	{
		must(utf8_valid(done.error.data, done.error.length));
		touch(done.result);
		must_equal(data, frame_size, message_put_done(again, sizeof(again), &done));
	}
	return 0;
}
