/*
 * serve.c
 *		One execution after another, alone or in bursts.
 */
#include "serve.h"
#include "answer.h"
#include "arena.h"
#include "execution.h"
#include "peer.h"
#include "run.h"
#include "../protocol/ahead.h"

#include <string.h>
#include <unistd.h>

/*
 * Beyond so much touched memory the process isn't kept: what was touched can't
 * be given back after lock-down, and idle runners are to stay small.
 */
#define REUSE_MAX_TOUCHED ((size_t) 768 * 1024)

/* of a burst: calls use the peer's inbox while it's being worked on */
static uint8_t burst[AHEAD_BURST_BYTES];

/* small enough to be kept for another execution of the same submitter */
static bool
is_reusable(const DoneMessage *done)
{
	/* a result stands once as text and once in the frame */
	size_t		touched = arena_touched() + peer_touched() + answer_touched() +
		2 * (size_t) done->result.length;

	return touched <= REUSE_MAX_TOUCHED;
}

/* the outcome stands in the outbox, as a frame of that size */
static size_t
run(const RunMessage *request, void *area, bool *reusable)
{
	DoneMessage done = *run_request(request, area);

	*reusable = is_reusable(&done);
	done.reusable = *reusable;
	return message_put_done(peer_outbox, PEER_OUTBOX_SIZE, &done);
}

/* the worker need not look at what it has left behind before the next begins */
static bool
was_quiet(void)
{
	return current.calls == 0 && current.output.records == 0;
}

static bool
serve_one(FrameReader *payload, void *area)
{
	RunMessage	request;
	bool		reusable;

	if (!message_get_run(payload, &request))
		_exit(RUNNER_EXIT_USAGE);
	peer_send(run(&request, area, &reusable));
	return reusable;
}

static bool
serve_burst(FrameReader *payload, void *area)
{
	Ahead	   *ahead = (Ahead *) ((uint8_t *) area + OUTLOG_SIZE);
	FrameReader rest = {burst, payload->length, 0, false};
	RunMessage	request;
	bool		reusable;
	size_t		size;

	if (payload->length > sizeof(burst))
		_exit(RUNNER_EXIT_USAGE);
	memcpy(burst, payload->data, payload->length);
	for (uint32_t number = 0;; number++)
	{
		if (!message_get_burst(&rest, &request))
			_exit(RUNNER_EXIT_USAGE);
		if (!ahead_begin(ahead, number))
		{
			peer_send(message_put_dropped(peer_outbox, PEER_OUTBOX_SIZE));
			return true;
		}
		size = run(&request, area, &reusable);
		if (!reusable || rest.position == rest.length || !was_quiet() ||
			!ahead_leave(ahead, number, peer_outbox, size))
		{
			peer_send(size);
			return reusable;
		}
	}
}

void
serve(void *area)
{
	FrameReader payload;
	bool		goes_on = true;

	while (goes_on)
	{
		switch (peer_receive_any(&payload))
		{
			case MESSAGE_RUN:
				goes_on = serve_one(&payload, area);
				break;
			case MESSAGE_BURST:
				goes_on = serve_burst(&payload, area);
				break;
			default:
				_exit(RUNNER_EXIT_USAGE);
		}
	}
}
