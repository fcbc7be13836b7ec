/*
 * execution.h
 *		A batch of claimed executions, from claim to outcome.  The only file that
 *		knows the whole sequence.
 */
#ifndef SANDBOX_EXEC_EXECUTION_H
#define SANDBOX_EXEC_EXECUTION_H

#include "store.h"

typedef enum BatchResult
{
	BATCH_DONE,					/* each has its outcome, or was given back */
	BATCH_SHED,					/* so it is, and one called a tool while others waited */
	BATCH_NO_RUNNER				/* the runner cannot be started: wait before the next */
} BatchResult;

/*
 * Run the batch in order.  Outcomes are written at its end, or 2 ms after the
 * first; when one execution takes longer than 20 ms, or calls what may, the
 * others are given back.  Returns early when this worker must leave, and then holds
 * nothing but outcomes that could not be written.  Leaves in the batch's count
 * how many of it began.
 */
extern BatchResult execution_run_batch(ClaimBatch *batch);

#endif
