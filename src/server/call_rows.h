/*
 * call_rows.h
 *		What a call reads and writes.
 *
 * The decisions are in SQL (sql/call.sql, sql/call_end.sql); these carry them to
 * call.c and back.  All are within the transaction of the call, with SPI
 * connected, with a safe search_path, and allocate in the current context.
 */
#ifndef SANDBOX_EXEC_CALL_ROWS_H
#define SANDBOX_EXEC_CALL_ROWS_H

#include "call.h"
#include "tools.h"
#include "utils/palloc.h"

/* one call at work */
typedef struct Call
{
	const CallRequest *request;
	CallAnswer *answer;
	int			seq;			/* the one to ask for */
	MemoryContext context;		/* lives as long as the call */
	MemoryContext into;			/* for the answer */
	Jsonb	   *args;			/* or NULL */

	/* what begin said */
	char	   *verdict;
	bool		ok;				/* of recorded, limit, answer */
	char	   *value;			/* JSON text, or NULL */
	char	   *message;		/* of diverged: names both calls */
	char	   *record;			/* what the journal gets instead, or NULL */
	TimestampTz at;				/* of recorded, and of end */
	int			delivered_no;	/* of recorded, and of end */
	bool		approved;		/* the journal has the call: complete it */
	char	   *pause;			/* of pause and approve: JSON text */
	int			wait_ms;		/* of sleep */
	ToolRun		tool;			/* of run and approve */
} Call;

/* what is to happen: fills in what begin says */
extern void call_begin(Call *call);

extern bool call_is(const Call *call, const char *verdict);

/*
 * The journal's row and the log, under the row lock of the execution; gives at
 * and delivered_no of a call that is over.  ERROR SX001, SX002 or SX004 when it
 * was not this executor's to make.
 */
extern void call_end(Call *call);

/*
 * An outside executor need not ask again: after a cancel, or a call that is not
 * the journal's, its execution ends here.  A worker ends it itself, with what its
 * code has printed.
 */
extern void call_end_cancelled(const CallRequest *request);
extern void call_end_diverged(Call *call);

#endif
