/*
 * tools.c
 *		Runs one tool: an SQL function, as the role that submitted the execution.
 *
 * One run is a subtransaction.  Whatever ends it, session and identity are
 * restored before anybody looks at what came of it.
 *
 *		enter -> put on -> check, convert, invoke -> take off -> leave
 *		  \________________ any ERROR: roll back ______________/
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/pg_proc.h"
#include "compat.h"
#include "deadline.h"
#include "failure.h"
#include "invoke.h"
#include "language.h"
#include "lib/stringinfo.h"
#include "miscadmin.h"
#include "postmaster/interrupt.h"
#include "problems.h"
#include "search_path.h"
#include "tools.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/resowner.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

#define RESULT_MAX (1024 * 1024)
#define RETRIES 3

/*
 * What a tool selects can leave something in this process for good: the types of
 * rows, caches, names of settings.  A worker leaves before that is much.
 */
#define MEMORY_LEFT_MAX ((Size) 64 * 1024 * 1024)
#define RUNS_UNCHECKED 16

static int	runs = 0;
static Size memory_before;		/* the first of them */

/* one attempt to run it */
typedef struct Attempt
{
	ToolRun    *run;
	TimestampTz deadline;
	MemoryContext context;		/* the caller's: results are made here */
	bool		converting;		/* an ERROR is about the arguments */
	bool		probe;			/* look for everything that is wrong with them */
	Invocation	invocation;
	char	   *value;			/* the result, when there was no error */
	char	   *failure;		/* an error object that needed no ERROR */
} Attempt;

/* ------------------------------------------------------------- failures */

static void
fail(Attempt *attempt, const Failure *failure)
{
	MemoryContext inside = MemoryContextSwitchTo(attempt->context);

	attempt->failure = failure_text(attempt->run->name, failure);
	MemoryContextSwitchTo(inside);
}

static void
fail_function(Attempt *attempt, const char *code, const char *reason)
{
	Failure		failure = {code};

	failure.message = psprintf("the function of tool \"%s\" cannot be called", attempt->run->name);
	failure.detail = psprintf("It is %s. %s", attempt->run->signature, reason);
	fail(attempt, &failure);
}

static void
fail_arguments(Attempt *attempt, const Signature *signature, const Problems *problems)
{
	Failure		failure = {"invalid_tool_arguments"};
	const char *arguments = arguments_text(signature);

	failure.message = psprintf("invalid arguments: %s", problems->first);
	if (problems->count > 1)
		failure.message = psprintf("%s (and %s%d more)", failure.message,
								   problems->count < PROBLEMS_TOLD ? "" : "at least ", problems->count - 1);
	failure.detail = problems->lines.data;
	failure.hint = arguments[0] == '\0' ? "It takes no arguments." :
										  psprintf("Its arguments are: %s.", arguments);
	fail(attempt, &failure);
}

static bool
fail_permission(Attempt *attempt, Form_pg_proc function)
{
	Failure		failure = {"tool_failed"};

	if (attempt->run->containment.trusted)
		return false;
	if (!compat_may_use_schema(function->pronamespace, attempt->run->containment.submitter))
		failure.message = psprintf("permission denied for schema %s",
								   get_namespace_name(function->pronamespace));
	else if (!compat_may_execute(function->oid, attempt->run->containment.submitter))
		failure.message = psprintf("permission denied for function %s", NameStr(function->proname));
	else
		return false;
	failure.sqlerrcode = ERRCODE_INSUFFICIENT_PRIVILEGE;
	failure.detail = psprintf("The role that submitted the execution is \"%s\".",
							  GetUserNameFromId(attempt->run->containment.submitter, false));
	fail(attempt, &failure);
	return true;
}

/* -------------------------------------------------------------- one run */

static bool
arguments_are_bad(Attempt *attempt, const Signature *signature)
{
	Problems	problems;

	problems_check(signature, attempt->run->args, &problems);
	if (attempt->probe || problems.count > 0)
		problems_probe(signature, attempt->run->args, &problems);
	if (problems.count > 0)
		fail_arguments(attempt, signature, &problems);
	return problems.count > 0;
}

static void
call_function(Attempt *attempt, Form_pg_proc function, const Signature *signature)
{
	MemoryContext inside = CurrentMemoryContext;
	Arguments	arguments;
	StringInfoData text;

	attempt->converting = true;
	if (arguments_are_bad(attempt, signature))
		return;
	arguments_convert(signature, attempt->run->args, &arguments);
	attempt->converting = false;
	if (attempt->run->check_only)
		return;

	MemoryContextSwitchTo(attempt->context);
	initStringInfo(&text);
	MemoryContextSwitchTo(inside);
	attempt->invocation.function = function->oid;
	attempt->invocation.result_type = function->prorettype;
	attempt->invocation.returns_set = function->proretset;
	attempt->invocation.max_bytes = RESULT_MAX;
	invoke(&attempt->invocation, signature, &arguments, &text);
	attempt->value = attempt->invocation.is_null ? NULL : text.data;
}

