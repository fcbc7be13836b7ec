/*
 * claim: take executions that are ready, in the order of the claim index.
 *
 * It begins where the first claimable row is.  What lies before, entries of rows
 * that were claimed, only a look from the very start passes (server/bound.h).
 *
 * Rows that another session holds are skipped, never waited for.  A solo row is
 * claimed alone: when it comes first it comes by itself, when it comes later
 * the batch ends before it.
 *
 * What has come in for a row is delivered with the claim (deliver.sql); a row for
 * which nothing has costs no look at the pauses.
 *
 * Here and in the other functions of the hot path enable_seqscan is off, because
 * plans are kept: one that was made for a tiny table must not scan a full one.
 * jit is off where a sequential scan is wanted all the same (of home): the
 * planner then takes the plan for an expensive one.
 */
CREATE FUNCTION sandbox_exec._pick(runtime text, max_rows integer, OUT picked uuid[], OUT answered uuid[])
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    bound record;
    first record;
BEGIN
    -- the look is opened before the snapshot of the statement that looks
    bound := sandbox_exec._look(runtime);
    SELECT e.rank, e.run_at, e.id INTO first
    FROM sandbox_exec.execution e
    WHERE e.runtime = _pick.runtime AND e.status = 'queued' AND e.ready
          AND (e.rank, e.run_at, e.id) >= (bound.rank, bound.run_at, bound.id)
    ORDER BY e.rank, e.run_at, e.id
    LIMIT 1;
    PERFORM sandbox_exec._looked(bound.look, first.rank, first.run_at, first.id);
    IF first.id IS NULL THEN
        RETURN;
    END IF;

    WITH next AS MATERIALIZED (
        SELECT e.rank, e.run_at, e.id, e.solo, e.answers
        FROM sandbox_exec.execution e
        WHERE e.runtime = _pick.runtime AND e.status = 'queued' AND e.ready
              AND (e.rank, e.run_at, e.id) >= (first.rank, first.run_at, first.id)
        ORDER BY e.rank, e.run_at, e.id
        LIMIT max_rows
        FOR NO KEY UPDATE SKIP LOCKED
    ), counted AS (
        SELECT n.id, n.answers, row_number() OVER w AS place, bool_or(n.solo) OVER w AS solo_so_far
        FROM next n
        WINDOW w AS (ORDER BY n.rank, n.run_at, n.id ROWS UNBOUNDED PRECEDING)
    )
    SELECT array_agg(c.id), array_agg(c.id) FILTER (WHERE c.answers > 0) INTO picked, answered
    FROM counted c WHERE c.place = 1 OR NOT c.solo_so_far;
END
$$;

CREATE FUNCTION sandbox_exec._claim(
    runtime text, max_rows integer, lease interval, executor text, id uuid,
    worker_epoch bigint, worker_no integer)
RETURNS SETOF sandbox_exec.claimed
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE ROWS 10
    SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    now CONSTANT timestamptz := clock_timestamp();
    picked uuid[];
    answered uuid[];    -- those for which something has come in
BEGIN
    runtime := coalesce(runtime, 'lua');
    max_rows := sandbox_exec._check_max_rows(max_rows, 1);
    lease := sandbox_exec._check_lease(coalesce(lease, '90 s'));
    IF length(executor) > 255 THEN
        RAISE EXCEPTION 'executor is too long' USING ERRCODE = 'program_limit_exceeded',
            DETAIL = format('It has %s characters; the limit is 255.', length(executor)),
            HINT = 'Use a short name, such as a host and a process id.';
    END IF;
    IF NOT sandbox_exec._runs_here() THEN
        RETURN;
    END IF;

    IF id IS NULL THEN
        SELECT * INTO picked, answered FROM sandbox_exec._pick(runtime, max_rows);
    ELSE
        PERFORM sandbox_exec._recover(ARRAY[id], now);
        SELECT ARRAY[e.id], CASE WHEN e.answers > 0 THEN ARRAY[e.id] END INTO picked, answered
        FROM sandbox_exec.execution e
        WHERE e.id = _claim.id AND e.runtime = _claim.runtime AND e.status = 'queued' AND e.ready
        FOR NO KEY UPDATE SKIP LOCKED;
    END IF;
    IF picked IS NULL THEN
        RETURN;
    ELSIF answered IS NOT NULL THEN
        PERFORM sandbox_exec._deliver(answered, now);
    END IF;

    RETURN QUERY
    WITH taken AS (
        UPDATE sandbox_exec.execution e
        SET status = 'running', updated_at = now,
            started_at = coalesce(e.started_at, now),
            log_pos = greatest(e.log_pos, 1),       -- 1 is the start itself
            attempt_count = e.attempt_count + 1,
            known_started = cardinality(picked) = 1,
            claim_token = gen_random_uuid(), lease_expires_at = now + lease,
            executor = _claim.executor, worker_epoch = _claim.worker_epoch, worker_no = _claim.worker_no
        WHERE e.id = ANY (picked)
        RETURNING e.id, e.claim_token, e.submitter, e.owner, e.org_id, e.thread_id, e.timeout_ms,
                  e.max_output_chars, e.memory_limit_kb, e.attempt_count, e.started_at, e.log_pos,
                  e.lease_expires_at, e.rank, e.run_at, e.parent_id, sandbox_exec._wake(e.id)
    )
    SELECT t.id, t.claim_token, i.code, i.args, t.submitter, t.owner, t.org_id, t.thread_id, i.tools,
           jsonb_build_object('timeout_ms', t.timeout_ms, 'max_output_chars', t.max_output_chars,
                              'memory_limit_kb', t.memory_limit_kb),
           t.attempt_count, t.started_at, t.log_pos, _claim.runtime, t.lease_expires_at, t.parent_id
    -- LIMIT: not to be made a join, whose plan for an empty table, kept, walks a whole index for each row
    FROM taken t CROSS JOIN LATERAL (SELECT x.code, x.args, x.tools FROM sandbox_exec.execution_input x
                                     WHERE x.id = t.id LIMIT 1) i
    ORDER BY t.rank, t.run_at, t.id;
    PERFORM sandbox_exec._work_due(now + lease);    -- when this executor may have died
END
$$;
