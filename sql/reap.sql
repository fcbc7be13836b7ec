-- reap: which claims are lost, and what becomes of them
\set SHOW_CONTEXT never

-- Workers of this server reap, too.  A test expires a lease and reaps in one
-- transaction, whose row locks keep them away.
CREATE FUNCTION test.expire(code text) RETURNS TABLE (executed text, action text) LANGUAGE plpgsql AS $$
BEGIN
    UPDATE sandbox_exec.execution SET lease_expires_at = '2001-01-01' WHERE id = test.id(code) AND status = 'running';
    RETURN QUERY SELECT i.code, r.action FROM sandbox_exec.reap() r JOIN sandbox_exec.execution_input i USING (id) ORDER BY 1;
END
$$;

-- nothing is lost
SELECT sandbox_exec.enqueue('r1', runtime => 'test') IS NOT NULL AS id;
SELECT count(*) FROM sandbox_exec.claim('test');
SELECT count(*) FROM sandbox_exec.reap();

-- known to have started: the attempt counts, the next is alone; the second loss of two fails it
SELECT test.token('r1') AS stale \gset
SELECT * FROM test.expire('r1');
SELECT status, attempts, solo, known, claimed, ready FROM test.state;
SELECT sandbox_exec.finalize(test.id('r1'), :'stale', 'succeeded'), sandbox_exec.renew(test.id('r1'), :'stale', '1 s');
SELECT attempt FROM sandbox_exec.claim('test', max_rows => 10);
SELECT * FROM test.expire('r1');
SELECT status, attempts, error_code, error, claimed FROM test.state;
SELECT finished_at IS NOT NULL AS finished FROM sandbox_exec.get(test.id('r1'));
SELECT test.clear();

-- claimed in a batch, not known to have started: no attempt is used, the next is alone
SELECT count(*) FROM sandbox_exec.enqueue_many('[
    {"code": "b1", "runtime": "test", "max_attempts": 1}, {"code": "b2", "runtime": "test", "max_attempts": 1}]');
SELECT count(*) FROM sandbox_exec.claim('test', max_rows => 10);
SELECT * FROM test.expire('b1');
SELECT code, status, attempts, solo FROM test.state ORDER BY code;
SELECT code, attempt FROM sandbox_exec.claim('test', max_rows => 10);
SELECT * FROM test.expire('b1');
SELECT code, status, attempts, error_code, error FROM test.state ORDER BY code;
SELECT test.clear();

-- strictly before now: at its very end a lease still holds
SELECT sandbox_exec.enqueue('e1', runtime => 'test') IS NOT NULL AS id;
SELECT count(*) FROM sandbox_exec.claim('test');
SELECT lease_expires_at AS expiry FROM sandbox_exec.execution \gset
SELECT action FROM sandbox_exec._recover(ARRAY[test.id('e1')], :'expiry');
SELECT action FROM sandbox_exec._recover(ARRAY[test.id('e1')], :'expiry'::timestamptz + '1 us');
SELECT test.clear();

-- a claim of a worker that is gone, or of an earlier start of the server, doesn't wait for its lease
CREATE FUNCTION test.claim_as(epoch bigint, worker integer) RETURNS TABLE (executed text, action text) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM sandbox_exec._claim('test', 1, '1 h', 'worker', NULL, epoch, worker);
    RETURN QUERY SELECT i.code, r.action FROM sandbox_exec.reap() r JOIN sandbox_exec.execution_input i USING (id);
END
$$;
SELECT sandbox_exec.enqueue('g1', runtime => 'test', max_attempts => 1) IS NOT NULL AS id;
SELECT * FROM test.claim_as(sandbox_exec._server_epoch(), -1);
SELECT status, attempts, error_code, error FROM test.state;
SELECT test.clear();
SELECT sandbox_exec.enqueue('g2', runtime => 'test') IS NOT NULL AS id;
SELECT * FROM test.claim_as(sandbox_exec._server_epoch() - 1, 1);
SELECT status, attempts, solo FROM test.state;
SELECT test.clear();

-- a few at a time
SELECT count(*) FROM sandbox_exec.enqueue_many((
    SELECT jsonb_agg(jsonb_build_object('code', 'n' || n, 'runtime', 'test')) FROM generate_series(1, 5) n));
SELECT count(*) FROM sandbox_exec.claim('test', max_rows => 5);
DO $$
BEGIN
    UPDATE sandbox_exec.execution SET lease_expires_at = '2001-01-01';
    RAISE NOTICE '%', (SELECT count(*) FROM sandbox_exec.reap(2));
    RAISE NOTICE '%', (SELECT count(*) FROM sandbox_exec.reap());
    RAISE NOTICE '%', (SELECT count(*) FROM sandbox_exec.reap(NULL));
END $$;
SELECT status, count(*) FROM test.state GROUP BY status;
SELECT * FROM sandbox_exec.reap(0);
DROP FUNCTION test.expire, test.claim_as;
SELECT test.clear();
