/*
 * store.c
 *		What workers do to the queue's tables.
 *
 * Each operation is a small struct of arguments and results and a body that
 * runs inside xact_run().  Plans are prepared once a process and kept.
 */
#include "postgres.h"

#include "access/xlog.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "guc.h"
#include "miscadmin.h"
#include "spi.h"
#include "shmem.h"
#include "store.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/jsonb.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

/* logged_count of a claim whose log holds something that is not read yet */
#define LOG_UNREAD (-1)

/* rows that one repair handles; more wait for the next */
#define REPAIR_ROWS 1000

/* where the claims lie in the log that may not be on disk yet */
static XLogRecPtr claimed_until = InvalidXLogRecPtr;

static Datum
lease_interval(void)
{
	Interval   *lease = palloc0(sizeof(Interval));

	lease->time = (int64) guc_lease * 1000;
	return IntervalPGetDatum(lease);
}

/* ---------------------------------------------------------------- claim */

typedef struct ClaimWork
{
	int			max_rows;
	int			worker_no;
	MemoryContext into;
	ClaimBatch *batch;
} ClaimWork;

static int
limit_of(Jsonb *limits, const char *name, int otherwise)
{
	JsonbValue *value = getKeyJsonValueFromContainer(&limits->root, name, strlen(name), NULL);

	if (value == NULL || value->type != jbvNumeric)
		return otherwise;
	return DatumGetInt32(DirectFunctionCall1(numeric_int4, NumericGetDatum(value->val.numeric)));
}

static void
take_claim(Claim *claim, SpiRow *row)
{
	Jsonb	   *limits = DatumGetJsonbP(spi_datum(row, "limits"));

	claim->id = *DatumGetUUIDP(spi_datum(row, "id"));
	claim->token = *DatumGetUUIDP(spi_datum(row, "claim_token"));
	claim->code = spi_text(row, "code");
	claim->args = spi_text(row, "args");
	claim->submitter = DatumGetObjectId(spi_datum(row, "submitter"));
	claim->submitter_exists = SearchSysCacheExists1(AUTHOID, ObjectIdGetDatum(claim->submitter));
	claim->owner = spi_text(row, "owner");
	claim->org_id = spi_text(row, "org_id");
	claim->thread_id = spi_text(row, "thread_id");
	claim->timeout_ms = limit_of(limits, "timeout_ms", guc_max_timeout);
	claim->max_output_chars = limit_of(limits, "max_output_chars", 0);
	claim->memory_limit_kb = Min(limit_of(limits, "memory_limit_kb", guc_memory_limit),
								 guc_memory_limit);
	claim->started_at = DatumGetTimestampTz(spi_datum(row, "started_at"));
	claim->attempt = DatumGetInt32(spi_datum(row, "attempt"));
	claim->has_parent = spi_text(row, "parent_id") != NULL;
	claim->logged_count = DatumGetInt64(spi_datum(row, "log_pos")) > 1 ? LOG_UNREAD : 0;
}

static OutlogStream
stream_of(const char *type)
{
	return strcmp(type, "stdout") == 0 ? OUTLOG_STDOUT :
		strcmp(type, "stderr") == 0	   ? OUTLOG_STDERR :
										 OUTLOG_CUSTOM;
}

/* what earlier attempts have logged, so that this one need not log it again */
static void
read_log(Claim *claim, MemoryContext into)
{
	static SPIPlanPtr plan = NULL;
	Datum		values[1] = {UUIDPGetDatum(&claim->id)};
	MemoryContext outside;
	int			i;

	spi_execute(&plan, "SELECT pos, type, coalesce(data -> 'truncated' OPERATOR(pg_catalog.=) 'true', false) AS truncated, "
					   "CASE type WHEN 'custom' THEN data::pg_catalog.text ELSE data ->> 'text' END AS text "
					   "FROM sandbox_exec.event WHERE execution_id = $1 AND type IN ('stdout', 'stderr', 'custom') ORDER BY pos",
				1, (Oid[]){UUIDOID}, values, NULL);
	outside = MemoryContextSwitchTo(into);
	claim->logged_count = SPI_processed;
	claim->logged = palloc0(sizeof(LoggedEvent) * Max(SPI_processed, 1));
	for (i = 0; i < claim->logged_count; i++)
	{
		SpiRow		row = {SPI_tuptable->vals[i], SPI_tuptable->tupdesc};
		LoggedEvent *event = &claim->logged[i];

		event->pos = DatumGetInt64(spi_datum(&row, "pos"));
		event->stream = stream_of(spi_text(&row, "type"));
		event->text = spi_text(&row, "text");
		event->length = strlen(event->text);
		event->truncated = event->stream != OUTLOG_CUSTOM && DatumGetBool(spi_datum(&row, "truncated"));
	}
	MemoryContextSwitchTo(outside);
}

