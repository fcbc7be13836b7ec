/*
 * What the catalog tells about a function's arguments and result, as JSON
 * Schema, for the code (or the model that wrote it) to read.  What a call
 * really accepts is decided by the types' own input.
 */

-- input arguments in order; those with a default may be left out
CREATE FUNCTION sandbox_exec._arguments(function oid)
RETURNS TABLE (place bigint, name text, type oid, optional boolean)
    LANGUAGE sql STABLE PARALLEL SAFE ROWS 5 SET search_path = pg_catalog, pg_temp
AS $$
    SELECT i.place, i.name, i.type, i.place > p.pronargs - p.pronargdefaults
    FROM pg_proc p
         CROSS JOIN LATERAL (
             SELECT row_number() OVER (ORDER BY a.place) AS place, p.proargnames[a.place] AS name, a.type
             FROM unnest(coalesce(p.proallargtypes, p.proargtypes::oid[])) WITH ORDINALITY a(type, place)
             WHERE coalesce(p.proargmodes[a.place], 'i') IN ('i', 'b', 'v')) i
    WHERE p.oid = function
    ORDER BY i.place
$$;

CREATE FUNCTION sandbox_exec._type_schema(type oid, depth integer) RETURNS jsonb
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    t pg_type;
BEGIN
    SELECT * INTO t FROM pg_type q WHERE q.oid = type;
    WHILE t.typtype = 'd' LOOP
        SELECT * INTO t FROM pg_type q WHERE q.oid = t.typbasetype;
    END LOOP;
    IF t.typcategory = 'A' AND t.typelem <> 0 THEN
        RETURN jsonb_build_object('type', 'array', 'items', sandbox_exec._type_schema(t.typelem, depth));
    ELSIF t.typtype = 'e' THEN
        RETURN jsonb_build_object('type', 'string', 'enum', (
            SELECT jsonb_agg(e.enumlabel ORDER BY e.enumsortorder) FROM pg_enum e WHERE e.enumtypid = t.oid));
    ELSIF t.typtype = 'c' THEN
        RETURN '{"type": "object"}'::jsonb || CASE WHEN depth > 0 THEN '{}' ELSE jsonb_build_object('properties', (
            SELECT coalesce(jsonb_object_agg(a.attname, sandbox_exec._type_schema(a.atttypid, depth + 1)), '{}')
            FROM pg_attribute a WHERE a.attrelid = t.typrelid AND a.attnum > 0 AND NOT a.attisdropped)) END;
    END IF;
    RETURN CASE t.oid
        WHEN 'boolean'::regtype THEN '{"type": "boolean"}'
        WHEN 'smallint'::regtype THEN '{"type": "integer", "minimum": -32768, "maximum": 32767}'
        WHEN 'integer'::regtype THEN '{"type": "integer", "minimum": -2147483648, "maximum": 2147483647}'
        WHEN 'bigint'::regtype THEN '{"type": "integer"}'
        WHEN 'numeric'::regtype THEN '{"type": "number"}'
        WHEN 'real'::regtype THEN '{"type": "number"}'
        WHEN 'double precision'::regtype THEN '{"type": "number"}'
        WHEN 'json'::regtype THEN '{}'
        WHEN 'jsonb'::regtype THEN '{}'
        WHEN 'uuid'::regtype THEN '{"type": "string", "format": "uuid"}'
        WHEN 'date'::regtype THEN '{"type": "string", "format": "date"}'
        WHEN 'time'::regtype THEN '{"type": "string", "format": "time"}'
        WHEN 'timestamp'::regtype THEN '{"type": "string", "format": "date-time"}'
        WHEN 'timestamptz'::regtype THEN '{"type": "string", "format": "date-time"}'
        WHEN 'interval'::regtype THEN '{"type": "string", "format": "duration"}'
        WHEN 'text'::regtype THEN '{"type": "string"}'
        WHEN 'varchar'::regtype THEN '{"type": "string"}'
        WHEN 'void'::regtype THEN '{"type": "null"}'
        ELSE jsonb_build_object('type', 'string', 'description', format('as PostgreSQL writes %s', format_type(t.oid, NULL)))
        END;
END
$$;

CREATE FUNCTION sandbox_exec._arguments_schema(function oid) RETURNS jsonb
    LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
    SELECT jsonb_build_object(
        'type', 'object',
        'properties', coalesce(jsonb_object_agg(a.name, sandbox_exec._type_schema(a.type, 0))
                               FILTER (WHERE a.name <> ''), '{}'),
        'required', coalesce(jsonb_agg(a.name ORDER BY a.place) FILTER (WHERE NOT a.optional), '[]'),
        'additionalProperties', false)
    FROM sandbox_exec._arguments(function) a
$$;

-- what comes back: the columns of a row, an array of a set
CREATE FUNCTION sandbox_exec._result_schema(function oid) RETURNS jsonb
    LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    p pg_proc;
    schema jsonb;
BEGIN
    SELECT * INTO p FROM pg_proc q WHERE q.oid = function;
    IF p.prorettype = 'record'::regtype THEN
        SELECT jsonb_build_object('type', 'object', 'properties',
                   coalesce(jsonb_object_agg(p.proargnames[o.place], sandbox_exec._type_schema(o.type, 1)), '{}'))
        INTO schema
        FROM unnest(p.proallargtypes) WITH ORDINALITY o(type, place)
        WHERE p.proargmodes[o.place] IN ('o', 'b', 't');
    ELSE
        schema := sandbox_exec._type_schema(p.prorettype, 0);
    END IF;
    RETURN CASE WHEN p.proretset THEN jsonb_build_object('type', 'array', 'items', schema) ELSE schema END;
END
$$;
