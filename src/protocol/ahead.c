/*
 * ahead.c
 *		Counters and frames in memory that worker and runner share.
 *
 * begun and stop are each written by one side and read by the other, both in
 * one total order: either the runner sees the stop, or the worker sees that
 * it began.
 */
#include "ahead.h"

#include <string.h>

void
ahead_reset(Ahead *ahead)
{
	atomic_store(&ahead->begun, 0);
	atomic_store(&ahead->done, 0);
	atomic_store(&ahead->stop, 0);
}

uint32_t
ahead_stop(Ahead *ahead)
{
	atomic_store(&ahead->stop, 1);
	return atomic_load(&ahead->begun);
}

size_t
ahead_take(Ahead *ahead, uint32_t number, uint8_t frame[AHEAD_DONE_MAX])
{
	uint32_t	size;

	if (number >= AHEAD_MAX || atomic_load(&ahead->done) <= number)
		return 0;
	size = *(volatile uint32_t *) &ahead->left[number].size;
	if (size == 0 || size > AHEAD_DONE_MAX)
		size = AHEAD_DONE_MAX;	/* forged: whatever it is, it is no frame */
	memcpy(frame, ahead->left[number].frame, size);
	return size;
}

bool
ahead_begin(Ahead *ahead, uint32_t number)
{
	atomic_store(&ahead->begun, number + 1);
	return atomic_load(&ahead->stop) == 0;
}

bool
ahead_leave(Ahead *ahead, uint32_t number, const uint8_t *frame, size_t size)
{
	if (size > AHEAD_DONE_MAX || number >= AHEAD_MAX || atomic_load(&ahead->stop) != 0)
		return false;
	memcpy(ahead->left[number].frame, frame, size);
	ahead->left[number].size = (uint32_t) size;
	atomic_store(&ahead->done, number + 1);
	return true;
}
