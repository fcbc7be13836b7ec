/*
 * pending: what waits for a person or the application, for those who may answer.
 */
CREATE VIEW sandbox_exec.pending WITH (security_barrier) AS
SELECT w.call_id, w.execution_id, w.kind, w.name, w.args, w.message, w.schema, w.url, w.owner,
       w.requested_at, w.expires_at
FROM sandbox_exec._waiting w
     -- LIMIT: not to be made a join, which might read all of history
     CROSS JOIN LATERAL (SELECT FROM sandbox_exec.execution x
                         WHERE x.id = w.execution_id AND x.finished_at IS NULL LIMIT 1) e
WHERE pg_has_role(w.submitter, 'USAGE')
      AND CASE WHEN (SELECT t.owner FROM sandbox_exec._tool t) <> w.owner THEN NULL ELSE true END IS NOT NULL;

COMMENT ON VIEW sandbox_exec.pending IS
    'calls that wait for an answer by resume(), of executions that the current user may see';
COMMENT ON COLUMN sandbox_exec.pending.call_id IS 'what resume() takes';
COMMENT ON COLUMN sandbox_exec.pending.execution_id IS 'the execution whose code made the call';
COMMENT ON COLUMN sandbox_exec.pending.kind IS
    'ask: a question; approval: may this tool be called so; external: the application does the work and answers with the result';
COMMENT ON COLUMN sandbox_exec.pending.name IS 'name of the tool; ask for a question';
COMMENT ON COLUMN sandbox_exec.pending.args IS
    'arguments of the tool; beyond 64 kB an object with their beginning in truncated, and their size in bytes';
COMMENT ON COLUMN sandbox_exec.pending.message IS 'the question';
COMMENT ON COLUMN sandbox_exec.pending.schema IS 'JSON Schema of the content that is wanted; null: any';
COMMENT ON COLUMN sandbox_exec.pending.url IS 'page where the person answers, instead of content';
COMMENT ON COLUMN sandbox_exec.pending.owner IS 'whom the execution is for';
COMMENT ON COLUMN sandbox_exec.pending.requested_at IS 'since when it waits';
COMMENT ON COLUMN sandbox_exec.pending.expires_at IS 'when it is cancelled by itself; null: never';
