/*
 * store_pause.h
 *		What workers do to paused executions; as store.h says.
 */
#ifndef SANDBOX_EXEC_STORE_PAUSE_H
#define SANDBOX_EXEC_STORE_PAUSE_H

#include "store.h"

/*
 * Park an execution whose code waits for answers, with the elements of a JSON
 * array of events, or NULL.  RECORDED_YES also where it was queued at once, since
 * an answer has come, or cancelled.
 */
extern XactResult store_suspend(const Claim *claim, const char *events, Recorded *recorded);

/* these executions have ended: answer those that wait for them and aren't locked */
extern XactResult store_tell_parents(const pg_uuid_t *children, int count);

#endif
