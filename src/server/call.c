/*
 * call.c
 *		One call of the code to the outside, done once.
 *
 *		begin (SQL)  is the claim good, was the call made before, may it be made?
 *		run (tools)	 the tool, as the submitter
 *		end (SQL)	 under the execution's row lock: claim still good; journal, log
 *
 * A call that waits for an answer is journaled as pending, with its pause, and is
 * asked for again by the next attempt.
 *
 * No lock is held while the tool runs.  It is the lock of the end that decides
 * who makes a call, not the journal's primary key: a displaced executor, or a
 * cancelled one, fails there and takes the effect of its tool back.
 *
 * Compiled with SANDBOX_EXEC_NO_JOURNAL there is no journal: each attempt makes
 * every call.  That is for the test which shows that the other tests would
 * notice.
 */
#include "postgres.h"

#include "access/xact.h"
#include "call_rows.h"
#include "deadline.h"
#include "failure.h"
#include "jsontext.h"
#include "slot.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/resowner.h"
#include "utils/timestamp.h"
#include "xact.h"

#define SQLSTATE_LOST MAKE_SQLSTATE('S', 'X', '0', '0', '1')
#define SQLSTATE_CANCELLED MAKE_SQLSTATE('S', 'X', '0', '0', '2')
#define SQLSTATE_MADE MAKE_SQLSTATE('S', 'X', '0', '0', '4')

#ifdef SANDBOX_EXEC_NO_JOURNAL
#define JOURNAL false
#else
#define JOURNAL true
#endif

/* ------------------------------------------------------------- converting */

static void
give(Call *call, bool ok, const char *value, TimestampTz at)
{
	call->answer->status = CALL_ANSWERED;
	call->answer->ok = ok;
	call->answer->value = value ? MemoryContextStrdup(call->into, value) : NULL;
	call->answer->at = at;
	call->answer->delivered_no = call->delivered_no;
}

/* false: answered.  It isn't journaled, but another attempt gets the same */
static bool
convert_args(Call *call)
{
	Failure		failure = {"invalid_tool_arguments"};
	char	   *message = NULL;

	if (call->request->args == NULL)
		return true;
	call->args = jsontext_try(call->request->args, &message);
	if (call->args != NULL)
		return true;
	failure.message = psprintf("invalid arguments: %s", message);
	give(call, false, failure_text(call->request->name, &failure), 0);
	call->answer->replayed = true;
	return false;
}

/* ---------------------------------------------------------- run and end */

/*
 * A call that wrote nothing but the journal may be lost in a crash: it is made
 * again then.  A pause may not: somebody may have been told its call_id.  Nor may
 * a call whose function may have told others by NOTIFY.
 */
static void
spare_the_flush(const Call *call)
{
	bool		told = call->ok && OidIsValid(call->tool.function) && !call->tool.tells_nobody;

	if (!told && !TransactionIdIsValid(GetTopTransactionIdIfAny()))
		xact_commit_asynchronously();
}

static void
end(Call *call)
{
	call->at = GetCurrentTimestamp();
	if (!JOURNAL)
		return;
	if (call->pause == NULL)
		spare_the_flush(call);

	/* who holds the row is waited for, for a while, or the tool would run again and again */
	deadline_begin_wait(call->request->by_worker);
	call_end(call);
}

/*
 * Nothing is journaled: it isn't the tool that took too long.  A worker that could
 * not renew gives the claim up, as it is about to be lost.
 */
static void
refuse_short_lease(const Call *call)
{
	if (call->request->by_worker)
		ereport(ERROR, (errcode(SQLSTATE_LOST), errmsg("the claim is about to expire")));
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("the lease is too short for tool \"%s\"", call->tool.name),
			 errdetail("A tool takes half of what is left of it at most, here %d ms.",
					   call->tool.timeout_ms),
			 errhint("Call renew() first, and the tool again.")));
}

/*
 * False: this worker was wanted, and the tool has not run.  A call that needs an
 * approval is only looked at, so that nobody is asked about one that cannot be
 * made.
 */
static bool
run_tool(Call *call)
{
	ToolResult	result;

	call->tool.check_only = call_is(call, "approve");
	tools_run(&call->tool, &result);
	if (result.end == TOOL_INTERRUPTED)
		return false;
	if (result.end == TOOL_LEASE_ENDED)
		refuse_short_lease(call);
	call->ok = result.end == TOOL_OK;
	call->value = call->ok ? result.value : jsontext_as_recorded(result.value);
	if (!call->ok)
		call->pause = NULL;
	return true;
}

/* an outside executor's; a worker knows what to do */
static void
tell_of_held_row(const Call *call)
{
	if (!call->request->by_worker)
		ereport(ERROR,
				(errcode(ERRCODE_LOCK_NOT_AVAILABLE),
				 errmsg("another transaction holds the execution"),
				 errdetail("The call has not happened: what it did is undone."),
				 errhint("Make it again.")));
}

