/*
 * Who may do what.  Nothing is granted to PUBLIC; the two functions give a role
 * what its work needs, and no more.
 */
CREATE FUNCTION sandbox_exec._grant(role regrole, functions text[], views text[]) RETURNS void
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    signatures text;
BEGIN
    IF role IS NULL THEN
        RAISE EXCEPTION 'role must not be null' USING ERRCODE = 'null_value_not_allowed',
            HINT = 'Give the name of a role.';
    ELSIF NOT EXISTS (SELECT FROM pg_roles r WHERE r.oid = role) THEN
        RAISE EXCEPTION 'role "%" does not exist', role USING ERRCODE = 'undefined_object',
            DETAIL = 'It is the number of no role.',
            HINT = 'Give the name of a role.';
    END IF;
    SELECT string_agg(p.oid::regprocedure::text, ', ') INTO signatures
    FROM pg_proc p
    WHERE p.pronamespace = 'sandbox_exec'::regnamespace AND p.proname = ANY (functions);
    EXECUTE format('GRANT USAGE ON SCHEMA sandbox_exec TO %s', role);
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %s', signatures, role);
    EXECUTE format('GRANT SELECT ON %s TO %s',
                   (SELECT string_agg('sandbox_exec.' || quote_ident(v), ', ') FROM unnest(views) v), role);
END
$$;

CREATE FUNCTION sandbox_exec.grant_submitter(role regrole) RETURNS void
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM sandbox_exec._not_by_tool('grant_submitter()');
    PERFORM sandbox_exec._grant(role,
        '{enqueue, enqueue_many, get, list, wait, tail, cancel, resume, signal, version, _checks, _tools, _sql_query,
          _sql_execute}',
        '{executions, pending, due, queue_stats, health, tools, modules}');
END
$$;
COMMENT ON FUNCTION sandbox_exec.grant_submitter(regrole) IS 'lets a role enqueue executions and watch its own';

CREATE FUNCTION sandbox_exec.grant_executor(role regrole) RETURNS void
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM sandbox_exec._not_by_tool('grant_executor()');
    PERFORM sandbox_exec._grant(role,
        '{claim, journal, renew, append, call, suspend, release, finalize, finalize_many, reap, promote, version,
          _checks, _workers}',
        '{due, queue_stats, workers, health}');
END
$$;
COMMENT ON FUNCTION sandbox_exec.grant_executor(regrole) IS
    'lets a role claim, see and finalize the executions of everybody in this database';

/*
 * Take back what was granted by default: functions to PUBLIC, and whatever
 * ALTER DEFAULT PRIVILEGES gives away in this database.  Claim tokens and
 * internal functions must be nobody's but the owner's.
 */
DO $$
DECLARE
    given record;
BEGIN
    FOR given IN
        SELECT DISTINCT o.object, CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE a.grantee::regrole::text END AS grantee
        FROM (SELECT 'SCHEMA ' || n.oid::regnamespace, n.nspacl, n.nspowner
              FROM pg_namespace n WHERE n.nspname = 'sandbox_exec'
              UNION ALL
              SELECT 'TABLE ' || c.oid::regclass, c.relacl, c.relowner
              FROM pg_class c WHERE c.relnamespace = 'sandbox_exec'::regnamespace AND c.relkind IN ('r', 'v')
              UNION ALL
              SELECT 'FUNCTION ' || p.oid::regprocedure, coalesce(p.proacl, acldefault('f', p.proowner)), p.proowner
              FROM pg_proc p WHERE p.pronamespace = 'sandbox_exec'::regnamespace) o (object, acl, owner)
             CROSS JOIN LATERAL aclexplode(o.acl) a
        WHERE a.grantee <> o.owner
    LOOP
        EXECUTE format('REVOKE ALL ON %s FROM %s', given.object, given.grantee);
    END LOOP;
END
$$;
