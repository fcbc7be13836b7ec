/*
 * tail.c
 *		tail(): an execution's log strictly after a position, as a long poll.
 */
#include "postgres.h"

#include "access/xact.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "guc.h"
#include "longpoll.h"
#include "spi.h"
#include "srf.h"
#include "utils/builtins.h"
#include "utils/timestamp.h"

PG_FUNCTION_INFO_V1(tail_v1);

/* the position that means "from now" */
#define FROM_NOW (-1)

#define MAX_EVENTS 1000

typedef struct Tail
{
	pg_uuid_t  *id;
	char	   *owner;			/* or NULL */
	int64		after;
	int			max_events;
	Tuplestorestate *store;
	bool		waits;			/* it was asked to wait */
	bool		done;			/* nothing more will come, or something has come */
} Tail;

static void
refuse_position(const Tail *tail, int64 last)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("position " INT64_FORMAT " lies beyond the log", tail->after),
			 errdetail("The log of this execution ends at " INT64_FORMAT " so far.", last),
			 errhint("Give the last position that was read, 0 for the whole log, or -1 for what comes from now on.")));
}

static void
fetch_events(Tail *tail, MemoryContext outside)
{
	static SPIPlanPtr plan = NULL;
	Datum		values[3] = {
		UUIDPGetDatum(tail->id), Int64GetDatum(tail->after), Int32GetDatum(tail->max_events)};
	uint64		i;

	spi_look(&plan, "SELECT * FROM sandbox_exec._log_after($1, $2, $3)", 3,
			 (Oid[]){UUIDOID, INT8OID, INT4OID}, values, NULL);
	MemoryContextSwitchTo(outside);
	for (i = 0; i < SPI_processed; i++)
		tuplestore_puttuple(tail->store, SPI_tuptable->vals[i]);
}

/* at the first look, -1 becomes the position that the log has reached */
static void
look(void *arg, const Caller *caller, MemoryContext outside)
{
	static SPIPlanPtr plan = NULL;
	Tail	   *tail = arg;
	Datum		values[3] = {
		ObjectIdGetDatum(caller->user), UUIDPGetDatum(tail->id),
		tail->owner ? CStringGetTextDatum(tail->owner) : (Datum) 0};
	SpiRow		row;
	int64		last;

	spi_look(&plan, "SELECT * FROM sandbox_exec._log_state($1, $2, $3)", 3,
			 (Oid[]){REGROLEOID, UUIDOID, TEXTOID}, values, tail->owner ? "   " : "  n");
	tail->done = true;
	if (SPI_processed == 0)
		return;
	row = spi_only_row();
	last = DatumGetInt64(spi_datum(&row, "last_pos"));
	if (tail->after == FROM_NOW)
		tail->after = last;
	if (tail->after > last)
		refuse_position(tail, last);
	if (tail->after < last)
		fetch_events(tail, outside);
	else
		tail->done = DatumGetBool(spi_datum(&row, "closed"));
	if (!tail->done && tail->waits &&
		TransactionIdIsCurrentTransactionId(DatumGetTransactionId(spi_datum(&row, "writer"))))
		longpoll_refuse_own();
}

static void
require(bool given, const char *name, const char *hint)
{
	if (!given)
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("%s must not be null", name),
				 errhint("%s", hint)));
}

static void
check_range(const char *name, int64 value, int64 min, int64 max, const char *hint)
{
	if (value < min || value > max)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s is out of range", name),
				 errdetail("It is " INT64_FORMAT ".", value),
				 errhint("%s", hint)));
}

/* tail(id uuid, after bigint, wait interval, max_events integer, owner text) */
Datum
tail_v1(PG_FUNCTION_ARGS)
{
	Tail		tail = {0};
	TimestampTz deadline;
	uint64		generation;

	require(!PG_ARGISNULL(0), "id", "Give the id that enqueue() returned.");
	tail.id = PG_GETARG_UUID_P(0);
	tail.after = PG_ARGISNULL(1) ? 0 : PG_GETARG_INT64(1);
	check_range("after", tail.after, FROM_NOW, PG_INT64_MAX,
				"Give the last position that was read, 0 for the whole log, or -1 for what comes from now on.");
	deadline = GetCurrentTimestamp();
	if (!PG_ARGISNULL(2))
		deadline = longpoll_deadline(fcinfo, 2, "wait", guc_max_wait);
	tail.waits = deadline > GetCurrentTimestamp();
	tail.max_events = PG_ARGISNULL(3) ? MAX_EVENTS : PG_GETARG_INT32(3);
	check_range("max_events", tail.max_events, 1, MAX_EVENTS, "Give 1 to 1000.");
	tail.owner = PG_ARGISNULL(4) ? NULL : text_to_cstring(PG_GETARG_TEXT_PP(4));
	tail.store = srf_begin(fcinfo);
	do
	{
		generation = longpoll_generation(tail.id, AWAIT_LOG);
		longpoll_look(look, &tail);
	} while (!tail.done && longpoll_sleep(tail.id, AWAIT_LOG, generation, deadline));
	return (Datum) 0;
}
