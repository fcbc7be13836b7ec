/*
 * Entry points for those who submit and watch: C functions that take the
 * effective user as the caller, switch to the extension's owner and call the
 * function of the same name with an underscore.  wait() is C throughout.
 */
CREATE FUNCTION sandbox_exec.enqueue(
    code text,
    args jsonb DEFAULT NULL,
    owner text DEFAULT NULL,            -- the current user; that of its execution in a tool
    org_id text DEFAULT NULL,
    thread_id text DEFAULT NULL,
    tools text[] DEFAULT '{}',
    timeout interval DEFAULT NULL,      -- 10 min, or max_timeout where that is less
    max_output_chars integer DEFAULT 50000,
    memory_limit_kb integer DEFAULT NULL,
    max_attempts integer DEFAULT 2,
    priority integer DEFAULT 0,
    run_at timestamptz DEFAULT NULL,
    idempotency_key text DEFAULT NULL,
    runtime text DEFAULT 'lua')
RETURNS uuid
    LANGUAGE C VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'enqueue_v1';
COMMENT ON FUNCTION sandbox_exec.enqueue(text, jsonb, text, text, text, text[], interval, integer, integer,
                                         integer, integer, timestamptz, text, text) IS
    'requests that code be run, as part of the current transaction; returns the id of the execution';

CREATE FUNCTION sandbox_exec.enqueue_many(requests jsonb) RETURNS SETOF uuid
    LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 100 AS 'MODULE_PATHNAME', 'enqueue_many_v1';
COMMENT ON FUNCTION sandbox_exec.enqueue_many(jsonb) IS
    'enqueues an array of objects whose keys are the parameters of enqueue(), all or none; returns the ids in order';

CREATE FUNCTION sandbox_exec.get(id uuid, owner text DEFAULT NULL) RETURNS SETOF sandbox_exec.executions
    LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 1 AS 'MODULE_PATHNAME', 'get_v1';
COMMENT ON FUNCTION sandbox_exec.get(uuid, text) IS 'one execution; no row when it is unknown or somebody else''s';

CREATE FUNCTION sandbox_exec.list(
    owner text DEFAULT NULL,
    status text DEFAULT NULL,
    before uuid DEFAULT NULL,
    max_rows integer DEFAULT 100)
RETURNS SETOF sandbox_exec.executions
    LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 100 AS 'MODULE_PATHNAME', 'list_v1';
COMMENT ON FUNCTION sandbox_exec.list(text, text, uuid, integer) IS
    'executions, newest first; the last id of a page is "before" of the next';

CREATE FUNCTION sandbox_exec.wait(id uuid, timeout interval DEFAULT '30 s', owner text DEFAULT NULL)
RETURNS SETOF sandbox_exec.executions
    LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 1 AS 'MODULE_PATHNAME', 'wait_v1';
COMMENT ON FUNCTION sandbox_exec.wait(uuid, interval, text) IS
    'waits until the execution has ended or is paused, or the timeout; returns it as it is then';

CREATE FUNCTION sandbox_exec.tail(
    id uuid,
    after bigint DEFAULT 0,
    wait interval DEFAULT '0',
    max_events integer DEFAULT 1000,
    owner text DEFAULT NULL)
RETURNS TABLE (pos bigint, at timestamptz, type text, data jsonb)
    LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 100 AS 'MODULE_PATHNAME', 'tail_v1';
COMMENT ON FUNCTION sandbox_exec.tail(uuid, bigint, interval, integer, text) IS
    'the log strictly after a position (-1: from now); when there is nothing, waits for the next event or the end of the log';

CREATE FUNCTION sandbox_exec.cancel(id uuid, reason text DEFAULT NULL, owner text DEFAULT NULL) RETURNS boolean
    LANGUAGE C VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'cancel_v1';
COMMENT ON FUNCTION sandbox_exec.cancel(uuid, text, text) IS
    'ends an execution that is queued or paused, has one that is running stopped; false when there is none that could end';

CREATE FUNCTION sandbox_exec.resume(
    call_id uuid,
    action text DEFAULT 'accept',
    content jsonb DEFAULT NULL,
    actor text DEFAULT NULL,
    scope text DEFAULT 'call',
    owner text DEFAULT NULL,
    OUT execution_id uuid,
    OUT outcome text)
    LANGUAGE C VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'resume_v1';
COMMENT ON FUNCTION sandbox_exec.resume(uuid, text, jsonb, text, text, text) IS
    'answers a call that waits: accept, decline or cancel; the first answer stands, and every later one is told what it was';

CREATE FUNCTION sandbox_exec.signal(name text, payload jsonb DEFAULT NULL, owner text DEFAULT NULL) RETURNS bigint
    LANGUAGE C VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'signal_v1';
COMMENT ON FUNCTION sandbox_exec.signal(text, jsonb, text) IS
    'answers all that wait for the event of that name at present; returns how many';
