/*
 * finalize: record outcomes.  One outcome is a batch of one.
 *
 *      the row is running and carries the token -> true
 *      another transaction holds it             -> busy: nothing happened, ask again
 *      anything else                            -> false: discard your outcome
 *
 * An executor's own failure (executor_error) gives the execution back while
 * attempts are left; a requested cancel ends it as cancelled, whatever came of
 * it, and keeps the output.  Outcome and log are one change.
 */
CREATE FUNCTION sandbox_exec._finalize_many(outcomes jsonb, by_worker boolean)
RETURNS TABLE (id uuid, done text)
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE ROWS 100
    SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
DECLARE
    now CONSTANT timestamptz := clock_timestamp();
BEGIN
    PERFORM sandbox_exec._check_outcomes(outcomes);
    RETURN QUERY
    WITH outcome AS MATERIALIZED (
        -- an id that comes twice counts once; sorted for the lock order
        SELECT DISTINCT ON (o.id) o.*
        FROM ROWS FROM (jsonb_to_recordset(outcomes) AS (
                 id uuid, token uuid, status text, result jsonb, exit_code integer, error text,
                 error_code text, events jsonb, runtime_version text)) WITH ORDINALITY
             AS o(id, token, status, result, exit_code, error, error_code, events, runtime_version, index)
        -- the usual outcome is sound at a glance; any other is looked at
        WHERE CASE WHEN o.id IS NOT NULL AND o.token IS NOT NULL AND o.status = 'succeeded'
                        AND o.error IS NULL AND o.error_code IS NULL AND o.events IS NULL
                        AND octet_length(o.result::text) <= 1048576 AND length(o.runtime_version) <= 255
                   THEN true
                   ELSE sandbox_exec._check_outcome(o.index - 1, o.id, o.token, o.status, o.result, o.error,
                                                    o.error_code, o.events, o.runtime_version, by_worker) END
        ORDER BY o.id, o.index
    ), held AS MATERIALIZED (
        SELECT e.id, e.cancel_requested_at IS NOT NULL AS cancel, e.cancel_reason,
               e.attempt_count < e.max_attempts AS attempts_left, e.attempt_count, e.log_pos
        FROM sandbox_exec.execution e JOIN outcome o ON o.id = e.id
        WHERE e.id = ANY (ARRAY(SELECT o.id FROM outcome o))
              AND e.status = 'running' AND e.claim_token = o.token
        ORDER BY e.id
        FOR NO KEY UPDATE OF e SKIP LOCKED
    ), verdict AS MATERIALIZED (
        SELECT o.*, h.cancel_reason, h.log_pos, h.attempt_count,
               CASE WHEN h.cancel THEN 'cancelled'
                    WHEN o.error_code = 'executor_error' AND h.attempts_left THEN 'queued'
                    ELSE o.status END AS next_status
        FROM held h JOIN outcome o ON o.id = h.id
    ), log AS MATERIALIZED (
        -- what came since the last flush, and after it that there will be another attempt
        SELECT v.id, v.log_pos,
               coalesce(v.events, '[]')
               || CASE WHEN v.next_status = 'queued'
                       THEN sandbox_exec._retry_event(v.attempt_count + 1, 'executor_error') ELSE '[]' END AS events
        FROM verdict v
        WHERE v.events IS NOT NULL OR v.next_status = 'queued'
    ), logged AS (
        INSERT INTO sandbox_exec.event (execution_id, pos, at, type, data)
        SELECT g.id, g.log_pos + x.place, now, x.event ->> 'type', x.event -> 'data'
        FROM log g CROSS JOIN LATERAL jsonb_array_elements(g.events) WITH ORDINALITY x(event, place)
    ), ended AS (
        UPDATE sandbox_exec.execution e
        SET status = v.next_status, updated_at = now,
            finished_at = CASE WHEN v.next_status <> 'queued' THEN now END,
            claim_token = NULL, lease_expires_at = NULL, worker_epoch = NULL, worker_no = NULL,
            known_started = false,
            runtime_version = coalesce(v.runtime_version, e.runtime_version),
            log_pos = v.log_pos + coalesce(jsonb_array_length(g.events), 0),
            log_size = e.log_size + coalesce(octet_length(g.events::text), 0),
            result = CASE WHEN v.next_status = 'succeeded' THEN v.result END,
            exit_code = CASE WHEN v.next_status <> 'queued' THEN v.exit_code END,
            error_code = CASE v.next_status
                             WHEN 'failed' THEN coalesce(v.error_code, 'runtime_error')
                             WHEN 'timed_out' THEN coalesce(v.error_code, 'timeout')
                             WHEN 'cancelled' THEN 'cancelled' END,
            error = CASE v.next_status
                        WHEN 'failed' THEN v.error
                        WHEN 'timed_out' THEN v.error
                        WHEN 'cancelled' THEN coalesce(v.cancel_reason, 'cancelled') END
        FROM verdict v LEFT JOIN log g ON g.id = v.id
        WHERE e.id = v.id AND e.id = ANY (ARRAY(SELECT x.id FROM verdict x))
        RETURNING e.id, sandbox_exec._tell(e.id, e.status), sandbox_exec._wake(e.id),
                  -- a worker does it itself, in a transaction of its own
                  CASE WHEN NOT by_worker THEN sandbox_exec._tell_parent(e.parent_id, now) END
    )
    SELECT o.id,
           CASE WHEN n.id IS NOT NULL THEN 'true'
                WHEN EXISTS (SELECT FROM sandbox_exec.execution e
                             WHERE e.id = o.id AND e.status = 'running' AND e.claim_token = o.token) THEN 'busy'
                ELSE 'false' END
    FROM outcome o LEFT JOIN ended n ON n.id = o.id;
END
$$;

-- waits for who holds the row, while the token may still be good: never busy
CREATE FUNCTION sandbox_exec._finalize(
    id uuid, token uuid, status text, result jsonb, exit_code integer, error text, error_code text, events jsonb)
RETURNS boolean
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
BEGIN
    PERFORM FROM sandbox_exec.execution e
    WHERE e.id = _finalize.id AND e.claim_token = token FOR NO KEY UPDATE;
    RETURN f.done = 'true' FROM sandbox_exec._finalize_many(jsonb_build_array(jsonb_build_object(
        'id', id, 'token', token, 'status', status, 'result', result, 'exit_code', exit_code,
        'error', error, 'error_code', error_code, 'events', events)), false) f;
END
$$;
