/*
 * What an executor does with its claim besides finalizing it.  The token
 * decides: the row is running and carries it.  That a lease has expired matters
 * to reap and claim(id) alone.  Nothing here waits for a row lock.
 */
CREATE FUNCTION sandbox_exec._check_lease(lease interval) RETURNS interval
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF lease IS NULL THEN
        RAISE EXCEPTION 'lease must not be null' USING ERRCODE = 'null_value_not_allowed',
            HINT = 'Give the time for which the claim is to hold, such as ''90 s''.';
    ELSIF lease < interval '1 ms' OR lease > interval '1 day' THEN
        RAISE EXCEPTION 'lease is out of range' USING ERRCODE = 'invalid_parameter_value',
            DETAIL = format('It is %s.', lease),
            HINT = 'Give 1 ms to 1 day.';
    END IF;
    RETURN lease;
END
$$;

CREATE FUNCTION sandbox_exec._check_claim(id uuid, token uuid) RETURNS void
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
BEGIN
    IF id IS NULL OR token IS NULL THEN
        RAISE EXCEPTION '% must not be null', CASE WHEN id IS NULL THEN 'id' ELSE 'token' END
            USING ERRCODE = 'null_value_not_allowed',
                  HINT = 'Give id and claim_token as claim() returned them.';
    END IF;
END
$$;

CREATE FUNCTION sandbox_exec._renew(id uuid, token uuid, lease interval) RETURNS text
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
DECLARE
    now CONSTANT timestamptz := clock_timestamp();
    cancel boolean;
BEGIN
    PERFORM sandbox_exec._check_claim(id, token);
    lease := sandbox_exec._check_lease(lease);

    -- changes no indexed column: the new version stays on its page
    UPDATE sandbox_exec.execution e SET lease_expires_at = now + lease
    WHERE e.id = (SELECT h.id FROM sandbox_exec.execution h
                  WHERE h.id = _renew.id AND h.status = 'running' AND h.claim_token = token
                  FOR NO KEY UPDATE SKIP LOCKED)
    RETURNING e.cancel_requested_at IS NOT NULL INTO cancel;
    IF FOUND THEN
        RETURN CASE WHEN cancel THEN 'cancel' ELSE 'held' END;
    END IF;
    PERFORM FROM sandbox_exec.execution e
    WHERE e.id = _renew.id AND e.status = 'running' AND e.claim_token = token;
    RETURN CASE WHEN FOUND THEN 'busy' ELSE 'lost' END;
END
$$;

-- back to the queue, as if never claimed; or, after a cancel, to its end
CREATE FUNCTION sandbox_exec._release(id uuid, token uuid) RETURNS boolean
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
DECLARE
    now CONSTANT timestamptz := clock_timestamp();
    released record;
BEGIN
    PERFORM sandbox_exec._check_claim(id, token);
    UPDATE sandbox_exec.execution e
    SET status = CASE WHEN e.cancel_requested_at IS NULL THEN 'queued' ELSE 'cancelled' END,
        log_pos = e.log_pos + h.told::integer,
        updated_at = now,
        finished_at = CASE WHEN e.cancel_requested_at IS NOT NULL THEN now END,
        attempt_count = e.attempt_count - 1, known_started = false,
        claim_token = NULL, lease_expires_at = NULL, worker_epoch = NULL, worker_no = NULL,
        error_code = CASE WHEN e.cancel_requested_at IS NOT NULL THEN 'cancelled' END,
        error = CASE WHEN e.cancel_requested_at IS NOT NULL THEN coalesce(e.cancel_reason, 'cancelled') END
    -- whoever reads the log may have seen this attempt: say that there will be another
    FROM (SELECT h.id, h.cancel_requested_at IS NULL AND h.known_started AND h.log_pos > 1 AS told
          FROM sandbox_exec.execution h
          WHERE h.id = _release.id AND h.status = 'running' AND h.claim_token = token
          FOR NO KEY UPDATE SKIP LOCKED) h
    WHERE e.id = h.id
    RETURNING e.status, e.log_pos, e.attempt_count, e.rank, e.run_at, e.parent_id, h.told INTO released;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    IF released.told THEN
        INSERT INTO sandbox_exec.event (execution_id, pos, at, type, data)
        VALUES (_release.id, released.log_pos, now, 'retry',
                sandbox_exec._retry_event(released.attempt_count + 1, 'released') -> 'data');
        PERFORM sandbox_exec._wake(_release.id);
    END IF;
    IF released.status = 'queued' THEN
        PERFORM sandbox_exec._row_ready(released.rank, released.run_at, _release.id);
    ELSE
        PERFORM sandbox_exec._close(_release.id);
        PERFORM sandbox_exec._announce(_release.id, released.status);
        PERFORM sandbox_exec._tell_parent(_release.id, released.parent_id, now);
    END IF;
    RETURN true;
END
$$;