static void
run_function(Attempt *attempt, HeapTuple tuple)
{
	Form_pg_proc function = (Form_pg_proc) GETSTRUCT(tuple);
	const char *reason;
	Signature  *signature;

	if (fail_permission(attempt, function))
		return;
	signature = arguments_signature(tuple, &reason);
	if (signature == NULL)
		fail_function(attempt, "tool_failed", reason);
	else
		call_function(attempt, function, signature);
}

/* whether the function brings its own */
static bool
pins_search_path(HeapTuple function)
{
	bool		isnull;
	Datum		settings = SysCacheGetAttr(PROCOID, function, Anum_pg_proc_proconfig, &isnull);

	return !isnull && search_path_in(DatumGetArrayTypeP(settings)) != NULL;
}

/* nor does it, by its own account, do anything else that others notice */
static bool
tells_nobody(const Containment *containment, HeapTuple function)
{
	return containment->trusted ||
		((Form_pg_proc) GETSTRUCT(function))->provolatile != PROVOLATILE_VOLATILE;
}

/* in the subtransaction */
static void
run_contained(Attempt *attempt)
{
	Containment *containment = &attempt->run->containment;
	HeapTuple	tuple = SearchSysCacheCopy1(PROCOID, ObjectIdGetDatum(attempt->run->function));

	deadline_begin(attempt->deadline, attempt->run->name);
	if (!HeapTupleIsValid(tuple))
	{
		fail_function(attempt, "tool_not_found", "It no longer exists.");
		deadline_end();
		return;
	}
	containment->own_search_path = pins_search_path(tuple);
	attempt->run->tells_nobody = tells_nobody(containment, tuple);
	containment_put_on(containment);
	PushActiveSnapshot(GetTransactionSnapshot());
	run_function(attempt, tuple);
	attempt->run->tells_nobody |= containment_was_quiet(attempt->run->function);
	PopActiveSnapshot();
	if (attempt->failure == NULL)
		containment_take_off();
	deadline_end();
	deadline_check();
}

