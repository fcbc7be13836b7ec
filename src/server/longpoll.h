/*
 * longpoll.h
 *		Looking again and again at committed state from within one statement.
 *
 * The statement holds its snapshot and nothing else: each look happens under
 * the latest snapshot in a subtransaction that is rolled back, so no relation
 * lock stays behind to queue DDL, and behind that every claim.
 *
 *		do
 *		{
 *			seen = longpoll_generation(id, what);
 *			longpoll_look(body, arg);
 *		} while (not there yet && longpoll_sleep(id, what, seen, deadline));
 */
#ifndef SANDBOX_EXEC_LONGPOLL_H
#define SANDBOX_EXEC_LONGPOLL_H

#include "caller.h"
#include "datatype/timestamp.h"
#include "fmgr.h"
#include "shmem.h"
#include "utils/uuid.h"

/*
 * Runs as the extension's owner with SPI connected; outside is the context for
 * what has to outlive the look.
 */
typedef void (*LongpollBody)(void *arg, const Caller *caller, MemoryContext outside);

extern void longpoll_look(LongpollBody body, void *arg);

/* the state of this execution's meeting point; read it before looking */
extern uint64 longpoll_generation(const pg_uuid_t *id, Awaited what);

/*
 * Sleep until something happened there since, or for a poll's turn where nobody
 * wakes (on a standby, without preload).  False when the deadline has passed.
 */
extern bool longpoll_sleep(const pg_uuid_t *id, Awaited what, uint64 seen, TimestampTz deadline);

/* the ERROR of who would wait for its own open transaction */
extern void longpoll_refuse_own(void);

/* now + the interval argument, and at most now + longest_ms, which is also what null means */
extern TimestampTz longpoll_deadline(FunctionCallInfo fcinfo, int argument, const char *name,
									 int longest_ms);

#endif
