/*
 * api.h
 *		The C entry points of the SQL API, but for enqueue() (enqueue.c)
 *		and wait() (wait.c).
 *
 * The server calls them by their symbols; no C code does.  A symbol's number is
 * its interface: a changed signature gets a new number, and the old one stays
 * for databases whose extension wasn't updated yet.
 */
#ifndef SANDBOX_EXEC_API_H
#define SANDBOX_EXEC_API_H

#include "fmgr.h"

/* for submitters: any transaction, SECURITY INVOKER, not strict */
extern Datum enqueue_many_v1(PG_FUNCTION_ARGS);
extern Datum get_v1(PG_FUNCTION_ARGS);
extern Datum list_v1(PG_FUNCTION_ARGS);
extern Datum cancel_v1(PG_FUNCTION_ARGS);
extern Datum resume_v1(PG_FUNCTION_ARGS);
extern Datum signal_v1(PG_FUNCTION_ARGS);

/* for executors: ERROR 25001 in a transaction block */
extern Datum claim_v1(PG_FUNCTION_ARGS);
extern Datum renew_v1(PG_FUNCTION_ARGS);
extern Datum call_v1(PG_FUNCTION_ARGS);
extern Datum journal_v1(PG_FUNCTION_ARGS);
extern Datum suspend_v1(PG_FUNCTION_ARGS);
extern Datum release_v1(PG_FUNCTION_ARGS);
extern Datum finalize_v1(PG_FUNCTION_ARGS);
extern Datum finalize_many_v1(PG_FUNCTION_ARGS);
extern Datum reap_v1(PG_FUNCTION_ARGS);
extern Datum promote_v1(PG_FUNCTION_ARGS);

#endif
