/*
 * statement.h
 *		The functions behind the tools sql.query and sql.execute: one SQL
 *		statement that code gave, run as the current user.
 *
 * The server calls them by their symbols; no C code does.
 */
#ifndef SANDBOX_EXEC_STATEMENT_H
#define SANDBOX_EXEC_STATEMENT_H

#include "fmgr.h"

/* (query text, params jsonb, max_rows integer) → jsonb {"rows", "truncated"} */
extern Datum sql_query_v1(PG_FUNCTION_ARGS);

/* (query text, params jsonb) → jsonb {"rows_affected", "rows"} */
extern Datum sql_execute_v1(PG_FUNCTION_ARGS);

#endif
