/*
 * tail: the log as its readers see it, with the start and the end that the
 * record tells of.  tail() itself is C: it looks through these two functions.
 */

-- the last position that there is, and whether the log is closed; no row for
-- an execution that is unknown or somebody else's
CREATE FUNCTION sandbox_exec._log_state(
    caller regrole, id uuid, owner text, OUT last_pos bigint, OUT closed boolean, OUT writer xid)
RETURNS SETOF record
    LANGUAGE sql STABLE PARALLEL RESTRICTED ROWS 1 SET search_path = pg_catalog, pg_temp
AS $$
    SELECT e.log_pos + (e.finished_at IS NOT NULL)::integer, e.finished_at IS NOT NULL, e.xmin
    FROM sandbox_exec.execution e
    WHERE e.id = _log_state.id AND sandbox_exec._visible(caller, _log_state.owner, e.submitter, e.owner)
$$;

-- strictly after a position; the caller has made sure that it may be seen
CREATE FUNCTION sandbox_exec._log_after(id uuid, after bigint, max_events integer)
RETURNS TABLE (pos bigint, at timestamptz, type text, data jsonb)
    LANGUAGE sql STABLE PARALLEL RESTRICTED ROWS 100
    SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
    SELECT l.pos, l.at, l.type, l.data
    FROM (
        SELECT 1 AS pos, e.started_at AS at, 'started' AS type, '{}'::jsonb AS data
        FROM sandbox_exec.execution e
        WHERE e.id = _log_after.id AND e.started_at IS NOT NULL AND after < 1
        UNION ALL
        (SELECT v.pos, v.at, v.type, v.data
         FROM sandbox_exec.event v
         WHERE v.execution_id = _log_after.id AND v.pos > after
         ORDER BY v.pos LIMIT max_events)
        UNION ALL
        SELECT v.pos, (c.call).created_at, v.type, v.data
        FROM (SELECT x AS call FROM sandbox_exec.call x
              WHERE x.execution_id = _log_after.id AND x.pos + 1 > after
              ORDER BY x.seq LIMIT max_events) c,     -- which is the order of pos
             sandbox_exec._journaled_events(c.call) v
        WHERE v.pos > after
        UNION ALL
        SELECT e.log_pos + 1, e.finished_at, e.status,
               '{}'::jsonb
               || CASE WHEN e.status = 'succeeded' THEN jsonb_build_object('result', e.result) ELSE '{}' END
               || CASE WHEN e.exit_code IS NOT NULL THEN jsonb_build_object('exit_code', e.exit_code) ELSE '{}' END
               || CASE WHEN e.error IS NOT NULL THEN jsonb_build_object('error', e.error) ELSE '{}' END
               || CASE WHEN e.error_code IS NOT NULL THEN jsonb_build_object('error_code', e.error_code) ELSE '{}' END
        FROM sandbox_exec.execution e
        WHERE e.id = _log_after.id AND e.finished_at IS NOT NULL AND e.log_pos + 1 > after
    ) l
    ORDER BY l.pos
    LIMIT max_events
$$;
