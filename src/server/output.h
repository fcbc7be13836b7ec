/*
 * output.h
 *		What the code of one execution prints and emits, as events for the log.
 */
#ifndef SANDBOX_EXEC_OUTPUT_H
#define SANDBOX_EXEC_OUTPUT_H

#include "lib/stringinfo.h"
#include "replay.h"

/* events that one append carries (design, section 10) */
#define OUTPUT_APPEND_EVENTS 1000

/* and the outcome, which takes all that is left: two a record, and more */
#define OUTPUT_OUTCOME_EVENTS (3 * OUTLOG_RECORDS_MAX)

typedef struct Output
{
	const void *area;			/* shared with the runner */
	OutlogCursor cursor;
	Replay		replay;
	int			attempt;		/* for the event that tells of a difference */
	bool		told_difference;
	bool		sound;			/* false: the area or an event in it was forged */
	StringInfoData events;		/* collected and not yet in the log: elements of a
								 * JSON array, separated by commas */
	int			count;			/* of those events */
} Output;

/*
 * Begin before the request is sent to the runner.  generation is the area's
 * before this execution; logged is what earlier attempts left in the log, and
 * is kept by reference.
 */
extern void output_begin(Output *output, const void *area, uint32 generation,
						 const LoggedEvent *logged, int logged_count, int attempt);

/* collect what has come, up to max_events in all; false when it is not sound */
extern bool output_collect(Output *output, int max_events);

/*
 * The code ended by itself: collect everything, and compare the end too.  quiet:
 * there is nothing, and the area may be another execution's by now.
 */
extern bool output_finish(Output *output, bool quiet);

/* what was collected is in the log */
extern void output_logged(Output *output);

#endif
