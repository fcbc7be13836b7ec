-- promote: deferred executions become claimable when their time has come; _next_due tells when to look
\set SHOW_CONTEXT never

SELECT count(*) FROM sandbox_exec.enqueue_many('[
    {"code": "d1", "runtime": "test", "run_at": "9997-01-01Z"},
    {"code": "d2", "runtime": "test", "run_at": "9998-01-01Z"},
    {"code": "d3", "runtime": "test", "run_at": "9999-01-01Z"}]');
SELECT count(*) FROM sandbox_exec.claim('test', max_rows => 10);
SELECT sandbox_exec.promote();
SELECT sandbox_exec._next_due() = '9997-01-01Z' AS next;

-- one transaction, so that no worker of this server promotes first
DO $$
BEGIN
    UPDATE sandbox_exec.execution SET run_at = '2001-01-01Z' WHERE id = test.id('d2');
    UPDATE sandbox_exec.execution SET run_at = '2002-01-01Z' WHERE id = test.id('d3');
    RAISE NOTICE '%', sandbox_exec.promote(1);
    RAISE NOTICE '%', sandbox_exec.promote();
    RAISE NOTICE '%', sandbox_exec.promote();
END $$;
SELECT code, ready FROM test.state ORDER BY code;
SELECT code FROM sandbox_exec.claim('test', max_rows => 10);

-- due next: the end of a lease comes before the deferred row
SELECT sandbox_exec._next_due() = min(lease_expires_at) AS next FROM sandbox_exec.execution WHERE status = 'running';
DELETE FROM sandbox_exec.execution WHERE status = 'running';
SELECT sandbox_exec._next_due() = '9997-01-01Z' AS next;
-- a paused queue starts nothing
SELECT sandbox_exec.pause_queue();
SELECT sandbox_exec._next_due() IS NULL AS nothing;
SELECT sandbox_exec.resume_queue();
SELECT sandbox_exec.cancel(test.id('d1'));
SELECT sandbox_exec._next_due() IS NULL AS nothing;
SELECT sandbox_exec.promote(0);
SELECT test.clear();
