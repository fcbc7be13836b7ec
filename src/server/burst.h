/*
 * burst.h
 *		The executions that a runner holds, and how far it is (protocol/ahead.h).
 */
#ifndef SANDBOX_EXEC_BURST_H
#define SANDBOX_EXEC_BURST_H

#include "../protocol/ahead.h"
#include "../protocol/message.h"

typedef struct Burst
{
	Ahead	   *ahead;			/* shared with the runner */
	const void *outlog;
	bool		open;			/* the frame that ends it has not come */
	uint32		sent;			/* executions in it, without those taken back */
	uint32		taken;			/* of these, the first so many are done */
	uint32		generation;		/* of the output before it */
	int			most;			/* executions in the next one: fewer, when they aren't quiet */
	char	   *next;			/* the frame of the next, until this one's end */
	size_t		next_size;
	int			next_count;
	uint8		left[AHEAD_DONE_MAX];	/* the message at hand, if it was left */
} Burst;

typedef enum BurstResult
{
	BURST_NOTHING,
	BURST_DONE,					/* the current execution is */
	BURST_DROPPED,				/* the current execution did not begin */
	BURST_FORGED				/* no runner of ours would say so */
} BurstResult;

extern void burst_init(Burst *burst, Ahead *ahead, const void *outlog);

/* there is a current execution */
extern bool burst_has_it(const Burst *burst);

/* how many it holds beyond the current one */
extern int	burst_ahead(const Burst *burst);

/* the number in the output area that precedes the current execution's, or the next one's */
extern uint32 burst_generation(const Burst *burst);

/* let it begin no more: how many it keeps beyond the current one, as they may have begun */
extern int	burst_hold(Burst *burst);

/* a frame with so many executions is to be sent; it must be pallocated */
extern void burst_queue(Burst *burst, char *frame, size_t size, int count);

/* the frame to be sent now, which begins another burst; NULL: none */
extern char *burst_next(Burst *burst, size_t *size);

/* what the runner left of the current execution */
extern BurstResult burst_left(Burst *burst, DoneMessage *done);

/* it sent DONE, or DROPPED: the burst is over */
extern void burst_done(Burst *burst);
extern BurstResult burst_dropped(Burst *burst);

#endif
