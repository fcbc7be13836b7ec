/*
 * enqueue.h
 *		enqueue(): one row of each table, in the caller's transaction.
 *
 * The server calls these by their symbols; no C code does.
 */
#ifndef SANDBOX_EXEC_ENQUEUE_H
#define SANDBOX_EXEC_ENQUEUE_H

#include "fmgr.h"

/* the entry point of the SQL API; see api.h */
extern Datum enqueue_v1(PG_FUNCTION_ARGS);

/* _enqueue(caller, ...): the same for SQL that runs as the extension's owner */
extern Datum enqueue_as_v1(PG_FUNCTION_ARGS);

#endif
