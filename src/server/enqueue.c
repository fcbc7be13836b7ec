/*
 * enqueue.c
 *		enqueue(): one row of each table, in the caller's transaction.
 *
 * Null stands for the default in every argument that has one, so that a wrapper
 * can pass its own optional arguments on.
 *
 * C from the entry point to the two statements, so that it costs little more
 * than they do: what PL/pgSQL adds to a call was as much again.
 */
#include "postgres.h"

#include "caller.h"
#include "catalog/pg_type.h"
#include "containment.h"
#include "enqueue.h"
#include "guc.h"
#include "spi.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/guc.h"
#include "utils/timestamp.h"
#include "uuid7.h"
#include "validate.h"
#include "wakeup.h"

PG_FUNCTION_INFO_V1(enqueue_v1);
PG_FUNCTION_INFO_V1(enqueue_as_v1);

#define DEFAULT_TIMEOUT_MS (10 * 60 * 1000)
#define DEFAULT_MAX_OUTPUT_CHARS 50000
#define DEFAULT_MAX_ATTEMPTS 2

/* whom an execution is enqueued by: an application, or another one's tool */
typedef struct Origin
{
	NullableDatum parent_id;
	int			depth;

	/* what the application allows its parent: no child may have more */
	int			priority;
	int			timeout_ms;
	int			max_output_chars;
	int			memory_limit_kb;	/* 0: as much as the server allows */
	int			max_attempts;
} Origin;

/* the columns of execution_input, as parameters of a statement */
#define INPUT_COLUMNS 7
#define INSERT_INPUT                                              \
	"INSERT INTO sandbox_exec.execution_input "                   \
	"(id, submitter, owner, idempotency_key, code, args, tools) " \
	"VALUES ($1, $2, $3, $4, $5, $6, $7)"

static Oid	input_types[INPUT_COLUMNS] = {
	UUIDOID, REGROLEOID, TEXTOID, TEXTOID, TEXTOID, JSONBOID, TEXTARRAYOID};

/* a value where the caller gave none */
static void
set_default(NullableDatum *field, Datum value)
{
	if (!field->isnull)
		return;
	field->value = value;
	field->isnull = false;
}

static Datum
name_of(Oid role)
{
	Datum		name = DirectFunctionCall1(pg_get_userbyid, ObjectIdGetDatum(role));

	return DirectFunctionCall1(name_text, name);
}

static void
set_defaults(NullableDatum *request, Oid caller, TimestampTz now)
{
	if (request[REQUEST_OWNER].isnull)
		set_default(&request[REQUEST_OWNER], name_of(caller));
	if (request[REQUEST_TOOLS].isnull)
		set_default(&request[REQUEST_TOOLS], PointerGetDatum(construct_empty_array(TEXTOID)));
	if (request[REQUEST_RUNTIME].isnull)
		set_default(&request[REQUEST_RUNTIME], CStringGetTextDatum("lua"));
	set_default(&request[REQUEST_MAX_OUTPUT_CHARS], Int32GetDatum(DEFAULT_MAX_OUTPUT_CHARS));
	set_default(&request[REQUEST_MAX_ATTEMPTS], Int32GetDatum(DEFAULT_MAX_ATTEMPTS));
	set_default(&request[REQUEST_PRIORITY], Int32GetDatum(0));
	set_default(&request[REQUEST_RUN_AT], TimestampTzGetDatum(now));
}

/* nulls as SPI takes them */
static char
mark(NullableDatum field)
{
	return field.isnull ? 'n' : ' ';
}

static void
take(NullableDatum *field, const SpiRow *row, const char *column)
{
	char	   *text = spi_text(row, column);

	field->isnull = text == NULL;
	if (text != NULL)
		field->value = CStringGetTextDatum(text);
}

/*
 * While a tool is on the stack: the new one is a child of its execution, whoever
 * the caller is.  ERROR when it must not be.
 */
