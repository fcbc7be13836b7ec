/*
 * The registry of tools.
 *
 * A tool is an SQL function, kept as its qualified signature, which is looked
 * up at each call: a dump means the same function, and one that was replaced
 * is used as it is then.  What is known about arguments and result comes from
 * the catalog whenever it is asked for.
 *
 * Or it is external: the application does the work and answers with resume().
 */
CREATE TABLE sandbox_exec.tool (
    name text COLLATE "C" PRIMARY KEY,
    kind text COLLATE "C" NOT NULL,
    trusted boolean NOT NULL DEFAULT false,     -- runs as the extension's owner
    requires_approval boolean NOT NULL DEFAULT false,   -- each call of it pauses first
    function text,                              -- qualified signature; null: external
    description text,                           -- null: that of the function
    arguments_schema jsonb,                     -- null: from the catalog
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT tool_kind CHECK (kind IN ('sql', 'external', 'builtin')),
    CONSTRAINT tool_function CHECK ((kind = 'external') = (function IS NULL)),
    CONSTRAINT tool_trusted CHECK (NOT trusted OR kind = 'builtin')
);

COMMENT ON TABLE sandbox_exec.tool IS 'the functions that code may be granted; see register_tool()';

-- the extension's own come with it
SELECT pg_catalog.pg_extension_config_dump('sandbox_exec.tool', 'WHERE kind <> ''builtin''');

-- reads the same for everybody: nothing in it is found by a search_path
CREATE FUNCTION sandbox_exec._signature(function oid) RETURNS text
    LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
    SELECT format('%I.%I(%s)', n.nspname, p.proname,
                  (SELECT string_agg(format_type(t.type, NULL), ', ' ORDER BY t.place)
                   FROM unnest(p.proargtypes) WITH ORDINALITY t(type, place)))
    FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
    WHERE p.oid = function
$$;

-- null where there is no such function; a signature whose types or schema are
-- gone is an error to some servers, and no function to us
CREATE FUNCTION sandbox_exec._resolve(signature text) RETURNS regprocedure
    LANGUAGE plpgsql STABLE PARALLEL RESTRICTED
AS $$
BEGIN
    RETURN to_regprocedure(signature);
EXCEPTION WHEN undefined_object OR invalid_schema_name OR undefined_function THEN
    RETURN NULL;
END
$$;

-- why a function can't be a tool; null: it can
CREATE FUNCTION sandbox_exec._unfit(function oid, OUT reason text, OUT remedy text)
    LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    p pg_proc;
    argument record;
BEGIN
    SELECT * INTO p FROM pg_proc q WHERE q.oid = function;
    remedy := 'Write a function around it, with the arguments that code is to give, and register that.';
    IF p.pronamespace = 'sandbox_exec'::regnamespace THEN
        reason := 'It belongs to sandbox_exec, and code must not operate its own queue.';
        RETURN;
    ELSIF p.prokind <> 'f' THEN
        reason := format('It is %s.', CASE p.prokind WHEN 'a' THEN 'an aggregate' WHEN 'w' THEN 'a window function'
                                                     ELSE 'a procedure' END);
        RETURN;
    ELSIF p.prorettype IN ('trigger'::regtype, 'event_trigger'::regtype) THEN
        reason := 'It is a trigger function.';
        RETURN;
    ELSIF p.provariadic <> 0 THEN
        reason := 'It is VARIADIC.';
        remedy := 'Write a function around it that takes an array, and register that.';
        RETURN;
    ELSIF p.prorettype = 'record'::regtype AND p.proallargtypes IS NULL THEN
        reason := 'It returns a record whose columns are not declared.';
        remedy := 'Declare its columns with OUT parameters or RETURNS TABLE.';
        RETURN;
    ELSIF (SELECT t.typtype = 'p' AND t.oid NOT IN ('void'::regtype, 'record'::regtype)
           FROM pg_type t WHERE t.oid = p.prorettype) THEN
        reason := format('It returns the pseudo-type %s.', format_type(p.prorettype, NULL));
        RETURN;
    END IF;
    SELECT i.place, format_type(i.type, NULL) AS type, t.typtype = 'p' AS pseudo INTO argument
    FROM unnest(p.proargtypes) WITH ORDINALITY i(type, place)
         JOIN pg_type t ON t.oid = i.type
         LEFT JOIN sandbox_exec._arguments(function) a ON a.place = i.place
    WHERE t.typtype = 'p' OR coalesce(a.name, '') = ''
    ORDER BY i.place LIMIT 1;
    IF argument.pseudo THEN
        reason := format('Its argument %s is of the pseudo-type %s.', argument.place, argument.type);
    ELSIF argument.place IS NOT NULL THEN
        reason := format('Its argument %s has no name, and code gives arguments by name.', argument.place);
        remedy := 'Name every parameter in CREATE FUNCTION.';
    END IF;
END
$$;
