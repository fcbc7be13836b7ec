/*
 * tools.search and tools.describe: how code finds out what it may call.  Both
 * run as the extension's owner, and ask _execution_id() for whom.
 *
 * What a query of words finds: any of the words, in any of their English forms,
 * in the names or the descriptions; a name counts more.  Names are cut at dots,
 * underscores and capital letters.  A piece of a name finds it, too.
 */
CREATE FUNCTION sandbox_exec._tools_search(query text DEFAULT NULL, "limit" integer DEFAULT 20, "offset" integer DEFAULT 0)
RETURNS jsonb
    LANGUAGE plpgsql STABLE PARALLEL RESTRICTED
    SET search_path = pg_catalog, pg_temp SET client_min_messages = warning     -- a query may have no lexeme
AS $$
DECLARE
    words text;
    any_word tsquery;
BEGIN
    -- every program may search, without a grant: so it must be quick
    IF length(query) > 1000 THEN
        RAISE EXCEPTION 'query is too long' USING ERRCODE = 'invalid_parameter_value',
            DETAIL = format('It has %s characters; the limit is 1000.', length(query)), HINT = 'Give some words.';
    ELSIF "limit" IS NULL OR "limit" NOT BETWEEN 1 AND 100 THEN
        RAISE EXCEPTION 'limit is out of range' USING ERRCODE = 'invalid_parameter_value',
            DETAIL = format('It is %s.', coalesce("limit"::text, 'null')), HINT = 'Give 1 to 100.';
    ELSIF "offset" IS NULL OR "offset" < 0 THEN
        RAISE EXCEPTION 'offset is out of range' USING ERRCODE = 'invalid_parameter_value',
            DETAIL = format('It is %s.', coalesce("offset"::text, 'null')), HINT = 'Give 0 or more.';
    END IF;
    words := regexp_replace(regexp_replace(query, '([a-z0-9])([A-Z])', '\1 \2', 'g'), '[^[:alnum:]]+', ' ', 'g');
    -- any word will do: the rank tells how many
    any_word := replace(plainto_tsquery('pg_catalog.english', words)::text, '&', '|');
    RETURN (
        WITH ranked AS (
            SELECT g.name, g.description, g.name = query AS same,
                   coalesce(strpos(lower(g.name), lower(btrim(query))), 1) > 0 AS part,
                   coalesce(ts_rank(setweight(to_tsvector('pg_catalog.english',
                                        regexp_replace(regexp_replace(g.name, '([a-z0-9])([A-Z])', '\1 \2', 'g'), '[._]', ' ', 'g')), 'A')
                                    || setweight(to_tsvector('pg_catalog.english', coalesce(g.description, '')), 'C'),
                                    any_word), 0) AS rank
            FROM sandbox_exec._granted_tools(sandbox_exec._execution_id()) g
            WHERE split_part(g.name, '.', 1) <> 'tools'     -- whoever asks has found these
        ), found AS (
            SELECT r.*, row_number() OVER (ORDER BY r.same DESC, r.rank DESC, r.part DESC, r.name) AS place
            FROM ranked r
            WHERE r.rank > 0 OR r.part
        )
        SELECT jsonb_build_object(
            'total', count(*),
            'tools', coalesce(jsonb_agg(jsonb_build_object('name', f.name, 'description', f.description) ORDER BY f.place)
                              FILTER (WHERE f.place > "offset" AND f.place <= "offset"::bigint + "limit"), '[]'))
        FROM found f);
END
$$;

CREATE FUNCTION sandbox_exec._tools_describe(name text) RETURNS jsonb
    LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    id CONSTANT uuid := sandbox_exec._execution_id();
    described jsonb;
    unknown jsonb;
BEGIN
    SELECT jsonb_build_object(
               'name', g.name, 'description', g.description,
               'arguments', coalesce(g.arguments_schema, CASE WHEN g.function IS NOT NULL THEN
                                                              sandbox_exec._arguments_schema(g.function) END),
               'result', CASE WHEN g.function IS NULL THEN '{}' ELSE sandbox_exec._result_schema(g.function) END)
           || CASE WHEN g.requires_approval THEN '{"requires_approval": true}'::jsonb ELSE '{}' END
    INTO described
    FROM sandbox_exec._granted_tools(id) g
    WHERE g.name = _tools_describe.name;
    IF NOT FOUND THEN
        unknown := sandbox_exec._tool_not_found(id, left(name, 255));
        RAISE EXCEPTION '%', unknown ->> 'message' USING ERRCODE = 'SX003',
            DETAIL = unknown ->> 'detail', HINT = unknown ->> 'hint';
    END IF;
    RETURN described;
END
$$;