static void
inherit(NullableDatum *request, Origin *origin, const char *parent)
{
	static SPIPlanPtr plan = NULL;
	static Oid	types[] = {UUIDOID, TEXTOID, TEXTOID, TEXTOID, TEXTARRAYOID};
	static const RequestField fields[] = {
		REQUEST_OWNER, REQUEST_ORG_ID, REQUEST_THREAD_ID, REQUEST_TOOLS};
	Datum		values[lengthof(types)];
	char		nulls[lengthof(types)];
	SpiRow		row;
	int			i;

	origin->parent_id.value = DirectFunctionCall1(uuid_in, CStringGetDatum(parent));
	origin->parent_id.isnull = false;
	values[0] = origin->parent_id.value;
	nulls[0] = ' ';
	for (i = 1; i < lengthof(types); i++)
	{
		values[i] = request[fields[i - 1]].value;
		nulls[i] = mark(request[fields[i - 1]]);
	}
	spi_execute(&plan,
				"SELECT i.owner, i.org_id, i.thread_id, i.depth, - e.rank AS priority, e.timeout_ms, "
				"e.max_output_chars, coalesce(e.memory_limit_kb, 0) AS memory_limit_kb, e.max_attempts "
				"FROM sandbox_exec._inherit($1, $2, $3, $4, $5) i, sandbox_exec.execution e "
				"WHERE e.id = $1",
				lengthof(types), types, values, nulls);
	row = spi_only_row();
	take(&request[REQUEST_OWNER], &row, "owner");
	take(&request[REQUEST_ORG_ID], &row, "org_id");
	take(&request[REQUEST_THREAD_ID], &row, "thread_id");
	origin->depth = DatumGetInt32(spi_datum(&row, "depth"));
	origin->priority = DatumGetInt32(spi_datum(&row, "priority"));
	origin->timeout_ms = DatumGetInt32(spi_datum(&row, "timeout_ms"));
	origin->max_output_chars = DatumGetInt32(spi_datum(&row, "max_output_chars"));
	origin->memory_limit_kb = DatumGetInt32(spi_datum(&row, "memory_limit_kb"));
	origin->max_attempts = DatumGetInt32(spi_datum(&row, "max_attempts"));
}

static void
at_most(NullableDatum *field, int most)
{
	field->value = Int32GetDatum(Min(DatumGetInt32(field->value), most));
}

/* after the defaults; nor may it come before what others have enqueued earlier */
static void
narrow(NullableDatum *request, const Origin *origin, TimestampTz now)
{
	TimestampTz run_at = DatumGetTimestampTz(request[REQUEST_RUN_AT].value);

	at_most(&request[REQUEST_PRIORITY], origin->priority);
	at_most(&request[REQUEST_MAX_OUTPUT_CHARS], origin->max_output_chars);
	at_most(&request[REQUEST_MAX_ATTEMPTS], origin->max_attempts);
	request[REQUEST_RUN_AT].value = TimestampTzGetDatum(Max(run_at, now));
	if (origin->memory_limit_kb == 0)
		return;
	set_default(&request[REQUEST_MEMORY_LIMIT_KB], Int32GetDatum(origin->memory_limit_kb));
	at_most(&request[REQUEST_MEMORY_LIMIT_KB], origin->memory_limit_kb);
}

static int
timeout_ms(NullableDatum timeout, const Origin *origin)
{
	int			ms = Min(DEFAULT_TIMEOUT_MS, guc_max_timeout);

	if (!timeout.isnull)
		ms = validate_timeout_ms(timeout.value);
	return origin->parent_id.isnull ? ms : Min(ms, origin->timeout_ms);
}

static void
input_values(const NullableDatum *request, Oid caller, pg_uuid_t *id, Datum *values, char *nulls)
{
	static const RequestField fields[INPUT_COLUMNS - 2] = {
		REQUEST_OWNER, REQUEST_IDEMPOTENCY_KEY, REQUEST_CODE, REQUEST_ARGS, REQUEST_TOOLS};
	int			i;

	values[0] = UUIDPGetDatum(id);
	values[1] = ObjectIdGetDatum(caller);
	nulls[0] = nulls[1] = ' ';
	for (i = 2; i < INPUT_COLUMNS; i++)
	{
		values[i] = request[fields[i - 2]].value;
		nulls[i] = mark(request[fields[i - 2]]);
	}
}

/* one that another has not; false: it was taken, and id is that of the other */
static bool
insert_keyed(const NullableDatum *request, Oid caller, pg_uuid_t *id)
{
	static SPIPlanPtr insert = NULL;
	static SPIPlanPtr look = NULL;
	Datum		values[INPUT_COLUMNS];
	char		nulls[INPUT_COLUMNS];
	SpiRow		row;

	for (;;)
	{
		uuid7_make(id);
		input_values(request, caller, id, values, nulls);
		spi_execute(&insert,
					INSERT_INPUT " ON CONFLICT (submitter, owner, idempotency_key) "
								 "WHERE idempotency_key IS NOT NULL DO NOTHING",
					INPUT_COLUMNS, input_types, values, nulls);
		if (SPI_processed > 0)
			return true;

		/*
		 * The key is taken: by now its transaction has committed.  The last
		 * condition is one that execution_input_list cannot serve.
		 */
		spi_execute(&look,
					"SELECT i.id FROM sandbox_exec.execution_input i "
					"WHERE i.idempotency_key = $3 AND i.owner = $2 AND i.submitter IS NOT DISTINCT FROM $1",
					3, input_types + 1, values + 1, nulls + 1);
		if (SPI_processed > 0)
		{
			row = spi_only_row();
			*id = *DatumGetUUIDP(spi_datum(&row, "id"));
			return false;
		}
		/* that record was deleted between the two statements: the key is free */
	}
}

/* without a key: ON CONFLICT would cost a record of the log */
static void
insert_unkeyed(const NullableDatum *request, Oid caller, pg_uuid_t *id)
{
	static SPIPlanPtr plan = NULL;
	Datum		values[INPUT_COLUMNS];
	char		nulls[INPUT_COLUMNS];

	uuid7_make(id);
	input_values(request, caller, id, values, nulls);
	spi_execute(&plan, INSERT_INPUT, INPUT_COLUMNS, input_types, values, nulls);
}

