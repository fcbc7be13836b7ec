-- tail: the log as a reader sees it
\set SHOW_CONTEXT never

-- an execution for each state of a log
SELECT count(*) FROM sandbox_exec.enqueue_many('[{"code": "done", "runtime": "test"}, {"code": "live", "runtime": "test"}]');
SELECT count(*) FROM sandbox_exec.claim('test', max_rows => 2);
SELECT sandbox_exec.append(test.id('done'), test.token('done'), (
    SELECT jsonb_agg(jsonb_build_object('type', 'stdout', 'data', jsonb_build_object('text', 'line ' || n || E'\n')) ORDER BY n)
    FROM generate_series(1, 5) n));
SELECT sandbox_exec.finalize(test.id('done'), test.token('done'), 'failed', exit_code => 1, error => 'no', error_code => 'runtime_error',
    events => '[{"type": "custom", "data": [1, null]}, {"type": "stderr", "data": {"text": "no", "truncated": true}}]');
SELECT sandbox_exec.append(test.id('live'), test.token('live'), '[{"type": "stderr", "data": {"text": "?"}}]');
SELECT sandbox_exec.enqueue('waits', runtime => 'test') IS NOT NULL AS id;
SELECT sandbox_exec.enqueue('never', runtime => 'test') IS NOT NULL AS id;
SELECT sandbox_exec.cancel(test.id('never'), 'not needed');

-- the whole of it, with the start and the end that are stored nowhere
SELECT pos, type, data FROM sandbox_exec.tail(test.id('done'));
SELECT type FROM sandbox_exec.event WHERE execution_id = test.id('done') ORDER BY pos;
SELECT bool_and(t.at BETWEEN e.started_at AND e.finished_at) AS between,
       min(t.at) = e.started_at AS first, max(t.at) = e.finished_at AS last,
       bool_and(t.at >= t.before) AS ascending
FROM (SELECT pos, at, lag(at) OVER (ORDER BY pos) AS before FROM sandbox_exec.tail(test.id('done'))) t,
     sandbox_exec.executions e
WHERE e.id = test.id('done') GROUP BY e.started_at, e.finished_at;

-- strictly after a position, whichever
SELECT a AS after, (SELECT string_agg(t.pos::text, ' ' ORDER BY t.pos) FROM sandbox_exec.tail(test.id('done'), a) t)
FROM generate_series(0, 9) a;
SELECT pos, type FROM sandbox_exec.tail(test.id('done'), NULL, max_events => NULL) ORDER BY pos LIMIT 1;     -- null is the default

-- page by page: the same log, each event once
WITH RECURSIVE page AS (
    SELECT 0::bigint AS after, ARRAY(SELECT t.pos FROM sandbox_exec.tail(test.id('done'), 0, max_events => 2) t) AS got
    UNION ALL
    SELECT got[cardinality(got)], ARRAY(SELECT t.pos FROM sandbox_exec.tail(test.id('done'), got[cardinality(got)], max_events => 2) t)
    FROM page WHERE cardinality(got) > 0
)
SELECT * FROM page;
SELECT pos, type FROM sandbox_exec.tail(test.id('done'), max_events => 1);
SELECT pos, type FROM sandbox_exec.tail(test.id('done'), 8, max_events => 1);

