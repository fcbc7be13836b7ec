/*
 * store.h
 *		What workers do to the queue's tables: calls of the SQL functions that
 *		outside executors use, each in a transaction of its own (xact.h).
 *
 * None of them waits for a row lock.
 */
#ifndef SANDBOX_EXEC_STORE_H
#define SANDBOX_EXEC_STORE_H

#include "datatype/timestamp.h"
#include "lib/stringinfo.h"
#include "call.h"
#include "replay.h"
#include "utils/uuid.h"
#include "xact.h"

/* one claimed execution; lives in the context it was claimed into */
typedef struct Claim
{
	pg_uuid_t	id;
	pg_uuid_t	token;
	char	   *code;
	char	   *args;			/* JSON text, or NULL */
	Oid			submitter;
	bool		submitter_exists;	/* the role was not dropped meanwhile */
	char	   *owner;
	char	   *org_id;			/* or NULL */
	char	   *thread_id;		/* or NULL */
	int			timeout_ms;
	int			max_output_chars;
	int			memory_limit_kb;
	TimestampTz started_at;		/* of its first attempt: the logical clock */
	int			attempt;		/* from 1 */
	bool		has_parent;		/* somebody may wait for its end */
	LoggedEvent *logged;		/* output that earlier attempts left in the log */
	int			logged_count;
} Claim;

typedef struct ClaimBatch
{
	int			count;
	bool		full;			/* as many as were asked for: there may be more */
	Claim	   *claims;
} ClaimBatch;

/* claim up to max_rows into the current context */
extern XactResult store_claim(int max_rows, int worker_no, ClaimBatch *batch);

typedef enum Hold
{
	HOLD_HELD,
	HOLD_CANCEL,				/* held, and somebody wants it to end */
	HOLD_LOST,
	HOLD_BUSY					/* another holds the row's lock: ask again */
} Hold;

extern XactResult store_renew(const Claim *claim, Hold *hold);

typedef enum Appended
{
	APPENDED_YES,
	APPENDED_LOST,				/* the token no longer holds */
	APPENDED_BUSY				/* another holds the row's lock: try again */
} Appended;

/* add events to the log: the elements of a JSON array */
extern XactResult store_append(const Claim *claim, const char *events, Appended *appended);

/* run a call, or find its answer; the answer lives in the current context */
extern XactResult store_call(const CallRequest *request, CallAnswer *answer);

/*
 * Give claims back that did not start, or that a shutdown interrupts.  False
 * when one of them could not be: its row is locked, or the transaction failed.
 */
extern bool store_release(const Claim *const *claims, int count);

/* what became of an outcome */
typedef enum Recorded
{
	RECORDED_YES,
	RECORDED_REFUSED,			/* the token no longer holds: discard it */
	RECORDED_BUSY				/* another holds the row's lock: try again */
} Recorded;

/*
 * Record outcomes: a JSON array as finalize_many takes it, of the executions
 * ids[0 .. count - 1].  Fills in recorded[].
 */
extern XactResult store_finalize(const char *outcomes, const pg_uuid_t *ids, int count,
								 Recorded *recorded);

/* what is done for the queue as a whole, in this order */
typedef enum RepairStep
{
	REPAIR_REAP,				/* give back what was lost */
	REPAIR_PROMOTE,				/* what is due */
	REPAIR_RETAIN,				/* delete what is older than sandbox_exec.retention */
	REPAIR_STEPS
} RepairStep;

/* *worked when there was any */
extern XactResult store_repair(RepairStep step, bool *worked);

/* when the next row needs a worker; DT_NOEND for never */
extern XactResult store_next_due(TimestampTz *due);

#endif
