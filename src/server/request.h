/*
 * request.h
 *		What a runner is told to run.
 */
#ifndef SANDBOX_EXEC_REQUEST_H
#define SANDBOX_EXEC_REQUEST_H

#include "sandbox.h"
#include "store.h"

/* have the runner begin; what becomes of that, sandbox_wait() tells */
extern void request_send(Sandbox *sandbox, const Claim *claim);

#endif
