-- get, list, wait, and the record that they show
\set SHOW_CONTEXT never

SELECT count(*) FROM sandbox_exec.enqueue_many((
    SELECT jsonb_agg(jsonb_build_object('code', 'w' || n, 'runtime', 'test', 'owner', 'o' || n % 2) ORDER BY n)
    FROM generate_series(1, 6) n));

-- a record, before it ran
SELECT status, result, error, error_code, exit_code, stdout, stderr, stdout_truncated, stderr_truncated, owner, org_id,
       thread_id, runtime, runtime_version, priority, timeout = '10 min' AS ten_minutes, attempt_count, max_attempts,
       executor, cancel_requested_at, started_at, finished_at
FROM sandbox_exec.get(test.id('w1')) \gx

SELECT count(*) FROM sandbox_exec.get(gen_random_uuid());
SELECT count(*) FROM sandbox_exec.get(test.id('w1'), owner => 'o1');
SELECT count(*) FROM sandbox_exec.get(test.id('w1'), owner => 'o2');
SELECT count(*) FROM sandbox_exec.get(test.id('w1'), owner => '');

-- newest first, page by page
SELECT array_agg(i.code ORDER BY ordinality) FROM sandbox_exec.list() WITH ORDINALITY l JOIN sandbox_exec.execution_input i USING (id);
SELECT array_agg(i.code ORDER BY ordinality) FROM sandbox_exec.list(max_rows => 2) WITH ORDINALITY l JOIN sandbox_exec.execution_input i USING (id);
SELECT array_agg(i.code ORDER BY ordinality) FROM sandbox_exec.list(max_rows => 2, before => test.id('w5')) WITH ORDINALITY l JOIN sandbox_exec.execution_input i USING (id);
SELECT array_agg(i.code ORDER BY ordinality) FROM sandbox_exec.list(owner => 'o1') WITH ORDINALITY l JOIN sandbox_exec.execution_input i USING (id);
SELECT array_agg(i.code ORDER BY ordinality) FROM sandbox_exec.list(owner => 'o1', before => test.id('w3')) WITH ORDINALITY l JOIN sandbox_exec.execution_input i USING (id);
SELECT sandbox_exec.cancel(test.id('w4'));
SELECT array_agg(i.code ORDER BY ordinality) FROM sandbox_exec.list(status => 'cancelled') WITH ORDINALITY l JOIN sandbox_exec.execution_input i USING (id);
SELECT array_agg(i.code ORDER BY ordinality) FROM sandbox_exec.list(owner => 'o0', status => 'queued') WITH ORDINALITY l JOIN sandbox_exec.execution_input i USING (id);
SELECT count(*) FROM sandbox_exec.list('o0', NULL, NULL, NULL);

-- in a select list, and the rows of this very statement
SELECT (sandbox_exec.get(test.id('w1'))).status;
WITH made AS MATERIALIZED (SELECT sandbox_exec.enqueue('w7', runtime => 'test') AS id)
SELECT status FROM made, LATERAL sandbox_exec.get(made.id);

-- wait: at once when there is nothing to wait for, else until the timeout
SELECT count(*) FROM sandbox_exec.wait(gen_random_uuid());
SELECT status FROM sandbox_exec.wait(test.id('w4'));
SELECT status FROM sandbox_exec.wait(test.id('w4'), owner => 'o0');
SELECT count(*) FROM sandbox_exec.wait(test.id('w4'), owner => 'o1');
SELECT status FROM sandbox_exec.wait(test.id('w1'), '0');
SELECT status FROM sandbox_exec.wait(test.id('w1'), '10 ms');
BEGIN;
SELECT sandbox_exec.enqueue('own', runtime => 'test') IS NOT NULL AS id;
SELECT status FROM sandbox_exec.wait(test.id('own'));
ROLLBACK;

\pset format unaligned
\pset tuples_only on
SELECT test.error($$ SELECT sandbox_exec.get(NULL) $$);
SELECT test.error($$ SELECT sandbox_exec.list(status => 'done') $$);
SELECT test.error($$ SELECT sandbox_exec.list(max_rows => 0) $$);
SELECT test.error($$ SELECT sandbox_exec.list(max_rows => 1001) $$);
SELECT left(test.error($$ SELECT sandbox_exec.wait(NULL) $$), 5);
SELECT left(test.error($$ SELECT sandbox_exec.wait(test.id('w1'), '-1 s') $$), 5);
SELECT left(test.error($$ SELECT sandbox_exec.wait(test.id('w1'), '-170000000 years') $$), 5);
SELECT status FROM sandbox_exec.wait(test.id('w4'), '170000000 years');
SELECT test.clear();
