/*
 * Views on the queue.  Whoever may claim sees every execution's state here; a
 * submitter sees what executions shows, and code what is of its owner.
 */

-- what has not ended; in parts, so that each is read by its partial index
-- and the history isn't read at all
CREATE VIEW sandbox_exec._live AS
SELECT q.* FROM sandbox_exec.execution q WHERE q.status = 'queued' AND q.ready
UNION ALL
SELECT d.* FROM sandbox_exec.execution d WHERE d.status = 'queued' AND NOT d.ready
UNION ALL
SELECT r.* FROM sandbox_exec.execution r WHERE r.status = 'running'
UNION ALL
SELECT p.* FROM sandbox_exec.execution p WHERE p.status = 'paused';

CREATE VIEW sandbox_exec.due WITH (security_barrier) AS
SELECT e.id, e.runtime, -e.rank AS priority, e.run_at, e.owner, e.submitter, e.attempt_count, e.created_at
FROM sandbox_exec._live e
WHERE e.status = 'queued'
      AND (e.ready OR e.run_at <= clock_timestamp())
      AND (pg_has_role(e.submitter, 'USAGE')
           OR (SELECT has_function_privilege(
                   'sandbox_exec.claim(text, integer, interval, text, uuid)', 'EXECUTE')))
      AND CASE WHEN (SELECT t.owner FROM sandbox_exec._tool t) <> e.owner THEN NULL ELSE true END IS NOT NULL
UNION ALL
SELECT e.id, e.runtime, -e.rank, p.due_at, e.owner, e.submitter, e.attempt_count, e.created_at
FROM (SELECT o.execution_id, min(o.due_at) AS due_at FROM sandbox_exec.pause o
      WHERE o.outcome IS NULL AND o.due_at <= clock_timestamp()
      GROUP BY o.execution_id) p
     JOIN sandbox_exec.execution e ON e.id = p.execution_id
WHERE e.status = 'paused'
      AND (pg_has_role(e.submitter, 'USAGE')
           OR (SELECT has_function_privilege(
                   'sandbox_exec.claim(text, integer, interval, text, uuid)', 'EXECUTE')))
      AND CASE WHEN (SELECT t.owner FROM sandbox_exec._tool t) <> e.owner THEN NULL ELSE true END IS NOT NULL;

COMMENT ON VIEW sandbox_exec.due IS
    'executions that wait to be claimed now, or go on since a pause is due; claim() takes those of a runtime by priority DESC, run_at, id';
COMMENT ON COLUMN sandbox_exec.due.id IS 'the execution';
COMMENT ON COLUMN sandbox_exec.due.runtime IS 'kind of executor that it needs';
COMMENT ON COLUMN sandbox_exec.due.priority IS 'higher is claimed earlier';
COMMENT ON COLUMN sandbox_exec.due.run_at IS 'since when it is due';
COMMENT ON COLUMN sandbox_exec.due.owner IS 'whom it is for';
COMMENT ON COLUMN sandbox_exec.due.submitter IS 'role that enqueued it';
COMMENT ON COLUMN sandbox_exec.due.attempt_count IS 'attempts so far';
COMMENT ON COLUMN sandbox_exec.due.created_at IS 'when it was enqueued';

CREATE VIEW sandbox_exec.queue_stats WITH (security_barrier) AS
SELECT e.runtime,
       count(*) FILTER (WHERE e.status = 'queued' AND e.ready) AS ready,
       count(*) FILTER (WHERE e.status = 'queued' AND NOT e.ready) AS deferred,
       count(*) FILTER (WHERE e.status = 'running') AS running,
       count(*) FILTER (WHERE e.status = 'paused') AS paused,
       count(*) FILTER (WHERE e.lease_expires_at < clock_timestamp()) AS expired,
       min(e.run_at) FILTER (WHERE e.status = 'queued' AND e.ready) AS oldest_run_at
FROM sandbox_exec._live e
WHERE (pg_has_role(e.submitter, 'USAGE')
       OR (SELECT has_function_privilege(
               'sandbox_exec.claim(text, integer, interval, text, uuid)', 'EXECUTE')))
      AND CASE WHEN (SELECT t.owner FROM sandbox_exec._tool t) <> e.owner THEN NULL ELSE true END IS NOT NULL
GROUP BY e.runtime;

COMMENT ON VIEW sandbox_exec.queue_stats IS 'executions that have not ended, counted by runtime';
COMMENT ON COLUMN sandbox_exec.queue_stats.runtime IS 'kind of executor';
COMMENT ON COLUMN sandbox_exec.queue_stats.ready IS 'queued, and claimable now';
COMMENT ON COLUMN sandbox_exec.queue_stats.deferred IS 'queued, for later';
COMMENT ON COLUMN sandbox_exec.queue_stats.running IS 'claimed';
COMMENT ON COLUMN sandbox_exec.queue_stats.paused IS 'waiting for an answer';
COMMENT ON COLUMN sandbox_exec.queue_stats.expired IS 'claimed, with a lease that has expired';
COMMENT ON COLUMN sandbox_exec.queue_stats.oldest_run_at IS 'since when the oldest claimable one is due';

-- a view's functions run as its user: this one reads for everybody who may
-- select from the view, and of this database only
CREATE FUNCTION sandbox_exec._workers()
RETURNS TABLE (kind text, pid integer, worker_no integer, state text, execution_id uuid,
               since timestamptz, executions bigint)
    LANGUAGE sql VOLATILE PARALLEL RESTRICTED ROWS 10 SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
    SELECT p.kind, p.pid, p.worker_no, p.state, p.execution_id, p.since, p.executions
    FROM sandbox_exec._processes() p
    WHERE p.database IS NULL OR p.database = current_database()
$$;

CREATE VIEW sandbox_exec.workers WITH (security_barrier) AS
SELECT w.kind, w.pid, w.worker_no, w.state, w.execution_id, w.since, w.executions FROM sandbox_exec._workers() w;

COMMENT ON VIEW sandbox_exec.workers IS 'the launcher, and the workers that serve this database';
COMMENT ON COLUMN sandbox_exec.workers.kind IS 'launcher or worker';
COMMENT ON COLUMN sandbox_exec.workers.pid IS 'process id, as in pg_stat_activity';
COMMENT ON COLUMN sandbox_exec.workers.worker_no IS 'number of the worker, counted since the server started';
COMMENT ON COLUMN sandbox_exec.workers.state IS 'what it does';
COMMENT ON COLUMN sandbox_exec.workers.execution_id IS 'execution that it runs';
COMMENT ON COLUMN sandbox_exec.workers.since IS 'since when it is in that state';
COMMENT ON COLUMN sandbox_exec.workers.executions IS 'executions that it has ended';
