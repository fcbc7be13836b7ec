/*
 * answer.h
 *		Answers a call of the code that runs: the journal's answer, or a new one.
 */
#ifndef SANDBOX_EXEC_ANSWER_H
#define SANDBOX_EXEC_ANSWER_H

#include "ending.h"

typedef enum Answered
{
	ANSWER_SENT,				/* the code goes on, or knows that it has to wait */
	ANSWER_SLEEPS,				/* for *sleep_ms; then answer the same call again, slept */
	ANSWER_LOST,				/* the claim no longer holds */
	ANSWER_DIVERGED,			/* the journal has another call there; *reason names both */
	ANSWER_CANCELLED,			/* somebody cancelled it */
	ANSWER_FORGED,				/* the runner made a call that it cannot make */
	ANSWER_FAILED,				/* this attempt cannot go on; *reason says why */
	ANSWER_LEAVING				/* this worker must leave */
} Answered;

/*
 * Run the call, or find it in the journal, in a transaction that also writes
 * what the code printed so far, and send the answer.
 */
extern Answered answer_call(Run *run, const CallMessage *call, bool slept, int *sleep_ms,
							const char **reason);

/*
 * Whether what is called was answered within a few milliseconds the last time.
 * While it isn't, this worker does nothing else.
 */
extern bool answer_was_quick(const CallMessage *call);

#endif
