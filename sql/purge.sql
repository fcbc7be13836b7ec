-- purge: finished records go, with input and log; what lives stays
\set SHOW_CONTEXT never

CREATE VIEW test.kept AS
SELECT i.code, e.status,
       (SELECT count(*) FROM sandbox_exec.event v WHERE v.execution_id = e.id) AS events
FROM sandbox_exec.execution_input i FULL JOIN sandbox_exec.execution e USING (id);
-- finished that many days ago
CREATE FUNCTION test.age(code text, days integer) RETURNS void LANGUAGE sql AS $$
    UPDATE sandbox_exec.execution SET finished_at = clock_timestamp() - days * interval '1 day' WHERE id = test.id($1)
$$;

SELECT count(*) FROM sandbox_exec.enqueue_many((
    SELECT jsonb_agg(jsonb_build_object('code', 'p' || n, 'runtime', 'test')) FROM generate_series(1, 8) n));
SELECT count(*) FROM sandbox_exec.claim('test', max_rows => 6);
SELECT count(sandbox_exec._append(test.id(c), test.token(c), '[{"type": "custom", "data": 1}, {"type": "custom", "data": 2}]'))
FROM unnest('{p1,p2,p6}'::text[]) c;
SELECT f.done, count(*) FROM sandbox_exec.finalize_many((
    SELECT jsonb_agg(jsonb_build_object('id', test.id('p' || n), 'token', test.token('p' || n), 'status', s))
    FROM unnest('{succeeded,failed,timed_out,succeeded,succeeded}'::text[]) WITH ORDINALITY x(s, n))) f GROUP BY f.done;
SELECT sandbox_exec.cancel(test.id('p7'));
SELECT test.age(code, days) FROM (VALUES ('p1', 40), ('p2', 30), ('p3', 20), ('p4', 10), ('p7', 50)) v(code, days);

-- nothing is that old
SELECT sandbox_exec.purge('60 days');
SELECT sandbox_exec.purge('170000000 years');
-- p1 to p4 finished, p5 just now; p6 runs, p7 was cancelled, p8 is queued
SELECT sandbox_exec.purge('15 days', max_rows => 2);         -- the oldest first
SELECT * FROM test.kept ORDER BY code;
SELECT sandbox_exec.purge('15 days', max_rows => 1);
SELECT sandbox_exec.purge('15 days');
SELECT sandbox_exec.purge('15 days');
SELECT * FROM test.kept ORDER BY code;

-- everything that has finished; never what lives
SELECT sandbox_exec.purge('0');
SELECT * FROM test.kept ORDER BY code;
SELECT count(*) FROM sandbox_exec.event;
SELECT stdout, status FROM sandbox_exec.get(test.id('p6'));
SELECT test.token('p6') IS NOT NULL AS still_claimed;

-- an id that is gone is unknown, and its idempotency key is free again
SELECT sandbox_exec.enqueue('key', runtime => 'test', idempotency_key => 'k') AS first \gset
SELECT sandbox_exec.cancel(:'first');
SELECT sandbox_exec.enqueue('key', runtime => 'test', idempotency_key => 'k') = :'first' AS same;
SELECT sandbox_exec.purge('0');
SELECT count(*) FROM sandbox_exec.get(:'first');
SELECT count(*) FROM sandbox_exec.tail(:'first', wait => '1 min');
SELECT sandbox_exec.cancel(:'first');
SELECT sandbox_exec.enqueue('key', runtime => 'test', idempotency_key => 'k') = :'first' AS same;

-- what is refused
SELECT sandbox_exec.purge(NULL);
SELECT sandbox_exec.purge('-1 day');
SELECT sandbox_exec.purge('1 day', 0);
SELECT sandbox_exec.purge('1 day', 1001);
SELECT count(*) FROM test.kept;

-- the setting is off: nothing goes by itself
SHOW sandbox_exec.retention;
SELECT sandbox_exec._retain(1000);

-- it is administration
CREATE ROLE regress_purger;
SELECT sandbox_exec.grant_submitter('regress_purger'), sandbox_exec.grant_executor('regress_purger');
SET ROLE regress_purger;
SELECT sandbox_exec.purge('0');
RESET ROLE;
GRANT EXECUTE ON FUNCTION sandbox_exec.purge TO regress_purger;
SET ROLE regress_purger;
SELECT sandbox_exec.purge('0');
RESET ROLE;
DROP OWNED BY regress_purger;
DROP ROLE regress_purger;

DROP VIEW test.kept;
DROP FUNCTION test.age;
SELECT test.clear();
