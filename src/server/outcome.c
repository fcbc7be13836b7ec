/*
 * outcome.c
 *		Outcomes on their way into the record.
 */
#include "postgres.h"

#include "lib/ilist.h"
#include "outcome.h"
#include "portability/instr_time.h"
#include "slot.h"
#include "store_pause.h"
#include "utils/builtins.h"
#include "utils/json.h"
#include "utils/memutils.h"
#include "wakeup.h"

/* waits before another try, in microseconds */
#define BUSY_RETRY_US INT64CONST(50000)
#define ERROR_RETRY_US INT64CONST(1000000)

/* JSON written by one statement, about; and more than waits while claims go on */
#define STATEMENT_BYTES (4 * 1024 * 1024)
#define ENOUGH_BYTES (16 * 1024 * 1024)
#define ENOUGH_OUTCOMES 200

/* one that waits; it lives in a memory context of its own */
typedef struct Waiting
{
	dlist_node	node;
	MemoryContext memory;
	pg_uuid_t	id;
	int64		added;			/* outcome_clock() */
	int64		retry_at;		/* 0: was never tried */
	int64		retry_after;	/* the wait before that, doubled each time */
	size_t		bytes;			/* of json */
	char	   *json;			/* the object for finalize_many */
	Claim		claim;			/* its id, its token and has_parent only */
	Outcome		outcome;		/* what json was made of; texts are ours */
} Waiting;

static dlist_head waiting = DLIST_STATIC_INIT(waiting);
static int	waiting_count = 0;
static size_t waiting_bytes = 0;

int64
outcome_clock(void)
{
	instr_time	now;

	INSTR_TIME_SET_CURRENT(now);
	return (int64) INSTR_TIME_GET_MICROSEC(now);
}

/* ------------------------------------------------- the JSON of an outcome */

static void
append_uuid(StringInfo json, const char *name, const pg_uuid_t *value)
{
	int			i;

	appendStringInfo(json, "\"%s\":\"", name);
	for (i = 0; i < UUID_LEN; i++)
		appendStringInfo(json, "%02x", value->data[i]);
	appendStringInfoChar(json, '"');
}

static void
append_text(StringInfo json, const char *name, const char *value)
{
	if (value == NULL)
		return;
	appendStringInfo(json, ",\"%s\":", name);
	escape_json(json, value);
}

static char *
build(const Claim *claim, const Outcome *outcome)
{
	StringInfoData json;

	initStringInfo(&json);
	appendStringInfoChar(&json, '{');
	append_uuid(&json, "id", &claim->id);
	appendStringInfoChar(&json, ',');
	append_uuid(&json, "token", &claim->token);
	append_text(&json, "status", outcome->status);
	append_text(&json, "error", outcome->error);
	append_text(&json, "error_code", outcome->error_code);
	append_text(&json, "runtime_version", outcome->runtime_version);
	if (outcome->has_exit_code)
		appendStringInfo(&json, ",\"exit_code\":%d", outcome->exit_code);
	if (outcome->result)
		appendStringInfo(&json, ",\"result\":%s", outcome->result);
	if (outcome->events && outcome->events[0])
		appendStringInfo(&json, ",\"events\":[%s]", outcome->events);
	appendStringInfoChar(&json, '}');
	return json.data;
}

static const char *
copy(const char *text)
{
	return text ? pstrdup(text) : NULL;
}

void
outcome_add(const Claim *claim, const Outcome *outcome)
{
	MemoryContext memory = AllocSetContextCreate(TopMemoryContext, "sandbox_exec outcome",
												 ALLOCSET_SMALL_SIZES);
	MemoryContext outside = MemoryContextSwitchTo(memory);
	Waiting    *one = palloc0(sizeof(Waiting));

	one->memory = memory;
	one->id = claim->id;
	one->added = outcome_clock();
	one->claim.id = claim->id;
	one->claim.token = claim->token;
	one->claim.has_parent = claim->has_parent;
	one->outcome = *outcome;	/* status is one of four constants */
	one->outcome.result = copy(outcome->result);
	one->outcome.error = copy(outcome->error);
	one->outcome.error_code = copy(outcome->error_code);
	one->outcome.runtime_version = copy(outcome->runtime_version);
	one->outcome.events = copy(outcome->events);
	one->json = build(claim, outcome);
	one->bytes = strlen(one->json);
	dlist_push_tail(&waiting, &one->node);
	waiting_count++;
	waiting_bytes += one->bytes;
	MemoryContextSwitchTo(outside);
}

