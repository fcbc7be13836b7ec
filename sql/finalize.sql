-- finalize and finalize_many: outcomes, the log, and what is refused
\set SHOW_CONTEXT never

CREATE FUNCTION test.outcome(code text, status text, more jsonb DEFAULT '{}') RETURNS jsonb LANGUAGE sql AS $$
    SELECT jsonb_build_object('id', test.id($1), 'token', test.token($1), 'status', $2) || $3
$$;
CREATE VIEW test.outcomes AS
SELECT i.code, r.status, r.result, r.exit_code, r.error_code, r.error, r.stdout, r.stderr, r.stdout_truncated AS cut
FROM sandbox_exec._record r JOIN sandbox_exec.execution_input i USING (id);

SELECT count(*) FROM sandbox_exec.enqueue_many((
    SELECT jsonb_agg(jsonb_build_object('code', 'f' || n, 'runtime', 'test') ORDER BY n) FROM generate_series(1, 9) n));
SELECT count(*) FROM sandbox_exec.claim('test', max_rows => 9);

-- one
SELECT sandbox_exec.finalize(test.id('f1'), test.token('f1'), 'succeeded', '{"a": 1}', 0);
SELECT * FROM test.outcomes WHERE code = 'f1';
SELECT finished_at = updated_at AS finished, finished_at >= started_at AS after_start, executor, runtime_version
FROM sandbox_exec.get(test.id('f1'));
-- terminal is final
SELECT sandbox_exec.finalize(test.id('f1'), gen_random_uuid(), 'failed'), sandbox_exec.renew(test.id('f1'), gen_random_uuid(), '1 s');

-- many: done, stale, unknown; the first of a pair counts
SELECT i.code, f.done
FROM sandbox_exec.finalize_many(jsonb_build_array(
    test.outcome('f2', 'succeeded', '{"result": null, "runtime_version": "Lua 5.4.8"}'),
    test.outcome('f3', 'failed', '{"error": "no such thing", "error_code": "runtime_error", "exit_code": 1}'),
    test.outcome('f4', 'timed_out', '{"events": [{"type": "stdout", "data": {"text": "one\n"}},
                                                 {"type": "stderr", "data": {"text": "oops"}},
                                                 {"type": "custom", "data": null},
                                                 {"type": "stdout", "data": {"text": "two", "truncated": true}}]}'),
    test.outcome('f5', 'succeeded', '{"result": 1}'),
    test.outcome('f5', 'succeeded', '{"result": 2}'),
    test.outcome('f6', 'failed'),
    test.outcome('f7', 'succeeded', jsonb_build_object('token', gen_random_uuid())),
    jsonb_build_object('id', gen_random_uuid(), 'token', gen_random_uuid(), 'status', 'succeeded'))) f
LEFT JOIN sandbox_exec.execution_input i USING (id) ORDER BY i.code;
SELECT * FROM test.outcomes WHERE code BETWEEN 'f2' AND 'f7' ORDER BY code;
SELECT runtime_version FROM sandbox_exec.get(test.id('f2'));

-- the log: the start is position 1 and the end the one after the last, neither is stored
SELECT v.pos, v.type, v.data, v.at = e.finished_at AS at_the_end, e.log_pos
FROM sandbox_exec.event v JOIN sandbox_exec.execution e ON e.id = v.execution_id
WHERE v.execution_id = test.id('f4') ORDER BY v.pos;
SELECT log_pos FROM sandbox_exec.execution WHERE id = test.id('f5');

