/*
 * Entry points for executors: C functions that refuse to run in a transaction
 * block (what they did is committed when they return), switch to the
 * extension's owner and call the function of the same name with an underscore.
 */
CREATE FUNCTION sandbox_exec.claim(
    runtime text DEFAULT 'lua',
    max_rows integer DEFAULT 1,
    lease interval DEFAULT '90 s',
    executor text DEFAULT NULL,
    id uuid DEFAULT NULL)
RETURNS SETOF sandbox_exec.claimed
    LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 10 AS 'MODULE_PATHNAME', 'claim_v1';
COMMENT ON FUNCTION sandbox_exec.claim(text, integer, interval, text, uuid) IS
    'takes executions to run, each under a lease that the returned token proves';

CREATE FUNCTION sandbox_exec.renew(id uuid, token uuid, lease interval) RETURNS text
    LANGUAGE C VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'renew_v1';
COMMENT ON FUNCTION sandbox_exec.renew(uuid, uuid, interval) IS
    'has the claim hold until lease from now: held; cancel: stop, and finalize; lost: stop, and discard; busy: ask again';

CREATE FUNCTION sandbox_exec.append(id uuid, token uuid, events jsonb) RETURNS bigint
    LANGUAGE C VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'append_v1';
COMMENT ON FUNCTION sandbox_exec.append(uuid, uuid, jsonb) IS
    'adds events to the log of a running execution; returns the last position, null when the claim no longer holds';

CREATE FUNCTION sandbox_exec.call(
    id uuid,
    token uuid,
    seq integer,
    kind text,
    name text,
    args jsonb DEFAULT NULL,
    events jsonb DEFAULT NULL,
    OUT outcome text,
    OUT value jsonb)
    LANGUAGE C VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'call_v1';
COMMENT ON FUNCTION sandbox_exec.call(uuid, uuid, integer, text, text, jsonb, jsonb) IS
    'does what the code calls for, once, and journals it; ok, error, or pending: suspend when nothing else can go on; null when the claim no longer holds, and then nothing was done';

CREATE FUNCTION sandbox_exec.journal(
    id uuid,
    token uuid,
    after_seq integer DEFAULT 0,
    max_rows integer DEFAULT 1000)
RETURNS TABLE (seq integer, kind text, name text, args jsonb, outcome text, value jsonb,
               delivered_no integer, at timestamptz)
    LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 100 AS 'MODULE_PATHNAME', 'journal_v1';
COMMENT ON FUNCTION sandbox_exec.journal(uuid, uuid, integer, integer) IS
    'calls that earlier attempts made, after a seq, for replay; no rows when the claim no longer holds';

CREATE FUNCTION sandbox_exec.suspend(id uuid, token uuid, events jsonb DEFAULT NULL) RETURNS text
    LANGUAGE C VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'suspend_v1';
COMMENT ON FUNCTION sandbox_exec.suspend(uuid, uuid, jsonb) IS
    'gives up a claim while its calls are pending: paused; queued, since an answer has come; cancelled; or lost';

CREATE FUNCTION sandbox_exec.release(id uuid, token uuid) RETURNS boolean
    LANGUAGE C VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'release_v1';
COMMENT ON FUNCTION sandbox_exec.release(uuid, uuid) IS
    'gives a claim back without using an attempt; false when it was not held, or another transaction holds the row';

CREATE FUNCTION sandbox_exec.finalize(
    id uuid,
    token uuid,
    status text,
    result jsonb DEFAULT NULL,
    exit_code integer DEFAULT NULL,
    error text DEFAULT NULL,
    error_code text DEFAULT NULL,
    events jsonb DEFAULT NULL)
RETURNS boolean
    LANGUAGE C VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'finalize_v1';
COMMENT ON FUNCTION sandbox_exec.finalize(uuid, uuid, text, jsonb, integer, text, text, jsonb) IS
    'records the outcome of an execution; false: the claim no longer holds, discard the outcome';

CREATE FUNCTION sandbox_exec.finalize_many(outcomes jsonb) RETURNS TABLE (id uuid, done text)
    LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 100 AS 'MODULE_PATHNAME', 'finalize_many_v1';
COMMENT ON FUNCTION sandbox_exec.finalize_many(jsonb) IS
    'finalizes an array of objects whose keys are the parameters of finalize(); done is true, false or busy (ask again)';

CREATE FUNCTION sandbox_exec.reap(max_rows integer DEFAULT 1000) RETURNS TABLE (id uuid, action text)
    LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 10 AS 'MODULE_PATHNAME', 'reap_v1';
COMMENT ON FUNCTION sandbox_exec.reap(integer) IS
    'takes lost claims back; action is what the execution became: queued, failed or cancelled';

CREATE FUNCTION sandbox_exec.promote(max_rows integer DEFAULT 1000) RETURNS bigint
    LANGUAGE C VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'promote_v1';
COMMENT ON FUNCTION sandbox_exec.promote(integer) IS
    'makes executions claimable whose run_at has come, and answers pauses that are due; returns how many';
