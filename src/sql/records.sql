/*
 * Records: executions as their submitters see them, and as executors do.
 *
 * No EXISTS here: the planner may hash one, and reads all events for a few rows.
 * _record has no filter.  The view executions filters by the current user, the
 * functions by the caller that they were given; neither relies on the other.
 */
CREATE VIEW sandbox_exec._record AS
SELECT e.id, e.status, e.result, e.error, e.error_code, e.exit_code,
       coalesce((SELECT string_agg(v.data ->> 'text', '' ORDER BY v.pos)
                 FROM sandbox_exec.event v
                 WHERE v.execution_id = e.id AND v.type = 'stdout'), '') AS stdout,
       coalesce((SELECT string_agg(v.data ->> 'text', '' ORDER BY v.pos)
                 FROM sandbox_exec.event v
                 WHERE v.execution_id = e.id AND v.type = 'stderr'), '') AS stderr,
       coalesce((SELECT true FROM sandbox_exec.event v
                 WHERE v.execution_id = e.id AND v.type = 'stdout'
                       AND v.data -> 'truncated' = 'true' LIMIT 1), false) AS stdout_truncated,
       coalesce((SELECT true FROM sandbox_exec.event v
                 WHERE v.execution_id = e.id AND v.type = 'stderr'
                       AND v.data -> 'truncated' = 'true' LIMIT 1), false) AS stderr_truncated,
       -- names that it asked for in vain are none, nor is what never ran
       CASE WHEN e.call_count = 0 THEN '{}' ELSE ARRAY(
           SELECT c.name FROM sandbox_exec.call c
           WHERE c.execution_id = e.id AND c.kind = 'tool'
                 AND NOT (c.outcome = 'error' AND c.value ->> 'code' IN (
                     'tool_not_found', 'tool_blocked', 'approval_declined', 'approval_cancelled'))
           GROUP BY c.name ORDER BY min(c.seq)) END AS tools_used,
       CASE WHEN e.open_pauses > 0 AND e.finished_at IS NULL THEN (
           SELECT jsonb_agg(jsonb_build_object(
                      'call_id', w.call_id, 'kind', w.kind, 'name', w.name, 'args', w.args, 'message', w.message,
                      'schema', w.schema, 'url', w.url, 'requested_at', w.requested_at, 'expires_at', w.expires_at)
                      ORDER BY w.seq)
           FROM sandbox_exec._waiting w WHERE w.execution_id = e.id) END AS pending,
       e.owner, e.org_id, e.thread_id, e.parent_id, e.submitter, e.runtime, e.runtime_version,
       -e.rank AS priority, e.run_at, e.timeout_ms * interval '1 ms' AS timeout,
       e.attempt_count, e.max_attempts, e.executor, e.cancel_requested_at,
       e.created_at, e.started_at, e.finished_at, e.updated_at
FROM sandbox_exec.execution e;

-- For whom the tool works that is on the stack; null: none is.  What code sees
-- is of its own owner only.  The views compare by CASE ... IS NOT NULL, of which
-- the planner expects that it holds for all rows.
CREATE VIEW sandbox_exec._tool AS
SELECT nullif(current_setting('sandbox_exec.owner', true), '') AS owner;

CREATE VIEW sandbox_exec.executions WITH (security_barrier) AS
SELECT r.* FROM sandbox_exec._record r
WHERE pg_has_role(r.submitter, 'USAGE')
      AND CASE WHEN (SELECT t.owner FROM sandbox_exec._tool t) <> r.owner THEN NULL ELSE true END IS NOT NULL;

COMMENT ON VIEW sandbox_exec.executions IS
    'executions that the current user submitted, or a role whose privileges the user has';
COMMENT ON COLUMN sandbox_exec.executions.id IS 'what enqueue() returned; ascends with time';
COMMENT ON COLUMN sandbox_exec.executions.status IS
    'queued, running, paused, succeeded, failed, timed_out or cancelled';
COMMENT ON COLUMN sandbox_exec.executions.result IS 'what the code returned; null unless succeeded';
COMMENT ON COLUMN sandbox_exec.executions.error IS 'what went wrong, for people';
COMMENT ON COLUMN sandbox_exec.executions.error_code IS
    'what went wrong, for programs; null unless failed, timed_out or cancelled';
