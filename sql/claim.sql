-- claim: what is handed out, in which order, and to whom it isn't
\set SHOW_CONTEXT never

-- the parts of a claim
SELECT sandbox_exec.enqueue('whole', '{"a": 1}', 'o', 'org', 'thread', '{t1,t2}', '2 s', 100, 2048, 3, runtime => 'test')
       IS NOT NULL AS id;
SELECT c.id = test.id('whole') AS id, c.claim_token IS NOT NULL AS token, c.code, c.args, c.submitter = current_user::regrole AS submitter,
       c.owner, c.org_id, c.thread_id, c.tools, c.limits, c.attempt, c.started_at <= clock_timestamp() AS started, c.log_pos,
       c.runtime, c.lease_expires_at BETWEEN c.started_at + '5 min' AND clock_timestamp() + '5 min' AS lease
FROM sandbox_exec.claim('test', lease => '5 min', executor => 'me') c \gx
SELECT status, attempt_count, executor, started_at IS NOT NULL AS started, finished_at FROM sandbox_exec.get(test.id('whole'));
SELECT status, log_pos, known, claimed FROM test.state WHERE code = 'whole';
SELECT count(*) FROM sandbox_exec.claim('test');
SELECT test.clear();

-- higher priority first, then by time, then in the order of arrival; other runtimes never
SELECT count(*) FROM sandbox_exec.enqueue_many('[
    {"code": "p1", "runtime": "test"},
    {"code": "p2", "runtime": "test", "priority": -1},
    {"code": "p3", "runtime": "test", "priority": 1},
    {"code": "p4", "runtime": "test", "run_at": "2002-01-01"},
    {"code": "p5", "runtime": "test", "run_at": "2001-01-01"},
    {"code": "p6", "runtime": "test"},
    {"code": "p7", "runtime": "test", "run_at": "9999-01-01", "priority": 100},
    {"code": "p8", "runtime": "Test", "priority": 100}]');
SELECT code FROM sandbox_exec.claim('test', max_rows => 2);
SELECT code FROM sandbox_exec.claim('test', max_rows => 100);
SELECT test.clear();

-- known to have started: claimed alone
SELECT count(*) FROM sandbox_exec.enqueue_many('[
    {"code": "k1", "runtime": "test"}, {"code": "k2", "runtime": "test"}, {"code": "k3", "runtime": "test"}]');
SELECT count(*) FROM sandbox_exec.claim('test', max_rows => 2);
SELECT count(*) FROM sandbox_exec.claim('test', max_rows => 2);
SELECT code, known FROM test.state ORDER BY code;
SELECT test.clear();

-- a solo row comes alone: by itself when it is first, else the batch ends before it
SELECT count(*) FROM sandbox_exec.enqueue_many('[
    {"code": "s1", "runtime": "test"}, {"code": "s2", "runtime": "test"}, {"code": "s3", "runtime": "test"},
    {"code": "s4", "runtime": "test"}, {"code": "s5", "runtime": "test"}]');
UPDATE sandbox_exec.execution SET solo = true WHERE id IN (test.id('s1'), test.id('s4'));
SELECT code FROM sandbox_exec.claim('test', max_rows => 10);
SELECT code FROM sandbox_exec.claim('test', max_rows => 10);
SELECT code FROM sandbox_exec.claim('test', max_rows => 10);
SELECT code FROM sandbox_exec.claim('test', max_rows => 10);
SELECT code, known FROM test.state ORDER BY code;
SELECT test.clear();

-- one by its id, out of turn
SELECT count(*) FROM sandbox_exec.enqueue_many('[
    {"code": "i1", "runtime": "test"}, {"code": "i2", "runtime": "test"}, {"code": "i3", "runtime": "test", "run_at": "9999-01-01"}]');
SELECT code FROM sandbox_exec.claim('test', id => test.id('i2'));
SELECT code FROM sandbox_exec.claim('test', id => test.id('i2'));
SELECT code FROM sandbox_exec.claim('test', id => test.id('i3'));
SELECT code FROM sandbox_exec.claim('other', id => test.id('i1'));
SELECT code FROM sandbox_exec.claim('test', id => gen_random_uuid());
-- claim(id) takes an expired claim back first
UPDATE sandbox_exec.execution SET lease_expires_at = '2001-01-01' WHERE id = test.id('i2');
SELECT code, attempt FROM sandbox_exec.claim('test', id => test.id('i2'));
SELECT test.clear();

-- attempts keep the first start
SELECT sandbox_exec.enqueue('a', runtime => 'test') IS NOT NULL AS id;
SELECT started_at AS first, claim_token AS stale FROM sandbox_exec.claim('test') \gset
SELECT sandbox_exec.release(test.id('a'), :'stale');
SELECT started_at = :'first' AS same, attempt, log_pos, claim_token <> :'stale' AS fresh FROM sandbox_exec.claim('test');

-- the token decides
SELECT sandbox_exec.renew(test.id('a'), test.token('a'), '1 h');
SELECT sandbox_exec.renew(test.id('a'), :'stale', '1 h'), sandbox_exec.release(test.id('a'), :'stale'),
       sandbox_exec.finalize(test.id('a'), :'stale', 'succeeded');
SELECT sandbox_exec.renew(gen_random_uuid(), :'stale', '1 h'), sandbox_exec.release(gen_random_uuid(), :'stale'),
       sandbox_exec.finalize(gen_random_uuid(), :'stale', 'succeeded');
SELECT status, attempts FROM test.state;
-- an expired lease that nobody took back still holds, and can be renewed
DO $$
BEGIN
    UPDATE sandbox_exec.execution SET lease_expires_at = '2001-01-01';
    RAISE NOTICE '%', sandbox_exec.renew(test.id('a'), test.token('a'), '1 h');
END $$;
SELECT lease_expires_at > clock_timestamp() AS renewed FROM sandbox_exec.execution;

-- what is running can't be claimed again; a release uses no attempt
SELECT count(*) FROM sandbox_exec.claim('test');
SELECT sandbox_exec.release(test.id('a'), test.token('a'));
SELECT status, attempts, claimed FROM test.state;
SELECT test.clear();

-- not in a transaction block, nor in one that a string of statements makes
BEGIN;
SELECT * FROM sandbox_exec.claim('test');
\echo :LAST_ERROR_SQLSTATE
ROLLBACK;
BEGIN;
SELECT * FROM sandbox_exec.reap();
ROLLBACK;
DO $$ BEGIN END $$ \; SELECT sandbox_exec.promote();
SELECT test.error($$ SELECT sandbox_exec.renew(gen_random_uuid(), gen_random_uuid(), '1 s') $$);

SELECT * FROM sandbox_exec.claim('test', max_rows => 0);
SELECT * FROM sandbox_exec.claim('test', max_rows => 1001);
SELECT * FROM sandbox_exec.claim('test', lease => '0');
SELECT * FROM sandbox_exec.claim('test', lease => '1 day 1 s');
SELECT * FROM sandbox_exec.claim('test', executor => repeat('x', 256));
SELECT sandbox_exec.renew(NULL, gen_random_uuid(), '1 s');
SELECT sandbox_exec.renew(gen_random_uuid(), NULL, '1 s');
SELECT sandbox_exec.renew(gen_random_uuid(), gen_random_uuid(), NULL);
SELECT sandbox_exec.release(gen_random_uuid(), NULL);
