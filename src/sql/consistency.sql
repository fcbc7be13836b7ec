/*
 * What goes with each state of an execution: the table's CHECK.  It is a function
 * because a statement parses and plans the expressions of all CHECKs anew, however
 * few rows it writes; as expressions these took longer than the change of a row.
 * PL/pgSQL keeps its own.
 */
CREATE FUNCTION sandbox_exec._is_execution(
    status text, claim_token uuid, lease_expires_at timestamptz, worker_no integer, started_at timestamptz,
    finished_at timestamptz, error_code text, log_pos bigint, attempt_count integer, max_attempts integer,
    parent_id uuid, depth integer)
RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
BEGIN
    IF (started_at IS NULL) <> (log_pos = 0) OR attempt_count > max_attempts OR (parent_id IS NULL) <> (depth = 0) THEN
        RETURN false;
    ELSIF status = 'running' THEN
        RETURN num_nulls(claim_token, lease_expires_at) = 0 AND num_nonnulls(finished_at, error_code) = 0;
    ELSIF status IN ('queued', 'paused') THEN
        RETURN num_nonnulls(claim_token, lease_expires_at, worker_no, finished_at, error_code) = 0;
    ELSIF status IN ('succeeded', 'failed', 'timed_out', 'cancelled') THEN
        RETURN num_nonnulls(claim_token, lease_expires_at, worker_no) = 0 AND finished_at IS NOT NULL
               AND (status = 'succeeded') = (error_code IS NULL);
    END IF;
    RETURN false;
END
$$;
