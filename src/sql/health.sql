/*
 * health: why does nothing run?  Each line is a check with a sentence.
 */
CREATE FUNCTION sandbox_exec._checks()
RETURNS TABLE (check_name text, ok boolean, detail text)
    LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED ROWS 10 SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    pause record;
BEGIN
    RETURN QUERY SELECT h.check_name, h.ok, h.detail FROM sandbox_exec._health() h;

    ok := sandbox_exec._at_home();
    check_name := 'home';
    detail := CASE WHEN NOT ok THEN
                  'the queue was restored, copied or upgraded by pg_upgrade: run adopt() to let it run here' END;
    RETURN NEXT;

    SELECT p.paused_at, p.reason INTO pause FROM sandbox_exec.queue_pause p ORDER BY p.paused_at LIMIT 1;
    ok := NOT FOUND;
    check_name := 'queue';
    detail := CASE WHEN NOT ok THEN
                  format('the queue is paused since %s%s: run resume_queue() to let it go on',
                         to_char(pause.paused_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS "UTC"'),
                         ' (' || pause.reason || ')') END;
    RETURN NEXT;
END
$$;

-- Workers of this server serve lua; of other executors only their claims are
-- seen.  queue_stats shows the current user no runtime of somebody else.
CREATE VIEW sandbox_exec.health WITH (security_barrier) AS
SELECT c.check_name, c.ok, c.detail FROM sandbox_exec._checks() c
UNION ALL
SELECT 'runtimes', u.names IS NULL,
       'executions wait, and none runs, for runtime ' || u.names || ': start an executor for it, or cancel them'
FROM (SELECT string_agg(format('"%s"', s.runtime), ', ' ORDER BY s.runtime) AS names
      FROM sandbox_exec.queue_stats s
      WHERE (s.runtime < 'lua' OR s.runtime > 'lua')    -- ranges of the claim index
            AND s.ready > 0
            AND NOT EXISTS (SELECT FROM sandbox_exec.execution e
                            WHERE e.status = 'running' AND e.runtime = s.runtime)) u;

COMMENT ON VIEW sandbox_exec.health IS 'what must be in order for executions to run here';
COMMENT ON COLUMN sandbox_exec.health.check_name IS 'what is checked';
COMMENT ON COLUMN sandbox_exec.health.ok IS 'whether it is in order';
COMMENT ON COLUMN sandbox_exec.health.detail IS 'what is wrong, and what to do about it; null when it is in order';

-- the last word of the install script
DO $$
BEGIN
    IF sandbox_exec._server_epoch() IS NULL THEN
        RAISE WARNING 'sandbox_exec is not preloaded: what is enqueued stays queued'
            USING HINT = 'Add sandbox_exec to shared_preload_libraries and restart the server.';
    END IF;
END
$$;
