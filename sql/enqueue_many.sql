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
-- one whose key is taken changes nothing, and takes nobody along
SELECT id AS m5 FROM sandbox_exec.execution_input WHERE idempotency_key = 'k' \gset
CREATE TABLE test.made AS SELECT m.* FROM sandbox_exec.enqueue_many('[
    {"code": "m8", "runtime": "test", "idempotency_key": "l"}, {"code": "m9", "runtime": "test", "idempotency_key": "k"},
    {"code": "m10", "runtime": "test", "run_at": "2199-01-01"}, {"code": "m11", "runtime": "test", "idempotency_key": "l"},
    {"code": "m12", "runtime": "test", "idempotency_key": "m"}]') WITH ORDINALITY m(id, n);
SELECT m.n, m.id = :'m5' AS taken, i.code, i.idempotency_key, e.ready, e.run_at > e.created_at AS later
FROM test.made m JOIN sandbox_exec.execution e USING (id) JOIN sandbox_exec.execution_input i USING (id) ORDER BY m.n;
DROP TABLE test.made;

-- what enqueue makes of its defaults, enqueue_many does, too
SELECT sandbox_exec.pause_queue();
SELECT sandbox_exec.enqueue('d') AS one, (SELECT m.id FROM sandbox_exec.enqueue_many('[{"code": "d"}]') m(id)) AS many \gset
CREATE VIEW test.made AS
SELECT e.id, to_jsonb(e) - '{id,created_at,updated_at,run_at}'::text[] || to_jsonb(i) - '{id}'::text[] AS row,
       e.run_at = e.created_at AND e.updated_at = e.created_at AS at_once
FROM sandbox_exec.execution e JOIN sandbox_exec.execution_input i USING (id);
SELECT a.row = b.row AS alike, a.at_once, b.at_once
FROM test.made a, test.made b WHERE a.id = :'one' AND b.id = :'many';
DROP VIEW test.made;
SELECT count(sandbox_exec.cancel(id)) FROM (VALUES (:'one'::uuid), (:'many')) v(id);
SELECT sandbox_exec.resume_queue();
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
