/*
 * run.h
 *		One execution, from the request to its outcome.
 */
#ifndef SANDBOX_EXEC_RUN_H
#define SANDBOX_EXEC_RUN_H

#include "../protocol/message.h"

/*
 * Run the request's code in a fresh state, printing into area.  The outcome
 * and its texts stay valid until the next call; reusable is for the caller to set.
 */
extern const DoneMessage *run_request(const RunMessage *request, void *area);

#endif
