/*
 * call_rows.c
 *		What a call reads and writes.
 */
#include "postgres.h"

#include "call_rows.h"
#include "catalog/pg_type.h"
#include "executor/executor.h"
#include "guc.h"
#include "jsontext.h"
#include "resolve.h"
#include "spi.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"
#include "wakeup.h"

/* arguments of which the text is never longer than it may be, however it is spaced */
#define PLAIN_MAX (512 * 1024)

/* ------------------------------------------------------------------ begin */

bool
call_is(const Call *call, const char *verdict)
{
	return strcmp(call->verdict, verdict) == 0;
}

/*
 * The time of a tool is the setting's, but never more than half of the lease's
 * rest.  A worker renews at a third of its lease, so that the half is as good as
 * a setting; but not when renewing has failed.
 */
static void
set_timeout(Call *call, TimestampTz lease_expires_at)
{
	long		half = TimestampDifferenceMilliseconds(GetCurrentTimestamp(), lease_expires_at) / 2;

	call->tool.timeout_ms = (int) Max(Min((long) guc_tool_timeout, half), 1);
	call->tool.lease_ends = half < guc_tool_timeout &&
		(!call->request->by_worker || half < guc_lease / 4);
}

static void
take_tool(Call *call, const SpiRow *row, Oid function)
{
	ToolRun    *tool = &call->tool;

	tool->name = call->request->name;
	tool->function = function;
	tool->signature = spi_text(row, "function");
	tool->args = call->args;
	set_timeout(call, DatumGetTimestampTz(spi_datum(row, "lease_expires_at")));
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

/* a tool's, with arguments that are surely sound: none, or an object of no great size */
static bool
is_plain(const Call *call)
{
	const CallRequest *request = call->request;

	if (strcmp(request->kind, "tool") != 0)
		return false;
	return call->args == NULL ||
		(JB_ROOT_IS_OBJECT(call->args) && strlen(request->args) <= PLAIN_MAX &&
		 jsontext_is_plain(request->args));
}

/*
 * The usual call: it may be made, and its function was found before.  False: look
 * closer.
 */
static bool
runs(Call *call)
{
	static SPIPlanPtr plan = NULL;
	const CallRequest *request = call->request;
	Datum		values[4] = {
		UUIDPGetDatum(&request->id), UUIDPGetDatum(&request->token),
		Int32GetDatum(call->seq), CStringGetTextDatum(request->name)};
	SpiRow		row;
	Oid			function;

	if (!is_plain(call))
		return false;
	spi_execute_indexed(&plan, "SELECT * FROM sandbox_exec._call_runs($1, $2, $3, $4)", 4,
						(Oid[]){UUIDOID, UUIDOID, INT4OID, TEXTOID}, values, NULL);
	if (!spi_found())
		return false;
	row = spi_only_row();
	function = resolve_known(spi_text(&row, "function"));
	if (!OidIsValid(function) ||
		!SearchSysCacheExists1(AUTHOID, spi_datum(&row, "submitter")))
		return false;
	call->verdict = "run";
	take_tool(call, &row, function);
	return true;
}

static void
look_closer(Call *call)
{
	static SPIPlanPtr plan = NULL;
	const CallRequest *request = call->request;
	Datum		values[8] = {
		UUIDPGetDatum(&request->id), UUIDPGetDatum(&request->token),
		Int32GetDatum(call->seq),
		CStringGetTextDatum(request->kind), CStringGetTextDatum(request->name),
		JsonbPGetDatum(call->args), BoolGetDatum(request->by_worker), BoolGetDatum(request->slept)};
	uint64		generation = resolve_generation();
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
	if (call_is(call, "recorded"))
		take_number(call, &row);
	if (call_is(call, "sleep"))
		call->wait_ms = DatumGetInt32(spi_datum(&row, "wait_ms"));
	if (call_is(call, "run") || call_is(call, "approve"))
	{
		take_tool(call, &row, DatumGetObjectId(spi_datum(&row, "function_oid")));
		resolve_remember(call->tool.signature, call->tool.function, generation);
	}
}

void
call_begin(Call *call)
{
	call->value = call->record = call->pause = NULL;
	call->approved = false;
	call->delivered_no = 0;
	if (!runs(call))
		look_closer(call);
}

/* -------------------------------------------------------------------- end */

static Datum
events_datum(const CallRequest *request, char *null)
{
	return jsontext_datum(request->events ? psprintf("[%s]", request->events) : NULL, null);
}

#define END_ARGS 11

static void
end_values(Call *call, Datum *values, char *nulls)
{
	const CallRequest *request = call->request;
	const char *record = call->record ? call->record : call->value;
	const char *outcome = call->ok ? "ok" : "error";

	memset(nulls, ' ', END_ARGS);
	values[0] = UUIDPGetDatum(&request->id);
	values[1] = UUIDPGetDatum(&request->token);
	values[2] = Int32GetDatum(request->seq);
	values[3] = CStringGetTextDatum(request->kind);
	values[4] = CStringGetTextDatum(request->name);
	values[5] = JsonbPGetDatum(call->args);
	nulls[5] = call->args ? ' ' : 'n';
	values[6] = CStringGetTextDatum(call->pause ? "pending" : outcome);
	values[7] = jsontext_datum(record, &nulls[7]);
	values[8] = jsontext_datum(call->pause, &nulls[8]);
	values[9] = events_datum(request, &nulls[9]);
	values[10] = BoolGetDatum(request->by_worker);
}

/* the journal's row is written, pending or over */
static void
end_new(Call *call, Datum *values, char *nulls)
{
	static const char function[] =
		"sandbox_exec._call_end(uuid,uuid,integer,text,text,jsonb,text,jsonb,jsonb,jsonb,boolean)";
	HeapTupleHeader row;
	bool		isnull;

	row = DatumGetHeapTupleHeader(spi_call_indexed(resolve_own(function), END_ARGS, values, nulls));
	call->at = DatumGetTimestampTz(GetAttributeByNum(row, 1, &isnull));
	call->delivered_no = DatumGetInt32(GetAttributeByNum(row, 2, &isnull));
	wakeup_readers(&call->request->id);
}

/* or the pending one is completed */
static void
end_approved(Call *call, Datum *values, char *nulls)
{
	static SPIPlanPtr plan = NULL;
	SpiRow		row;

	spi_execute(&plan, "SELECT at, delivered_no FROM sandbox_exec._call_complete($1, $2, $3, $7, $8, $10, $11)",
				END_ARGS,
				(Oid[]){UUIDOID, UUIDOID, INT4OID, TEXTOID, TEXTOID, JSONBOID, TEXTOID, JSONBOID,
						JSONBOID, JSONBOID, BOOLOID},
				values, nulls);
	row = spi_only_row();
	take_number(call, &row);
}

void
call_end(Call *call)
{
	Datum		values[END_ARGS];
	char		nulls[END_ARGS];

	end_values(call, values, nulls);
	if (call->approved)
		end_approved(call, values, nulls);
	else
		end_new(call, values, nulls);
}

/* --------------------------------------------------- ends of the execution */

void
call_end_cancelled(const CallRequest *request)
{
	static SPIPlanPtr plan = NULL;
	Datum		values[2] = {UUIDPGetDatum(&request->id), UUIDPGetDatum(&request->token)};

	if (!request->by_worker)
		spi_execute(&plan, "SELECT sandbox_exec._release($1, $2)", 2,
					(Oid[]){UUIDOID, UUIDOID}, values, NULL);
}

void
call_end_diverged(Call *call)
{
	static SPIPlanPtr plan = NULL;
	const CallRequest *request = call->request;
	char		nulls[5] = "    ";
	Datum		values[4] = {
		UUIDPGetDatum(&request->id), UUIDPGetDatum(&request->token),
		CStringGetTextDatum(call->message), events_datum(request, &nulls[3])};

	if (!request->by_worker)
		spi_execute(&plan, "SELECT sandbox_exec._call_diverged($1, $2, $3, $4)", 4,
					(Oid[]){UUIDOID, UUIDOID, TEXTOID, JSONBOID}, values, nulls);
}
