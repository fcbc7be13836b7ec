/*
 * Modules: Lua source that every program in this database may require().
 *
 * A version is written once and never changed: the journal of an execution
 * names the one that it was given, and a later attempt gets the same.  For that
 * reason versions stay when the module is dropped.
 */
CREATE TABLE sandbox_exec.module (
    name text COLLATE "C",
    version integer,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    dropped_at timestamptz,
    source text NOT NULL,
    PRIMARY KEY (name, version)
);

COMMENT ON TABLE sandbox_exec.module IS 'source that code may require(); see register_module()';
SELECT pg_catalog.pg_extension_config_dump('sandbox_exec.module', '');

CREATE FUNCTION sandbox_exec.register_module(name text, source text) RETURNS integer
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    version integer;
BEGIN
    PERFORM sandbox_exec._not_by_tool('register_module()');
    PERFORM sandbox_exec._check_name('name', name);
    IF source IS NULL THEN
        RAISE EXCEPTION 'source must not be null' USING ERRCODE = 'null_value_not_allowed',
            HINT = 'Give the source of the module as text.';
    ELSIF octet_length(source) > 1048576 OR octet_length(to_jsonb(source)::text) > 1048576 THEN
        RAISE EXCEPTION 'source is too large' USING ERRCODE = 'program_limit_exceeded',
            DETAIL = format('It has %s bytes, and %s as a JSON string; the limit is 1048576.',
                            octet_length(source), octet_length(to_jsonb(source)::text)),
            HINT = 'Split it into several modules.';
    END IF;

    -- one at a time: each version has its number once
    LOCK TABLE sandbox_exec.module IN SHARE ROW EXCLUSIVE MODE;
    SELECT m.version INTO version
    FROM sandbox_exec.module m
    WHERE m.name = register_module.name AND m.source = register_module.source AND m.dropped_at IS NULL
          AND m.version = (SELECT max(l.version) FROM sandbox_exec.module l WHERE l.name = register_module.name);
    IF FOUND THEN
        RETURN version;     -- a deployment that is run again changes nothing
    END IF;
    INSERT INTO sandbox_exec.module AS m (name, version, source)
    VALUES (name, 1 + coalesce((SELECT max(l.version) FROM sandbox_exec.module l
                                WHERE l.name = register_module.name), 0), source)
    RETURNING m.version INTO version;
    RETURN version;
END
$$;
COMMENT ON FUNCTION sandbox_exec.register_module(text, text) IS
    'makes source available to require(name), as a new version where it differs from the last; returns the version';

CREATE FUNCTION sandbox_exec.drop_module(name text) RETURNS void
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM sandbox_exec._not_by_tool('drop_module()');
    IF name IS NULL THEN
        RAISE EXCEPTION 'name must not be null' USING ERRCODE = 'null_value_not_allowed',
            HINT = 'Give the name of a module.';
    END IF;
    UPDATE sandbox_exec.module m SET dropped_at = clock_timestamp()
    WHERE m.name = drop_module.name AND m.dropped_at IS NULL;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'module "%" does not exist', name USING ERRCODE = 'undefined_object',
            DETAIL = 'No module of that name is registered.',
            HINT = 'The view modules lists them.';
    END IF;
END
$$;
COMMENT ON FUNCTION sandbox_exec.drop_module(text) IS
    'keeps code from requiring a module that it did not have before';

-- the newest version, as a call's answer and as the journal has it; no row: no such module
CREATE FUNCTION sandbox_exec._require(name text, OUT value jsonb, OUT record jsonb) RETURNS SETOF record
    LANGUAGE sql STABLE PARALLEL RESTRICTED ROWS 1 SET search_path = pg_catalog, pg_temp
AS $$
    SELECT to_jsonb(m.source), jsonb_build_object('version', m.version)
    FROM sandbox_exec.module m
    WHERE m.name = _require.name AND m.dropped_at IS NULL
    ORDER BY m.version DESC LIMIT 1
$$;
