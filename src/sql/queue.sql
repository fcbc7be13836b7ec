/*
 * The queue of this database as a whole: where it is at home, and whether it
 * is paused.
 */
CREATE FUNCTION sandbox_exec._at_home() RETURNS boolean
    LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN coalesce((SELECT bool_and(h.home = sandbox_exec._home()) FROM sandbox_exec.home h), false);
END
$$;

-- may anything be claimed here at present?
CREATE FUNCTION sandbox_exec._runs_here() RETURNS boolean
    LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN (sandbox_exec._limits()).enabled
        AND NOT sandbox_exec._draining()
        AND NOT EXISTS (SELECT FROM sandbox_exec.queue_pause)
        AND coalesce((SELECT bool_and(h.home = sandbox_exec._home()) FROM sandbox_exec.home h), false);
END
$$;

CREATE FUNCTION sandbox_exec.pause_queue(reason text DEFAULT NULL) RETURNS void
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM sandbox_exec._not_by_tool('pause_queue()');
    DELETE FROM sandbox_exec.queue_pause;
    INSERT INTO sandbox_exec.queue_pause (paused_at, reason) VALUES (clock_timestamp(), pause_queue.reason);
END
$$;
COMMENT ON FUNCTION sandbox_exec.pause_queue(text) IS
    'stops claims in this database; what was claimed runs to its end, and executions can still be enqueued';

-- rows became claimable all at once: wake a worker, or have one come in time
CREATE FUNCTION sandbox_exec._wake_queue() RETURNS void
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    due CONSTANT timestamptz := sandbox_exec._next_due();
BEGIN
    PERFORM sandbox_exec._work_ready();
    IF due IS NOT NULL THEN
        PERFORM sandbox_exec._work_due(due);
    END IF;
END
$$;

CREATE FUNCTION sandbox_exec.resume_queue() RETURNS void
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM sandbox_exec._not_by_tool('resume_queue()');
    DELETE FROM sandbox_exec.queue_pause;
    PERFORM sandbox_exec._undrain();
    PERFORM sandbox_exec._wake_queue();
END
$$;
COMMENT ON FUNCTION sandbox_exec.resume_queue() IS 'lets claims go on after pause_queue() or drain()';

CREATE FUNCTION sandbox_exec.drain(timeout interval DEFAULT '30 s') RETURNS boolean
    LANGUAGE C VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'drain_v1';
COMMENT ON FUNCTION sandbox_exec.drain(interval) IS
    'stops claims in this database until resume_queue() or a restart, and waits for what runs; false: the timeout came first';

CREATE FUNCTION sandbox_exec.adopt() RETURNS void
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM sandbox_exec._not_by_tool('adopt()');
    DELETE FROM sandbox_exec.home;
    INSERT INTO sandbox_exec.home VALUES (sandbox_exec._home());
    PERFORM sandbox_exec._wake_queue();
END
$$;
COMMENT ON FUNCTION sandbox_exec.adopt() IS
    'lets the queue of a restored or copied database run here; first make sure that the original does not run the same work';
