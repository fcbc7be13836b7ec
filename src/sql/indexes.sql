/*
 * Indexes and storage.
 *
 * What a claim costs must not grow with the backlog, nor with deferred or
 * finished rows: the claim index holds claimable rows only, in the order in
 * which they are claimed, all ascending, so that a scan can start at a bound.
 */
CREATE INDEX execution_claim ON sandbox_exec.execution (runtime, rank, run_at, id)
    WHERE status = 'queued' AND ready;

-- promote() and _next_due(): rows whose time is still to come
CREATE INDEX execution_deferred ON sandbox_exec.execution (run_at)
    WHERE status = 'queued' AND NOT ready;

-- reap() looks through these; not by lease_expires_at (see there)
CREATE INDEX execution_running ON sandbox_exec.execution (id)
    WHERE status = 'running';

-- the views on what has not ended
CREATE INDEX execution_paused ON sandbox_exec.execution (id)
    WHERE status = 'paused';

-- not by submitter first, like execution_input_list: the planner must be able to
-- tell the two apart before it knows that one owner has many rows
CREATE UNIQUE INDEX execution_input_idempotency
    ON sandbox_exec.execution_input (idempotency_key, owner, submitter)
    WHERE idempotency_key IS NOT NULL;

-- purge(), oldest first
CREATE INDEX execution_finished ON sandbox_exec.execution (finished_at)
    WHERE finished_at IS NOT NULL;

-- how many an execution enqueued; others aren't in it
CREATE INDEX execution_child ON sandbox_exec.execution (parent_id)
    WHERE parent_id IS NOT NULL;

-- list()
CREATE INDEX execution_input_list ON sandbox_exec.execution_input (submitter, owner, id);

/*
 * A row is updated twice within moments.  The free part of each page takes the
 * new versions, and vacuum comes after a number of changes rather than after a
 * fraction of a table that keeps its history.
 */
ALTER TABLE sandbox_exec.execution SET (
    fillfactor = 70,
    autovacuum_vacuum_scale_factor = 0.01,
    autovacuum_vacuum_threshold = 10000,
    autovacuum_analyze_scale_factor = 0.02,
    autovacuum_analyze_threshold = 5000,
    autovacuum_vacuum_cost_delay = 0);