static void
claim_body(void *arg)
{
	static SPIPlanPtr plan = NULL;
	ClaimWork  *work = arg;
	Datum		values[4] = {
		Int32GetDatum(work->max_rows), lease_interval(),
		Int64GetDatum(shared->epoch), Int32GetDatum(work->worker_no)};
	MemoryContext outside;
	int			i;

	xact_commit_asynchronously();
	spi_execute(&plan, "SELECT * FROM sandbox_exec._claim('lua', $1, $2, "
					   "'worker ' || $4, NULL, $3, $4)",
				4,
				(Oid[]){INT4OID, INTERVALOID, INT8OID, INT4OID}, values, NULL);
	outside = MemoryContextSwitchTo(work->into);
	work->batch->count = SPI_processed;
	work->batch->full = work->batch->count >= work->max_rows;
	work->batch->claims = palloc0(sizeof(Claim) * Max(SPI_processed, 1));
	for (i = 0; i < work->batch->count; i++)
	{
		SpiRow		row = {SPI_tuptable->vals[i], SPI_tuptable->tupdesc};

		take_claim(&work->batch->claims[i], &row);
	}
	MemoryContextSwitchTo(outside);
	for (i = 0; i < work->batch->count; i++)
		if (work->batch->claims[i].logged_count == LOG_UNREAD)
			read_log(&work->batch->claims[i], work->into);
}

/*
 * A claim need not be on disk before its code runs: all that the code does
 * outside of its process comes in later transactions, which take the claim's
 * records to disk with them.  A crash before that leaves the execution queued.
 * Only a call may do harm that no commit tells of, by taking the server down;
 * so the claim must be there first, or that attempt would not count.
 */
XactResult
store_claim(int max_rows, int worker_no, ClaimBatch *batch)
{
	ClaimWork	work = {max_rows, worker_no, CurrentMemoryContext, batch};
	XactResult	result;

	batch->count = 0;
	result = xact_run(claim_body, &work);
	if (result == XACT_DONE && batch->count > 0)
		claimed_until = XactLastCommitEnd;
	return result;
}

static void
secure_claims(void)
{
	if (!XLogRecPtrIsInvalid(claimed_until))
		XLogFlush(claimed_until);
	claimed_until = InvalidXLogRecPtr;
}

/* --------------------------------------------------------------- append */

typedef struct AppendWork
{
	const Claim *claim;
	const char *events;
	Appended   *appended;
} AppendWork;

static void
append_body(void *arg)
{
	static SPIPlanPtr plan = NULL;
	AppendWork *work = arg;
	Datum		values[3] = {
		UUIDPGetDatum(&work->claim->id), UUIDPGetDatum(&work->claim->token),
		DirectFunctionCall1(jsonb_in, CStringGetDatum(psprintf("[%s]", work->events)))};
	SpiRow		row;
	char	   *answer;

	spi_execute(&plan, "SELECT sandbox_exec._append_now($1, $2, $3) AS answer", 3,
				(Oid[]){UUIDOID, UUIDOID, JSONBOID}, values, NULL);
	row = spi_only_row();
	answer = spi_text(&row, "answer");
	*work->appended = strcmp(answer, "done") == 0 ? APPENDED_YES :
		strcmp(answer, "busy") == 0				  ? APPENDED_BUSY :
													APPENDED_LOST;
}

XactResult
store_append(const Claim *claim, const char *events, Appended *appended)
{
	AppendWork	work = {claim, events, appended};

	return xact_run(append_body, &work);
}

/* ----------------------------------------------------------------- call */

typedef struct CallWork
{
	const CallRequest *request;
	CallAnswer *answer;
	MemoryContext into;
} CallWork;

static void
call_body(void *arg)
{
	CallWork   *work = arg;
	MemoryContext inside = MemoryContextSwitchTo(work->into);

	call_run(work->request, work->answer);
	MemoryContextSwitchTo(inside);
}

XactResult
store_call(const CallRequest *request, CallAnswer *answer)
{
	CallWork	work = {request, answer, CurrentMemoryContext};

	secure_claims();
	return xact_run(call_body, &work);
}

/* ---------------------------------------------------------------- renew */

typedef struct RenewWork
{
	const Claim *claim;
	Hold	   *hold;
} RenewWork;

static void
renew_body(void *arg)
{
	static SPIPlanPtr plan = NULL;
	RenewWork  *work = arg;
	Datum		values[3] = {
		UUIDPGetDatum(&work->claim->id), UUIDPGetDatum(&work->claim->token), lease_interval()};
	SpiRow		row;
	char	   *answer;

	spi_execute(&plan, "SELECT sandbox_exec._renew($1, $2, $3) AS answer", 3,
				(Oid[]){UUIDOID, UUIDOID, INTERVALOID}, values, NULL);
	row = spi_only_row();
	answer = spi_text(&row, "answer");
	*work->hold = strcmp(answer, "held") == 0 ? HOLD_HELD :
		strcmp(answer, "cancel") == 0		  ? HOLD_CANCEL :
		strcmp(answer, "busy") == 0			  ? HOLD_BUSY :
												HOLD_LOST;
}

XactResult
store_renew(const Claim *claim, Hold *hold)
{
	RenewWork	work = {claim, hold};

	return xact_run(renew_body, &work);
}

/* -------------------------------------------------------------- release */

