/*
 * call.h
 *		One call of the code to the outside, done once.
 *
 * The tool's effect and the journal's row are one transaction: there is either
 * both or neither, and who finds the row doesn't call the tool again.
 */
#ifndef SANDBOX_EXEC_CALL_H
#define SANDBOX_EXEC_CALL_H

#include "datatype/timestamp.h"
#include "utils/uuid.h"

typedef struct CallRequest
{
	pg_uuid_t	id;
	pg_uuid_t	token;
	int			seq;			/* from 1, in the order in which the code calls */
	const char *kind;			/* tool, module, ask, sleep, event or child */
	const char *name;
	const char *args;			/* JSON text, or NULL */
	const char *events;			/* to be logged with it: elements of a JSON array, or NULL */
	bool		by_worker;		/* else by an outside executor */
	bool		slept;			/* a short sleep is over; see CALL_SLEEPS */
} CallRequest;

typedef enum CallStatus
{
	CALL_ANSWERED,
	CALL_PENDING,				/* an answer will come, to a later attempt */
	CALL_SLEEPS,				/* wait for wait_ms without a transaction, and ask again */
	CALL_LOST,					/* the token no longer holds */
	CALL_CANCELLED,				/* somebody wants the execution to end */
	CALL_DIVERGED				/* the journal has another call there */
} CallStatus;

typedef struct CallAnswer
{
	CallStatus	status;
	bool		ok;				/* else value is an error object */
	bool		replayed;		/* nothing was written, nor were events logged */
	char	   *value;			/* JSON text, or NULL for null; of CALL_DIVERGED, both calls */
	TimestampTz at;				/* when it was answered: the code's clock goes on from there */
	int			delivered_no;	/* its place among the answers; 0: it isn't journaled */
	int			wait_ms;		/* of CALL_SLEEPS */
} CallAnswer;

/*
 * Answer a call, within a transaction that ends with it, with SPI connected, as
 * a user who may do everything with the extension's tables.  The answer lives
 * in the context that is current.  Unless the status is CALL_ANSWERED or
 * CALL_PENDING nothing has happened, but that an outside executor's execution may have been ended.
 *
 * An ERROR means that nothing has happened, too.  55P03: somebody holds the
 * execution's row, ask again.
 */
extern void call_run(const CallRequest *request, CallAnswer *answer);

#endif
