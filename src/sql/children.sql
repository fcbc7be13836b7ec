/*
 * Executions that code enqueues: the tools executions.enqueue and .get.  A child
 * is for whom its parent is, and gets no tool that its parent lacks.  The
 * journal makes sure that it is enqueued once, and counts it.
 */
CREATE FUNCTION sandbox_exec._executions_enqueue(
    code text, args jsonb DEFAULT NULL, tools text[] DEFAULT '{}', timeout interval DEFAULT NULL,
    run_at timestamptz DEFAULT NULL)
RETURNS uuid
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
#variable_conflict use_variable
DECLARE
    parent sandbox_exec.execution;
    grants text[];
    beyond text;
    children bigint;
    id uuid;
BEGIN
    SELECT e.* INTO parent FROM sandbox_exec.execution e WHERE e.id = sandbox_exec._execution_id();
    SELECT i.tools INTO grants FROM sandbox_exec.execution_input i WHERE i.id = parent.id;
    SELECT t.name INTO beyond FROM unnest(tools) t(name)
    WHERE NOT EXISTS (SELECT FROM unnest(grants) g(pattern) WHERE sandbox_exec._covers(g.pattern, t.name)) LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'tool % cannot be granted', coalesce('"' || beyond || '"', 'null') USING ERRCODE = 'insufficient_privilege',
            DETAIL = 'This execution was not granted it.',
            HINT = format('At most these can be passed on: %s.', array_to_string(grants, ', '));
    ELSIF parent.depth >= 5 THEN
        RAISE EXCEPTION 'executions are nested too deeply' USING ERRCODE = 'program_limit_exceeded',
            DETAIL = format('This one is %s below the one that an application enqueued; the limit is 5.', parent.depth),
            HINT = 'Do the work here, or return what is to be done.';
    END IF;
    SELECT count(*) INTO children FROM sandbox_exec.call c
    WHERE c.execution_id = parent.id AND c.name = 'executions.enqueue' AND c.outcome = 'ok';
    IF children >= 100 THEN
        RAISE EXCEPTION 'too many executions' USING ERRCODE = 'program_limit_exceeded',
            DETAIL = format('This execution has enqueued %s; the limit is 100.', children),
            HINT = 'Give each of them more to do.';
    END IF;
    id := sandbox_exec._enqueue(parent.submitter, code, args, parent.owner, parent.org_id, parent.thread_id, tools,
        timeout, parent.max_output_chars, parent.memory_limit_kb, parent.max_attempts, -parent.rank, run_at, NULL, parent.runtime);
    UPDATE sandbox_exec.execution e SET parent_id = parent.id, depth = parent.depth + 1 WHERE e.id = id;
    RETURN id;
END
$$;

-- its own children only: what else the submitter runs is none of the code's business
CREATE FUNCTION sandbox_exec._executions_get(id uuid) RETURNS jsonb
    LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
DECLARE
    child jsonb;
BEGIN
    SELECT jsonb_build_object('id', r.id, 'status', r.status, 'result', r.result, 'error', r.error,
                              'error_code', r.error_code, 'exit_code', r.exit_code, 'stdout', r.stdout,
                              'stderr', r.stderr, 'created_at', r.created_at, 'started_at', r.started_at,
                              'finished_at', r.finished_at)
    INTO child
    FROM sandbox_exec._record r
    WHERE r.id = _executions_get.id AND r.parent_id = sandbox_exec._execution_id();
    IF NOT FOUND THEN
        RAISE EXCEPTION 'execution % does not exist', coalesce(id::text, 'null') USING ERRCODE = 'no_data_found',
            DETAIL = 'This execution has enqueued none of that id, or it was deleted.',
            HINT = 'Give an id that executions.enqueue returned.';
    END IF;
    RETURN child;
END
$$;
