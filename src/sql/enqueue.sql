/*
 * enqueue: one row of each table, in the caller's transaction.
 *
 * In C (server/enqueue.c): it is called for each execution by itself, and takes
 * hardly longer than the rows.  caller is not null.
 *
 * While a tool is on the stack what is enqueued is a child of its execution
 * (children.sql), whoever the caller is.
 */
CREATE FUNCTION sandbox_exec._enqueue(
    caller regrole, code text, args jsonb, owner text, org_id text, thread_id text, tools text[],
    timeout interval, max_output_chars integer, memory_limit_kb integer, max_attempts integer,
    priority integer, run_at timestamptz, idempotency_key text, runtime text)
RETURNS uuid
    LANGUAGE C VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'enqueue_as_v1';