-- the executor's own failure: again while attempts are left; what it had printed is logged
SELECT done FROM sandbox_exec.finalize_many(jsonb_build_array(test.outcome('f8', 'failed', '{"error_code": "executor_error",
    "error": "the runner died", "exit_code": 9, "events": [{"type": "stdout", "data": {"text": "lost"}}]}')));
SELECT * FROM test.outcomes WHERE code = 'f8';
SELECT attempts, solo, claimed, log_pos FROM test.state WHERE code = 'f8';
SELECT attempt, log_pos FROM sandbox_exec.claim('test', id => test.id('f8'));
SELECT sandbox_exec.finalize(test.id('f8'), test.token('f8'), 'failed', error => 'the runner died', error_code => 'executor_error',
    events => '[{"type": "stdout", "data": {"text": "kept"}}]');
SELECT * FROM test.outcomes WHERE code = 'f8';

SELECT count(*) FROM sandbox_exec.finalize_many('[]');

-- a bad outcome refuses the whole batch
SELECT count(*) FROM sandbox_exec.finalize_many(jsonb_build_array(test.outcome('f7', 'succeeded'), test.outcome('f9', 'done')));
SELECT * FROM sandbox_exec.finalize_many(jsonb_build_array(test.outcome('f7', 'queued')));
SELECT * FROM sandbox_exec.finalize_many(jsonb_build_array(test.outcome('f7', 'cancelled')));
SELECT * FROM sandbox_exec.finalize_many(jsonb_build_array(test.outcome('f7', 'succeeded', '{"error": "x"}')));
SELECT * FROM sandbox_exec.finalize_many(jsonb_build_array(test.outcome('f7', 'failed', '{"result": 1}')));
SELECT * FROM sandbox_exec.finalize_many(jsonb_build_array(test.outcome('f7', 'failed', '{"error_code": ""}')));
SELECT * FROM sandbox_exec.finalize_many(jsonb_build_array(test.outcome('f7', 'failed', jsonb_build_object('error_code', repeat('x', 64)))));
SELECT * FROM sandbox_exec.finalize_many(jsonb_build_array(test.outcome('f7', 'succeeded', jsonb_build_object('result', repeat('x', 1048575)))));
SELECT * FROM sandbox_exec.finalize_many(jsonb_build_array(test.outcome('f7', 'failed', jsonb_build_object('error', repeat('x', 65537)))));
SELECT * FROM sandbox_exec.finalize_many(jsonb_build_array(test.outcome('f7', 'succeeded', jsonb_build_object('runtime_version', repeat('x', 256)))));
SELECT * FROM sandbox_exec.finalize_many('[{"token": "00000000-0000-0000-0000-000000000000", "status": "succeeded"}]');
SELECT * FROM sandbox_exec.finalize_many('[{"id": "00000000-0000-0000-0000-000000000000", "status": "succeeded"}]');
SELECT * FROM sandbox_exec.finalize_many(jsonb_build_array(test.outcome('f7', 'succeeded') - 'status'));
SELECT * FROM sandbox_exec.finalize_many(jsonb_build_array(test.outcome('f7', 'succeeded', '{"events": {}}')));
SELECT * FROM sandbox_exec.finalize_many(jsonb_build_array(test.outcome('f7', 'succeeded', '{"events": [5]}')));
SELECT * FROM sandbox_exec.finalize_many(jsonb_build_array(test.outcome('f7', 'succeeded', '{"events": [{"type": "custom", "data": 1}, {"type": "stdout", "data": {}}]}')));
SELECT * FROM sandbox_exec.finalize_many(jsonb_build_array(test.outcome('f7', 'succeeded', '{"events": [{"type": "started", "data": {}}]}')));
SELECT * FROM sandbox_exec.finalize_many(jsonb_build_array(test.outcome('f7', 'succeeded', jsonb_build_object('events',
    (SELECT jsonb_agg('{"type": "custom", "data": 1}'::jsonb) FROM generate_series(1, 1001))))));
SELECT * FROM sandbox_exec.finalize_many(jsonb_build_array(test.outcome('f7', 'succeeded', jsonb_build_object('events',
    jsonb_build_array(jsonb_build_object('type', 'custom', 'data', repeat('x', 4194304)))))));
SELECT * FROM sandbox_exec.finalize_many(jsonb_build_array(test.outcome('f7', 'succeeded'), test.outcome('f7', 'failed', '{"errorcode": "x"}')));
SELECT * FROM sandbox_exec.finalize_many(NULL);
SELECT * FROM sandbox_exec.finalize_many('{}');
SELECT * FROM sandbox_exec.finalize_many((SELECT jsonb_agg(1) FROM generate_series(1, 1001)));
SELECT sandbox_exec.finalize(NULL, gen_random_uuid(), 'succeeded');
SELECT sandbox_exec.finalize(test.id('f7'), NULL, 'succeeded');
SELECT sandbox_exec.finalize(test.id('f7'), test.token('f7'), NULL);
SELECT code, status FROM test.state WHERE code IN ('f7', 'f9') ORDER BY code;

-- the edges
SELECT sandbox_exec.finalize(test.id('f7'), test.token('f7'), 'succeeded', to_jsonb(repeat('x', 1048574)),
    events => (SELECT jsonb_agg(jsonb_build_object('type', 'stdout', 'data', jsonb_build_object('text', repeat('ä', 200))))
               FROM generate_series(1, 1000)));
SELECT length(result::text) AS result, length(stdout) AS stdout FROM sandbox_exec.get(test.id('f7'));
SELECT sandbox_exec.finalize(test.id('f9'), test.token('f9'), 'failed', error => '', error_code => repeat('x', 63));

DROP VIEW test.outcomes;
DROP FUNCTION test.outcome;
SELECT test.clear();