/* it is ready when this transaction commits */
static void
announce(const NullableDatum *request, const pg_uuid_t *id)
{
	ClaimKey	key = {
		.rank = -DatumGetInt32(request[REQUEST_PRIORITY].value),
		.run_at = DatumGetTimestampTz(request[REQUEST_RUN_AT].value),
		.id = *id};

	wakeup_ready(&key);
}

static void
insert_execution(const NullableDatum *request, const Origin *origin, Oid caller, pg_uuid_t *id,
				 TimestampTz now)
{
	static SPIPlanPtr plan = NULL;
	static Oid	types[] = {
		UUIDOID, TIMESTAMPTZOID, TIMESTAMPTZOID, BOOLOID, REGROLEOID, INT4OID, INT4OID, INT4OID,
		INT4OID, INT4OID, TEXTOID, TEXTOID, TEXTOID, TEXTOID, UUIDOID, INT4OID};
	TimestampTz run_at = DatumGetTimestampTz(request[REQUEST_RUN_AT].value);
	Datum		values[] = {
		UUIDPGetDatum(id), TimestampTzGetDatum(now), TimestampTzGetDatum(run_at),
		BoolGetDatum(run_at <= now), ObjectIdGetDatum(caller),
		Int32GetDatum(-DatumGetInt32(request[REQUEST_PRIORITY].value)),
		Int32GetDatum(timeout_ms(request[REQUEST_TIMEOUT], origin)),
		request[REQUEST_MAX_OUTPUT_CHARS].value, request[REQUEST_MEMORY_LIMIT_KB].value,
		request[REQUEST_MAX_ATTEMPTS].value, request[REQUEST_RUNTIME].value,
		request[REQUEST_OWNER].value, request[REQUEST_ORG_ID].value,
		request[REQUEST_THREAD_ID].value, origin->parent_id.value, Int32GetDatum(origin->depth)};
	char		nulls[lengthof(types)];

	memset(nulls, ' ', sizeof(nulls));
	nulls[8] = mark(request[REQUEST_MEMORY_LIMIT_KB]);
	nulls[12] = mark(request[REQUEST_ORG_ID]);
	nulls[13] = mark(request[REQUEST_THREAD_ID]);
	nulls[14] = mark(origin->parent_id);
	spi_execute(&plan,
				"INSERT INTO sandbox_exec.execution ("
				"id, created_at, updated_at, run_at, ready, submitter, rank, timeout_ms, max_output_chars, "
				"memory_limit_kb, max_attempts, runtime, owner, org_id, thread_id, parent_id, depth) "
				"VALUES ($1, $2, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)",
				lengthof(types), types, values, nulls);
	if (run_at <= now)
		announce(request, id);
	else
		wakeup_due(run_at);
}

/* as the extension's owner; what reads the tables' names and operators is ours */
static Datum
enqueue(NullableDatum *request, Oid caller)
{
	pg_uuid_t  *id = palloc(sizeof(pg_uuid_t));
	TimestampTz now = GetCurrentTimestamp();
	int			settings = NewGUCNestLevel();
	const char *parent = containment_execution();
	Origin		origin = {.parent_id = {.isnull = true}};
	bool		added = true;

	(void) set_config_option("search_path", "pg_catalog, pg_temp", PGC_USERSET, PGC_S_SESSION,
							 GUC_ACTION_SAVE, true, 0, false);
	SPI_connect();
	if (parent != NULL)
		inherit(request, &origin, parent);
	validate_request(request);
	set_defaults(request, caller, now);
	if (parent != NULL)
		narrow(request, &origin, now);
	if (request[REQUEST_IDEMPOTENCY_KEY].isnull)
		insert_unkeyed(request, caller, id);
	else
		added = insert_keyed(request, caller, id);
	if (added)
		insert_execution(request, &origin, caller, id, now);
	SPI_finish();
	AtEOXact_GUC(true, settings);
	return UUIDPGetDatum(id);
}

/* the arguments from that one on */
static void
read_request(FunctionCallInfo fcinfo, int first, NullableDatum *request)
{
	int			i;

	for (i = 0; i < REQUEST_FIELDS; i++)
		request[i] = fcinfo->args[first + i];
}

Datum
enqueue_v1(PG_FUNCTION_ARGS)
{
	NullableDatum request[REQUEST_FIELDS];
	Caller		caller = caller_enter();
	Datum		id;

	read_request(fcinfo, 0, request);
	id = enqueue(request, caller.user);
	caller_leave(&caller);
	return id;
}

Datum
enqueue_as_v1(PG_FUNCTION_ARGS)
{
	NullableDatum request[REQUEST_FIELDS];

	read_request(fcinfo, 1, request);
	return enqueue(request, PG_GETARG_OID(0));
}
