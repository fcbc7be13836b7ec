/*
 * promote: what time does to the queue, and when to look next.
 */
CREATE FUNCTION sandbox_exec._promote(max_rows integer) RETURNS bigint
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    now CONSTANT timestamptz := clock_timestamp();
    promoted bigint;
BEGIN
    max_rows := sandbox_exec._check_max_rows(max_rows, 1000);
    IF NOT sandbox_exec._at_home() THEN
        RETURN 0;
    END IF;
    UPDATE sandbox_exec.execution e SET ready = true
    WHERE e.id = ANY (ARRAY(
        SELECT d.id FROM sandbox_exec.execution d
        WHERE d.status = 'queued' AND NOT d.ready AND d.run_at <= now
        ORDER BY d.run_at LIMIT max_rows
        FOR NO KEY UPDATE SKIP LOCKED));
    GET DIAGNOSTICS promoted = ROW_COUNT;
    IF promoted > 0 THEN
        PERFORM sandbox_exec._work_ready();
    END IF;
    RETURN promoted + sandbox_exec._answer_all_due(max_rows, now);
END
$$;

-- when something here needs a worker next; null: nothing does
CREATE FUNCTION sandbox_exec._next_due() RETURNS timestamptz
    LANGUAGE plpgsql STABLE PARALLEL RESTRICTED
    SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off
AS $$
BEGIN
    IF NOT sandbox_exec._at_home() THEN
        RETURN NULL;
    END IF;
    RETURN least(
        (SELECT min(e.lease_expires_at) FROM sandbox_exec.execution e WHERE e.status = 'running'),
        (SELECT e.run_at FROM sandbox_exec.execution e
         WHERE e.status = 'queued' AND NOT e.ready AND sandbox_exec._runs_here()
         ORDER BY e.run_at LIMIT 1),
        (SELECT p.due_at FROM sandbox_exec.pause p
         WHERE p.outcome IS NULL AND p.due_at IS NOT NULL ORDER BY p.due_at LIMIT 1),
        (SELECT now() FROM sandbox_exec.child_end LIMIT 1),
        -- a minute's worth of records goes at once
        (SELECT e.finished_at FROM sandbox_exec.execution e
         WHERE e.finished_at IS NOT NULL
         ORDER BY e.finished_at LIMIT 1) + (sandbox_exec._limits()).retention + interval '1 min');
END
$$;
