-- signal: events that code waits for
\set SHOW_CONTEXT never

SELECT test.enqueue('one', owner => 'a'), test.enqueue('two', owner => 'b');
SELECT test.call('one', 1, 'event', 'paid'), test.call('one', 2, 'event', 'paid', '{"timeout": 3600}'), test.call('one', 3, 'event', 'Paid'),
       test.call('two', 1, 'event', 'paid', '{"timeout": 3600}'), test.suspend('one');
SELECT kind, name, due_at IS NOT NULL AS expires FROM sandbox_exec.pause WHERE execution_id = test.id('one') ORDER BY seq;
SELECT count(*) FROM sandbox_exec.pending;

-- nobody waits for that
SELECT sandbox_exec.signal('unpaid'), sandbox_exec.signal('paid', owner => 'c');
-- all that wait at present, paused or still running; of one owner, or of any
SELECT sandbox_exec.signal('paid', '{"amount": 7}', 'a');
SELECT status, ready FROM test.state WHERE code = 'one';
SELECT sandbox_exec.signal('paid'), sandbox_exec.signal('paid');
SELECT status FROM test.state WHERE code = 'two';
SELECT test.claim('one'), test.call('one', 1, 'event', 'paid'), test.call('one', 2, 'event', 'paid', '{"timeout": 3600}'),
       test.call('one', 3, 'event', 'Paid');
SELECT test.suspend('two'), test.claim('two'), test.call('two', 1, 'event', 'paid', '{"timeout": 3600}');
-- it is not kept for later
SELECT test.call('two', 2, 'event', 'paid'), test.suspend('two');

-- the time comes first
SELECT test.suspend('one');
BEGIN;
UPDATE sandbox_exec.pause SET due_at = now() - interval '1 s' WHERE execution_id = test.id('one') AND outcome IS NULL;
SELECT sandbox_exec._promote(1000);
COMMIT;
SELECT sandbox_exec.signal('Paid');
SELECT test.claim('one'), test.call('one', 3, 'event', 'Paid');
SELECT type, data FROM test.log WHERE code = 'one' AND pos > 10 ORDER BY pos;

-- whether or not somebody has noted it
SELECT test.call('one', 4, 'event', 'paid', '{"timeout": 3600}'), test.suspend('one');
BEGIN;
UPDATE sandbox_exec.pause SET due_at = now() - interval '1 s' WHERE execution_id = test.id('one') AND outcome IS NULL;
SELECT sandbox_exec.signal('paid', owner => 'a');
SELECT sandbox_exec._promote(1000);
COMMIT;
SELECT test.claim('one'), test.call('one', 4, 'event', 'paid', '{"timeout": 3600}');

-- an execution that ended doesn't wait
SELECT sandbox_exec.cancel(test.id('two'));
SELECT sandbox_exec.signal('paid');
SELECT outcome FROM sandbox_exec.pause WHERE call_id = test.call_id('two', 2);

-- other roles
CREATE ROLE regress_stranger;
SELECT sandbox_exec.grant_submitter('regress_stranger');
SELECT test.call('one', 5, 'event', 'paid');
SET ROLE regress_stranger;
SELECT sandbox_exec.signal('paid');
RESET ROLE;
SELECT sandbox_exec.signal('paid');

SELECT sandbox_exec.signal(NULL);
SELECT test.error($$ SELECT sandbox_exec.signal('paid', (repeat('[', 100) || repeat(']', 100))::jsonb) $$);
SELECT test.error($$ SELECT sandbox_exec.signal('paid', to_jsonb(repeat('x', 1048576))) $$);
-- part of the caller's transaction
SELECT test.call('one', 6, 'event', 'paid');
BEGIN;
SELECT sandbox_exec.signal('paid');
ROLLBACK;
SELECT sandbox_exec.signal('paid');

SELECT test.clear();
DROP OWNED BY regress_stranger;
DROP ROLE regress_stranger;
