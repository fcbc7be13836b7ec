/*
 * signal: tell all that wait for an event of that name.  Who begins to wait
 * later waits for the next one.
 */
CREATE FUNCTION sandbox_exec._signal(caller regrole, name text, payload jsonb, owner text) RETURNS bigint
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
DECLARE
    execution record;
    now timestamptz;
    call_id uuid;
    answered bigint := 0;
BEGIN
    IF name IS NULL THEN
        RAISE EXCEPTION 'name must not be null' USING ERRCODE = 'null_value_not_allowed',
            HINT = 'Give the name of the event, as code awaits it.';
    ELSIF octet_length(payload::text) > 1048576 THEN
        RAISE EXCEPTION 'payload is too large' USING ERRCODE = 'program_limit_exceeded',
            DETAIL = format('It has %s bytes as text; the limit is 1048576.', octet_length(payload::text)),
            HINT = 'Keep large data in a table and send its key.';
    END IF;
    PERFORM sandbox_exec._check_nesting('payload', payload);
    FOR execution IN
        SELECT e.id, e.finished_at IS NOT NULL AS ended
        FROM sandbox_exec.execution e
        WHERE e.id = ANY (ARRAY(
            SELECT p.execution_id FROM sandbox_exec.pause p
            WHERE p.kind = 'event' AND p.outcome IS NULL AND p.name = _signal.name
                  AND sandbox_exec._visible(caller, _signal.owner, p.submitter, p.owner)))
        ORDER BY e.id
        FOR NO KEY UPDATE
    LOOP
        IF execution.ended THEN
            PERFORM sandbox_exec._close(execution.id);
            CONTINUE;
        END IF;
        now := clock_timestamp();       -- after the wait for the lock; whose time came first timed out
        FOR call_id IN
            SELECT p.call_id FROM sandbox_exec.pause p
            WHERE p.execution_id = execution.id AND p.kind = 'event' AND p.outcome IS NULL AND p.name = _signal.name
                  AND (p.due_at IS NULL OR p.due_at > now)
            ORDER BY p.seq
        LOOP
            PERFORM sandbox_exec._answer(call_id, 'accept', payload, 'call', caller, NULL);
            answered := answered + 1;
        END LOOP;
    END LOOP;
    RETURN answered;
END
$$;
