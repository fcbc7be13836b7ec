/*
 * burst.c
 *		Which of the executions that were sent is the current one.
 *
 * The area is the runner's to write: a count is believed as far as it lies in
 * bounds, and a message as if it had come by the socket.
 */
#include "postgres.h"

#include "burst.h"
#include "../protocol/outlog.h"

void
burst_init(Burst *burst, Ahead *ahead, const void *outlog)
{
	memset(burst, 0, sizeof(Burst));
	burst->ahead = ahead;
	burst->outlog = outlog;
	burst->most = AHEAD_MAX;
}

bool
burst_has_it(const Burst *burst)
{
	return burst->sent > burst->taken;
}

int
burst_ahead(const Burst *burst)
{
	return burst_has_it(burst) ? burst->sent - burst->taken - 1 : 0;
}

uint32
burst_generation(const Burst *burst)
{
	if (burst_has_it(burst))
		return burst->generation + burst->taken;
	return outlog_generation(burst->outlog);
}

/* that one which has begun after the current one shows that this is done */
int
burst_hold(Burst *burst)
{
	uint32		begun;

	if (burst_ahead(burst) == 0)
		return 0;
	begun = ahead_stop(burst->ahead);
	if (begun <= burst->taken || ahead_take(burst->ahead, burst->taken, burst->left) == 0)
		begun = burst->taken + 1;
	burst->sent = Min(burst->sent, begun);
	return burst_ahead(burst);
}

void
burst_queue(Burst *burst, char *frame, size_t size, int count)
{
	burst->next = frame;
	burst->next_size = size;
	burst->next_count = count;
}

/* only at the end of the one before: until then the runner may look at the area */
char *
burst_next(Burst *burst, size_t *size)
{
	char	   *frame = burst->next;

	if (frame == NULL || burst->open)
		return NULL;
	ahead_reset(burst->ahead);
	burst->generation = outlog_generation(burst->outlog);
	burst->open = true;
	burst->taken = 0;
	burst->sent = burst->next_count;
	burst->next = NULL;
	*size = burst->next_size;
	return frame;
}

BurstResult
burst_left(Burst *burst, DoneMessage *done)
{
	size_t		size = 0;
	FrameReader payload;
	uint8		type;

	if (burst_has_it(burst))
		size = ahead_take(burst->ahead, burst->taken, burst->left);
	if (size == 0)
		return BURST_NOTHING;
	if (frame_peek(burst->left, size, AHEAD_DONE_MAX, &type, &payload, &size) != 1 ||
		type != MESSAGE_DONE || !message_get_done(&payload, done) || !done->reusable)
		return BURST_FORGED;
	burst->taken++;
	return BURST_DONE;
}

void
burst_done(Burst *burst)
{
	if (burst_ahead(burst) > 0)
		burst->most = Max(burst->most / 2, 1);
	else
		burst->most = Min(burst->most * 2, AHEAD_MAX);
	burst->open = false;
	burst->taken = burst->sent;
}

BurstResult
burst_dropped(Burst *burst)
{
	if (!burst->open || burst_ahead(burst) > 0)
		return BURST_FORGED;
	burst->open = false;
	if (!burst_has_it(burst))
		return BURST_NOTHING;
	burst->taken = burst->sent;
	return BURST_DROPPED;
}
