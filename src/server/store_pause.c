/*
 * store_pause.c
 *		What workers do to paused executions.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "jsontext.h"
#include "spi.h"
#include "store_pause.h"
#include "utils/array.h"

/* -------------------------------------------------------------- suspend */

typedef struct SuspendWork
{
	const Claim *claim;
	const char *events;
	Recorded   *recorded;
} SuspendWork;

static void
suspend_body(void *arg)
{
	static SPIPlanPtr plan = NULL;
	SuspendWork *work = arg;
	char		nulls[4] = "   ";
	bool		has_events = work->events != NULL && work->events[0] != '\0';
	Datum		values[3] = {
		UUIDPGetDatum(&work->claim->id), UUIDPGetDatum(&work->claim->token),
		jsontext_datum(has_events ? psprintf("[%s]", work->events) : NULL, &nulls[2])};
	SpiRow		row;
	char	   *answer;

	spi_execute(&plan, "SELECT sandbox_exec._suspend($1, $2, $3, true) AS answer", 3,
				(Oid[]){UUIDOID, UUIDOID, JSONBOID}, values, nulls);
	row = spi_only_row();
	answer = spi_text(&row, "answer");
	*work->recorded = strcmp(answer, "busy") == 0 ? RECORDED_BUSY :
		strcmp(answer, "lost") == 0				  ? RECORDED_REFUSED :
													RECORDED_YES;
}

XactResult
store_suspend(const Claim *claim, const char *events, Recorded *recorded)
{
	SuspendWork work = {claim, events, recorded};

	return xact_run(suspend_body, &work);
}

/* -------------------------------------------------------------- parents */

typedef struct ParentsWork
{
	const pg_uuid_t *children;
	int			count;
} ParentsWork;

static void
parents_body(void *arg)
{
	static SPIPlanPtr plan = NULL;
	ParentsWork *work = arg;
	Datum	   *items = palloc(sizeof(Datum) * work->count);
	Datum		values[1];
	int			i;

	for (i = 0; i < work->count; i++)
		items[i] = UUIDPGetDatum(&work->children[i]);
	values[0] = PointerGetDatum(construct_array(items, work->count, UUIDOID, UUID_LEN, false, 'c'));
	spi_execute(&plan, "SELECT sandbox_exec._answer_parents($1)", 1, (Oid[]){UUIDARRAYOID}, values, NULL);
}

XactResult
store_tell_parents(const pg_uuid_t *children, int count)
{
	ParentsWork work = {children, count};

	return xact_run(parents_body, &work);
}
