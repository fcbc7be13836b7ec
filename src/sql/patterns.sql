/*
 * Names of tools, and patterns of names.
 *
 *      app.lookup      that tool
 *      app.*           every tool below app, at any depth
 *      *               every tool
 *
 * Names are dotted identifiers, so that Lua can write tools.app.lookup{...}.
 * The first words of the extension's own tools are taken.
 */
CREATE FUNCTION sandbox_exec._matches(name text, pattern text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN name = pattern OR right(pattern, 1) = '*' AND starts_with(name, left(pattern, -1));

-- does one pattern match whatever the other does? (that of a name, the name)
CREATE FUNCTION sandbox_exec._covers(pattern text, other text) RETURNS boolean
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sandbox_exec._matches(other, pattern);

CREATE FUNCTION sandbox_exec._is_pattern(pattern text) RETURNS boolean
    LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'is_pattern_v1';

-- the name of a tool or a module
CREATE FUNCTION sandbox_exec._check_name(what text, name text) RETURNS void
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF name IS NULL THEN
        RAISE EXCEPTION '% must not be null', what USING ERRCODE = 'null_value_not_allowed',
            HINT = 'Give words of letters, digits and underscores, with dots between them.';
    ELSIF length(name) > 255 THEN
        RAISE EXCEPTION '% is too long', what USING ERRCODE = 'program_limit_exceeded',
            DETAIL = format('It has %s characters; the limit is 255.', length(name)),
            HINT = 'Use a shorter name.';
    ELSIF right(name, 1) = '*' OR NOT sandbox_exec._is_pattern(name) THEN
        RAISE EXCEPTION '% "%" is invalid', what, name USING ERRCODE = 'invalid_name',
            DETAIL = 'It must read like tools.NAME in a program: words of letters, digits and underscores, with dots between them.',
            HINT = 'Give a name such as app.lookup.';
    END IF;
END
$$;

CREATE FUNCTION sandbox_exec._check_pattern(pattern text) RETURNS void
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF pattern IS NULL THEN
        RAISE EXCEPTION 'pattern must not be null' USING ERRCODE = 'null_value_not_allowed',
            HINT = 'Give a name such as app.lookup, a pattern such as app.*, or * for every tool.';
    ELSIF NOT sandbox_exec._is_pattern(pattern) THEN
        RAISE EXCEPTION 'pattern "%" is invalid', left(pattern, 255) USING ERRCODE = 'invalid_parameter_value',
            DETAIL = 'A pattern is the name of a tool, the beginning of names with .* after it, or *.',
            HINT = 'Give a name such as app.lookup, a pattern such as app.*, or * for every tool.';
    END IF;
END
$$;