/* NULL, or the ERROR that ended it; either way it is over and all is restored */
static ErrorData *
run_once(Attempt *attempt)
{
	ResourceOwner owner = CurrentResourceOwner;
	ErrorData *volatile error = NULL;

	containment_enter(&attempt->run->containment);
	BeginInternalSubTransaction(NULL);
	PG_TRY();
	{
		run_contained(attempt);
		if (attempt->failure == NULL)
			ReleaseCurrentSubTransaction();
		else
			RollbackAndReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		deadline_end();
		MemoryContextSwitchTo(attempt->context);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(attempt->context);
	CurrentResourceOwner = owner;
	containment_leave();
	return error;
}

/* ------------------------------------------------------- what came of it */

static bool
is_transient(const ErrorData *error)
{
	return error->sqlerrcode == ERRCODE_T_R_SERIALIZATION_FAILURE ||
		error->sqlerrcode == ERRCODE_T_R_DEADLOCK_DETECTED;
}

/*
 * Not the tool's doing: it has not been called, so to say.  A function may raise
 * what it likes, or get it from another server: only our own process cancels, and
 * says so there.
 */
static bool
goes_up(const ErrorData *error)
{
	switch (error->sqlerrcode)
	{
		case ERRCODE_DISK_FULL:
			return true;
		case ERRCODE_QUERY_CANCELED:
			return error->funcname != NULL && strcmp(error->funcname, "ProcessInterrupts") == 0;
		case ERRCODE_ADMIN_SHUTDOWN:
			return ShutdownRequestPending || ProcDiePending;
	}
	return false;
}

static char *
timeout_failure(const ToolRun *run)
{
	Failure		failure = {"tool_timeout"};

	failure.message = psprintf("tool \"%s\" took longer than %d ms", run->name, run->timeout_ms);
	failure.hint = "What it did is undone.";
	return failure_text(run->name, &failure);
}

static char *
size_failure(const ToolRun *run, const ErrorData *error)
{
	Failure		failure = {"result_too_large"};

	failure.message = psprintf("the result of tool \"%s\" is too large", run->name);
	failure.detail = error->detail ? error->detail : error->message;
	failure.hint = "What it did is undone. Ask for less at a time.";
	return failure_text(run->name, &failure);
}

/* values that convert one by one, but not together: tell at least the ERROR */
static char *
conversion_failure(const ToolRun *run, const ErrorData *error)
{
	Failure		failure = {"invalid_tool_arguments"};

	failure.message = psprintf("invalid arguments: %s", error->message);
	failure.detail = error->detail;
	failure.hint = error->hint;
	return failure_text(run->name, &failure);
}

static char *
not_found_failure(const ToolRun *run, const ErrorData *error)
{
	Failure		failure = {"tool_not_found"};

	failure.message = error->message;
	failure.detail = error->detail;
	failure.hint = error->hint;
	return failure_text(run->name, &failure);
}

/* what makes a JSON text of a result; others raise that ERROR for reasons of theirs */
static bool
comes_from_building(const ErrorData *error)
{
	const char *file = error->filename ? error->filename : "";

	return strstr(file, "json") != NULL || strstr(file, "stringinfo") != NULL;
}

/*
 * Beyond what we let through, or beyond what jsonb can hold: an ERROR of that kind
 * without a context was raised when the function had returned.
 */
static bool
is_too_large(const Attempt *attempt, const ErrorData *error)
{
	return attempt->invocation.too_large || error->sqlerrcode == SQLSTATE_TOO_LARGE ||
		(error->sqlerrcode == ERRCODE_PROGRAM_LIMIT_EXCEEDED && error->context == NULL &&
		 !attempt->converting && comes_from_building(error));
}

static char *
describe(const Attempt *attempt, ErrorData *error)
{
	const ToolRun *run = attempt->run;

	if (is_too_large(attempt, error))
		return size_failure(run, error);
	if (run->containment.trusted && error->sqlerrcode == SQLSTATE_NOT_FOUND)
		return not_found_failure(run, error);
	if (attempt->converting && ERRCODE_TO_CATEGORY(error->sqlerrcode) != ERRCODE_INTERNAL_ERROR)
		return conversion_failure(run, error);
	return failure_of_error(run->name, error);
}

/* ------------------------------------------------------------ tries of it */

/* before somebody else's data gets into a process that belongs to one role and owner */
static void
refuse_if_bound(const Containment *tool)
{
	if (!language_may_serve(tool->submitter, tool->owner))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("this session ran a tool in a language that keeps data for the whole session"),
				 errdetail("It was for another role or owner."),
				 errhint("Open a new connection.")));
}

static void
end_with(ToolResult *result, ToolEnd end, char *value)
{
	result->end = end;
	result->value = value;
}

/* false: try once more */
static bool
conclude(Attempt *attempt, ErrorData *error, int tries, ToolResult *result)
{
	if (deadline_passed() && attempt->run->lease_ends)
		end_with(result, TOOL_LEASE_ENDED, NULL);
	else if (deadline_passed())
		end_with(result, TOOL_ERROR, timeout_failure(attempt->run));
	else if (deadline_interrupted())
		end_with(result, TOOL_INTERRUPTED, NULL);
	else if (attempt->failure != NULL)
		end_with(result, TOOL_ERROR, attempt->failure);
	else if (error == NULL)
		end_with(result, TOOL_OK, attempt->value);
	else if (goes_up(error))
		ReThrowError(error);
	else if (is_transient(error) && tries < RETRIES)
		return false;
	else if (attempt->converting && !attempt->probe)
	{
		attempt->probe = true;
		return false;
	}
	else
		end_with(result, TOOL_ERROR, describe(attempt, error));
	return true;
}

void
tools_run(ToolRun *run, ToolResult *result)
{
	Attempt		attempt = {run};
	ErrorData  *error;
	int			tries = 0;

	refuse_if_bound(&run->containment);
	if (runs++ == 0)
		memory_before = MemoryContextMemAllocated(TopMemoryContext, true);
	attempt.context = CurrentMemoryContext;
	attempt.deadline = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), run->timeout_ms);
	do
	{
		attempt.value = NULL;
		attempt.converting = false;
		memset(&attempt.invocation, 0, sizeof(attempt.invocation));
		error = run_once(&attempt);
	} while (!conclude(&attempt, error, tries++, result));
}

bool
tools_may_serve(Oid submitter, const char *owner)
{
	static int	checked = 0;

	if (runs - checked >= RUNS_UNCHECKED)
	{
		checked = runs;
		if (MemoryContextMemAllocated(TopMemoryContext, true) > memory_before + MEMORY_LEFT_MAX)
			return false;
	}
	return language_worker_may_serve(submitter, owner);
}
