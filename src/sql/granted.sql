/*
 * What an execution may call: what it was granted by name or pattern and no
 * policy blocks, as long as its function, where it has one, is there and its
 * submitter may execute it.  To the code all else does not exist.
 */

-- discovery needs no grant: it shows nothing that was not granted
CREATE FUNCTION sandbox_exec._matches_any(name text, grants text[]) RETURNS boolean
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
DECLARE
    pattern text;
BEGIN
    IF name IN ('tools.search', 'tools.describe') THEN
        RETURN true;
    END IF;
    FOREACH pattern IN ARRAY grants LOOP
        IF sandbox_exec._matches(name, pattern) THEN
            RETURN true;
        END IF;
    END LOOP;
    RETURN false;
END
$$;

-- asked at each call: the usual grants are seen without a loop over patterns
CREATE FUNCTION sandbox_exec._is_granted(name text, grants text[]) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN grants && ARRAY[name, split_part(name, '.', 1) || '.*', '*'] OR sandbox_exec._matches_any(name, grants);

CREATE FUNCTION sandbox_exec._granted_tools(id uuid)
RETURNS TABLE (name text, description text, arguments_schema jsonb, function oid, requires_approval boolean)
    LANGUAGE sql STABLE PARALLEL RESTRICTED ROWS 10 SET search_path = pg_catalog, pg_temp
AS $$
    SELECT t.name, coalesce(t.description, obj_description(f.oid, 'pg_proc')), t.arguments_schema, f.oid,
           t.function IS NOT NULL AND t.name <> 'executions.wait'
               AND (t.requires_approval OR sandbox_exec._restriction(t.name, e.owner) IS NOT NULL)
    FROM sandbox_exec.execution e
         JOIN sandbox_exec.execution_input i ON i.id = e.id
         CROSS JOIN sandbox_exec.tool t
         CROSS JOIN LATERAL (SELECT sandbox_exec._resolve(t.function)::oid AS oid) f
         LEFT JOIN pg_proc p ON p.oid = f.oid
    WHERE e.id = _granted_tools.id
          AND sandbox_exec._is_granted(t.name, i.tools)
          AND NOT sandbox_exec._is_blocked(t.name, e.owner)
          AND (t.kind = 'external'
               OR p.oid IS NOT NULL AND t.trusted
               OR has_function_privilege(e.submitter, p.oid, 'EXECUTE')
                  AND has_schema_privilege(e.submitter, p.pronamespace, 'USAGE'))
$$;

-- how alike two names are, from 0 to 1: the pairs of characters that they share
CREATE FUNCTION sandbox_exec._likeness(one text, other text) RETURNS double precision
    LANGUAGE sql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
    WITH a AS (SELECT DISTINCT substr(' ' || lower(one) || ' ', i, 2) AS pair FROM generate_series(1, length(one) + 1) i),
         b AS (SELECT DISTINCT substr(' ' || lower(other) || ' ', i, 2) AS pair FROM generate_series(1, length(other) + 1) i)
    SELECT 2.0 * (SELECT count(*) FROM a JOIN b USING (pair))
           / ((SELECT count(*) FROM a) + (SELECT count(*) FROM b))
$$;

-- the five granted tools that a wrong name comes nearest to, as a hint: its
-- last word counts as well as the whole
CREATE FUNCTION sandbox_exec._suggestion(id uuid, wrong text) RETURNS text
    LANGUAGE sql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp
AS $$
    SELECT coalesce('Did you mean ' || string_agg(s.name, ', ' ORDER BY s.likeness DESC, s.name) || '?',
                    'tools.search() lists what was granted.')
    FROM (SELECT g.name, greatest(sandbox_exec._likeness(g.name, wrong),
                                  sandbox_exec._likeness(regexp_replace(g.name, '^.*\.', ''),
                                                         regexp_replace(wrong, '^.*\.', ''))) AS likeness
          FROM sandbox_exec._granted_tools(id) g
          ORDER BY likeness DESC, g.name LIMIT 5) s
    WHERE s.likeness >= 0.4
$$;

-- the error that a call raises in the code
CREATE FUNCTION sandbox_exec._call_error(code text, message text, tool text, detail text, hint text) RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN jsonb_strip_nulls(jsonb_build_object('code', code, 'message', message, 'tool', tool,
                                            'detail', detail, 'hint', hint));

CREATE FUNCTION sandbox_exec._tool_not_found(id uuid, name text) RETURNS jsonb
    LANGUAGE sql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp
AS $$
    SELECT sandbox_exec._call_error('tool_not_found', format('tool "%s" does not exist', name), name,
               'There is no tool of that name, or it was not granted to this execution.',
               sandbox_exec._suggestion(id, name))
$$;
