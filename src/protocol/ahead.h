/*
 * ahead.h
 *		Executions that a runner was told of ahead of time, and how far it is.
 *
 * A round trip for each of many short executions would cost more than they do.
 * So a worker sends several at once (MESSAGE_BURST), and the runner runs one
 * after another.  What came of one that has printed nothing, called nothing and
 * returned little, it leaves here, and goes on.  All others, and the last one,
 * it answers by a frame, as it would without a burst, and drops the rest.
 *
 *		worker                          runner
 *		  BURST (1, 2, 3) --------------> runs 1: leaves its DONE here
 *		                                  runs 2: leaves its DONE here
 *		  <------------------------- DONE (of 3, which wakes the worker)
 *
 * So a burst always ends with one frame.  The worker can take back what has not
 * begun, by ahead_stop(): it learns the last one that may have begun, and if the
 * runner came to stand before that one, it says DROPPED instead of DONE.
 *
 * A runner in the hands of its code may leave anything here.  That is no more
 * than it could say by frames, of executions that are all of one trust domain.
 *
 * Pure C11 atomics: no allocation, no system call, no server header.
 */
#ifndef SANDBOX_EXEC_AHEAD_H
#define SANDBOX_EXEC_AHEAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* executions and bytes of one burst */
#define AHEAD_MAX 64
#define AHEAD_BURST_BYTES (64 * 1024)

/* a DONE that is larger is sent */
#define AHEAD_DONE_MAX 512

typedef struct Ahead
{
	_Atomic uint32_t begun;		/* runner: how many began */
	_Atomic uint32_t done;		/* runner: the first so many have left what came of them */
	_Atomic uint32_t stop;		/* worker: begin no more */
	struct
	{
		uint32_t	size;
		uint8_t		frame[AHEAD_DONE_MAX];
	} left[AHEAD_MAX];
} Ahead;

/* worker, before a burst, while the runner waits for a frame */
extern void ahead_reset(Ahead *ahead);

/* worker: begin no more; how many have begun, or are about to see the stop */
extern uint32_t ahead_stop(Ahead *ahead);

/* worker: a copy of the DONE frame of that number, from 0; 0: it isn't there */
extern size_t ahead_take(Ahead *ahead, uint32_t number, uint8_t frame[AHEAD_DONE_MAX]);

/* runner: whether that one, from 0, may begin; false: say DROPPED */
extern bool ahead_begin(Ahead *ahead, uint32_t number);

/* runner: leave its DONE, and go on; false: send it */
extern bool ahead_leave(Ahead *ahead, uint32_t number, const uint8_t *frame, size_t size);

#endif
