-- drain: no new claims in this database, and wait for what runs
\set SHOW_CONTEXT never

-- nothing runs
SELECT sandbox_exec.drain('1 min');
SELECT sandbox_exec.enqueue('d1', runtime => 'test') IS NOT NULL AS id;     -- who enqueues is not hindered
SELECT count(*) FROM sandbox_exec.claim('test');
SELECT count(*) FROM sandbox_exec.claim('test', id => test.id('d1'));
SELECT sandbox_exec.drain('1 min');                                             -- twice is once
SELECT sandbox_exec.resume_queue();
SELECT count(*) FROM sandbox_exec.claim('test');

-- something runs: it goes on, and can do all that an executor does
SELECT sandbox_exec.drain('10 ms');
SELECT sandbox_exec.renew(test.id('d1'), test.token('d1'), '1 min'),
       sandbox_exec.append(test.id('d1'), test.token('d1'), '[{"type": "custom", "data": 1}]');
SELECT count(*) FROM sandbox_exec.enqueue_many('[{"code": "d2", "runtime": "test"}]');
SELECT count(*) FROM sandbox_exec.claim('test');
SELECT sandbox_exec.finalize(test.id('d1'), test.token('d1'), 'succeeded', '1');
SELECT sandbox_exec.drain();
SELECT code, status FROM test.state WHERE code LIKE 'd_' ORDER BY code;
-- cancel, reap, promote, purge and readers go on, too
SELECT sandbox_exec.promote(), sandbox_exec.cancel(test.id('d2')), sandbox_exec.purge('1 year');
SELECT count(*) FROM sandbox_exec.tail(test.id('d1'));

-- health says why nothing is claimed
SELECT check_name, ok, detail FROM sandbox_exec.health WHERE NOT ok;
SELECT sandbox_exec.resume_queue();
SELECT count(*) FROM sandbox_exec.health WHERE NOT ok AND detail ~ 'drain';
SELECT sandbox_exec.enqueue('d3', runtime => 'test') IS NOT NULL AS id;
SELECT count(*) FROM sandbox_exec.claim('test');

-- what is refused
SELECT sandbox_exec.drain('-1 s');

-- it is administration
CREATE ROLE regress_drainer;
SELECT sandbox_exec.grant_submitter('regress_drainer'), sandbox_exec.grant_executor('regress_drainer');
SET ROLE regress_drainer;
SELECT sandbox_exec.drain('0');
RESET ROLE;
SELECT sandbox_exec._draining();
GRANT EXECUTE ON FUNCTION sandbox_exec.drain, sandbox_exec.resume_queue TO regress_drainer;
SET ROLE regress_drainer;
SELECT sandbox_exec.drain('0');
SELECT sandbox_exec.resume_queue();
RESET ROLE;
DROP OWNED BY regress_drainer;
DROP ROLE regress_drainer;
SELECT test.clear();
