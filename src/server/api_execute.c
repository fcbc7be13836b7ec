/*
 * api_execute.c
 *		The C entry points of the SQL API for executors.
 *
 * Executors need what they did to be committed when the call returns, so these
 * refuse transaction blocks.
 */
#include "postgres.h"

#include "access/xact.h"
#include "api.h"
#include "call.h"
#include "caller.h"
#include "catalog/pg_type.h"
#include "containment.h"
#include "forward.h"
#include "funcapi.h"
#include "spi.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"

PG_FUNCTION_INFO_V1(claim_v1);
PG_FUNCTION_INFO_V1(renew_v1);
PG_FUNCTION_INFO_V1(append_v1);
PG_FUNCTION_INFO_V1(call_v1);
PG_FUNCTION_INFO_V1(journal_v1);
PG_FUNCTION_INFO_V1(release_v1);
PG_FUNCTION_INFO_V1(finalize_v1);
PG_FUNCTION_INFO_V1(finalize_many_v1);
PG_FUNCTION_INFO_V1(reap_v1);
PG_FUNCTION_INFO_V1(promote_v1);
PG_FUNCTION_INFO_V1(suspend_v1);

/*
 * In a block, a claim would hold row locks until an executor commits, and an
 * outcome that it believes recorded could still be rolled back.
 */
static void
refuse_transaction_block(const char *function)
{
	containment_refuse_in_tool(function);
	if (IsTransactionBlock() || IsSubTransaction())
		ereport(ERROR,
				(errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
				 errmsg("%s cannot run inside a transaction block", function),
				 errdetail("What it did must be committed when it returns."),
				 errhint("Call it in a statement of its own, outside BEGIN and COMMIT.")));
}

Datum
claim_v1(PG_FUNCTION_ARGS)
{
	static Statement statement = {
		.sql = "SELECT * FROM sandbox_exec._claim($1, $2, $3, $4, $5, "
			   "NULL::pg_catalog.int8, NULL::pg_catalog.int4)",
		.types = {TEXTOID, INT4OID, INTERVALOID, TEXTOID, UUIDOID},
	};

	refuse_transaction_block("claim()");
	return forward_set(fcinfo, &statement);
}

Datum
renew_v1(PG_FUNCTION_ARGS)
{
	static Statement statement = {
		.sql = "SELECT sandbox_exec._renew($1, $2, $3)",
		.types = {UUIDOID, UUIDOID, INTERVALOID},
	};

	refuse_transaction_block("renew()");
	return forward_value(fcinfo, &statement);
}

Datum
append_v1(PG_FUNCTION_ARGS)
{
	static Statement statement = {
		"SELECT sandbox_exec._append($1, $2, $3)", false, {UUIDOID, UUIDOID, JSONBOID}};

	refuse_transaction_block("append()");
	return forward_value(fcinfo, &statement);
}

/*
 * Its own statements need to see what others commit while the tool runs: a
 * renewal of the claim, a cancel.
 */
static void
refuse_snapshot_isolation(const char *function)
{
	if (IsolationUsesXactSnapshot())
		ereport(ERROR,
				(errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
				 errmsg("%s needs the isolation level READ COMMITTED", function),
				 errdetail("This session's default_transaction_isolation is another."),
				 errhint("SET default_transaction_isolation = 'read committed'.")));
}

/* a tool could read what is left in one; all that it can open itself ends with it */
static void
refuse_held_cursors(const char *function)
{
	static SPIPlanPtr plan = NULL;

	spi_execute(&plan, "SELECT FROM pg_catalog.pg_cursors AS c WHERE c.is_holdable", 0, NULL, NULL, NULL);
	if (SPI_processed > 0)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("%s cannot be called in a session that has cursors WITH HOLD", function),
				 errdetail("Code could read them."),
				 errhint("Close them, or use a connection of its own.")));
}

static char *
json_text(FunctionCallInfo fcinfo, int argument)
{
	Jsonb	   *json;

	if (PG_ARGISNULL(argument))
		return NULL;
	json = PG_GETARG_JSONB_P(argument);
	return JsonbToCString(NULL, &json->root, VARSIZE(json));
}

/* the elements of a JSON array, as a call takes events */
static char *
json_elements(FunctionCallInfo fcinfo, int argument)
{
	char	   *text = json_text(fcinfo, argument);

	if (text == NULL)
		return NULL;
	if (text[0] != '[')
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("events must be a JSON array"),
				 errdetail("It is %s.", text[0] == '{' ? "an object" : "a scalar"),
				 errhint("Give a JSON array of {\"type\", \"data\"}.")));
	text[strlen(text) - 1] = '\0';
	return text[1] ? text + 1 : NULL;
}

