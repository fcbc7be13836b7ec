/*
 * request.h
 *		What a runner is asked to run.
 */
#ifndef SANDBOX_EXEC_REQUEST_H
#define SANDBOX_EXEC_REQUEST_H

#include "ending.h"

/* hand the claimed execution to its runner; nothing in it tells attempts apart */
extern void request_send(const Run *run);

#endif
