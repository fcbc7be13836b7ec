-- cancel: at once while queued; a running one is marked, and whatever ends its attempt ends it
\set SHOW_CONTEXT never

SELECT count(*) FROM sandbox_exec.enqueue_many((
    SELECT jsonb_agg(jsonb_build_object('code', 'c' || n, 'runtime', 'test', 'owner', 'o') ORDER BY n)
    FROM generate_series(1, 7) n));

-- queued
SELECT sandbox_exec.cancel(test.id('c1')), sandbox_exec.cancel(test.id('c2'), 'changed my mind');
SELECT code, status, log_pos, error_code, error FROM test.state WHERE code IN ('c1', 'c2') ORDER BY code;
SELECT finished_at IS NOT NULL AS finished, started_at, cancel_requested_at FROM sandbox_exec.get(test.id('c1'));

-- ended, unknown, somebody else's
SELECT sandbox_exec.cancel(test.id('c1')), sandbox_exec.cancel(gen_random_uuid()), sandbox_exec.cancel(test.id('c3'), owner => 'p');
SELECT status FROM sandbox_exec.get(test.id('c3'));
SELECT sandbox_exec.cancel(test.id('c7'), owner => 'o');

-- running: marked, the first reason stays, the executor hears of it when it renews
SELECT count(*) FROM sandbox_exec.claim('test', max_rows => 4);
SELECT sandbox_exec.renew(test.id('c3'), test.token('c3'), '90 s');
SELECT sandbox_exec.cancel(test.id('c3'), 'stop'), sandbox_exec.cancel(test.id('c3'), 'again');
SELECT status, cancel_requested_at IS NOT NULL AS requested, finished_at FROM sandbox_exec.get(test.id('c3'));
SELECT sandbox_exec.renew(test.id('c3'), test.token('c3'), '90 s');

-- it ends as cancelled, and keeps what it printed, whatever came of it
SELECT sandbox_exec.finalize(test.id('c3'), test.token('c3'), 'succeeded', '42', exit_code => 0,
                             events => '[{"type": "stdout", "data": {"text": "so far"}}]');
SELECT status, result, exit_code, error_code, error, stdout FROM sandbox_exec.get(test.id('c3'));
SELECT sandbox_exec.cancel(test.id('c4'));
SELECT sandbox_exec.finalize(test.id('c4'), test.token('c4'), 'failed', error => 'broke', error_code => 'executor_error');
SELECT status, error_code, error FROM sandbox_exec.get(test.id('c4'));
-- given back
SELECT sandbox_exec.cancel(test.id('c5'));
SELECT sandbox_exec.release(test.id('c5'), test.token('c5'));
SELECT status, error_code, error FROM sandbox_exec.get(test.id('c5'));
-- lost
SELECT sandbox_exec.cancel(test.id('c6'), 'too late');
UPDATE sandbox_exec.execution SET lease_expires_at = '2001-01-01' WHERE id = test.id('c6') RETURNING status;
SELECT action FROM sandbox_exec._recover(ARRAY[test.id('c6')], clock_timestamp()) WHERE action <> 'cancelled';
SELECT status, attempt_count, error_code, error FROM sandbox_exec.get(test.id('c6'));

-- part of the caller's transaction
SELECT sandbox_exec.enqueue('c8', runtime => 'test') IS NOT NULL AS id;
BEGIN;
SELECT sandbox_exec.cancel(test.id('c8'));
SELECT status FROM sandbox_exec.get(test.id('c8'));
ROLLBACK;
SELECT status FROM sandbox_exec.get(test.id('c8'));

\pset format unaligned
\pset tuples_only on
SELECT test.error($$ SELECT sandbox_exec.cancel(NULL) $$);
SELECT test.error($$ SELECT sandbox_exec.cancel(gen_random_uuid(), repeat('x', 1001)) $$);
SELECT test.clear();
