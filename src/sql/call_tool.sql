/*
 * What is to become of the call of a tool: it does not exist for this execution,
 * is blocked, runs, needs an approval first, or is done by the application.  The
 * most restrictive of what the tool says and the policies wins.
 *
 * Verdicts are those of _call_begin; null: it is a tool but in name.
 */
CREATE FUNCTION sandbox_exec._call_tool(
    e sandbox_exec.execution, name text, args jsonb, approved boolean,
    OUT verdict text, OUT value jsonb, OUT pause jsonb, OUT function text, OUT function_oid oid, OUT trusted boolean)
    LANGUAGE plpgsql STABLE PARALLEL RESTRICTED
    SET search_path = pg_catalog, pg_temp SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    restriction CONSTANT text := sandbox_exec._restriction(name, e.owner);
    t record;
BEGIN
    SELECT i.tools AS grants, x.* INTO t
    FROM sandbox_exec.execution_input i LEFT JOIN sandbox_exec.tool x ON x.name = _call_tool.name
    WHERE i.id = e.id;
    verdict := 'answer';
    IF t.kind IS NULL OR NOT sandbox_exec._is_granted(name, t.grants) THEN
        value := sandbox_exec._tool_not_found(e.id, name);
    ELSIF restriction = 'block' THEN
        value := sandbox_exec._call_error('tool_blocked', format('tool "%s" is blocked', name), name,
            'A policy of this database forbids it.', 'Do without, or ask an administrator.');
    ELSIF NOT EXISTS (SELECT FROM pg_authid r WHERE r.oid = e.submitter) THEN
        value := sandbox_exec._call_error('submitter_dropped', 'the role that submitted this execution no longer exists', name,
            NULL, NULL);
    ELSIF name = 'executions.wait' THEN
        verdict := NULL;
    ELSIF t.kind = 'external' AND approved THEN
        value := sandbox_exec._call_error('tool_not_found', format('the function of tool "%s" no longer exists', name), name,
            'It was replaced after this call was approved.', NULL);
    ELSIF t.kind = 'external' THEN
        value := sandbox_exec._external_problem(name, t.arguments_schema, args);
        IF value IS NULL THEN
            verdict := 'pause';
            pause := '{"kind": "external"}';
        END IF;
    ELSE
        function := t.function;
        trusted := t.trusted;
        function_oid := sandbox_exec._resolve(t.function);
        IF function_oid IS NULL THEN
            value := sandbox_exec._call_error('tool_not_found', format('the function of tool "%s" no longer exists', name), name,
                format('It was %s.', t.function), NULL);
        ELSIF approved OR NOT (t.requires_approval OR restriction IS NOT NULL)
              OR sandbox_exec._is_approved(e.id, name) THEN
            verdict := 'run';
        ELSE
            verdict := 'approve';
            pause := '{"kind": "approval"}';
        END IF;
    END IF;
END
$$;

-- what is wrong with the arguments of a tool that the application runs
CREATE FUNCTION sandbox_exec._external_problem(name text, schema jsonb, args jsonb) RETURNS jsonb
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    problem CONSTANT text := sandbox_exec._content_problem(schema, args, 'argument');
BEGIN
    RETURN CASE WHEN problem IS NOT NULL THEN
        sandbox_exec._call_error('invalid_tool_arguments', 'invalid arguments: ' || problem, name, NULL, NULL) END;
END
$$;

-- did somebody approve the tool for the rest of the execution?
CREATE FUNCTION sandbox_exec._is_approved(id uuid, name text) RETURNS boolean
    LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
BEGIN
    RETURN EXISTS (SELECT FROM sandbox_exec.pause p
                   WHERE p.execution_id = _is_approved.id AND p.kind = 'approval' AND p.name = _is_approved.name
                         AND p.outcome = 'accept' AND p.scope = 'execution');
END
$$;
