-- executions: which rows there can be, as against every combination of what the rule looks at
WITH flag(f) AS (VALUES (true), (false)),
     made AS (
         SELECT status, CASE WHEN a.f THEN '00000000-0000-0000-0000-000000000001'::uuid END AS claim_token,
                CASE WHEN b.f THEN now() END AS lease_expires_at, CASE WHEN c.f THEN 1 END AS worker_no,
                CASE WHEN d.f THEN now() END AS started_at, CASE WHEN e.f THEN now() END AS finished_at,
                CASE WHEN g.f THEN 'lua_error' END AS error_code, CASE WHEN h.f THEN 1::bigint ELSE 0 END AS log_pos,
                i AS attempt_count, 1 AS max_attempts,
                CASE WHEN j.f THEN '00000000-0000-0000-0000-000000000002'::uuid END AS parent_id,
                CASE WHEN k.f THEN 1 ELSE 0 END AS depth
         FROM unnest('{queued,running,paused,succeeded,failed,timed_out,cancelled,done}'::text[]) status,
              flag a, flag b, flag c, flag d, flag e, flag g, flag h, generate_series(0, 2) i, flag j, flag k),
     judged AS (
         SELECT m.status,
                sandbox_exec._is_execution(m.status, m.claim_token, m.lease_expires_at, m.worker_no, m.started_at,
                                           m.finished_at, m.error_code, m.log_pos, m.attempt_count, m.max_attempts,
                                           m.parent_id, m.depth) AS sound,
                m.status IN ('queued', 'running', 'paused', 'succeeded', 'failed', 'timed_out', 'cancelled')
                AND (m.status = 'running') = (m.claim_token IS NOT NULL)
                AND (m.claim_token IS NULL) = (m.lease_expires_at IS NULL)
                AND (m.claim_token IS NOT NULL OR m.worker_no IS NULL)
                AND (m.status IN ('queued', 'paused') OR m.claim_token IS NOT NULL) = (m.finished_at IS NULL)
                AND (m.status = 'succeeded' OR m.finished_at IS NULL) = (m.error_code IS NULL)
                AND (m.started_at IS NULL) = (m.log_pos = 0)
                AND m.attempt_count <= m.max_attempts
                AND (m.parent_id IS NULL) = (m.depth = 0) AS expected
         FROM made m)
SELECT status, count(*) FILTER (WHERE sound) AS sound, count(*) FILTER (WHERE sound IS DISTINCT FROM expected) AS wrong
FROM judged GROUP BY status ORDER BY status COLLATE "C";

-- the table has it
SELECT conname, convalidated FROM pg_constraint WHERE conrelid = 'sandbox_exec.execution'::regclass AND contype = 'c';
SELECT sandbox_exec.enqueue('return 1', run_at => now() + interval '1 day') AS id \gset
\set VERBOSITY sqlstate
UPDATE sandbox_exec.execution SET status = 'running' WHERE id = :'id';
UPDATE sandbox_exec.execution SET attempt_count = 3 WHERE id = :'id';
\set VERBOSITY default
SELECT test.clear();
