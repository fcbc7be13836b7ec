/*
 * tools.h
 *		Runs one tool: an SQL function, as the role that submitted the execution.
 */
#ifndef SANDBOX_EXEC_TOOLS_H
#define SANDBOX_EXEC_TOOLS_H

#include "containment.h"
#include "utils/jsonb.h"

typedef struct ToolRun
{
	const char *name;			/* what the code calls it */
	Oid			function;		/* as resolved in this transaction */
	const char *signature;		/* its text, for messages */
	Jsonb	   *args;			/* an object, or NULL */
	int			timeout_ms;
	bool		lease_ends;		/* ... is what a lease leaves, not how long tools may take */
	bool		check_only;		/* see whether it could be called so; value is NULL then */
	Containment containment;	/* as whom and for what; own_search_path is filled in */
	bool		tells_nobody;	/* filled in: it has no way to NOTIFY */
} ToolRun;

typedef enum ToolEnd
{
	TOOL_OK,
	TOOL_ERROR,					/* what it did is rolled back */
	TOOL_INTERRUPTED,			/* so is this: the worker is wanted (slot_is_wanted()) */
	TOOL_LEASE_ENDED			/* and this: timeout_ms are over, where lease_ends */
} ToolEnd;

/* value lives in the context that was current at the call */
typedef struct ToolResult
{
	ToolEnd		end;
	char	   *value;			/* JSON text, NULL for null; the error object of TOOL_ERROR */
} ToolResult;

/*
 * In a transaction, with an active snapshot or without.  The effects of a tool
 * that succeeded belong to this transaction.  Serialization failures and
 * deadlocks are tried again in place, three times.
 *
 * An ERROR goes up, after everything was restored, for what isn't the tool's
 * doing: the disk is full, somebody cancels the statement or shuts down.
 */
extern void tools_run(ToolRun *run, ToolResult *result);

/*
 * For a worker, before it runs the code of that role.  False: it should leave, and
 * have another one do it.  Tools of another role left something for the whole
 * process (see language.h), for which tools_run() may raise an ERROR, or tools of
 * any role left it too large.
 */
extern bool tools_may_serve(Oid submitter, const char *owner);

#endif
