/*
 * slot.h
 *		The worker's own place in shared memory: how others see and reach it.
 */
#ifndef SANDBOX_EXEC_SLOT_H
#define SANDBOX_EXEC_SLOT_H

#include "datatype/timestamp.h"
#include "utils/uuid.h"

/*
 * Take the place that the launcher reserved under that number.  False when it
 * was given away meanwhile: exit then.  It is given up at exit by itself.
 */
extern bool slot_attach(int index, int worker_no, Oid *database);

/* number of this worker, in rows and in the view */
extern int	slot_worker_no(void);

/* asked to give back what it holds and exit, now: shutdown, DDL */
extern bool slot_must_leave(void);

/*
 * The same, or asked to exit when the current execution has ended: fairness and
 * settings.  They must not interrupt it: it would begin anew each time, and one
 * that takes longer than a turn would never end.
 */
extern bool slot_should_leave(void);

/* leaves while the queue may hold more */
extern void slot_leaves_work(void);

/* leave when the current execution has ended, as if asked to */
extern void slot_retire(void);

/* leave, and leave claims behind: they go back when this worker is gone */
extern void slot_leave(void);

/* true once after a cancel hit one of its claims */
extern bool slot_take_attention(void);

/* take it, and have slot_take_attention() say so the next time */
extern void slot_put_off_attention(void);

/*
 * It must leave, or a cancel hit one of its claims: interrupt what it does.
 * For signal handlers; false in a process that is no worker.
 */
extern bool slot_is_wanted(void);

/*
 * Nothing to do: a wake-up may choose this worker.  False when something became
 * ready since the last claim: claim again, don't sleep.
 */
extern bool slot_idle(void);

/* about to claim: what became ready until now is seen by this claim */
extern void slot_claiming(void);

/* holds claims (true) or none (false) */
extern void slot_holds(bool claims);

/*
 * A claim could not be renewed or ended now, but may be soon: others
 * must not take it for lost because its lease has run out meanwhile.
 */
extern void slot_keeps(void);

/* runs that execution; ran it, or could not */
extern void slot_running(const pg_uuid_t *execution);
extern void slot_ran(bool ran);

/*
 * This process is about to end, for a tool that goes on beyond its time: whoever
 * gives back its claims is told.  For signal handlers.
 */
extern void slot_give_up(const char *tool);

/* the tool for which that worker ended while it ran the execution, or NULL */
extern char *slot_stubborn_tool(const pg_uuid_t *execution, int worker_no);

/* more is ready than one worker takes: wake or start another */
extern void slot_ask_for_help(void);

/*
 * This worker may repair now; not true twice within a second for one database, and
 * less often where a repair takes long, unless something falls due.
 */
extern bool slot_may_repair(void);

/* when this database needs a worker next */
extern TimestampTz slot_next_due(void);

/*
 * Publish it.  Between begin and end rows are read; a commit that falls between
 * lowers what begin reset, and end never raises it.  A worker that dies between
 * them has the next one look.
 */
extern void slot_begin_due(void);
extern void slot_end_due(TimestampTz due, bool worked);

#endif
