-- enqueue_many: the same rules, all or none, ids in the order of the array
\set SHOW_CONTEXT never

CREATE TABLE test.made AS SELECT m.* FROM sandbox_exec.enqueue_many('[
    {"code": "m1", "runtime": "test", "owner": "u1"},
    {"code": "m2", "runtime": "test", "owner": "u1", "args": {"n": 2}, "tools": ["a", "b"], "priority": 5, "timeout": "3 s",
     "max_attempts": 7, "run_at": "2001-01-01"},
    {"code": "m3", "runtime": "test", "owner": "u1", "args": [null], "priority": "5", "timeout": 3, "org_id": null}
]') WITH ORDINALITY m(id, n);
SELECT i.code, i.args, i.tools, e.owner, e.rank, e.timeout_ms, e.max_attempts, e.run_at = e.created_at AS at_once
FROM test.made JOIN sandbox_exec.execution e USING (id) JOIN sandbox_exec.execution_input i USING (id) ORDER BY n;
DROP TABLE test.made;

-- owner is the caller's name when it isn't given
SELECT sandbox_exec.enqueue_many('[{"code": "m4", "runtime": "test"}]') AS m4 \gset
SELECT owner = current_user AS own FROM sandbox_exec.get(:'m4');

-- a key that comes twice is one execution
SELECT count(*), count(DISTINCT id) AS different FROM sandbox_exec.enqueue_many('[
    {"code": "m5", "runtime": "test", "idempotency_key": "k"}, {"code": "m6", "runtime": "test", "idempotency_key": "k"}]') m(id);
SELECT count(*) FROM sandbox_exec.enqueue_many('[]');
SELECT count(*) FROM sandbox_exec.enqueue_many((SELECT jsonb_agg('{"code": "m7", "runtime": "test"}'::jsonb) FROM generate_series(1, 10000)));
SELECT test.clear();

\pset format unaligned
\pset tuples_only on
SELECT test.error($$ SELECT sandbox_exec.enqueue_many(NULL) $$);
SELECT test.error($$ SELECT sandbox_exec.enqueue_many('{"code": "x"}') $$);
SELECT test.error($$ SELECT sandbox_exec.enqueue_many('[{"code": "x"}, "x"]') $$);
SELECT test.error($$ SELECT sandbox_exec.enqueue_many('[{"code": "x"}, {"code": "x", "status": "succeeded"}]') $$);
SELECT test.error($$ SELECT sandbox_exec.enqueue_many('[{"code": "x"}, {"code": 7}]') $$);
SELECT test.error($$ SELECT sandbox_exec.enqueue_many('[{"code": "x"}, {}]') $$);
SELECT test.error($$ SELECT sandbox_exec.enqueue_many('[{"code": "x"}, {"code": "x", "timeout": "-1 s"}]') $$);
SELECT test.error($$ SELECT sandbox_exec.enqueue_many('[{"code": "x"}, {"code": "x", "timeout": "soon"}]') $$);
SELECT test.error($$ SELECT sandbox_exec.enqueue_many('[{"code": "x"}, {"code": "x", "priority": 1.5}]') $$);
SELECT test.error($$ SELECT sandbox_exec.enqueue_many('[{"code": "x"}, {"code": "x", "tools": "a"}]') $$);
SELECT test.error($$ SELECT sandbox_exec.enqueue_many('[{"code": "x"}, {"code": "x", "max_attempts": 99999999999}]') $$);
SELECT test.error($$ SELECT sandbox_exec.enqueue_many((SELECT jsonb_agg('{"code": "x"}'::jsonb) FROM generate_series(1, 10001))) $$);
SELECT count(*) FROM sandbox_exec.execution;
