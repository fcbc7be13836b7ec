/*
 * statement.c
 *		One SQL statement that code gave, with parameters in JSON.
 *
 * C, because SQL can't do it: EXECUTE in PL/pgSQL takes several statements at
 * once, and wants to know the types of parameters beforehand.  Here they are
 * inferred from the statement, as for a client that sends none, and each value
 * becomes what jsonb_to_record() makes of it for that type.
 *
 * Rows become JSON one by one, and the statement ends with an error as soon as
 * they are more than a tool may return: a careless query costs no memory.
 *
 * Everything happens as the current user and by its search_path; what of our
 * own is run is qualified.  A superuser is refused, for whom code that gives
 * statements would be code that does anything.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "compat.h"
#include "containment.h"
#include "executor/executor.h"
#include "executor/spi.h"
#include "failure.h"
#include "funcapi.h"
#include "miscadmin.h"
#include "nodes/params.h"
#include "optimizer/optimizer.h"
#include "parser/analyze.h"
#include "parser/parser.h"
#include "statement.h"
#include "tcop/dest.h"
#include "utils/builtins.h"
#include "utils/jsonb.h"
#include "utils/memutils.h"
#include "utils/plancache.h"

PG_FUNCTION_INFO_V1(sql_query_v1);
PG_FUNCTION_INFO_V1(sql_execute_v1);

#define MAX_RESULT_BYTES 1048576
#define MAX_QUERY_ROWS 10000

/* ---------------------------------------------------------------- results */

/* where the rows go: a JSON array that grows */
typedef struct RowSink
{
	DestReceiver receiver;		/* must be first */
	TupleDesc	desc;			/* blessed, with the names of the result */
	MemoryContext memory;		/* of everything here */
	MemoryContext row_memory;	/* for one row */
	StringInfoData json;		/* "[row,row" */
	int64		count;
	int64		max_rows;		/* stop after so many; -1: take all */
	bool		truncated;		/* there was one more */
	bool		tells_nobody;	/* the statement has no way to NOTIFY */
} RowSink;

static int
compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *) a, *(const char *const *) b);
}

/* a row becomes an object, which has each name once */
static void
refuse_ambiguous_names(TupleDesc desc)
{
	const char **names = palloc(sizeof(char *) * (desc->natts + 1));
	int			i;

	for (i = 0; i < desc->natts; i++)
		names[i] = NameStr(TupleDescAttr(desc, i)->attname);
	qsort(names, desc->natts, sizeof(char *), compare_names);
	for (i = 1; i < desc->natts; i++)
		if (strcmp(names[i - 1], names[i]) == 0)
			ereport(ERROR,
					(errcode(ERRCODE_DUPLICATE_COLUMN),
					 errmsg("column name \"%s\" is used more than once", names[i]),
					 errdetail("Each row becomes an object, whose members need names of their own."),
					 errhint("Give the columns names with AS.")));
	pfree(names);
}

static void
sink_startup(DestReceiver *self, int operation, TupleDesc desc)
{
	RowSink    *sink = (RowSink *) self;
	MemoryContext outside;

	refuse_ambiguous_names(desc);
	outside = MemoryContextSwitchTo(sink->memory);
	sink->desc = BlessTupleDesc(CreateTupleDescCopy(desc));
	MemoryContextSwitchTo(outside);
}

static bool
sink_receive(TupleTableSlot *slot, DestReceiver *self)
{
	RowSink    *sink = (RowSink *) self;
	MemoryContext outside;
	HeapTuple	row;
	text	   *json;

	if (sink->count == sink->max_rows)
	{
		sink->truncated = true;
		return false;			/* ends the query */
	}
	outside = MemoryContextSwitchTo(sink->row_memory);
	slot_getallattrs(slot);
	row = heap_form_tuple(sink->desc, slot->tts_values, slot->tts_isnull);
	json = DatumGetTextPP(DirectFunctionCall1(row_to_json, HeapTupleGetDatum(row)));
	if (sink->json.len + VARSIZE_ANY_EXHDR(json) > MAX_RESULT_BYTES)
		ereport(ERROR,
				(errcode(SQLSTATE_TOO_LARGE),
				 errmsg("the result is too large"),
				 errdetail("After " INT64_FORMAT " rows it has more than %d bytes as JSON.",
						   sink->count, MAX_RESULT_BYTES)));
	if (sink->count++ > 0)
		appendStringInfoChar(&sink->json, ',');
	appendBinaryStringInfo(&sink->json, VARDATA_ANY(json), VARSIZE_ANY_EXHDR(json));
	MemoryContextSwitchTo(outside);
	MemoryContextReset(sink->row_memory);
	return true;
}

