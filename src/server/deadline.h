/*
 * deadline.h
 *		The clock of a tool: what interrupts it.
 *
 * A tool runs in this process, so it is interrupted as a query is: by a pending
 * cancel, which also ends waits for locks.  The server arms statement_timeout
 * for clients' statements only, and the tool's time isn't the statement's.
 */
#ifndef SANDBOX_EXEC_DEADLINE_H
#define SANDBOX_EXEC_DEADLINE_H

#include "datatype/timestamp.h"

/*
 * From now on the deadline, or whoever wants this worker's attention, interrupts.
 * tool is its name, and has to stay.
 */
extern void deadline_begin(TimestampTz at, const char *tool);

/* the longest that the end of a call waits for whoever holds its row, in ms */
extern int	deadline_wait_ms(void);

/*
 * For such a wait, until the end of the subtransaction: it is the lock_timeout.  A
 * worker's also ends when that must leave, and may be longer than its other waits.
 */
extern void deadline_begin_wait(bool by_worker);

/* no longer; a cancel of ours that is still pending is taken back */
extern void deadline_end(void);

/* since deadline_begin(): the time was over */
extern bool deadline_passed(void);

/* ... or, before that, this worker was asked to look up (slot_is_wanted()) */
extern bool deadline_interrupted(void);

/*
 * ERROR when one of both is true: a tool that caught the cancel and then
 * returned in peace must not get away with it.
 */
extern void deadline_check(void);

#endif
