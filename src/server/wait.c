/*
 * wait.c
 *		wait(): until an execution has ended, or is paused for somebody's answer.
 *
 * One that sleeps, or waits for an event or a child, is nobody's to act on.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "containment.h"
#include "executor/spi.h"
#include "guc.h"
#include "longpoll.h"
#include "spi.h"
#include "srf.h"
#include "utils/builtins.h"

PG_FUNCTION_INFO_V1(wait_v1);

typedef enum Seen
{
	SEEN_NOTHING,				/* unknown or foreign: alike */
	SEEN_LIVE,					/* neither ended nor paused for an answer */
	SEEN_OWN,					/* live, by what this transaction did and nobody sees */
	SEEN_SETTLED
} Seen;

typedef struct Wait
{
	pg_uuid_t  *id;
	char	   *owner;			/* or NULL */
	Tuplestorestate *store;
	Seen		seen;
} Wait;

/* caller, id, owner: what both statements take */
#define WAIT_ARGUMENTS 3
static Oid	wait_types[WAIT_ARGUMENTS] = {REGROLEOID, UUIDOID, TEXTOID};

static void
execute(SPIPlanPtr *plan, const char *sql, const Wait *wait, const Caller *caller)
{
	Datum		values[WAIT_ARGUMENTS] = {
		ObjectIdGetDatum(caller->user), UUIDPGetDatum(wait->id),
		wait->owner ? CStringGetTextDatum(wait->owner) : (Datum) 0};

	spi_look(plan, sql, WAIT_ARGUMENTS, wait_types, values, wait->owner ? "   " : "  n");
}

/* the caller's search_path is in force: operators are qualified, too */
static void
look_at_state(void *arg, const Caller *caller, MemoryContext outside)
{
	static SPIPlanPtr plan = NULL;
	Wait	   *wait = arg;
	SpiRow		row;

	execute(&plan, "SELECT e.finished_at IS NOT NULL "
				   "OR (e.status OPERATOR(pg_catalog.=) 'paused' AND EXISTS (SELECT FROM sandbox_exec._waiting w "
				   "WHERE w.execution_id OPERATOR(pg_catalog.=) e.id)) AS settled, "
				   "e.xmin AS writer FROM sandbox_exec.execution e "
				   "WHERE e.id OPERATOR(pg_catalog.=) $2 AND sandbox_exec._visible($1, $3, e.submitter, e.owner)",
			wait, caller);
	wait->seen = SEEN_NOTHING;
	if (SPI_processed == 0)
		return;
	row = spi_only_row();
	if (DatumGetBool(spi_datum(&row, "settled")))
		wait->seen = SEEN_SETTLED;
	else if (TransactionIdIsCurrentTransactionId(DatumGetTransactionId(spi_datum(&row, "writer"))))
		wait->seen = SEEN_OWN;
	else
		wait->seen = SEEN_LIVE;
}

static void
fetch_record(void *arg, const Caller *caller, MemoryContext outside)
{
	static SPIPlanPtr plan = NULL;
	Wait	   *wait = arg;
	uint64		i;

	execute(&plan, "SELECT * FROM sandbox_exec._get($1, $2, $3)", wait, caller);
	MemoryContextSwitchTo(outside);
	for (i = 0; i < SPI_processed; i++)
		tuplestore_puttuple(wait->store, SPI_tuptable->vals[i]);
}

static void
wait_until_settled(Wait *wait, TimestampTz deadline)
{
	uint64		generation;

	do
	{
		generation = longpoll_generation(wait->id, AWAIT_END);
		longpoll_look(look_at_state, wait);
		if (wait->seen == SEEN_OWN)
			longpoll_refuse_own();
	} while (wait->seen == SEEN_LIVE && longpoll_sleep(wait->id, AWAIT_END, generation, deadline));
}

/* wait(id uuid, timeout interval, owner text) returns setof executions */
Datum
wait_v1(PG_FUNCTION_ARGS)
{
	Wait		wait = {0};
	TimestampTz deadline;

	containment_refuse_in_tool("wait()");
	if (PG_ARGISNULL(0))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("id must not be null"),
				 errhint("Give the id that enqueue() returned.")));
	wait.id = PG_GETARG_UUID_P(0);
	wait.owner = PG_ARGISNULL(2) ? NULL : text_to_cstring(PG_GETARG_TEXT_PP(2));
	deadline = longpoll_deadline(fcinfo, 1, "timeout", guc_max_wait);
	wait.store = srf_begin(fcinfo);
	wait_until_settled(&wait, deadline);
	longpoll_look(fetch_record, &wait);
	return (Datum) 0;
}
