/*
 * request.h
 *		What a runner is told to run.
 */
#ifndef SANDBOX_EXEC_REQUEST_H
#define SANDBOX_EXEC_REQUEST_H

#include "sandbox.h"
#include "store.h"

/*
 * Have the runner begin the first of these claims, and go on with those after it
 * that are of the same domain, as far as they are small.  What becomes of that,
 * sandbox_wait() tells.
 */
extern void request_send(Sandbox *sandbox, const Claim *claims, int count);

#endif
