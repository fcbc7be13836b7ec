/*
 * Executions that code enqueues: by the tools executions.enqueue, .get and .wait,
 * which is a pause (pause_open.sql), or by enqueue() in any other tool.  A child
 * is for whom its parent is, and gets no tool that its parent lacks, so that code
 * is what its grants and policies make it whichever way it goes.
 */
-- what a child gets from its parent; null: as the parent has it
CREATE FUNCTION sandbox_exec._inherited(what text, given text, own text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF given <> own OR given IS NOT NULL AND own IS NULL THEN
        RAISE EXCEPTION '% cannot be given by a tool', what USING ERRCODE = 'insufficient_privilege',
            DETAIL = 'What code enqueues is for whom its own execution is.',
            HINT = 'Leave it out.';
    END IF;
    RETURN own;
END
$$;

CREATE FUNCTION sandbox_exec._check_passed_on(tools text[], grants text[]) RETURNS void
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    beyond text;
BEGIN
    SELECT t.name INTO beyond FROM unnest(tools) t(name)
    WHERE NOT EXISTS (SELECT FROM unnest(grants) g(pattern) WHERE sandbox_exec._covers(g.pattern, t.name)) LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'tool % cannot be granted', coalesce('"' || beyond || '"', 'null') USING ERRCODE = 'insufficient_privilege',
            DETAIL = 'This execution was not granted it.',
            HINT = format('At most these can be passed on: %s.', array_to_string(grants, ', '));
    END IF;
END
$$;

-- may one more be enqueued, and for whom; children that were purged don't count
CREATE FUNCTION sandbox_exec._inherit(
    parent_id uuid, INOUT owner text, INOUT org_id text, INOUT thread_id text, tools text[], OUT depth integer)
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
#variable_conflict use_variable
DECLARE
    parent record;
    children bigint;
BEGIN
    SELECT e.owner, e.org_id, e.thread_id, e.depth, i.tools AS grants INTO parent
    FROM sandbox_exec.execution e JOIN sandbox_exec.execution_input i ON i.id = e.id WHERE e.id = parent_id;
    owner := sandbox_exec._inherited('owner', owner, parent.owner);
    org_id := sandbox_exec._inherited('org_id', org_id, parent.org_id);
    thread_id := sandbox_exec._inherited('thread_id', thread_id, parent.thread_id);
    depth := parent.depth + 1;
    PERFORM sandbox_exec._check_passed_on(tools, parent.grants);
    IF depth > 5 THEN
        RAISE EXCEPTION 'executions are nested too deeply' USING ERRCODE = 'program_limit_exceeded',
            DETAIL = format('This one is %s below the one that an application enqueued; the limit is 5.', parent.depth),
            HINT = 'Do the work here, or return what is to be done.';
    END IF;
    SELECT count(*) INTO children FROM sandbox_exec.execution e WHERE e.parent_id = parent_id;
    IF children >= 100 THEN
        RAISE EXCEPTION 'too many executions' USING ERRCODE = 'program_limit_exceeded',
            DETAIL = format('This execution has enqueued %s; the limit is 100.', children),
            HINT = 'Give each of them more to do.';
    END IF;
END
$$;

-- the limits that the application chose, too, are the parent's
CREATE FUNCTION sandbox_exec._executions_enqueue(
    code text, args jsonb DEFAULT NULL, tools text[] DEFAULT '{}', timeout interval DEFAULT NULL,
    run_at timestamptz DEFAULT NULL)
RETURNS uuid
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
#variable_conflict use_variable
DECLARE
    parent sandbox_exec.execution;
BEGIN
    SELECT e.* INTO parent FROM sandbox_exec.execution e WHERE e.id = sandbox_exec._execution_id();
    RETURN sandbox_exec._enqueue(parent.submitter, code, args, NULL, NULL, NULL, tools,
        timeout, parent.max_output_chars, parent.memory_limit_kb, parent.max_attempts, -parent.rank, run_at, NULL, parent.runtime);
END
$$;

-- its own children only: what else the submitter runs is none of the code's
-- business, nor what a function enqueued with more rights than the code has
CREATE FUNCTION sandbox_exec._child_record(parent uuid, id uuid) RETURNS jsonb
    LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
BEGIN
    RETURN (
        SELECT jsonb_build_object('id', r.id, 'status', r.status, 'result', r.result, 'error', r.error,
                                  'error_code', r.error_code, 'exit_code', r.exit_code, 'stdout', r.stdout,
                                  'stderr', r.stderr, 'created_at', r.created_at, 'started_at', r.started_at,
                                  'finished_at', r.finished_at)
        FROM sandbox_exec._record r
        WHERE r.id = _child_record.id AND r.parent_id = parent
              AND r.submitter = (SELECT e.submitter FROM sandbox_exec.execution e WHERE e.id = parent));
END
$$;

-- the error where there is none
CREATE FUNCTION sandbox_exec._no_child(id text) RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sandbox_exec._call_error('tool_failed', format('execution %s does not exist', coalesce(id, 'null')), 'executions.wait',
           'This execution has enqueued none of that id, or it was deleted.', 'Give an id that executions.enqueue returned.')
       || '{"sqlstate": "P0002"}';

-- what executions.wait gives; null for the outcome: nothing yet
CREATE FUNCTION sandbox_exec._child_outcome(parent uuid, id uuid, OUT outcome text, OUT value jsonb)
    LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    value := sandbox_exec._child_record(parent, id);
    outcome := CASE WHEN value IS NULL THEN 'error' WHEN value -> 'finished_at' <> 'null' THEN 'ok' END;
    IF value IS NULL THEN
        value := sandbox_exec._no_child(id::text);
    ELSIF octet_length(value::text) > 1048576 THEN      -- as for the result of any tool
        outcome := CASE WHEN outcome IS NOT NULL THEN 'error' END;
        value := sandbox_exec._call_error('result_too_large', format('the record of execution %s is too large', id),
            'executions.wait', format('It has %s bytes as text; the limit is 1048576.', octet_length(value::text)),
            'Have it return less, and print less.');
    END IF;
END
$$;

CREATE FUNCTION sandbox_exec._executions_get(id uuid) RETURNS jsonb
    LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    child CONSTANT jsonb := sandbox_exec._child_record(sandbox_exec._execution_id(), id);
    missing jsonb;
BEGIN
    IF child IS NULL THEN
        missing := sandbox_exec._no_child(id::text);
        RAISE EXCEPTION '%', missing ->> 'message' USING ERRCODE = 'no_data_found',
            DETAIL = missing ->> 'detail', HINT = missing ->> 'hint';
    END IF;
    RETURN child;
END
$$;

-- for its name, arguments and description: what waits is never run
CREATE FUNCTION sandbox_exec._executions_wait(id uuid) RETURNS jsonb
    LANGUAGE sql STABLE PARALLEL RESTRICTED
RETURN sandbox_exec._executions_get(id);