COMMENT ON COLUMN sandbox_exec.executions.exit_code IS 'exit code of the code, where it has one';
COMMENT ON COLUMN sandbox_exec.executions.stdout IS 'what the code printed';
COMMENT ON COLUMN sandbox_exec.executions.stderr IS 'what the code wrote to standard error, tracebacks included';
COMMENT ON COLUMN sandbox_exec.executions.stdout_truncated IS 'stdout went on beyond max_output_chars';
COMMENT ON COLUMN sandbox_exec.executions.stderr_truncated IS 'stderr went on beyond max_output_chars';
COMMENT ON COLUMN sandbox_exec.executions.tools_used IS 'tools that the code called, in the order of their first call';
COMMENT ON COLUMN sandbox_exec.executions.pending IS
    'calls that wait for an answer, an array of objects as in the view pending; null when there are none';
COMMENT ON COLUMN sandbox_exec.executions.owner IS 'whom it is for, in the application''s words';
COMMENT ON COLUMN sandbox_exec.executions.org_id IS 'the application''s organization';
COMMENT ON COLUMN sandbox_exec.executions.thread_id IS 'the application''s conversation or case';
COMMENT ON COLUMN sandbox_exec.executions.parent_id IS 'the execution whose code enqueued it; null: an application did';
COMMENT ON COLUMN sandbox_exec.executions.submitter IS 'database role that enqueued it';
COMMENT ON COLUMN sandbox_exec.executions.runtime IS 'kind of executor that it needs';
COMMENT ON COLUMN sandbox_exec.executions.runtime_version IS 'what ran it; null until it ended';
COMMENT ON COLUMN sandbox_exec.executions.priority IS 'higher is claimed earlier';
COMMENT ON COLUMN sandbox_exec.executions.run_at IS 'not to be started before';
COMMENT ON COLUMN sandbox_exec.executions.timeout IS 'running time that one attempt may take';
COMMENT ON COLUMN sandbox_exec.executions.attempt_count IS 'attempts so far, without those that were given back';
COMMENT ON COLUMN sandbox_exec.executions.max_attempts IS 'attempts that may be lost before it fails';
COMMENT ON COLUMN sandbox_exec.executions.executor IS 'who claimed it last, in its own words';
COMMENT ON COLUMN sandbox_exec.executions.cancel_requested_at IS 'when cancel() found it running';
COMMENT ON COLUMN sandbox_exec.executions.created_at IS 'when it was enqueued';
COMMENT ON COLUMN sandbox_exec.executions.started_at IS 'when it was first claimed';
COMMENT ON COLUMN sandbox_exec.executions.finished_at IS 'when it ended; null while it lives';
COMMENT ON COLUMN sandbox_exec.executions.updated_at IS 'when its state changed last';

-- what claim() hands to an executor
CREATE TYPE sandbox_exec.claimed AS (
    id uuid,
    claim_token uuid,
    code text,
    args jsonb,
    submitter regrole,
    owner text,
    org_id text,
    thread_id text,
    tools text[],
    limits jsonb,
    attempt integer,
    started_at timestamptz,
    log_pos bigint,
    runtime text,
    lease_expires_at timestamptz,
    parent_id uuid
);
COMMENT ON TYPE sandbox_exec.claimed IS 'an execution in the hands of an executor, with the token that proves it';
COMMENT ON COLUMN sandbox_exec.claimed.claim_token IS 'proves the claim to renew, finalize and release';
COMMENT ON COLUMN sandbox_exec.claimed.limits IS
    'timeout_ms, max_output_chars (a stream), memory_limit_kb (null: sandbox_exec.memory_limit)';
COMMENT ON COLUMN sandbox_exec.claimed.attempt IS 'number of this attempt, from 1';
COMMENT ON COLUMN sandbox_exec.claimed.started_at IS 'when the execution was first claimed';
COMMENT ON COLUMN sandbox_exec.claimed.log_pos IS 'last position of the log so far';
COMMENT ON COLUMN sandbox_exec.claimed.lease_expires_at IS 'renew before, or lose it';
COMMENT ON COLUMN sandbox_exec.claimed.parent_id IS 'the execution whose code enqueued it; null: an application did';