/*
 * Leave out what the server does not take: the result first, the log if that
 * was not enough.  The first cause comes first, then why something is missing.
 * False when there is nothing more to leave out.
 */
static bool
strip(Waiting *one, const char *reason)
{
	Outcome    *outcome = &one->outcome;
	MemoryContext outside;

	if (outcome->result == NULL && outcome->events == NULL)
		return false;
	outside = MemoryContextSwitchTo(one->memory);
	outcome->error = psprintf("%s%sthe %s could not be recorded: %s",
							  outcome->error ? outcome->error : "",
							  outcome->error ? "; " : "",
							  outcome->result ? "result" : "log", reason);
	if (outcome->result == NULL)
		outcome->events = NULL;
	outcome->result = NULL;
	if (outcome->error_code == NULL)
	{
		outcome->status = "failed";
		outcome->error_code = "result_invalid";
	}
	one->json = build(&one->claim, outcome);
	MemoryContextSwitchTo(outside);
	return true;
}

int
outcome_count(void)
{
	return waiting_count;
}

bool
outcome_enough(void)
{
	return waiting_count >= ENOUGH_OUTCOMES || waiting_bytes >= ENOUGH_BYTES;
}

int64
outcome_waiting_since(void)
{
	dlist_iter	iter;

	dlist_foreach(iter, &waiting)
	{
		Waiting    *one = dlist_container(Waiting, node, iter.cur);

		if (one->retry_at == 0)
			return one->added;
	}
	return 0;
}

long
outcome_retry_in(void)
{
	int64		now = outcome_clock();
	int64		earliest = -1;
	dlist_iter	iter;

	dlist_foreach(iter, &waiting)
	{
		Waiting    *one = dlist_container(Waiting, node, iter.cur);

		if (one->retry_at > 0 && (earliest < 0 || one->retry_at < earliest))
			earliest = one->retry_at;
	}
	if (earliest < 0)
		return -1;
	return earliest <= now ? 0 : (long) ((earliest - now) / 1000 + 1);
}

/* ---------------------------------------------------------------- writing */

static void
forget(Waiting *one)
{
	dlist_delete(&one->node);
	waiting_count--;
	waiting_bytes -= one->bytes;
	MemoryContextDelete(one->memory);
}

/* somebody holds its row, perhaps for long */
static void
retry_later(Waiting *one, int64 now)
{
	one->retry_after = Min(Max(one->retry_after * 2, BUSY_RETRY_US), ERROR_RETRY_US);
	one->retry_at = now + one->retry_after;
	slot_keeps();
}

/*
 * It could not be written.  When that will never be different it is lost with
 * its lease.
 */
static void
retry_failed(Waiting *one)
{
	one->retry_at = outcome_clock() + ERROR_RETRY_US;
	if (xact_may_pass())
		slot_keeps();
}

/*
 * Children ended: have those go on that wait for them.  They are other rows than
 * the outcomes', hence another transaction; what it doesn't do repair will.
 */
static void
tell_parents(Waiting *const *some, const Recorded *recorded, int count)
{
	pg_uuid_t  *children = palloc(sizeof(pg_uuid_t) * count);
	int			n = 0;
	int			i;

	for (i = 0; i < count; i++)
		if (some[i]->claim.has_parent && recorded[i] == RECORDED_YES)
			children[n++] = some[i]->id;
	if (n > 0)
		(void) store_tell_parents(children, n);
	pfree(children);
}

/*
 * Write these in one transaction.  Listeners are a courtesy: when the server
 * cannot take the notifications, the outcome is written without them.
 */
