/*
 * forward.h
 *		An entry point of the SQL API that forwards to the SQL function with the
 *		rules.
 *
 * - A SECURITY DEFINER function in SQL runs as the extension's owner and no
 *   longer knows who called it; session_user is somebody else under SET ROLE
 *   and in definer functions.  So the entry points are SECURITY INVOKER, take
 *   the effective user, and switch only then (caller.h).
 *
 * - The statements run with the caller's search_path.  Nothing in them is looked
 *   up by it: functions are qualified, arguments have exactly the declared types,
 *   and there is no operator.
 */
#ifndef SANDBOX_EXEC_FORWARD_H
#define SANDBOX_EXEC_FORWARD_H

#include "executor/spi.h"
#include "fmgr.h"

#define FORWARD_MAX_ARGS 15

/* a statement to forward to; kept for the life of the backend */
typedef struct Statement
{
	const char *sql;
	bool		takes_caller;	/* its first argument is the caller */
	Oid			types[FORWARD_MAX_ARGS];	/* of all its arguments */
	SPIPlanPtr	plan;			/* made when first used */
} Statement;

/* run it with the entry point's arguments and give back its value, or its rows */
extern Datum forward_value(FunctionCallInfo fcinfo, Statement *statement);
extern Datum forward_set(FunctionCallInfo fcinfo, Statement *statement);

#endif
