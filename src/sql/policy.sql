/*
 * Policies: what code may not do whatever it was granted, or not without asking.
 * A policy names tools by a pattern, and an owner or everybody; of those that
 * match a call the most restrictive wins, and allow loosens nothing.  They are
 * read at each call: a block takes hold at once.
 */
CREATE TABLE sandbox_exec.policy (
    pattern text COLLATE "C" NOT NULL,
    owner text COLLATE "C",             -- null: everybody
    action text COLLATE "C" NOT NULL,
    CONSTRAINT policy_action CHECK (action IN ('allow', 'require_approval', 'block'))
);
CREATE UNIQUE INDEX policy_key ON sandbox_exec.policy (pattern, coalesce(owner, ''));
ALTER TABLE sandbox_exec.policy REPLICA IDENTITY FULL;  -- as those of tables.sql

COMMENT ON TABLE sandbox_exec.policy IS 'which tools may not be used, or not without an approval, and by whom; see set_policy()';
SELECT pg_catalog.pg_extension_config_dump('sandbox_exec.policy', '');

-- what policies say of a tool beside allow, to become part of the query that
-- asks; to find out what may be called needs no approval
CREATE FUNCTION sandbox_exec._restricting(name text, owner text) RETURNS TABLE (action text)
    LANGUAGE sql STABLE PARALLEL RESTRICTED ROWS 1
BEGIN ATOMIC
    SELECT p.action FROM sandbox_exec.policy p
    WHERE p.action <> 'allow' AND (p.owner IS NULL OR p.owner = _restricting.owner)
          AND sandbox_exec._matches(_restricting.name, p.pattern)
          AND (p.action = 'block' OR NOT starts_with(_restricting.name, 'tools.'));
END;

CREATE FUNCTION sandbox_exec._is_blocked(name text, owner text) RETURNS boolean
    LANGUAGE plpgsql STABLE PARALLEL RESTRICTED
AS $$
BEGIN
    RETURN EXISTS (SELECT FROM sandbox_exec._restricting(name, owner) r WHERE r.action = 'block');
END
$$;

-- the most restrictive action but allow
CREATE FUNCTION sandbox_exec._restriction(name text, owner text) RETURNS text
    LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN (SELECT min(r.action)    -- as it happens: block comes before require_approval
            FROM sandbox_exec._restricting(name, owner) r);
END
$$;

CREATE FUNCTION sandbox_exec.set_policy(pattern text, action text, owner text DEFAULT NULL) RETURNS void
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
    PERFORM sandbox_exec._not_by_tool('set_policy()');
    PERFORM sandbox_exec._check_pattern(pattern);
    IF action NOT IN ('allow', 'require_approval', 'block') THEN
        RAISE EXCEPTION 'unknown action "%"', action USING ERRCODE = 'invalid_parameter_value',
            DETAIL = 'A policy allows tools, has each call of them approved, or blocks them.',
            HINT = 'Give allow, require_approval or block, or null to remove the policy.';
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
    'allows the tools that a pattern matches, has them need an approval, or blocks them, for one owner or everybody; action null removes the policy';