static bool
write_together(Waiting **some, int count)
{
	StringInfoData json;
	pg_uuid_t  *ids = palloc(sizeof(pg_uuid_t) * count);
	Recorded   *recorded = palloc(sizeof(Recorded) * count);
	int64		now = outcome_clock();
	XactResult	result;
	int			sqlerrcode;
	int			i;

	initStringInfo(&json);
	for (i = 0; i < count; i++)
	{
		ids[i] = some[i]->id;
		appendStringInfoChar(&json, i == 0 ? '[' : ',');
		appendStringInfoString(&json, some[i]->json);
	}
	appendStringInfoChar(&json, ']');

	result = store_finalize(json.data, ids, count, recorded);
	xact_last_error(&sqlerrcode);
	if (result == XACT_FAILED && sqlerrcode == ERRCODE_PROGRAM_LIMIT_EXCEEDED)
	{
		wakeup_mute_notify(true);
		result = store_finalize(json.data, ids, count, recorded);
		wakeup_mute_notify(false);
	}
	if (result == XACT_DONE)
		tell_parents(some, recorded, count);
	for (i = 0; i < count && result == XACT_DONE; i++)
	{
		if (recorded[i] == RECORDED_BUSY)
			retry_later(some[i], now);
		else
			forget(some[i]);
	}
	pfree(json.data);
	pfree(ids);
	pfree(recorded);
	return result == XACT_DONE;
}

/* the outcome's own content is what the server does not take */
static bool
is_its_own_fault(int sqlerrcode)
{
	int			category = ERRCODE_TO_CATEGORY(sqlerrcode);

	return category == ERRCODE_TO_CATEGORY(ERRCODE_DATA_EXCEPTION) ||
		category == ERRCODE_TO_CATEGORY(ERRCODE_PROGRAM_LIMIT_EXCEEDED);
}

/*
 * An outcome that fails alone, and by its own content, is written without what
 * is too much, so that its execution ends; anything else (no room on the disk,
 * a lock that is held) passes, and the outcome is kept as it is.
 */
static void
write_alone(Waiting *one)
{
	const char *reason;
	int			sqlerrcode;

	do
	{
		if (write_together(&one, 1))
			return;
		reason = xact_last_error(&sqlerrcode);
	} while (is_its_own_fault(sqlerrcode) && strip(one, reason));
	retry_failed(one);
}

/*
 * One that waits for answers leaves this worker.  Its row may be held by whoever
 * is about to answer; that stalls nobody but itself.
 */
static void
write_pause(Waiting *one)
{
	Recorded	recorded = RECORDED_REFUSED;
	XactResult	result = store_suspend(&one->claim, one->outcome.events, &recorded);
	int			sqlerrcode;

	xact_last_error(&sqlerrcode);
	if (result == XACT_FAILED && is_its_own_fault(sqlerrcode))
	{
		/* listeners are a courtesy, and the log is not worth more than the rest */
		wakeup_mute_notify(true);
		result = store_suspend(&one->claim, one->outcome.events, &recorded);
		if (result == XACT_FAILED)
			result = store_suspend(&one->claim, NULL, &recorded);
		wakeup_mute_notify(false);
	}
	if (result == XACT_DONE && recorded != RECORDED_BUSY)
		forget(one);
	else if (result == XACT_DONE)
		retry_later(one, outcome_clock());
	else
		retry_failed(one);
}

static bool
is_pause(const Waiting *one)
{
	return strcmp(one->outcome.status, OUTCOME_PAUSED) == 0;
}

static void
write_some(Waiting **some, int count)
{
	int			i;

	if (count > 0 && !write_together(some, count))
		for (i = 0; i < count; i++)
			write_alone(some[i]);
}

void
outcome_retry_all(void)
{
	dlist_iter	iter;

	dlist_foreach(iter, &waiting)
		dlist_container(Waiting, node, iter.cur)->retry_at = 0;
	outcome_flush();
}

void
outcome_flush(void)
{
	int64		now = outcome_clock();
	Waiting   **due;
	int			count = 0;
	dlist_mutable_iter iter;
	int			begin = 0;
	size_t		bytes = 0;
	int			i;

	if (waiting_count == 0)
		return;
	due = palloc(sizeof(Waiting *) * waiting_count);
	dlist_foreach_modify(iter, &waiting)
	{
		Waiting    *one = dlist_container(Waiting, node, iter.cur);

		if (one->retry_at > now)
			continue;
		if (is_pause(one))
			write_pause(one);
		else
			due[count++] = one;
	}
	for (i = 0; i < count; i++)
	{
		size_t		next = due[i]->bytes;

		if (bytes + next > STATEMENT_BYTES)
		{
			write_some(due + begin, i - begin);
			begin = i;
			bytes = 0;
		}
		bytes += next;
	}
	write_some(due + begin, count - begin);
	pfree(due);
}