static void
sink_nothing(DestReceiver *self)
{
}

static void
sink_init(RowSink *sink, int64 max_rows)
{
	memset(sink, 0, sizeof(*sink));
	sink->receiver.receiveSlot = sink_receive;
	sink->receiver.rStartup = sink_startup;
	sink->receiver.rShutdown = sink_nothing;
	sink->receiver.rDestroy = sink_nothing;
	sink->receiver.mydest = DestNone;
	sink->memory = CurrentMemoryContext;
	sink->row_memory = AllocSetContextCreate(CurrentMemoryContext, "sandbox_exec row", ALLOCSET_DEFAULT_SIZES);
	sink->max_rows = max_rows;
	initStringInfo(&sink->json);
	appendStringInfoChar(&sink->json, '[');
}

/* ------------------------------------------------------------- parameters */

/* the types that the statement's parameters must have; and that it is one statement */
static void
infer_types(const char *query, Oid **types, int *count)
{
	List	   *statements = raw_parser(query, RAW_PARSE_DEFAULT);
	int			i;

	if (list_length(statements) != 1)
		ereport(ERROR,
				(errcode(ERRCODE_SYNTAX_ERROR),
				 errmsg("query must be one statement"),
				 errdetail("It has %d statements.", list_length(statements)),
				 errhint("Make a call for each of them.")));
	*types = NULL;
	*count = 0;
	compat_parse_analyze_varparams(linitial_node(RawStmt, statements), query, types, count);
	for (i = 0; i < *count; i++)
		if ((*types)[i] == InvalidOid || (*types)[i] == UNKNOWNOID)
			ereport(ERROR,
					(errcode(ERRCODE_INDETERMINATE_DATATYPE),
					 errmsg("could not determine data type of parameter $%d", i + 1),
					 errdetail("Nothing in the query tells."),
					 errhint("Write a type after it, as in $%d::text.", i + 1)));
}

/* {"1": first, "2": second, ...}: an array as jsonb_to_record() takes it */
static Datum
numbered(Jsonb *params, int count)
{
	JsonbParseState *state = NULL;
	JsonbValue *object;
	int			i;

	pushJsonbValue(&state, WJB_BEGIN_OBJECT, NULL);
	for (i = 0; i < count; i++)
	{
		JsonbValue	key;

		key.type = jbvString;
		key.val.string.val = psprintf("%d", i + 1);
		key.val.string.len = strlen(key.val.string.val);
		pushJsonbValue(&state, WJB_KEY, &key);
		pushJsonbValue(&state, WJB_VALUE, getIthJsonbValueFromContainer(&params->root, i));
	}
	object = pushJsonbValue(&state, WJB_END_OBJECT, NULL);
	return JsonbPGetDatum(JsonbValueToJsonb(object));
}

/* the values, by each type's own input */
static ParamListInfo
convert_params(Jsonb *params, const Oid *types, int count)
{
	ParamListInfo list = makeParamList(count);
	StringInfoData sql;
	Datum		values[1];
	int			rc;
	int			i;

	if (!JB_ROOT_IS_ARRAY(params) || JB_ROOT_IS_SCALAR(params))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("params must be a JSON array"),
				 errhint("Give the values of $1, $2, ... in this order.")));
	if (JB_ROOT_COUNT(params) != count)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("the number of params is wrong"),
				 errdetail("The query has %d parameters, and there are %u values.", count, JB_ROOT_COUNT(params)),
				 errhint("Give a value for each of $1, $2, ...")));
	if (count == 0)
		return list;

	initStringInfo(&sql);
	appendStringInfoString(&sql, "SELECT * FROM pg_catalog.jsonb_to_record($1) AS p(");
	for (i = 0; i < count; i++)
		appendStringInfo(&sql, "%s\"%d\" %s", i > 0 ? ", " : "", i + 1, format_type_be_qualified(types[i]));
	appendStringInfoChar(&sql, ')');
	values[0] = numbered(params, count);
	rc = SPI_execute_with_args(sql.data, 1, (Oid[]){JSONBOID}, values, NULL, true, 1);
	if (rc != SPI_OK_SELECT)
		elog(ERROR, "could not convert parameters");
	for (i = 0; i < count; i++)
	{
		ParamExternData *param = &list->params[i];

		param->value = SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, i + 1,
									 &param->isnull);
		param->ptype = types[i];
		param->pflags = PARAM_FLAG_CONST;
	}
	return list;
}

