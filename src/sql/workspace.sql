/*
 * The workspace: small values that outlive an execution, shared by those of one
 * submitter and owner.  Its functions run as the extension's owner, as the
 * tools workspace.*, and know from the settings of the call for whom.
 */
CREATE TABLE sandbox_exec.workspace (
    submitter regrole NOT NULL,
    owner text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    updated_at timestamptz NOT NULL,
    size integer NOT NULL,              -- bytes of key and value
    value jsonb NOT NULL,
    PRIMARY KEY (submitter, owner, key)
);

COMMENT ON TABLE sandbox_exec.workspace IS 'values that code keeps from one execution to another; see workspace.set';
SELECT pg_catalog.pg_extension_config_dump('sandbox_exec.workspace', '');

-- whose workspace it is
CREATE FUNCTION sandbox_exec._tenant(OUT submitter regrole, OUT owner text)
    LANGUAGE sql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp
AS $$
    SELECT e.submitter, e.owner FROM sandbox_exec.execution e WHERE e.id = sandbox_exec._execution_id()
$$;

CREATE FUNCTION sandbox_exec._check_key(key text) RETURNS void
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF key IS NULL OR length(key) NOT BETWEEN 1 AND 255 THEN
        RAISE EXCEPTION 'key is invalid' USING ERRCODE = 'invalid_parameter_value',
            DETAIL = CASE WHEN key IS NULL THEN 'It is null.' ELSE format('It has %s characters.', length(key)) END,
            HINT = 'Give 1 to 255 characters.';
    END IF;
END
$$;

CREATE FUNCTION sandbox_exec._workspace_get(key text) RETURNS jsonb
    LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    mine CONSTANT record := sandbox_exec._tenant();
BEGIN
    PERFORM sandbox_exec._check_key(key);
    RETURN (SELECT w.value FROM sandbox_exec.workspace w
            WHERE w.submitter = mine.submitter AND w.owner = mine.owner AND w.key = _workspace_get.key);
END
$$;

-- null deletes, as assigning nil does in Lua.  A value is bounded by what the
-- arguments of a call may have.  The quota is looked at when a value is set, so
-- that calls at the same moment may pass it by one value each.
CREATE FUNCTION sandbox_exec._workspace_set(key text, value jsonb DEFAULT NULL) RETURNS void
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_variable
DECLARE
    mine CONSTANT record := sandbox_exec._tenant();
    size CONSTANT integer := octet_length(key) + octet_length(value::text);
    others record;
BEGIN
    PERFORM sandbox_exec._check_key(key);
    IF value IS NULL OR value = 'null' THEN
        PERFORM sandbox_exec._workspace_delete(key);
        RETURN;
    END IF;
    SELECT count(*) AS keys, coalesce(sum(w.size), 0) AS bytes INTO others
    FROM sandbox_exec.workspace w
    WHERE w.submitter = mine.submitter AND w.owner = mine.owner AND w.key <> key;
    IF others.keys >= 1000 OR others.bytes + size > 10485760 THEN
        RAISE EXCEPTION 'the workspace is full' USING ERRCODE = 'program_limit_exceeded',
            DETAIL = format('It has %s other keys with %s bytes, and this one needs %s; the limits are 1000 keys and 10485760 bytes.',
                            others.keys, others.bytes, size),
            HINT = 'Delete keys that are no longer needed.';
    END IF;
    INSERT INTO sandbox_exec.workspace AS w (submitter, owner, key, updated_at, size, value)
    VALUES (mine.submitter, mine.owner, key, clock_timestamp(), size, value)
    ON CONFLICT ON CONSTRAINT workspace_pkey
    DO UPDATE SET updated_at = excluded.updated_at, size = excluded.size, value = excluded.value;
END
$$;

CREATE FUNCTION sandbox_exec._workspace_delete(key text) RETURNS boolean
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    mine CONSTANT record := sandbox_exec._tenant();
BEGIN
    PERFORM sandbox_exec._check_key(key);
    DELETE FROM sandbox_exec.workspace w
    WHERE w.submitter = mine.submitter AND w.owner = mine.owner AND w.key = _workspace_delete.key;
    RETURN FOUND;
END
$$;

CREATE FUNCTION sandbox_exec._workspace_list(prefix text DEFAULT '') RETURNS jsonb
    LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    mine CONSTANT record := sandbox_exec._tenant();
BEGIN
    RETURN (SELECT coalesce(jsonb_agg(w.key ORDER BY w.key), '[]') FROM sandbox_exec.workspace w
            WHERE w.submitter = mine.submitter AND w.owner = mine.owner
                  AND starts_with(w.key, coalesce(prefix, '')));
END
$$;
