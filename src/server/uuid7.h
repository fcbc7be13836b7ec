/*
 * uuid7.h
 *		Ids of executions, calls and pauses.
 */
#ifndef SANDBOX_EXEC_UUID7_H
#define SANDBOX_EXEC_UUID7_H

#include "fmgr.h"
#include "utils/uuid.h"

/* one that no other will be, and later than all that this session made before */
extern void uuid7_make(pg_uuid_t *uuid);

extern Datum uuid7_v1(PG_FUNCTION_ARGS);

#endif
