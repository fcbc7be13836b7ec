-- views: executions, due, queue_stats, workers, health
\set SHOW_CONTEXT never

SELECT table_name, string_agg(column_name || ' ' || data_type, ', ' ORDER BY ordinal_position) AS columns
FROM information_schema.columns WHERE table_schema = 'sandbox_exec'
      AND table_name IN ('executions', 'due', 'queue_stats', 'workers', 'health')
GROUP BY table_name ORDER BY table_name COLLATE "C" \gx

SELECT count(*) FROM sandbox_exec.enqueue_many('[
    {"code": "v1", "runtime": "test", "owner": "o"},
    {"code": "v2", "runtime": "test", "owner": "o", "priority": 2},
    {"code": "v3", "runtime": "test", "owner": "o", "priority": 1},
    {"code": "v4", "runtime": "test", "owner": "o", "run_at": "9999-01-01"},
    {"code": "v5", "runtime": "other", "owner": "o", "run_at": "2001-01-01Z"}]');

SELECT i.code, d.runtime, d.priority, d.owner, d.attempt_count FROM sandbox_exec.due d JOIN sandbox_exec.execution_input i USING (id)
ORDER BY d.runtime, d.priority DESC, d.run_at;
SELECT runtime, ready, deferred, running, expired, oldest_run_at = '2001-01-01Z' AS oldest FROM sandbox_exec.queue_stats ORDER BY runtime;

SELECT count(*) FROM sandbox_exec.claim('test');
SELECT sandbox_exec.finalize(test.id('v2'), test.token('v2'), 'succeeded', '"r"', events => '[
    {"type": "stdout", "data": {"text": "a"}}, {"type": "stderr", "data": {"text": "b", "truncated": true}},
    {"type": "custom", "data": {"text": "c"}}, {"type": "stdout", "data": {"text": "d"}}]');
SELECT status, result, stdout, stderr, stdout_truncated, stderr_truncated, priority FROM sandbox_exec.executions
WHERE id = test.id('v2');
SELECT count(*) FROM sandbox_exec.claim('test');
SELECT runtime, ready, deferred, running, expired FROM sandbox_exec.queue_stats ORDER BY runtime;

-- one launcher, and workers of this database
SELECT count(*) FILTER (WHERE kind = 'launcher') AS launchers, count(*) FILTER (WHERE kind NOT IN ('launcher', 'worker')) AS others
FROM sandbox_exec.workers;

-- waiting for an executor that doesn't come; once something of that kind runs, it is served
SELECT check_name, ok, detail FROM sandbox_exec.health WHERE check_name IN ('home', 'queue', 'runtimes') ORDER BY check_name;
SELECT count(*) FROM sandbox_exec.claim('other');
SELECT check_name, ok, detail FROM sandbox_exec.health WHERE check_name = 'runtimes';
SELECT test.clear();
