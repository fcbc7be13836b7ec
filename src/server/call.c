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
#include "call.h"
#include "catalog/pg_type.h"
#include "deadline.h"
#include "failure.h"
#include "guc.h"
#include "jsontext.h"
#include "slot.h"
#include "spi.h"
#include "tools.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/guc.h"
#include "utils/jsonb.h"
#include "utils/memutils.h"
#include "utils/resowner.h"
#include "utils/timestamp.h"

#define SQLSTATE_LOST MAKE_SQLSTATE('S', 'X', '0', '0', '1')
#define SQLSTATE_CANCELLED MAKE_SQLSTATE('S', 'X', '0', '0', '2')
#define SQLSTATE_MADE MAKE_SQLSTATE('S', 'X', '0', '0', '4')

#ifdef SANDBOX_EXEC_NO_JOURNAL
#define JOURNAL false
#else
#define JOURNAL true
#endif

/* one call at work */
typedef struct Call
{
	const CallRequest *request;
	CallAnswer *answer;
	MemoryContext context;		/* lives as long as the call */
	MemoryContext into;			/* for the answer */
	Jsonb	   *args;			/* or NULL */

	/* what begin said */
	char	   *verdict;
	bool		ok;				/* of recorded, limit, answer */
	char	   *value;			/* JSON text, or NULL */
	char	   *message;		/* of diverged: names both calls */
	char	   *record;			/* what the journal gets instead, or NULL */
	TimestampTz at;				/* of recorded, and of end */
	int			delivered_no;	/* of recorded, and of end */
	bool		approved;		/* the journal has the call: complete it */
	char	   *pause;			/* of pause and approve: JSON text */
	int			wait_ms;		/* of sleep */
	ToolRun		tool;			/* of run and approve */
} Call;

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

/* ------------------------------------------------------------------ begin */

static bool
is(const Call *call, const char *verdict)
{
	return strcmp(call->verdict, verdict) == 0;
}

/* the time of a tool is the setting's, but never more than half of the lease's rest */
static int
time_for_tool(TimestampTz lease_expires_at)
{
	long		rest = TimestampDifferenceMilliseconds(GetCurrentTimestamp(), lease_expires_at);

	return (int) Max(Min((long) guc_tool_timeout, rest / 2), 1);
}

static void
take_tool(Call *call, const SpiRow *row)
{
	ToolRun    *tool = &call->tool;

	tool->name = call->request->name;
	tool->function = DatumGetObjectId(spi_datum(row, "function_oid"));
	tool->signature = spi_text(row, "function");
	tool->args = call->args;
	tool->timeout_ms = time_for_tool(DatumGetTimestampTz(spi_datum(row, "lease_expires_at")));
	tool->containment.submitter = DatumGetObjectId(spi_datum(row, "submitter"));
	tool->containment.trusted = DatumGetBool(spi_datum(row, "trusted"));
	tool->containment.execution_id =
		DatumGetCString(DirectFunctionCall1(uuid_out, UUIDPGetDatum(&call->request->id)));
	tool->containment.owner = spi_text(row, "owner");
	tool->containment.org_id = spi_text(row, "org_id");
	tool->containment.thread_id = spi_text(row, "thread_id");
}

static void
take_number(Call *call, const SpiRow *row)
{
	call->at = DatumGetTimestampTz(spi_datum(row, "at"));
	call->delivered_no = DatumGetInt32(spi_datum(row, "delivered_no"));
}

static void
begin(Call *call)
{
	static SPIPlanPtr plan = NULL;
	const CallRequest *request = call->request;
	Datum		values[8] = {
		UUIDPGetDatum(&request->id), UUIDPGetDatum(&request->token),
		Int32GetDatum(JOURNAL ? request->seq : 1),
		CStringGetTextDatum(request->kind), CStringGetTextDatum(request->name),
		JsonbPGetDatum(call->args), BoolGetDatum(request->by_worker), BoolGetDatum(request->slept)};
	SpiRow		row;

	spi_execute(&plan, "SELECT b.*, b.value OPERATOR(pg_catalog.#>>) '{}' AS message, b.approved IS TRUE AS to_complete "
					   "FROM sandbox_exec._call_begin($1, $2, $3, $4, $5, $6, $7, $8) AS b",
				8,
				(Oid[]){UUIDOID, UUIDOID, INT4OID, TEXTOID, TEXTOID, JSONBOID, BOOLOID, BOOLOID},
				values, call->args ? "        " : "     n  ");
	row = spi_only_row();
	call->verdict = spi_text(&row, "verdict");
	call->value = spi_text(&row, "value");
	call->message = spi_text(&row, "message");
	call->record = spi_text(&row, "record");
	call->ok = spi_text(&row, "outcome") != NULL && strcmp(spi_text(&row, "outcome"), "ok") == 0;
	call->pause = spi_text(&row, "pause");
	call->approved = DatumGetBool(spi_datum(&row, "to_complete"));
	call->delivered_no = 0;
	if (is(call, "recorded"))
		take_number(call, &row);
	if (is(call, "sleep"))
		call->wait_ms = DatumGetInt32(spi_datum(&row, "wait_ms"));
	if (is(call, "run") || is(call, "approve"))
		take_tool(call, &row);
}

/* -------------------------------------------------------------------- end */

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
		(void) set_config_option("synchronous_commit", "off", PGC_USERSET, PGC_S_SESSION,
								 GUC_ACTION_LOCAL, true, 0, false);
}

static Datum
events_datum(const CallRequest *request, char *null)
{
	return jsontext_datum(request->events ? psprintf("[%s]", request->events) : NULL, null);
}

