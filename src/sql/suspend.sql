/*
 * suspend: an execution leaves its executor while all that its code waits for is
 * pending.  It uses no attempt, as release does.
 *
 * Answers may have come since the code was told "pending", and what is due may
 * not have been looked at: then it is queued again at once.  Under the row's lock
 * there is no moment between the two.
 */

-- what it waits for, for whoever reads along; left out when it is much, as each
-- of many suspends tells it again, or when the log is full
CREATE FUNCTION sandbox_exec._paused_event(id uuid, room integer) RETURNS jsonb
    LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
DECLARE
    calls CONSTANT jsonb := (
        SELECT jsonb_agg(jsonb_build_object('call_id', p.call_id, 'seq', p.seq, 'kind', p.kind, 'name', p.name,
                                            'message', left(p.message, 1000)) ORDER BY p.seq)
        FROM sandbox_exec.pause p WHERE p.execution_id = _paused_event.id AND p.outcome IS NULL);
BEGIN
    RETURN jsonb_build_object('type', 'paused', 'data',
        CASE WHEN octet_length(calls::text) <= least(room, 8192) THEN jsonb_build_object('calls', calls)
             ELSE '{"calls": null, "omitted": true}' END);
END
$$;

-- the row is locked by the caller, who has seen that the token holds
CREATE FUNCTION sandbox_exec._park(id uuid, events jsonb) RETURNS text
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
DECLARE
    now CONSTANT timestamptz := clock_timestamp();
    next_status text;
    room integer;
    before bigint;
BEGIN
    PERFORM sandbox_exec._answer_due_of(id, now);
    events := coalesce(events, '[]');
    SELECT CASE WHEN e.answers > 0 THEN 'queued' ELSE 'paused' END, 4194304 - e.log_size - octet_length(events::text)
    INTO next_status, room
    FROM sandbox_exec.execution e WHERE e.id = _park.id;
    events := events || CASE next_status WHEN 'paused' THEN sandbox_exec._paused_event(id, room) ELSE '[]' END;
    UPDATE sandbox_exec.execution e
    SET status = next_status, ready = next_status = 'queued', updated_at = now,
        attempt_count = e.attempt_count - 1, known_started = false,
        claim_token = NULL, lease_expires_at = NULL, worker_epoch = NULL, worker_no = NULL,
        log_pos = e.log_pos + jsonb_array_length(events), log_size = e.log_size + octet_length(events::text)
    WHERE e.id = _park.id
    RETURNING e.log_pos - jsonb_array_length(events) INTO before;
    INSERT INTO sandbox_exec.event (execution_id, pos, at, type, data)
    SELECT _park.id, before + x.place, now, x.event ->> 'type', x.event -> 'data'
    FROM jsonb_array_elements(events) WITH ORDINALITY x(event, place);
    PERFORM sandbox_exec._tell(id, next_status), sandbox_exec._wake(id);
    RETURN next_status;
END
$$;

-- paused, queued, or cancelled; lost: nothing was done; busy, to workers: ask again
CREATE FUNCTION sandbox_exec._suspend(id uuid, token uuid, events jsonb, by_worker boolean) RETURNS text
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
DECLARE
    held record;
BEGIN
    PERFORM sandbox_exec._check_claim(id, token);
    PERFORM sandbox_exec._check_events(events, by_worker);
    IF by_worker THEN
        SELECT e.cancel_requested_at, e.open_pauses + e.answers AS waits, e.log_size INTO held
        FROM sandbox_exec.execution e
        WHERE e.id = _suspend.id AND e.status = 'running' AND e.claim_token = token FOR NO KEY UPDATE SKIP LOCKED;
    ELSE
        SELECT e.cancel_requested_at, e.open_pauses + e.answers AS waits, e.log_size INTO held
        FROM sandbox_exec.execution e
        WHERE e.id = _suspend.id AND e.status = 'running' AND e.claim_token = token FOR NO KEY UPDATE;
    END IF;
    IF NOT FOUND THEN
        PERFORM FROM sandbox_exec.execution e
        WHERE e.id = _suspend.id AND e.status = 'running' AND e.claim_token = token;
        RETURN CASE WHEN FOUND THEN 'busy' ELSE 'lost' END;
    ELSIF held.cancel_requested_at IS NOT NULL THEN
        IF jsonb_array_length(events) > 0 THEN
            PERFORM sandbox_exec._log(id, events, clock_timestamp());
        END IF;
        PERFORM sandbox_exec._release(id, token);
        RETURN 'cancelled';
    ELSIF held.waits = 0 AND by_worker THEN
        -- a mistake of ours: let it have its other attempts, not this one for ever
        PERFORM sandbox_exec._finalize_many(jsonb_build_array(jsonb_build_object(
            'id', id, 'token', token, 'status', 'failed', 'error_code', 'executor_error', 'events', events,
            'error', 'the execution was suspended, but waits for nothing')), true);
        RETURN 'lost';
    ELSIF held.waits = 0 THEN
        RAISE EXCEPTION 'the execution waits for nothing' USING ERRCODE = 'invalid_parameter_value',
            DETAIL = 'None of its calls is pending.',
            HINT = 'Finalize it, or release it.';
    ELSIF NOT by_worker AND held.log_size + octet_length(events::text) > 4194304 THEN
        PERFORM sandbox_exec._call_log_full(events);
    END IF;
    RETURN sandbox_exec._park(id, events);
END
$$;
