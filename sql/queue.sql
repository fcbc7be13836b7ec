-- the queue as a whole: pause and resume, home and adopt
\set SHOW_CONTEXT never

SELECT count(*) FROM sandbox_exec.enqueue_many('[{"code": "q1", "runtime": "test"}, {"code": "q2", "runtime": "test"}]');

-- paused: no claims, but what is claimed goes on, and executions are still taken
SELECT count(*) FROM sandbox_exec.claim('test');
SELECT sandbox_exec.pause_queue('maintenance');
SELECT sandbox_exec._runs_here();
SELECT count(*) FROM sandbox_exec.claim('test');
SELECT count(*) FROM sandbox_exec.claim('test', id => test.id('q2'));
SELECT sandbox_exec.enqueue('q3', runtime => 'test') IS NOT NULL AS id;
SELECT sandbox_exec.renew(test.id('q1'), test.token('q1'), '1 min');
SELECT sandbox_exec.finalize(test.id('q1'), test.token('q1'), 'succeeded');
SELECT check_name, ok, regexp_replace(detail, 'since \S+ \S+ UTC', 'since then') AS detail
FROM sandbox_exec.health WHERE check_name = 'queue';
SELECT sandbox_exec.pause_queue();      -- twice is once
SELECT sandbox_exec.resume_queue();
SELECT sandbox_exec.resume_queue();
SELECT code FROM sandbox_exec.claim('test', max_rows => 10);

-- rolled back, it never was
BEGIN;
SELECT sandbox_exec.pause_queue();
ROLLBACK;
SELECT sandbox_exec._runs_here();

-- a restored or copied queue runs nothing, repairs nothing, and is not to be woken
SELECT sandbox_exec.enqueue('q4', runtime => 'test') IS NOT NULL AS id;
SELECT count(*) FROM sandbox_exec.home;
INSERT INTO sandbox_exec.home VALUES ('6543210987654321098/16384');     -- what restoring a dump adds
SELECT sandbox_exec._runs_here();
SELECT count(*) FROM sandbox_exec.claim('test');
UPDATE sandbox_exec.execution SET lease_expires_at = '2001-01-01' WHERE status = 'running';
SELECT count(*) FROM sandbox_exec.reap();
SELECT sandbox_exec.promote();
SELECT sandbox_exec._next_due() IS NULL AS nothing;
SELECT check_name, ok, detail FROM sandbox_exec.health WHERE check_name = 'home';
SELECT status, count(*) FROM test.state GROUP BY status ORDER BY status;
-- a copied database brings the home of the original, and no other
UPDATE sandbox_exec.home SET home = '6543210987654321098/16384';
SELECT sandbox_exec._runs_here();
-- none at all is no home either
BEGIN;
DELETE FROM sandbox_exec.home;
SELECT sandbox_exec._runs_here();
ROLLBACK;
SELECT sandbox_exec.adopt();
SELECT count(*), bool_and(home = sandbox_exec._home()) AS ours FROM sandbox_exec.home;
SELECT sandbox_exec._runs_here();
SELECT check_name, ok FROM sandbox_exec.health WHERE check_name = 'home';
SELECT code FROM sandbox_exec.claim('test', id => test.id('q4'));
-- a publication of all tables is in nobody's way
SET client_min_messages = error;
CREATE PUBLICATION everything FOR ALL TABLES;
RESET client_min_messages;
SELECT sandbox_exec.pause_queue();
SELECT sandbox_exec.resume_queue();
SELECT sandbox_exec.adopt();
SELECT sandbox_exec.set_policy('x', 'block');
SELECT sandbox_exec.set_policy('x', NULL);
DROP PUBLICATION everything;
SELECT test.clear();
