/*
 * Repair: claims that were lost.
 *
 * A claim is lost when its lease expired (strictly before now) or when the
 * in-server worker that holds it is gone.  A worker that goes on trying to renew
 * or to end what it has (no room on the disk, a row that somebody holds: what
 * passes) has not lost it: what it ran is done, and would be done again.  Lost before it was known
 * to have started, a claim uses no attempt.  In any case the row is next claimed
 * alone (solo), so that what kills its executor takes no other execution along.
 * A tool that ends its worker by going on beyond its timeout would do so each
 * time: that execution has failed.
 */
CREATE FUNCTION sandbox_exec._is_lost(
    lease_expires_at timestamptz, worker_epoch bigint, worker_no integer, now timestamptz)
RETURNS boolean
    LANGUAGE plpgsql VOLATILE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF worker_epoch IS NULL THEN
        RETURN lease_expires_at < now;
    END IF;
    RETURN worker_epoch IS DISTINCT FROM sandbox_exec._server_epoch()
        OR worker_no <> ALL (sandbox_exec._live_workers())
        OR lease_expires_at < now AND worker_no <> ALL (sandbox_exec._keeping_workers());
END
$$;

-- give back those of the rows that are lost; rows that others hold are skipped
CREATE FUNCTION sandbox_exec._recover(ids uuid[], now timestamptz)
RETURNS TABLE (id uuid, action text)
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
DECLARE
    locked uuid[];
BEGIN
    -- lock first, judge then: a worker that claimed the row meanwhile must be
    -- on the list of the living when that is read
    locked := ARRAY(
        SELECT e.id FROM sandbox_exec.execution e
        WHERE e.id = ANY (ids) AND e.status = 'running'
        ORDER BY e.id FOR NO KEY UPDATE SKIP LOCKED);

    RETURN QUERY
    WITH lost AS MATERIALIZED (
        SELECT e.id, t.name AS stubborn_tool,
               CASE WHEN e.cancel_requested_at IS NOT NULL THEN 'cancelled'
                    WHEN t.name IS NOT NULL OR e.known_started AND e.attempt_count >= e.max_attempts THEN 'failed'
                    ELSE 'queued' END AS next_status,
               e.known_started OR t.name IS NOT NULL AS used, e.log_pos, e.attempt_count,
               CASE WHEN e.lease_expires_at < now THEN 'lease_expired' ELSE 'worker_lost' END AS reason
        FROM sandbox_exec.execution e,
             LATERAL (SELECT sandbox_exec._stubborn_tool(e.id, e.worker_epoch, e.worker_no)) t(name)
        WHERE e.id = ANY (locked)
              AND sandbox_exec._is_lost(e.lease_expires_at, e.worker_epoch, e.worker_no, now)
    ), logged AS (
        INSERT INTO sandbox_exec.event (execution_id, pos, at, type, data)
        SELECT l.id, l.log_pos + 1, now, 'retry', sandbox_exec._retry_event(l.attempt_count + 1, l.reason) -> 'data'
        FROM lost l WHERE l.next_status = 'queued' AND l.used
    ), recovered AS (
        UPDATE sandbox_exec.execution e
        SET status = l.next_status, updated_at = now,
            finished_at = CASE WHEN l.next_status <> 'queued' THEN now END,
            attempt_count = e.attempt_count - CASE WHEN l.used THEN 0 ELSE 1 END,
            solo = true, known_started = false,
            log_pos = e.log_pos + CASE WHEN l.next_status = 'queued' AND l.used THEN 1 ELSE 0 END,
            claim_token = NULL, lease_expires_at = NULL, worker_epoch = NULL, worker_no = NULL,
            error_code = CASE WHEN l.next_status = 'failed' AND l.stubborn_tool IS NOT NULL THEN 'tool_timeout'
                              WHEN l.next_status = 'failed' THEN 'lease_expired'
                              WHEN l.next_status = 'cancelled' THEN 'cancelled' END,
            error = CASE l.next_status
                        WHEN 'failed' THEN coalesce(
                            'tool "' || l.stubborn_tool || '" went on after its timeout, and its worker had to end',
                            format('the claim of attempt %s of %s was lost: %s', e.attempt_count, e.max_attempts,
                                CASE l.reason WHEN 'lease_expired' THEN 'its lease expired' ELSE 'its worker is gone' END))
                        WHEN 'cancelled' THEN coalesce(e.cancel_reason, 'cancelled') END
        FROM lost l
        WHERE e.id = l.id
        RETURNING e.id, e.status, sandbox_exec._tell(e.id, e.status), sandbox_exec._wake(e.id),
                  CASE WHEN e.open_pauses > 0 AND e.finished_at IS NOT NULL THEN sandbox_exec._close(e.id) END,
                  CASE WHEN e.finished_at IS NOT NULL THEN sandbox_exec._tell_parent(e.id, e.parent_id, now) END
    )
    SELECT r.id, r.status FROM recovered r;
END
$$;

CREATE FUNCTION sandbox_exec._reap(max_rows integer)
RETURNS TABLE (id uuid, action text)
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
    SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    now CONSTANT timestamptz := clock_timestamp();
BEGIN
    max_rows := sandbox_exec._check_max_rows(max_rows, 1000);
    IF NOT sandbox_exec._at_home() THEN
        RETURN;
    END IF;
    RETURN QUERY
    SELECT r.id, r.action FROM sandbox_exec._recover(ARRAY(
        SELECT e.id FROM sandbox_exec.execution e
        WHERE e.status = 'running'
              AND sandbox_exec._is_lost(e.lease_expires_at, e.worker_epoch, e.worker_no, now)
        ORDER BY e.id LIMIT max_rows), now) r;
END
$$;
