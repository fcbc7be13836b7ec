-- enqueue: every parameter, its default, and the edges of what is allowed
\set SHOW_CONTEXT never

BEGIN;      -- no worker sees these
SELECT sandbox_exec.enqueue('defaults') IS NOT NULL AS id;
SELECT e.status, e.submitter = current_user::regrole AS own, e.owner = current_user AS owner, e.org_id, e.thread_id,
       e.runtime, e.rank, e.timeout_ms, e.max_output_chars, e.memory_limit_kb, e.max_attempts, i.idempotency_key,
       i.submitter = e.submitter AND i.owner = e.owner AS same, e.run_at = e.created_at AS at_once, i.args, i.tools
FROM sandbox_exec.execution e JOIN sandbox_exec.execution_input i USING (id) WHERE i.code = 'defaults' \gx

-- null stands for the default
SELECT sandbox_exec.enqueue('nulls', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)
       IS NOT NULL AS id;
SELECT count(DISTINCT (e.owner, e.runtime, e.rank, e.timeout_ms, e.max_output_chars, e.max_attempts, i.tools))
FROM sandbox_exec.execution e JOIN sandbox_exec.execution_input i USING (id) WHERE i.code IN ('defaults', 'nulls');
ROLLBACK;

SELECT sandbox_exec.enqueue(
    code => 'everything', args => '{"a": [1, null, "ä"]}', owner => 'user-1', org_id => 'org-1', thread_id => 'thread-1',
    tools => '{lookup,send}', timeout => '1500 ms', max_output_chars => 7, memory_limit_kb => 2048, max_attempts => 5,
    priority => 3, run_at => '2001-02-03 04:05:06+00', idempotency_key => 'key-1', runtime => 'test') IS NOT NULL AS id;
SELECT e.ready, e.owner, e.org_id, e.thread_id, e.runtime, e.rank, e.timeout_ms, e.max_output_chars,
       e.memory_limit_kb, e.max_attempts, i.idempotency_key, e.run_at = '2001-02-03 04:05:06+00' AS past_run_at_is_kept,
       i.args, i.tools
FROM sandbox_exec.execution e JOIN sandbox_exec.execution_input i USING (id) WHERE i.code = 'everything' \gx

-- the edges
SELECT count(sandbox_exec.enqueue(code, args, runtime => 'test', owner => owner, org_id => '', tools => tools,
                                  timeout => timeout, max_output_chars => chars, memory_limit_kb => kb,
                                  max_attempts => attempts, priority => priority, run_at => run_at))
FROM (VALUES
    (repeat('x', 1048576), to_jsonb(repeat('x', 1048574)), repeat('ä', 255), ARRAY(SELECT 't' || i FROM generate_series(1, 1000) i),
     interval '1 ms', 0, 1024, 1, -1000000, timestamptz '0001-01-01 00:00:00+00 BC'),
    (E'\n\t x', 'null', ' ', ARRAY[repeat('t', 255)],
     '30 min', 200000, 65536, 100, 1000000, '294276-12-31 23:59:59+00')
) v(code, args, owner, tools, timeout, chars, kb, attempts, priority, run_at);

-- ids ascend, whatever happens around them
SELECT bool_and(id > before) AS ascending
FROM (SELECT id, lag(id) OVER (ORDER BY n) AS before
      FROM (SELECT n, sandbox_exec.enqueue('ascend', runtime => 'test') AS id FROM generate_series(1, 100) n) made) pairs;
SELECT DISTINCT substr(test.id('ascend')::text, 15, 1) AS version;

-- an id is part of its transaction
BEGIN;
SELECT sandbox_exec.enqueue('undone', runtime => 'test') IS NOT NULL AS id;
SELECT status FROM sandbox_exec.get(test.id('undone'));
ROLLBACK;
SELECT count(*) FROM sandbox_exec.execution_input WHERE code = 'undone';

-- claimable now, or deferred
SELECT sandbox_exec.enqueue('later', runtime => 'test', run_at => now() + interval '1 day') IS NOT NULL AS id;
SELECT status, ready FROM test.state WHERE code = 'later';

-- in a statement with rows
CREATE TABLE test.ticket (code text, execution_id uuid);
INSERT INTO test.ticket SELECT c, sandbox_exec.enqueue(c, runtime => 'test') FROM unnest('{t1,t2}'::text[]) c;
SELECT t.code, i.code FROM test.ticket t JOIN sandbox_exec.execution_input i ON i.id = t.execution_id ORDER BY 1;
DROP TABLE test.ticket;
SELECT test.clear();