/* the journal's row is written, pending or over, or the pending one completed */
static void
end(Call *call)
{
	static SPIPlanPtr end_plan = NULL;
	static SPIPlanPtr complete_plan = NULL;
	static Oid	types[11] = {UUIDOID, UUIDOID, INT4OID, TEXTOID, TEXTOID, JSONBOID,
							TEXTOID, JSONBOID,
							JSONBOID, JSONBOID, BOOLOID};
	const CallRequest *request = call->request;
	const char *record = call->record ? call->record : call->value;
	const char *outcome = call->pause ? "pending" : call->ok ? "ok" :
															   "error";
	char		nulls[12] = "           ";
	Datum		values[11] = {
		UUIDPGetDatum(&request->id), UUIDPGetDatum(&request->token), Int32GetDatum(request->seq),
		CStringGetTextDatum(request->kind), CStringGetTextDatum(request->name),
		JsonbPGetDatum(call->args), CStringGetTextDatum(outcome),
		jsontext_datum(record, &nulls[7]),
		jsontext_datum(call->pause, &nulls[8]),
		events_datum(request, &nulls[9]),
		BoolGetDatum(request->by_worker)};
	SpiRow		row;

	call->at = GetCurrentTimestamp();
	if (!JOURNAL)
		return;
	nulls[5] = call->args ? ' ' : 'n';
	if (call->pause == NULL)
		spare_the_flush(call);

	/* who holds the row is waited for, or the tool would run again and again */
	if (request->by_worker)
		deadline_begin_wait();
	if (call->approved)
		spi_execute(&complete_plan, "SELECT at, delivered_no FROM sandbox_exec._call_complete($1, $2, $3, $7, $8, $10, $11)",
					11, types, values, nulls);
	else
		spi_execute(&end_plan, "SELECT at, delivered_no FROM sandbox_exec._call_end($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
					11, types, values, nulls);
	row = spi_only_row();
	if (call->pause == NULL)
		take_number(call, &row);
}

/* ---------------------------------------------------------- run and end */

/*
 * The journal has members in an order of its own, and code can tell: pairs() of
 * an error must be the same when it is replayed.  Results are jsonb already.
 */
static char *
as_recorded(const char *failure)
{
	Jsonb	   *json = jsontext_to_jsonb(failure);

	return JsonbToCString(NULL, &json->root, VARSIZE(json));
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

	call->tool.check_only = is(call, "approve");
	tools_run(&call->tool, &result);
	if (result.end == TOOL_INTERRUPTED)
		return false;
	call->ok = result.end == TOOL_OK;
	call->value = call->ok ? result.value : as_recorded(result.value);
	if (!call->ok)
		call->pause = NULL;
	return true;
}

/* an outside executor need not ask again: the claim ends the execution here */
static void
end_cancelled(const CallRequest *request)
{
	static SPIPlanPtr plan = NULL;
	Datum		values[2] = {UUIDPGetDatum(&request->id), UUIDPGetDatum(&request->token)};

	if (!request->by_worker)
		spi_execute(&plan, "SELECT sandbox_exec._release($1, $2)", 2,
					(Oid[]){UUIDOID, UUIDOID}, values, NULL);
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
		end_cancelled(call->request);
	}
	else
		ReThrowError(error);
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
		if (is(call, "run") || is(call, "approve"))
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

/* a worker ends the execution itself, with what its code has printed */
static void
diverge(Call *call)
{
	static SPIPlanPtr plan = NULL;
	const CallRequest *request = call->request;
	char		nulls[5] = "    ";
	Datum		values[4] = {
		UUIDPGetDatum(&request->id), UUIDPGetDatum(&request->token),
		CStringGetTextDatum(call->message), events_datum(request, &nulls[3])};

	call->answer->status = CALL_DIVERGED;
	call->answer->value = MemoryContextStrdup(call->into, call->message);
	if (!request->by_worker)
		spi_execute(&plan, "SELECT sandbox_exec._call_diverged($1, $2, $3, $4)", 4,
					(Oid[]){UUIDOID, UUIDOID, TEXTOID, JSONBOID}, values, nulls);
}

/* false: begin anew */
static bool
answer_once(Call *call)
{
	call->answer->replayed = false;
	begin(call);
	if (is(call, "lost"))
		call->answer->status = CALL_LOST;
	else if (is(call, "cancelled"))
		call->answer->status = CALL_CANCELLED;
	else if (is(call, "diverged"))
		diverge(call);
	else if (is(call, "sleep"))
	{
		call->answer->status = CALL_SLEEPS;
		call->answer->wait_ms = call->wait_ms;
	}
	else if (is(call, "pending"))
	{
		call->answer->status = CALL_PENDING;
		call->answer->replayed = true;
	}
	else if (is(call, "recorded") || is(call, "limit"))
	{
		give(call, call->ok, call->value, is(call, "recorded") ? call->at : 0);
		call->answer->replayed = true;
	}
	else if (!run_and_end(call))
	{
		heed_interruption();
		return false;
	}
	return true;
}

void
call_run(const CallRequest *request, CallAnswer *answer)
{
	Call		call = {request, answer};

	call.into = CurrentMemoryContext;
	call.context = AllocSetContextCreate(CurTransactionContext, "sandbox_exec call",
										 ALLOCSET_DEFAULT_SIZES);
	MemoryContextSwitchTo(call.context);
	if (convert_args(&call))
		while (!answer_once(&call))
			;
	MemoryContextSwitchTo(call.into);
	MemoryContextDelete(call.context);
}
