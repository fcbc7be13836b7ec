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
    PERFORM sandbox_exec._grant(role,
        '{enqueue, enqueue_many, get, list, wait, tail, cancel, version, _checks}',
        '{executions, due, queue_stats, health}');
END
$$;
COMMENT ON FUNCTION sandbox_exec.grant_submitter(regrole) IS 'lets a role enqueue executions and watch its own';

CREATE FUNCTION sandbox_exec.grant_executor(role regrole) RETURNS void
    LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM sandbox_exec._grant(role,
        '{claim, renew, append, release, finalize, finalize_many, reap, promote, version, _checks, _workers}',
        '{due, queue_stats, workers, health}');
END
$$;
COMMENT ON FUNCTION sandbox_exec.grant_executor(regrole) IS
    'lets a role claim, see and finalize the executions of everybody in this database';

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA sandbox_exec FROM PUBLIC;
