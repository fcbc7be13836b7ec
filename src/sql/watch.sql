/*
 * Watching: each function takes its caller, and shows what
 * pg_has_role(caller, submitter, 'USAGE') allows, narrowed by owner; to code,
 * what is of its own owner.
 * An execution that is not there and one of somebody else look the same.
 */
CREATE FUNCTION sandbox_exec._visible(caller regrole, owner_filter text, submitter regrole, owner text)
RETURNS boolean
    LANGUAGE sql STABLE PARALLEL RESTRICTED
AS $$
    -- inlined, hence no SET search_path: everything is qualified instead
    SELECT pg_catalog.pg_has_role(caller, submitter, 'USAGE'::pg_catalog.text)
           AND (owner_filter IS NULL OR owner OPERATOR(pg_catalog.=) owner_filter)
           AND sandbox_exec._in_reach(owner) IS NOT NULL
$$;

CREATE FUNCTION sandbox_exec._get(caller regrole, id uuid, owner text)
RETURNS SETOF sandbox_exec.executions
    LANGUAGE plpgsql STABLE PARALLEL RESTRICTED ROWS 1
    SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
BEGIN
    IF id IS NULL THEN
        RAISE EXCEPTION 'id must not be null' USING ERRCODE = 'null_value_not_allowed',
            HINT = 'Give the id that enqueue() returned.';
    END IF;
    RETURN QUERY
    SELECT r.* FROM sandbox_exec._record r
    WHERE r.id = _get.id AND sandbox_exec._visible(caller, _get.owner, r.submitter, r.owner);
END
$$;

-- the submitters whose executions the caller may see, dropped roles included
-- (a superuser sees those); found by hopping from one to the next in the index
CREATE FUNCTION sandbox_exec._visible_submitters(caller regrole) RETURNS regrole[]
    LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN ARRAY(
        WITH RECURSIVE hop(submitter) AS (
            SELECT min(i.submitter::oid) FROM sandbox_exec.execution_input i
            UNION ALL
            SELECT (SELECT min(i.submitter::oid) FROM sandbox_exec.execution_input i
                    WHERE i.submitter::oid > hop.submitter)
            FROM hop WHERE hop.submitter IS NOT NULL
        )
        SELECT hop.submitter::regrole FROM hop WHERE pg_has_role(caller, hop.submitter, 'USAGE'));
END
$$;

-- a plan for each call: which index serves depends on how common the owner is
CREATE FUNCTION sandbox_exec._list(caller regrole, owner text, status text, before uuid, max_rows integer)
RETURNS SETOF sandbox_exec.executions
    LANGUAGE plpgsql STABLE PARALLEL RESTRICTED ROWS 100
    SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
    submitters CONSTANT regrole[] := sandbox_exec._visible_submitters(caller);
BEGIN
    max_rows := sandbox_exec._check_max_rows(max_rows, 100);
    IF status NOT IN ('queued', 'running', 'paused', 'succeeded', 'failed', 'timed_out', 'cancelled') THEN
        RAISE EXCEPTION 'unknown status "%"', status USING ERRCODE = 'invalid_parameter_value',
            DETAIL = 'No execution ever has it.',
            HINT = 'Allowed are queued, running, paused, succeeded, failed, timed_out, cancelled.';
    END IF;
    RETURN QUERY
    SELECT r.* FROM sandbox_exec.execution_input i JOIN sandbox_exec._record r ON r.id = i.id
    WHERE i.submitter = ANY (submitters)      -- for the index; the rule is the next line's
          AND sandbox_exec._visible(caller, _list.owner, i.submitter, i.owner)
          AND (_list.status IS NULL OR r.status = _list.status)
          AND (before IS NULL OR i.id < before)
    ORDER BY i.id DESC
    LIMIT max_rows;
END
$$;