/* ---------------------------------------------------------------- running */

static void
refuse_superuser(void)
{
	if (superuser())
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("code of a superuser cannot run SQL statements"),
				 errdetail("It would be free to do anything to this server."),
				 errhint("Submit executions as a role with just the rights that the code needs.")));
}

/* a query that calls only what is STABLE or IMMUTABLE, views included */
static bool
tells_nobody(SPIPlanPtr plan)
{
	ListCell   *source;
	ListCell   *query;

	foreach(source, SPI_plan_get_plan_sources(plan))
		foreach(query, ((CachedPlanSource *) lfirst(source))->query_list)
			if (lfirst_node(Query, query)->commandType != CMD_SELECT ||
				contain_volatile_functions(lfirst(query)))
				return false;
	return true;
}

/* run it; the number of rows that it concerned */
static uint64
run_statement(const char *query, Jsonb *params, RowSink *sink)
{
	SPIExecuteOptions options = {0};
	SPIPlanPtr	plan;
	Oid		   *types;
	int			count;
	int			rc;

	infer_types(query, &types, &count);
	options.params = convert_params(params, types, count);
	options.dest = &sink->receiver;
	plan = SPI_prepare(query, count, types);
	if (plan == NULL)
		elog(ERROR, "could not prepare a statement: %s", SPI_result_code_string(SPI_result));
	sink->tells_nobody = tells_nobody(plan);
	rc = SPI_execute_plan_extended(plan, &options);
	if (rc < 0)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("this kind of statement cannot be run by code"),
				 errdetail("It is refused with %s.", SPI_result_code_string(rc)),
				 errhint("A call is part of a transaction, and has no client to copy from or to.")));
	appendStringInfoChar(&sink->json, ']');
	return SPI_processed;
}

/* the answer as jsonb in memory that outlives SPI */
static Datum
answer(const char *json)
{
	Datum		value = DirectFunctionCall1(jsonb_in, CStringGetDatum(json));

	return SPI_datumTransfer(value, false, -1);
}

static const char *
query_argument(FunctionCallInfo fcinfo)
{
	if (PG_ARGISNULL(0))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("query must not be null"),
				 errhint("Give one SQL statement as text.")));
	return text_to_cstring(PG_GETARG_TEXT_PP(0));
}

static Jsonb *
params_argument(FunctionCallInfo fcinfo)
{
	if (PG_ARGISNULL(1))
		return DatumGetJsonbP(DirectFunctionCall1(jsonb_in, CStringGetDatum("[]")));
	return PG_GETARG_JSONB_P(1);
}

Datum
sql_query_v1(PG_FUNCTION_ARGS)
{
	const char *query = query_argument(fcinfo);
	int			max_rows = PG_ARGISNULL(2) ? 1000 : PG_GETARG_INT32(2);
	RowSink		sink;
	Datum		result;

	refuse_superuser();
	if (max_rows < 1 || max_rows > MAX_QUERY_ROWS)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("max_rows is out of range"),
				 errdetail("It is %d.", max_rows),
				 errhint("Give 1 to %d.", MAX_QUERY_ROWS)));
	SPI_connect();
	sink_init(&sink, max_rows);
	run_statement(query, params_argument(fcinfo), &sink);
	result = answer(psprintf("{\"rows\": %s, \"truncated\": %s}", sink.json.data, sink.truncated ? "true" : "false"));
	SPI_finish();
	containment_note_quiet(sink.tells_nobody ? fcinfo->flinfo->fn_oid : InvalidOid);
	return result;
}

Datum
sql_execute_v1(PG_FUNCTION_ARGS)
{
	const char *query = query_argument(fcinfo);
	RowSink		sink;
	uint64		affected;
	Datum		result;

	refuse_superuser();
	SPI_connect();
	sink_init(&sink, -1);
	affected = run_statement(query, params_argument(fcinfo), &sink);
	result = answer(psprintf("{\"rows_affected\": " UINT64_FORMAT ", \"rows\": %s}", affected, sink.json.data));
	SPI_finish();
	return result;
}
