/*
 * register_tool and drop_tool: which functions may be granted to code at all,
 * which of them need an approval each time, and what the application does.
 * A submitter needs EXECUTE on the function besides, as for any other use.
 */
CREATE FUNCTION sandbox_exec._check_tool(
    function regprocedure, name text, description text, arguments_schema jsonb, kind text,
    requires_approval boolean)
RETURNS void
    LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    reason text;
    remedy text;
BEGIN
    IF kind NOT IN ('sql', 'external') THEN
        RAISE EXCEPTION 'unknown kind of tool "%"', kind USING ERRCODE = 'invalid_parameter_value',
            DETAIL = 'A tool is a function of this database, or external.',
            HINT = 'Give sql or external, or leave it out.';
    ELSIF kind = 'external' AND function IS NOT NULL THEN
        RAISE EXCEPTION 'an external tool has no function' USING ERRCODE = 'invalid_parameter_value',
            DETAIL = format('It is %s.', function),
            HINT = 'Give null for the function, or leave kind out.';
    ELSIF kind = 'external' AND requires_approval THEN
        RAISE EXCEPTION 'an external tool cannot require an approval' USING ERRCODE = 'invalid_parameter_value',
            DETAIL = 'The application decides by its answer whether the tool is run.',
            HINT = 'Leave requires_approval out, and answer with decline what is not approved.';
    ELSIF kind = 'external' THEN
        PERFORM sandbox_exec._check_name('name', name);
    ELSIF function IS NULL THEN
        RAISE EXCEPTION 'function must not be null' USING ERRCODE = 'null_value_not_allowed',
            HINT = 'Give a function with its argument types, such as ''app.lookup(integer)''.';
    ELSIF NOT EXISTS (SELECT FROM pg_proc p WHERE p.oid = function) THEN
        RAISE EXCEPTION 'function % does not exist', function::oid USING ERRCODE = 'undefined_function',
            DETAIL = 'It is the number of no function.',
            HINT = 'Give a function with its argument types, such as ''app.lookup(integer)''.';
    ELSIF name IS NOT NULL THEN
        PERFORM sandbox_exec._check_name('name', name);
    END IF;
    IF kind = 'sql' THEN
        SELECT * INTO reason, remedy FROM sandbox_exec._unfit(function);
    END IF;
    IF reason IS NOT NULL THEN
        RAISE EXCEPTION 'function % cannot be a tool', function USING ERRCODE = 'wrong_object_type',
            DETAIL = reason, HINT = remedy;
    ELSIF length(description) > 10000 THEN
        RAISE EXCEPTION 'description is too long' USING ERRCODE = 'program_limit_exceeded',
            DETAIL = format('It has %s characters; the limit is 10000.', length(description)),
            HINT = 'Say in a few sentences what the tool does and when to use it.';
    ELSIF jsonb_typeof(arguments_schema) <> 'object' THEN
        RAISE EXCEPTION 'arguments_schema must be a JSON object' USING ERRCODE = 'invalid_parameter_value',
            DETAIL = format('It is of JSON type %s.', jsonb_typeof(arguments_schema)),
            HINT = 'Give a JSON Schema, or leave it out to have it made from the catalog.';
    ELSIF octet_length(arguments_schema::text) > 65536 THEN
        RAISE EXCEPTION 'arguments_schema is too large' USING ERRCODE = 'program_limit_exceeded',
            DETAIL = format('It has %s bytes as text; the limit is 65536.', octet_length(arguments_schema::text)),
            HINT = 'Describe what a caller needs to know.';
    END IF;
END
$$;

CREATE FUNCTION sandbox_exec._is_reserved(name text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN split_part(name, '.', 1) IN ('tools', 'workspace', 'sql', 'executions');

CREATE FUNCTION sandbox_exec.register_tool(
    function regprocedure,
    name text DEFAULT NULL,
    description text DEFAULT NULL,
    arguments_schema jsonb DEFAULT NULL,
    kind text DEFAULT 'sql',
    requires_approval boolean DEFAULT false)
RETURNS text
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
BEGIN
    PERFORM sandbox_exec._not_by_tool('register_tool()');
    kind := coalesce(kind, 'sql');
    PERFORM sandbox_exec._check_tool(function, name, description, arguments_schema, kind, requires_approval);
    IF name IS NULL THEN
        name := (SELECT p.proname FROM pg_proc p WHERE p.oid = function);
        PERFORM sandbox_exec._check_name('name', name);
    END IF;
    IF sandbox_exec._is_reserved(name) THEN
        RAISE EXCEPTION 'tool name "%" is reserved', name USING ERRCODE = 'reserved_name',
            DETAIL = 'Names that begin with tools, workspace, sql or executions are those of built-in tools.',
            HINT = 'Begin the name with another word.';
    END IF;
    INSERT INTO sandbox_exec.tool (name, kind, requires_approval, function, description, arguments_schema)
    VALUES (name, kind, coalesce(requires_approval, false), sandbox_exec._signature(function), description, arguments_schema)
    ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'tool "%" already exists', name USING ERRCODE = 'duplicate_object',
            DETAIL = format('It is %s.', (SELECT coalesce(t.function, t.kind) FROM sandbox_exec.tool t WHERE t.name = register_tool.name)),
            HINT = 'Give another name, or call drop_tool() first.';
    END IF;
    RETURN name;
END
$$;
COMMENT ON FUNCTION sandbox_exec.register_tool(regprocedure, text, text, jsonb, text, boolean) IS
    'lets a function, or what the application answers, be granted to code as a tool; returns its name, by default that of the function';

CREATE FUNCTION sandbox_exec.drop_tool(name text) RETURNS void
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM sandbox_exec._not_by_tool('drop_tool()');
    IF name IS NULL THEN
        RAISE EXCEPTION 'name must not be null' USING ERRCODE = 'null_value_not_allowed',
            HINT = 'Give the name of a tool.';
    ELSIF sandbox_exec._is_reserved(name) THEN
        RAISE EXCEPTION 'tool "%" is built in', name USING ERRCODE = 'reserved_name',
            DETAIL = 'Names that begin with tools, workspace, sql or executions are those of built-in tools.',
            HINT = format('Run set_policy(%L, ''block'') to have nobody use it.', name);
    END IF;
    DELETE FROM sandbox_exec.tool t WHERE t.name = drop_tool.name;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'tool "%" does not exist', name USING ERRCODE = 'undefined_object',
            DETAIL = 'No tool of that name is registered.',
            HINT = 'The view tools lists them.';
    END IF;
END
$$;
COMMENT ON FUNCTION sandbox_exec.drop_tool(text) IS
    'takes a tool away from all code; executions that call it from now on get tool_not_found';