/*
 * What to do after an ERROR whose subtransaction is rolled back.  False: begin
 * anew; an executor that lost its connection has asked again meanwhile, and
 * there is an answer.
 */
static bool
take_error(Call *call, ErrorData *error)
{
	if (error->sqlerrcode == SQLSTATE_MADE)
		return false;
	if (error->sqlerrcode == SQLSTATE_LOST)
		call->answer->status = CALL_LOST;
	else if (error->sqlerrcode == SQLSTATE_CANCELLED)
	{
		call->answer->status = CALL_CANCELLED;
		call_end_cancelled(call->request);
	}
	else
	{
		if (error->sqlerrcode == ERRCODE_LOCK_NOT_AVAILABLE)
			tell_of_held_row(call);
		ReThrowError(error);
	}
	return true;
}

/*
 * Both in one subtransaction: what the tool did is undone when the end finds
 * that it was not this executor's to do.  False: nothing has happened, begin
 * anew.
 */
static bool
run_and_end(Call *call)
{
	ResourceOwner owner = CurrentResourceOwner;
	ErrorData *volatile error = NULL;
	volatile bool done = true;

	BeginInternalSubTransaction(NULL);
	MemoryContextSwitchTo(call->context);
	PG_TRY();
	{
		if (call_is(call, "run") || call_is(call, "approve"))
			done = run_tool(call);
		if (done)
			end(call);
		deadline_end();
		ReleaseCurrentSubTransaction();
	}
	PG_CATCH();
	{
		deadline_end();
		MemoryContextSwitchTo(call->context);
		error = CopyErrorData();
		FlushErrorState();
		RollbackAndReleaseCurrentSubTransaction();
	}
	PG_END_TRY();
	MemoryContextSwitchTo(call->context);
	CurrentResourceOwner = owner;
	if (error != NULL)
		return take_error(call, error);
	if (done && call->pause != NULL)
		call->answer->status = CALL_PENDING;
	else if (done)
		give(call, call->ok, call->value, call->at);
	return done;
}

/*
 * A worker that is wanted: by somebody who cancelled one of its claims, perhaps
 * this one, which the next look will tell; or it must leave.
 */
static void
heed_interruption(void)
{
	if (!slot_is_wanted())
		return;
	if (slot_must_leave())
		ereport(ERROR,
				(errcode(ERRCODE_ADMIN_SHUTDOWN),
				 errmsg("canceling tool because its worker must leave")));
	slot_put_off_attention();
}

/* ------------------------------------------------------------------ all of it */

/* false: begin anew */
static bool
answer_once(Call *call)
{
	call->answer->replayed = false;
	call_begin(call);
	if (call_is(call, "lost"))
		call->answer->status = CALL_LOST;
	else if (call_is(call, "cancelled"))
		call->answer->status = CALL_CANCELLED;
	else if (call_is(call, "diverged"))
	{
		call->answer->status = CALL_DIVERGED;
		call->answer->value = MemoryContextStrdup(call->into, call->message);
		call_end_diverged(call);
	}
	else if (call_is(call, "sleep"))
	{
		call->answer->status = CALL_SLEEPS;
		call->answer->wait_ms = call->wait_ms;
	}
	else if (call_is(call, "pending"))
	{
		call->answer->status = CALL_PENDING;
		call->answer->replayed = true;
	}
	else if (call_is(call, "recorded") || call_is(call, "limit"))
	{
		give(call, call->ok, call->value, call_is(call, "recorded") ? call->at : 0);
		call->answer->replayed = true;
	}
	else if (!run_and_end(call))
	{
		heed_interruption();
		return false;
	}
	return true;
}

/*
 * The search_path of workers, for what begin and end call.  The one that an
 * outside executor has could make those, which run as the extension's owner, use
 * functions and operators of its own.
 */
static int
pin_search_path(const CallRequest *request)
{
	int			level = 0;

	if (request->by_worker)
		return 0;
	level = NewGUCNestLevel();
	(void) set_config_option("search_path", "pg_catalog, pg_temp", PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
	return level;
}

void
call_run(const CallRequest *request, CallAnswer *answer)
{
	Call		call = {request, answer};
	int			level = pin_search_path(request);

	call.seq = JOURNAL ? request->seq : 1;
	call.into = CurrentMemoryContext;
	call.context = AllocSetContextCreate(CurTransactionContext, "sandbox_exec call",
										 ALLOCSET_DEFAULT_SIZES);
	MemoryContextSwitchTo(call.context);
	if (convert_args(&call))
		while (!answer_once(&call))
			;
	MemoryContextSwitchTo(call.into);
	MemoryContextDelete(call.context);
	if (level > 0)
		AtEOXact_GUC(true, level);
}