typedef struct ReleaseWork
{
	const Claim *const *claims;
	int			count;
	bool		all;
} ReleaseWork;

static Datum
uuid_array(const Claim *const *claims, int count, bool tokens)
{
	Datum	   *items = palloc(sizeof(Datum) * count);
	int			i;

	for (i = 0; i < count; i++)
		items[i] = UUIDPGetDatum(tokens ? &claims[i]->token : &claims[i]->id);
	return PointerGetDatum(construct_array(items, count, UUIDOID, UUID_LEN, false, 'c'));
}

static void
release_body(void *arg)
{
	static SPIPlanPtr plan = NULL;
	ReleaseWork *work = arg;
	Datum		values[2] = {
		uuid_array(work->claims, work->count, false), uuid_array(work->claims, work->count, true)};
	SpiRow		row;

	/* in id order: the lock order of all that touch several executions */
	spi_execute(&plan, "SELECT coalesce(pg_catalog.bool_and("
					   "sandbox_exec._release(given.id, given.token)), true) AS all "
					   "FROM (SELECT * FROM unnest($1, $2) AS pair (id, token) "
					   "ORDER BY id) AS given",
				2,
				(Oid[]){UUIDARRAYOID, UUIDARRAYOID}, values, NULL);
	row = spi_only_row();
	work->all = DatumGetBool(spi_datum(&row, "all"));
}

bool
store_release(const Claim *const *claims, int count)
{
	ReleaseWork work = {claims, count, true};

	return count == 0 || (xact_run(release_body, &work) == XACT_DONE && work.all);
}

/* ------------------------------------------------------------- finalize */

typedef struct FinalizeWork
{
	const char *outcomes;
	const pg_uuid_t *ids;
	int			count;
	Recorded   *recorded;
} FinalizeWork;

static void
note_recorded(FinalizeWork *work, SpiRow *row)
{
	pg_uuid_t  *id = DatumGetUUIDP(spi_datum(row, "id"));
	char	   *done = spi_text(row, "done");
	int			i;

	for (i = 0; i < work->count; i++)
		if (memcmp(&work->ids[i], id, UUID_LEN) == 0)
			work->recorded[i] = strcmp(done, "true") == 0 ? RECORDED_YES :
				strcmp(done, "busy") == 0				  ? RECORDED_BUSY :
															RECORDED_REFUSED;
}

static void
finalize_body(void *arg)
{
	static SPIPlanPtr plan = NULL;
	FinalizeWork *work = arg;
	Datum		values[1] = {
		DirectFunctionCall1(jsonb_in, CStringGetDatum(work->outcomes))};
	int			i;

	for (i = 0; i < work->count; i++)
		work->recorded[i] = RECORDED_REFUSED;
	spi_execute(&plan, "SELECT id, done FROM sandbox_exec._finalize_many($1, true)", 1,
				(Oid[]){JSONBOID}, values, NULL);
	for (i = 0; i < (int) SPI_processed; i++)
	{
		SpiRow		row = {SPI_tuptable->vals[i], SPI_tuptable->tupdesc};

		note_recorded(work, &row);
	}
}

XactResult
store_finalize(const char *outcomes, const pg_uuid_t *ids, int count, Recorded *recorded)
{
	FinalizeWork work = {outcomes, ids, count, recorded};

	return xact_run(finalize_body, &work);
}

/* --------------------------------------------------------------- repair */

static const char *const repairs[REPAIR_STEPS] = {
	[REPAIR_REAP] = "SELECT pg_catalog.count(*) > 0 AS worked FROM sandbox_exec._reap($1)",
	[REPAIR_PROMOTE] = "SELECT sandbox_exec._promote($1) > 0 AS worked",
	[REPAIR_RETAIN] = "SELECT sandbox_exec._retain($1) > 0 AS worked",
};

typedef struct RepairWork
{
	RepairStep	step;
	bool		worked;
} RepairWork;

static void
repair_body(void *arg)
{
	static SPIPlanPtr plans[REPAIR_STEPS] = {NULL};
	RepairWork *work = arg;
	Datum		values[1] = {Int32GetDatum(REPAIR_ROWS)};
	SpiRow		row;

	spi_execute(&plans[work->step], repairs[work->step], 1, (Oid[]){INT4OID}, values, NULL);
	row = spi_only_row();
	work->worked = DatumGetBool(spi_datum(&row, "worked"));
}

XactResult
store_repair(RepairStep step, bool *worked)
{
	RepairWork	work = {step, false};
	XactResult	result = xact_run(repair_body, &work);

	*worked = result == XACT_DONE && work.worked;
	return result;
}

static void
next_due_body(void *arg)
{
	static SPIPlanPtr plan = NULL;
	TimestampTz *due = arg;
	SpiRow		row;

	spi_execute(&plan, "SELECT coalesce(sandbox_exec._next_due(), 'infinity') AS due",
				0, NULL, NULL, NULL);
	row = spi_only_row();
	*due = DatumGetTimestampTz(spi_datum(&row, "due"));
}

XactResult
store_next_due(TimestampTz *due)
{
	*due = DT_NOEND;
	return xact_run(next_due_body, due);
}
