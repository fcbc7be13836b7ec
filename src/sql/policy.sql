/*
 * Policies: what code may not do whatever it was granted.  A policy names tools
 * by a pattern, and an owner or everybody; of those that match a call the most
 * restrictive wins.  They are read at each call: a block takes hold at once.
 */
CREATE TABLE sandbox_exec.policy (
    pattern text COLLATE "C" NOT NULL,
    owner text COLLATE "C",             -- null: everybody
    action text COLLATE "C" NOT NULL,
    CONSTRAINT policy_action CHECK (action IN ('allow', 'block'))
);
CREATE UNIQUE INDEX policy_key ON sandbox_exec.policy (pattern, coalesce(owner, ''));
ALTER TABLE sandbox_exec.policy REPLICA IDENTITY FULL;  -- as those of tables.sql

COMMENT ON TABLE sandbox_exec.policy IS 'which tools may not be used, and by whom; see set_policy()';
SELECT pg_catalog.pg_extension_config_dump('sandbox_exec.policy', '');

-- the policies that forbid it; small enough to become part of the query that asks
CREATE FUNCTION sandbox_exec._blocking(name text, owner text) RETURNS TABLE (pattern text)
    LANGUAGE sql STABLE PARALLEL RESTRICTED ROWS 1
BEGIN ATOMIC
    SELECT p.pattern FROM sandbox_exec.policy p
    WHERE p.action = 'block' AND (p.owner IS NULL OR p.owner = _blocking.owner)
          AND sandbox_exec._matches(_blocking.name, p.pattern);
END;

CREATE FUNCTION sandbox_exec._is_blocked(name text, owner text) RETURNS boolean
    LANGUAGE plpgsql STABLE PARALLEL RESTRICTED
AS $$
BEGIN
    RETURN EXISTS (SELECT FROM sandbox_exec._blocking(name, owner));
END
$$;

CREATE FUNCTION sandbox_exec.set_policy(pattern text, action text, owner text DEFAULT NULL) RETURNS void
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
    PERFORM sandbox_exec._not_by_tool('set_policy()');
    PERFORM sandbox_exec._check_pattern(pattern);
    IF action = 'require_approval' THEN
        RAISE EXCEPTION 'policies that require an approval are not supported yet'
            USING ERRCODE = 'feature_not_supported',
                  DETAIL = 'Code cannot wait for an answer from outside in this version.',
                  HINT = 'Give block to keep the tools from being used.';
    ELSIF action NOT IN ('allow', 'block') THEN
        RAISE EXCEPTION 'unknown action "%"', action USING ERRCODE = 'invalid_parameter_value',
            DETAIL = 'A policy allows tools, or blocks them.',
            HINT = 'Give allow or block, or null to remove the policy.';
    ELSIF owner = '' THEN
        RAISE EXCEPTION 'owner must not be empty' USING ERRCODE = 'invalid_parameter_value',
            DETAIL = 'It is a text of no characters.',
            HINT = 'Leave it out, or give null, for everybody.';
    ELSIF length(owner) > 255 THEN
        RAISE EXCEPTION 'owner is too long' USING ERRCODE = 'program_limit_exceeded',
            DETAIL = format('It has %s characters; the limit is 255.', length(owner)),
            HINT = 'Give an owner as it was given to enqueue().';
    END IF;
    IF action IS NULL THEN
        DELETE FROM sandbox_exec.policy p
        WHERE p.pattern = set_policy.pattern AND p.owner IS NOT DISTINCT FROM set_policy.owner;
    ELSE
        INSERT INTO sandbox_exec.policy AS p (pattern, owner, action)
        VALUES (set_policy.pattern, set_policy.owner, set_policy.action)
        ON CONFLICT (pattern, coalesce(owner, '')) DO UPDATE SET action = excluded.action;
    END IF;
END
$$;
COMMENT ON FUNCTION sandbox_exec.set_policy(text, text, text) IS
    'allows or blocks the tools that a pattern matches, for one owner or everybody; action null removes the policy';
