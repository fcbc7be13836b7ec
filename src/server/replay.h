/*
 * replay.h
 *		What earlier attempts have logged, and how far this one repeats it.
 *
 * Programs are deterministic, so a later attempt prints first what the log
 * already holds.  That part is recognized and not logged again; where it
 * differs, the log says so and goes on from there.
 */
#ifndef SANDBOX_EXEC_REPLAY_H
#define SANDBOX_EXEC_REPLAY_H

#include "../protocol/outlog.h"

/* one stored event of output; what else the log holds is no output */
typedef struct LoggedEvent
{
	int64		pos;
	OutlogStream stream;
	bool		truncated;		/* the stream was cut after the text */
	char	   *text;			/* of a custom event: its data, as jsonb prints it */
	size_t		length;
} LoggedEvent;

typedef struct Replay
{
	const LoggedEvent *events;
	int			count;
	int			next;			/* first that was not repeated in full */
	size_t		taken;			/* bytes of its text that were */
	int64		diverged_at;	/* position of the first event that differs, or 0 */
} Replay;

/* there is still something to repeat */
extern bool replay_active(const Replay *replay);

/*
 * How many bytes of this piece the log already holds.  What remains (and the
 * mark of a cut, when *known_cut is false) is new.
 */
extern size_t replay_match(Replay *replay, const OutlogPiece *piece, const char *text,
						   bool *known_cut);

/* the code ended by itself: what it did not repeat, it should have */
extern void replay_finish(Replay *replay);

#endif