-- a log that is closed is never waited for; -1 is its end
SET statement_timeout = '20s';
SELECT count(*) FROM sandbox_exec.tail(test.id('done'), 9, wait => '1 min');
SELECT count(*) FROM sandbox_exec.tail(test.id('done'), -1, wait => '1 min');
-- nor is what is there already
SELECT pos FROM sandbox_exec.tail(test.id('live'), 1, wait => '1 min');
SELECT pos, type FROM sandbox_exec.tail(test.id('never'), wait => '1 min');
-- nor an execution that is unknown, or somebody else's
SELECT count(*) FROM sandbox_exec.tail(gen_random_uuid(), wait => '1 min');
SELECT count(*) FROM sandbox_exec.tail(gen_random_uuid(), 100, wait => '1 min');
SELECT count(*) FROM sandbox_exec.tail(test.id('live'), wait => '1 min', owner => 'nobody');
CREATE ROLE regress_reader;
SELECT sandbox_exec.grant_submitter('regress_reader');
SELECT test.id('live') AS live \gset
SET ROLE regress_reader;
SELECT count(*) FROM sandbox_exec.tail(:'live', wait => '1 min');
SELECT count(*) FROM sandbox_exec.tail(:'live', 100, wait => '1 min');      -- no error that would give it away
RESET ROLE;
SELECT count(*) FROM sandbox_exec.execution;                                -- reading creates nothing
RESET statement_timeout;

-- live: what there is so far, without an end; queued: nothing yet
SELECT pos, type, data FROM sandbox_exec.tail(:'live');
SELECT count(*) FROM sandbox_exec.tail(:'live', 2);
SELECT count(*) FROM sandbox_exec.tail(:'live', 2, wait => '10 ms');
SELECT count(*) FROM sandbox_exec.tail(:'live', -1, wait => '10 ms');
SELECT count(*) FROM sandbox_exec.tail(test.id('waits'));
SELECT count(*) FROM sandbox_exec.tail(test.id('waits'), -1, wait => '10 ms');
-- sandbox_exec.max_wait bounds the wait
SET statement_timeout = '20s';
SET sandbox_exec.max_wait = '10ms';
SELECT count(*) FROM sandbox_exec.tail(:'live', 2, wait => '1 hour');
RESET sandbox_exec.max_wait;
RESET statement_timeout;

-- cancelled before it ever ran: the end is all there is
SELECT pos, type, data, at = (SELECT finished_at FROM sandbox_exec.get(test.id('never'))) AS at_the_end
FROM sandbox_exec.tail(test.id('never'));
-- the end tells what the record does
SELECT sandbox_exec.finalize(:'live', test.token('live'), 'succeeded', 'null', 0);
SELECT pos, type, data FROM sandbox_exec.tail(:'live', 2);
SELECT count(*) FROM sandbox_exec.claim('test', id => test.id('waits'));
SELECT sandbox_exec.cancel(test.id('waits'));
SELECT count(*) FROM sandbox_exec.tail(test.id('waits'), 1);                -- a request is no end
SELECT sandbox_exec.finalize(test.id('waits'), test.token('waits'), 'timed_out');
SELECT pos, type, data FROM sandbox_exec.tail(test.id('waits'));

-- what is refused
SELECT * FROM sandbox_exec.tail(NULL);
SELECT * FROM sandbox_exec.tail(:'live', 4);
SELECT * FROM sandbox_exec.tail(:'live', 9223372036854775807);
SELECT * FROM sandbox_exec.tail(test.id('never'), 2);
SELECT * FROM sandbox_exec.tail(:'live', -2);
SELECT * FROM sandbox_exec.tail(:'live', wait => '-1 s');
SELECT * FROM sandbox_exec.tail(:'live', max_events => 0);
SELECT * FROM sandbox_exec.tail(:'live', max_events => 1001);

-- in a transaction: its own changes are there to read, and nothing to wait for
BEGIN;
SELECT sandbox_exec.enqueue('mine', runtime => 'test') AS mine \gset
SELECT count(*) FROM sandbox_exec.tail(:'mine');
SELECT count(*) FROM sandbox_exec.tail(:'mine', wait => '1 min');
ROLLBACK;
-- with an old snapshot, too, the log is read as it is now
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT status FROM sandbox_exec.get(:'live');
SELECT count(*) FROM sandbox_exec.tail(:'live');
ROLLBACK;

-- beside a column: each row has its own look
SELECT n, t.pos FROM generate_series(1, 3) n, LATERAL sandbox_exec.tail(:'live', n - 1, max_events => 1) t;

DROP OWNED BY regress_reader;
DROP ROLE regress_reader;
SELECT test.clear();
