/*
 * enqueue_many: an array of objects whose keys are enqueue's parameters.
 *
 * All rows are written by one statement, at a fraction of what one a row costs.
 * What that cannot do is done one by one by _enqueue: say which element is wrong,
 * and find what an idempotency key stands for.
 */
-- one by one; an error names the element
CREATE FUNCTION sandbox_exec._enqueue_each(caller regrole, requests jsonb) RETURNS SETOF uuid
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    index bigint;
    request jsonb;
    r sandbox_exec._request;
    state text;
    message text;
    detail text;
    hint text;
BEGIN
    FOR request, index IN
        SELECT q.request, q.place - 1
        FROM jsonb_array_elements(requests) WITH ORDINALITY q(request, place) ORDER BY q.place
    LOOP
        r := jsonb_populate_record(NULL::sandbox_exec._request, request);
        RETURN NEXT sandbox_exec._enqueue(caller, r.code, r.args, r.owner, r.org_id, r.thread_id, r.tools,
            r.timeout, r.max_output_chars, r.memory_limit_kb, r.max_attempts, r.priority, r.run_at,
            r.idempotency_key, r.runtime);
    END LOOP;

-- what is wrong with a value is said as enqueue says it, and of which element
EXCEPTION WHEN data_exception OR program_limit_exceeded OR insufficient_privilege THEN
    IF index IS NULL THEN
        RAISE;
    END IF;
    GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT,
        detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
    RAISE EXCEPTION USING ERRCODE = state, MESSAGE = message,
        DETAIL = ltrim(format('%s The request is requests[%s].', detail, index)),
        HINT = coalesce(nullif(hint, ''), 'Give values of the types that the parameters of enqueue() have.');
END
$$;

/*
 * All at once.  The defaults are those of _enqueue.  ids has one for each request.
 * The rest are those whose idempotency key is taken, perhaps by an earlier one of the
 * same array, and their places.
 */
CREATE FUNCTION sandbox_exec._enqueue_together(
    caller regrole, requests jsonb, ids uuid[], OUT places integer[], OUT rest jsonb)
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    now CONSTANT timestamptz := clock_timestamp();
    caller_name CONSTANT text := pg_get_userbyid(caller);
    usual_timeout CONSTANT interval := least(interval '10 min', (sandbox_exec._limits()).max_timeout);
BEGIN
    WITH given AS MATERIALIZED (
        SELECT q.place, q.request, ids[q.place] AS id, r.code, r.args, coalesce(r.owner, caller_name) AS owner, r.org_id, r.thread_id,
               coalesce(r.tools, '{}') AS tools, coalesce(r.timeout, usual_timeout) AS timeout,
               coalesce(r.max_output_chars, 50000) AS max_output_chars, r.memory_limit_kb,
               coalesce(r.max_attempts, 2) AS max_attempts, coalesce(r.priority, 0) AS priority,
               coalesce(r.run_at, now) AS run_at, r.idempotency_key, coalesce(r.runtime, 'lua') AS runtime
        FROM jsonb_array_elements(requests) WITH ORDINALITY q(request, place)
             CROSS JOIN LATERAL jsonb_populate_record(NULL::sandbox_exec._request, q.request) r
    ), sound AS MATERIALIZED (
        SELECT g.*, sandbox_exec._check_request(g.code, g.args, g.owner, g.org_id, g.thread_id, g.tools, g.timeout,
                        g.max_output_chars, g.memory_limit_kb, g.max_attempts, g.priority, g.run_at,
                        g.idempotency_key, g.runtime)
        FROM given g
    ), input AS (
        INSERT INTO sandbox_exec.execution_input (id, submitter, owner, idempotency_key, code, args, tools)
        SELECT s.id, caller, s.owner, s.idempotency_key, s.code, s.args, s.tools FROM sound s
        ON CONFLICT (submitter, owner, idempotency_key) WHERE idempotency_key IS NOT NULL DO NOTHING
        RETURNING id
    ), execution AS (
        INSERT INTO sandbox_exec.execution (
            id, created_at, updated_at, run_at, submitter, rank, timeout_ms, max_output_chars,
            memory_limit_kb, max_attempts, ready, runtime, owner, org_id, thread_id)
        SELECT s.id, now, now, s.run_at, caller, -s.priority, extract(epoch FROM s.timeout) * 1000, s.max_output_chars,
               s.memory_limit_kb, s.max_attempts, s.run_at <= now, s.runtime, s.owner, s.org_id, s.thread_id
        FROM sound s
        WHERE s.idempotency_key IS NULL OR s.id IN (SELECT i.id FROM input i)
        RETURNING CASE WHEN ready THEN sandbox_exec._row_ready(rank, run_at, id) ELSE sandbox_exec._work_due(run_at) END
    )
    SELECT array_agg(s.place::integer), jsonb_agg(s.request) INTO places, rest
    FROM sound s
    WHERE s.idempotency_key IS NOT NULL AND s.id NOT IN (SELECT i.id FROM input i);
END
$$;

CREATE FUNCTION sandbox_exec._enqueue_many(caller regrole, requests jsonb) RETURNS SETOF uuid
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    ids uuid[];
    id uuid;
    place integer;
BEGIN
    PERFORM sandbox_exec._check_requests(requests);
    IF sandbox_exec._execution_id() IS NOT NULL THEN    -- children are looked at one by one
        RETURN QUERY SELECT * FROM sandbox_exec._enqueue_each(caller, requests);
        RETURN;
    END IF;
    BEGIN
        ids := ARRAY(SELECT sandbox_exec._uuid7() FROM generate_series(1, jsonb_array_length(requests)));
        FOR place, id IN
            SELECT e.place, e.id
            FROM sandbox_exec._enqueue_together(caller, requests, ids) t
                 CROSS JOIN LATERAL ROWS FROM (unnest(t.places), sandbox_exec._enqueue_each(caller, t.rest)) e(place, id)
        LOOP
            ids[place] := id;
        END LOOP;
        RETURN QUERY SELECT * FROM unnest(ids);
        RETURN;
    EXCEPTION WHEN data_exception OR program_limit_exceeded THEN
        NULL;   -- which element it is, the next statement says
    END;
    RETURN QUERY SELECT * FROM sandbox_exec._enqueue_each(caller, requests);
END
$$;
