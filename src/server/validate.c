/*
 * validate.c
 *		What enqueue accepts.  The rules exist once, here, with their words.
 *
 * A value of the wrong kind is 22023, a null where there is no default 22004,
 * an impossible time 22008, a value beyond a limit 54000.
 *
 * C, because each enqueue passes here: in PL/pgSQL the same cost half as much
 * as writing the rows.
 */
#include "postgres.h"

#include "access/detoast.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "guc.h"
#include "mb/pg_wchar.h"
#include "pattern.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/jsonb.h"
#include "utils/timestamp.h"
#include "validate.h"

PG_FUNCTION_INFO_V1(check_request_v1);

#define MAX_BYTES 1048576
#define MAX_CHARS 255
#define MAX_TOOLS 1000
#define MAX_OUTPUT_CHARS 200000
#define MIN_MEMORY_KB 1024
#define MAX_ATTEMPTS 100
#define MAX_PRIORITY 1000000

/* --------------------------------------------------------------------- code */

/* as the regular expression [[:space:]] has it, which is asked only in doubt */
static bool
is_blank(text *code)
{
	const char *c = VARDATA_ANY(code);
	const char *end = c + VARSIZE_ANY_EXHDR(code);

	for (; c < end; c++)
		if (*c > ' ' && *c < 0x7f)
			return false;
	return !DatumGetBool(DirectFunctionCall2Coll(textregexeq, DEFAULT_COLLATION_OID,
												 PointerGetDatum(code),
												 CStringGetTextDatum("[^[:space:]]")));
}

static int
length_in_chars(const text *value)
{
	return pg_mbstrlen_with_len(VARDATA_ANY(value), VARSIZE_ANY_EXHDR(value));
}

static void
check_code(NullableDatum code)
{
	int64		size;

	if (code.isnull)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("code must not be null"),
				 errhint("Give the program to run as text.")));
	size = (int64) toast_raw_datum_size(code.value) - VARHDRSZ;
	if (size > MAX_BYTES)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("code is too large"),
				 errdetail("It has " INT64_FORMAT " bytes; the limit is %d.", size, MAX_BYTES),
				 errhint("Pass data in args, and split the program.")));
	if (is_blank(DatumGetTextPP(code.value)))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("code must not be blank"),
				 errdetail("It has %d characters, all of them white space.",
						   length_in_chars(DatumGetTextPP(code.value))),
				 errhint("Give the program to run as text.")));
}

static void
check_args(NullableDatum args)
{
	Jsonb	   *json;
	char	   *string;
	size_t		size;

	if (args.isnull)
		return;
	json = DatumGetJsonbP(args.value);
	string = JsonbToCString(NULL, &json->root, VARSIZE(json));
	size = strlen(string);
	pfree(string);
	if (size > MAX_BYTES)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("args is too large"),
				 errdetail("It has %zu bytes as text; the limit is %d.", size, MAX_BYTES),
				 errhint("Keep large data in a table and pass its key.")));
}

/* -------------------------------------------------------------------- texts */

static void
check_length(NullableDatum value, const char *name)
{
	text	   *chars;
	int			length;

	if (value.isnull)
		return;
	chars = DatumGetTextPP(value.value);
	if (VARSIZE_ANY_EXHDR(chars) <= MAX_CHARS)
		return;
	length = length_in_chars(chars);
	if (length > MAX_CHARS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("%s is too long", name),
				 errdetail("It has %d characters; the limit is %d.", length, MAX_CHARS),
				 errhint("Use a shorter value, such as an id or a hash.")));
}

static void
check_not_empty(NullableDatum value, const char *name)
{
	if (!value.isnull && VARSIZE_ANY_EXHDR(DatumGetTextPP(value.value)) == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s must not be empty", name),
				 errdetail("It is a text of no characters."),
				 errhint("Leave it out, or give null, for the default.")));
}

static void
check_texts(const NullableDatum *request)
{
	check_length(request[REQUEST_OWNER], "owner");
	check_length(request[REQUEST_ORG_ID], "org_id");
	check_length(request[REQUEST_THREAD_ID], "thread_id");
	check_length(request[REQUEST_IDEMPOTENCY_KEY], "idempotency_key");
	check_length(request[REQUEST_RUNTIME], "runtime");
	check_not_empty(request[REQUEST_OWNER], "owner");
	check_not_empty(request[REQUEST_RUNTIME], "runtime");
	check_not_empty(request[REQUEST_IDEMPOTENCY_KEY], "idempotency_key");
}

/* -------------------------------------------------------------------- tools */

static char *
quoted(Datum name)
{
	Datum		start = DirectFunctionCall2(text_left, name, Int32GetDatum(MAX_CHARS));

	return psprintf("\"%s\"", TextDatumGetCString(start));
}

