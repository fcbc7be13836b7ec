/*
 * outcome.h
 *		Outcomes on their way into the record.
 *
 * Several are written in one transaction.  Whatever goes wrong on the way, an
 * outcome is kept until it is written or refused: a row that another session
 * has locked, a full disk, a value that the server does not take.
 */
#ifndef SANDBOX_EXEC_OUTCOME_H
#define SANDBOX_EXEC_OUTCOME_H

#include "store.h"

/* it has not ended, but waits for answers; with events only */
#define OUTCOME_PAUSED "paused"

/* what an execution came to; texts are copied */
typedef struct Outcome
{
	const char *status;			/* succeeded, failed or timed_out; or OUTCOME_PAUSED */
	const char *result;			/* JSON text, or NULL */
	bool		has_exit_code;
	int			exit_code;
	const char *error;			/* or NULL */
	const char *error_code;		/* or NULL */
	const char *runtime_version;	/* or NULL */
	const char *events;			/* elements of a JSON array, or NULL */
} Outcome;

extern void outcome_add(const Claim *claim, const Outcome *outcome);

/* how many wait; and since when the oldest that was never tried (0: none) */
extern int	outcome_count(void);
extern int64 outcome_waiting_since(void);

/* so much waits, for rows that others hold, that no more is to be claimed */
extern bool outcome_enough(void);

/*
 * Try to write all that may be tried now.  Those of locked rows, and all of
 * them after an ERROR such as a full disk, stay for a later call.
 */
extern void outcome_flush(void);

/* ms until the next of those that failed may be tried again; -1 when there is none */
extern long outcome_retry_in(void);

/* the clock of all this, in microseconds */
extern int64 outcome_clock(void);

#endif
