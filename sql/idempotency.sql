-- idempotency keys: per submitter and owner, while the record lives
\set SHOW_CONTEXT never

SELECT sandbox_exec.enqueue('first', runtime => 'test', idempotency_key => 'k') AS first \gset
SELECT sandbox_exec.enqueue('second', runtime => 'test', priority => 9, idempotency_key => 'k') = :'first' AS same;
SELECT code, status FROM test.state;
SELECT rank FROM sandbox_exec.execution;

-- other owners, keys, and no key at all are other executions
SELECT sandbox_exec.enqueue('other', runtime => 'test', owner => 'o', idempotency_key => 'k') <> :'first' AS other;
SELECT sandbox_exec.enqueue('other', runtime => 'test', idempotency_key => 'K') <> :'first' AS other;
SELECT sandbox_exec.enqueue('other', runtime => 'test') <> :'first' AS other;
CREATE ROLE regress_submitter;
SELECT sandbox_exec.grant_submitter('regress_submitter');
SET ROLE regress_submitter;
SELECT sandbox_exec.enqueue('other', runtime => 'test', idempotency_key => 'k') <> :'first' AS other;
RESET ROLE;

-- bad arguments are refused even where the key is known
SELECT test.error($$ SELECT sandbox_exec.enqueue('', runtime => 'test', idempotency_key => 'k') $$);

-- the key holds after the end, and is free when the record goes
SELECT sandbox_exec.cancel(:'first');
SELECT sandbox_exec.enqueue('third', runtime => 'test', idempotency_key => 'k') = :'first' AS same;
DELETE FROM sandbox_exec.execution_input WHERE id = :'first';
SELECT sandbox_exec.enqueue('fourth', runtime => 'test', idempotency_key => 'k') <> :'first' AS other;

-- within one transaction, and after a rollback
BEGIN;
SELECT sandbox_exec.enqueue('t', runtime => 'test', idempotency_key => 't') AS t \gset
SELECT sandbox_exec.enqueue('t', runtime => 'test', idempotency_key => 't') = :'t' AS same;
ROLLBACK;
SELECT sandbox_exec.enqueue('t', runtime => 'test', idempotency_key => 't') <> :'t' AS other;

-- a key is found by itself, however many rows its owner has
BEGIN;
SELECT jsonb_agg(jsonb_build_object('code', 'x', 'runtime', 'test', 'idempotency_key', 'n' || n)) AS requests FROM generate_series(1, 200) n \gset
SELECT count(*) FROM sandbox_exec.enqueue_many(:'requests');
SELECT count(*) FROM sandbox_exec.enqueue_many(:'requests');
SELECT pg_stat_get_xact_tuples_returned('sandbox_exec.execution_input_list'::regclass) AS read_by_owner;
ROLLBACK;

SELECT test.clear();
DROP OWNED BY regress_submitter;
DROP ROLE regress_submitter;
