/*
 * cancel: a queued or paused execution ends at once; a running one is marked, and from
 * then on whatever ends its attempt ends it as cancelled.
 */
CREATE FUNCTION sandbox_exec._cancel(caller regrole, id uuid, reason text, owner text) RETURNS boolean
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
DECLARE
    now timestamptz;
    found_row record;
BEGIN
    IF id IS NULL THEN
        RAISE EXCEPTION 'id must not be null' USING ERRCODE = 'null_value_not_allowed',
            HINT = 'Give the id that enqueue() returned.';
    ELSIF length(reason) > 1000 THEN
        RAISE EXCEPTION 'reason is too long' USING ERRCODE = 'program_limit_exceeded',
            DETAIL = format('It has %s characters; the limit is 1000.', length(reason)),
            HINT = 'Use a shorter text.';
    END IF;

    SELECT e.status, e.parent_id, e.cancel_requested_at, e.worker_epoch, e.worker_no INTO found_row
    FROM sandbox_exec.execution e
    WHERE e.id = _cancel.id
          AND sandbox_exec._visible(caller, _cancel.owner, e.submitter, e.owner)
          AND e.status IN ('queued', 'running', 'paused')
    FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN false;
    END IF;

    now := clock_timestamp();   -- after the wait for the lock
    IF found_row.status <> 'running' THEN
        UPDATE sandbox_exec.execution e
        SET status = 'cancelled', finished_at = now, updated_at = now, cancel_reason = reason,
            error_code = 'cancelled', error = coalesce(reason, 'cancelled')
        WHERE e.id = _cancel.id;
        PERFORM sandbox_exec._close(id);
        PERFORM sandbox_exec._announce(id, 'cancelled');
        PERFORM sandbox_exec._tell_parent(id, found_row.parent_id, now);
    ELSIF found_row.cancel_requested_at IS NULL THEN
        UPDATE sandbox_exec.execution e
        SET cancel_requested_at = now, updated_at = now, cancel_reason = reason
        WHERE e.id = _cancel.id;
        IF found_row.worker_no IS NOT NULL THEN
            PERFORM sandbox_exec._worker_attention(found_row.worker_epoch, found_row.worker_no);
        END IF;
    END IF;
    RETURN true;
END
$$;
