/*
 * The log of an execution: positions from 1 without gaps, taken under the
 * execution's row lock, and the next reader's position is all it has to keep.
 *
 * Position 1 is the start and the last one the end; both are read off the
 * record (tail.sql), never stored.  Everything between is an event row.
 */

-- the event that tells of a new attempt
CREATE FUNCTION sandbox_exec._retry_event(attempt integer, reason text) RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN jsonb_build_object('type', 'retry', 'data', jsonb_build_object('attempt', attempt, 'reason', reason));

-- add events to the log of an execution whose row the caller has locked
CREATE FUNCTION sandbox_exec._log(id uuid, events jsonb, now timestamptz) RETURNS bigint
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
DECLARE
    size CONSTANT integer := octet_length(events::text);
    before bigint;
BEGIN
    UPDATE sandbox_exec.execution e
    SET log_pos = e.log_pos + jsonb_array_length(events), log_size = e.log_size + size, known_started = true
    WHERE e.id = _log.id
    RETURNING e.log_pos - jsonb_array_length(events) INTO before;
    INSERT INTO sandbox_exec.event (execution_id, pos, at, type, data)
    SELECT _log.id, before + x.place, now, x.event ->> 'type', x.event -> 'data'
    FROM jsonb_array_elements(events) WITH ORDINALITY x(event, place);
    PERFORM sandbox_exec._wake(_log.id);
    RETURN before + jsonb_array_length(events);
END
$$;

/*
 * append: what an executor's code printed, while it runs.  Null: the token no
 * longer holds, and nothing landed.  After a cancel it ends the execution, so
 * that an executor which only ever appends learns of it in the same way.
 */
CREATE FUNCTION sandbox_exec._append(id uuid, token uuid, events jsonb) RETURNS bigint
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    cancel boolean;
    reached bigint;
    size integer;
BEGIN
    PERFORM sandbox_exec._check_claim(id, token);
    IF events IS NULL THEN
        RAISE EXCEPTION 'events must not be null' USING ERRCODE = 'null_value_not_allowed',
            HINT = 'Give a JSON array of {"type", "data"}.';
    END IF;
    PERFORM sandbox_exec._check_events(events, false);
    SELECT e.cancel_requested_at IS NOT NULL, e.log_pos, e.log_size INTO cancel, reached, size
    FROM sandbox_exec.execution e
    WHERE e.id = _append.id AND e.status = 'running' AND e.claim_token = token
    FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN NULL;
    ELSIF cancel THEN
        PERFORM sandbox_exec._release(id, token);
        RETURN NULL;
    ELSIF jsonb_array_length(events) = 0 THEN
        RETURN reached;
    ELSIF size + octet_length(events::text) > 4194304 THEN
        RAISE EXCEPTION 'the log of the execution is full' USING ERRCODE = 'program_limit_exceeded',
            DETAIL = format('It has %s bytes, and these events %s; the limit is 4194304.', size, octet_length(events::text)),
            HINT = 'Cut the output at max_output_chars, and say so with "truncated": true.';
    END IF;
    RETURN sandbox_exec._log(id, events, clock_timestamp());
END
$$;

-- the same for workers, which wait for no row lock and hear of a cancel
-- otherwise: done, busy or lost
CREATE FUNCTION sandbox_exec._append_now(id uuid, token uuid, events jsonb) RETURNS text
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
BEGIN
    PERFORM FROM sandbox_exec.execution e
    WHERE e.id = _append_now.id AND e.status = 'running' AND e.claim_token = token
    FOR NO KEY UPDATE SKIP LOCKED;
    IF FOUND THEN
        PERFORM sandbox_exec._log(id, events, clock_timestamp());
        RETURN 'done';
    END IF;
    PERFORM FROM sandbox_exec.execution e
    WHERE e.id = _append_now.id AND e.status = 'running' AND e.claim_token = token;
    RETURN CASE WHEN FOUND THEN 'busy' ELSE 'lost' END;
END
$$;