static bool
is_tool(Datum name)
{
	text	   *pattern = DatumGetTextPP(name);

	return pattern_is_valid(VARDATA_ANY(pattern), VARSIZE_ANY_EXHDR(pattern));
}

static void
check_tools(NullableDatum tools)
{
	ArrayType  *array;
	Datum	   *names;
	bool	   *nulls;
	int			count;
	int			i;

	if (tools.isnull)
		return;
	array = DatumGetArrayTypeP(tools.value);
	count = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
	if (count > MAX_TOOLS)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("too many tools"),
				 errdetail("There are %d names; the limit is %d.", count, MAX_TOOLS),
				 errhint("Name the tools that this execution needs.")));
	if (count == 0)
		return;
	deconstruct_array(array, TEXTOID, -1, false, TYPALIGN_INT, &names, &nulls, &count);
	for (i = 0; i < count; i++)
	{
		if (!nulls[i] && is_tool(names[i]))
			continue;
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("tools holds an invalid name"),
				 errdetail("tools[%d] is %s.", i + 1, nulls[i] ? "null" : quoted(names[i])),
				 errhint("Give names such as app.lookup, patterns such as app.*, or * for every tool.")));
	}
}

/* ------------------------------------------------------------------- limits */

static Datum
interval_of_ms(int64 ms)
{
	Interval   *interval = palloc0(sizeof(Interval));

	interval->time = ms * 1000;
	return IntervalPGetDatum(interval);
}

static char *
interval_text(Datum interval)
{
	return DatumGetCString(DirectFunctionCall1(interval_out, interval));
}

static void
check_timeout(NullableDatum timeout)
{
	Datum		longest = interval_of_ms(guc_max_timeout);

	if (timeout.isnull)
		return;
	if (DatumGetBool(DirectFunctionCall2(interval_lt, timeout.value, interval_of_ms(1))) ||
		DatumGetBool(DirectFunctionCall2(interval_gt, timeout.value, longest)))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("timeout is out of range"),
				 errdetail("It is %s.", interval_text(timeout.value)),
				 errhint("Give at least 1 ms and at most sandbox_exec.max_timeout, which is %s.",
						 interval_text(longest))));
}

int
validate_timeout_ms(Datum timeout)
{
	const Interval *interval = DatumGetIntervalP(timeout);
	int64		days = (int64) interval->month * DAYS_PER_MONTH + interval->day;

	/* as intervals are compared: months of 30 days of 24 hours */
	return (int) ((days * USECS_PER_DAY + interval->time + 500) / 1000);
}

static void
check_range(NullableDatum value, int least, int most, const char *name, const char *hint)
{
	int32		number = DatumGetInt32(value.value);

	if (!value.isnull && (number < least || number > most))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s is out of range", name),
				 errdetail("It is %d.", number),
				 errhint("%s", hint)));
}

static void
check_run_at(NullableDatum run_at)
{
	if (!run_at.isnull && TIMESTAMP_NOT_FINITE(DatumGetTimestampTz(run_at.value)))
		ereport(ERROR,
				(errcode(ERRCODE_DATETIME_FIELD_OVERFLOW),
				 errmsg("run_at must be finite"),
				 errdetail("It is %s.",
						   DatumGetCString(DirectFunctionCall1(timestamptz_out, run_at.value))),
				 errhint("Give a point in time, or leave it out to run at once.")));
}

static char *
memory_hint(void)
{
	return psprintf("Give %d to sandbox_exec.memory_limit, which is %d kB.", MIN_MEMORY_KB, guc_memory_limit);
}

void
validate_request(const NullableDatum *request)
{
	NullableDatum memory = request[REQUEST_MEMORY_LIMIT_KB];

	check_code(request[REQUEST_CODE]);
	check_args(request[REQUEST_ARGS]);
	check_texts(request);
	check_tools(request[REQUEST_TOOLS]);
	check_timeout(request[REQUEST_TIMEOUT]);
	check_range(request[REQUEST_MAX_OUTPUT_CHARS], 0, MAX_OUTPUT_CHARS, "max_output_chars",
				"Give 0 to 200000 characters.");
	if (!memory.isnull)
		check_range(memory, MIN_MEMORY_KB, guc_memory_limit, "memory_limit_kb", memory_hint());
	check_range(request[REQUEST_MAX_ATTEMPTS], 1, MAX_ATTEMPTS, "max_attempts", "Give 1 to 100.");
	check_range(request[REQUEST_PRIORITY], -MAX_PRIORITY, MAX_PRIORITY, "priority",
				"Give -1000000 to 1000000; higher is claimed earlier.");
	check_run_at(request[REQUEST_RUN_AT]);
}

Datum
check_request_v1(PG_FUNCTION_ARGS)
{
	NullableDatum request[REQUEST_FIELDS];
	int			i;

	for (i = 0; i < REQUEST_FIELDS; i++)
		request[i] = fcinfo->args[i];
	validate_request(request);
	PG_RETURN_VOID();
}