static CallRequest
read_request(FunctionCallInfo fcinfo)
{
	static const char *const required[] = {"id", "token", "seq", "kind", "name"};
	CallRequest request = {0};
	int			i;

	for (i = 0; i < lengthof(required); i++)
		if (PG_ARGISNULL(i))
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("%s must not be null", required[i])));
	request.id = *PG_GETARG_UUID_P(0);
	request.token = *PG_GETARG_UUID_P(1);
	request.seq = PG_GETARG_INT32(2);
	request.kind = text_to_cstring(PG_GETARG_TEXT_PP(3));
	request.name = text_to_cstring(PG_GETARG_TEXT_PP(4));
	request.args = json_text(fcinfo, 5);
	request.events = json_elements(fcinfo, 6);

	/* a short sleep is the executor's own affair: it calls before or after */
	request.slept = true;
	return request;
}

/* outcome text, value jsonb; both null when the claim no longer holds */
static Datum
answer_row(FunctionCallInfo fcinfo, const CallAnswer *answer)
{
	Datum		values[2] = {0};
	bool		nulls[2] = {true, true};
	TupleDesc	desc;

	if (get_call_result_type(fcinfo, NULL, &desc) != TYPEFUNC_COMPOSITE || desc->natts != 2)
		elog(ERROR, "unexpected result type");
	nulls[0] = answer->status != CALL_ANSWERED && answer->status != CALL_PENDING;
	nulls[1] = answer->status != CALL_ANSWERED || answer->value == NULL;
	if (!nulls[0])
		values[0] = CStringGetTextDatum(answer->status == CALL_PENDING ? "pending" :
											answer->ok				   ? "ok" :
																		 "error");
	if (!nulls[1])
		values[1] = DirectFunctionCall1(jsonb_in, CStringGetDatum(answer->value));
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(desc), values, nulls));
}

Datum
call_v1(PG_FUNCTION_ARGS)
{
	MemoryContext context = CurrentMemoryContext;
	CallRequest request = read_request(fcinfo);
	CallAnswer	answer = {0};
	Caller		caller;

	refuse_transaction_block("call()");
	refuse_snapshot_isolation("call()");
	containment_settle_session("call()");
	caller = caller_enter();
	SPI_connect();
	refuse_held_cursors("call()");
	MemoryContextSwitchTo(context);
	call_run(&request, &answer);
	SPI_finish();
	caller_leave(&caller);
	return answer_row(fcinfo, &answer);
}

Datum
journal_v1(PG_FUNCTION_ARGS)
{
	static Statement statement = {
		"SELECT * FROM sandbox_exec._journal($1, $2, $3, $4)", false, {UUIDOID, UUIDOID, INT4OID, INT4OID}};

	refuse_transaction_block("journal()");
	return forward_set(fcinfo, &statement);
}

Datum
release_v1(PG_FUNCTION_ARGS)
{
	static Statement statement = {
		.sql = "SELECT sandbox_exec._release($1, $2)",
		.types = {UUIDOID, UUIDOID},
	};

	refuse_transaction_block("release()");
	return forward_value(fcinfo, &statement);
}

Datum
suspend_v1(PG_FUNCTION_ARGS)
{
	static Statement statement = {
		"SELECT sandbox_exec._suspend($1, $2, $3, false)", false, {UUIDOID, UUIDOID, JSONBOID}};

	refuse_transaction_block("suspend()");
	return forward_value(fcinfo, &statement);
}

Datum
finalize_v1(PG_FUNCTION_ARGS)
{
	static Statement statement = {
		.sql = "SELECT sandbox_exec._finalize($1, $2, $3, $4, $5, $6, $7, $8)",
		.types = {UUIDOID, UUIDOID, TEXTOID, JSONBOID, INT4OID, TEXTOID, TEXTOID, JSONBOID},
	};

	refuse_transaction_block("finalize()");
	return forward_value(fcinfo, &statement);
}

Datum
finalize_many_v1(PG_FUNCTION_ARGS)
{
	static Statement statement = {
		.sql = "SELECT * FROM sandbox_exec._finalize_many(sandbox_exec._well_spelled($1), false)",
		.types = {JSONBOID},
	};

	refuse_transaction_block("finalize_many()");
	return forward_set(fcinfo, &statement);
}

Datum
reap_v1(PG_FUNCTION_ARGS)
{
	static Statement statement = {
		.sql = "SELECT * FROM sandbox_exec._reap($1)",
		.types = {INT4OID},
	};

	refuse_transaction_block("reap()");
	return forward_set(fcinfo, &statement);
}

Datum
promote_v1(PG_FUNCTION_ARGS)
{
	static Statement statement = {
		.sql = "SELECT sandbox_exec._promote($1)",
		.types = {INT4OID},
	};

	refuse_transaction_block("promote()");
	return forward_value(fcinfo, &statement);
}
