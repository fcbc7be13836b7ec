/*
 * validate.h
 *		What enqueue accepts.
 */
#ifndef SANDBOX_EXEC_VALIDATE_H
#define SANDBOX_EXEC_VALIDATE_H

#include "fmgr.h"

/* a request: the parameters of enqueue(), in their order */
typedef enum RequestField
{
	REQUEST_CODE,				/* text */
	REQUEST_ARGS,				/* jsonb */
	REQUEST_OWNER,				/* text */
	REQUEST_ORG_ID,				/* text */
	REQUEST_THREAD_ID,			/* text */
	REQUEST_TOOLS,				/* text[] */
	REQUEST_TIMEOUT,			/* interval */
	REQUEST_MAX_OUTPUT_CHARS,	/* integer */
	REQUEST_MEMORY_LIMIT_KB,	/* integer */
	REQUEST_MAX_ATTEMPTS,		/* integer */
	REQUEST_PRIORITY,			/* integer */
	REQUEST_RUN_AT,				/* timestamptz */
	REQUEST_IDEMPOTENCY_KEY,	/* text */
	REQUEST_RUNTIME,			/* text */
	REQUEST_FIELDS
} RequestField;

/* ERROR, with what is wrong and how to do better; null stands for the default */
extern void validate_request(const NullableDatum *request);

/* an interval that was accepted, in milliseconds */
extern int	validate_timeout_ms(Datum timeout);

/* the same for statements in SQL: returns void */
extern Datum check_request_v1(PG_FUNCTION_ARGS);

#endif
