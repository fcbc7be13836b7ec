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
 *
 * Each statement here reads or writes one table by an array of ids, and finds
 * the rest by a row's place in arrays: there is no join whose plan, made for a
 * tiny table and kept, could go wrong for a large one.
 */
CREATE TYPE sandbox_exec._outcome AS (
    id uuid, token uuid, status text, result jsonb, exit_code integer, error text,
    error_code text, events jsonb, runtime_version text);

-- what becomes of an outcome that isn't a plain success
CREATE FUNCTION sandbox_exec._verdict(
    given sandbox_exec._outcome, cancel boolean, cancel_reason text, attempts integer, max_attempts integer)
RETURNS sandbox_exec._outcome
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF cancel THEN
        given.status := 'cancelled';
        given.result := NULL;
        given.error_code := 'cancelled';
        given.error := coalesce(cancel_reason, 'cancelled');
    ELSIF given.error_code = 'executor_error' AND attempts < max_attempts THEN
        given.status := 'queued';
        given.exit_code := NULL;
        given.error_code := NULL;
        given.error := NULL;
        -- what came since the last flush, and after it that there will be another attempt
        given.events := coalesce(given.events, '[]') || sandbox_exec._retry_event(attempts + 1, 'executor_error');
    ELSIF given.status <> 'succeeded' THEN
        given.error_code := coalesce(given.error_code,
                                     CASE given.status WHEN 'timed_out' THEN 'timeout' ELSE 'runtime_error' END);
    END IF;
    RETURN given;
END
$$;

CREATE FUNCTION sandbox_exec._finalize_many(outcomes jsonb, by_worker boolean)
RETURNS TABLE (id uuid, done text)
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE ROWS 100
    SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    now CONSTANT timestamptz := clock_timestamp();
    given sandbox_exec._outcome[];      -- an id that comes twice counts once: the first is found
    ids uuid[];
    sound boolean;
    locked uuid[];
    verdicts sandbox_exec._outcome[];   -- of the locked ones
    logs boolean;
    ended uuid[];
BEGIN
    PERFORM sandbox_exec._check_outcomes(outcomes);
    -- the usual outcome is sound at a glance; any other is looked at
    SELECT array_agg(o), array_agg(o.id),
           bool_and((o.id IS NOT NULL AND o.token IS NOT NULL AND o.status = 'succeeded'
                     AND o.error IS NULL AND o.error_code IS NULL AND o.events IS NULL
                     AND octet_length(o.result::text) <= 1048576 AND length(o.runtime_version) <= 255) IS TRUE)
    INTO given, ids, sound
    FROM jsonb_populate_recordset(NULL::sandbox_exec._outcome, outcomes) o;
    IF NOT sound THEN
        PERFORM sandbox_exec._check_outcome(o.index - 1, o.id, o.token, o.status, o.result, o.error,
                                            o.error_code, o.events, o.runtime_version, by_worker)
        FROM unnest(given) WITH ORDINALITY
             AS o(id, token, status, result, exit_code, error, error_code, events, runtime_version, index);
    END IF;

    SELECT array_agg(v.id), array_agg(v.outcome), bool_or((v.outcome).events IS NOT NULL)
    INTO locked, verdicts, logs
    FROM (SELECT h.id, CASE WHEN (h.outcome).status = 'succeeded' AND NOT h.cancel THEN h.outcome
                            ELSE sandbox_exec._verdict(h.outcome, h.cancel, h.cancel_reason,
                                                       h.attempt_count, h.max_attempts) END AS outcome
          FROM (SELECT e.id, e.cancel_requested_at IS NOT NULL AS cancel, e.cancel_reason,
                       e.attempt_count, e.max_attempts, given[array_position(ids, e.id)] AS outcome
                FROM sandbox_exec.execution e
                WHERE e.id = ANY (ids) AND e.status = 'running'
                      AND e.claim_token = (given[array_position(ids, e.id)]).token
                ORDER BY e.id
                FOR NO KEY UPDATE SKIP LOCKED) h
          OFFSET 0) v;

    IF logs THEN
        INSERT INTO sandbox_exec.event (execution_id, pos, at, type, data)
        SELECT l.id, l.log_pos + x.place, now, x.event ->> 'type', x.event -> 'data'
        FROM (SELECT e.id, e.log_pos, (verdicts[array_position(locked, e.id)]).events
              FROM sandbox_exec.execution e WHERE e.id = ANY (locked) OFFSET 0) l
             CROSS JOIN LATERAL jsonb_array_elements(l.events) WITH ORDINALITY x(event, place);
    END IF;

    WITH written AS (
        UPDATE sandbox_exec.execution e
        SET (status, finished_at, runtime_version, log_pos, log_size, result, exit_code, error_code, error) = (
                SELECT (v.o).status, CASE WHEN (v.o).status <> 'queued' THEN now END,
                       coalesce((v.o).runtime_version, e.runtime_version),
                       e.log_pos + coalesce(jsonb_array_length((v.o).events), 0),
                       e.log_size + coalesce(octet_length((v.o).events::text), 0),
                       (v.o).result, (v.o).exit_code, (v.o).error_code, (v.o).error
                FROM (SELECT verdicts[array_position(locked, e.id)] AS o OFFSET 0) v),
            updated_at = now, known_started = false,
            claim_token = NULL, lease_expires_at = NULL, worker_epoch = NULL, worker_no = NULL
        WHERE e.id = ANY (locked)
        RETURNING e.id, sandbox_exec._tell(e.id, e.status), sandbox_exec._wake(e.id),
                  CASE WHEN e.open_pauses > 0 AND e.finished_at IS NOT NULL THEN sandbox_exec._close(e.id) END,
                  -- a worker tells it in its next transaction, if it lives so long
                  CASE WHEN e.parent_id IS NOT NULL AND e.finished_at IS NOT NULL THEN
                      sandbox_exec._tell_parent(e.id, e.parent_id, now + by_worker::integer * interval '1 s') END
    )
    SELECT array_agg(w.id) INTO ended FROM written w;

    RETURN QUERY
    SELECT DISTINCT o.id,
           CASE WHEN o.id = ANY (ended) THEN 'true'
                -- LIMIT: not to be hashed, for which all that runs, and its dead entries, would be read
                WHEN (SELECT true FROM sandbox_exec.execution e
                      WHERE e.id = o.id AND e.status = 'running' AND e.claim_token = o.token LIMIT 1) THEN 'busy'
                ELSE 'false' END
    FROM unnest(given) o;
END
$$;

-- waits for who holds the row, while the token may still be good: never busy
CREATE FUNCTION sandbox_exec._finalize(
    id uuid, token uuid, status text, result jsonb, exit_code integer, error text, error_code text, events jsonb)
RETURNS boolean
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET plan_cache_mode = force_generic_plan
AS $$
BEGIN
    PERFORM FROM sandbox_exec.execution e
    WHERE e.id = _finalize.id AND e.claim_token = token FOR NO KEY UPDATE;
    RETURN f.done = 'true' FROM sandbox_exec._finalize_many(jsonb_build_array(jsonb_build_object(
        'id', id, 'token', token, 'status', status, 'result', result, 'exit_code', exit_code,
        'error', error, 'error_code', error_code, 'events', events)), false) f;
END
$$;
