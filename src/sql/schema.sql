/*
 * Where the extension lives.
 *
 * The schema is created here, and not by the control file, so that it belongs
 * to the extension: a foreign schema of that name makes CREATE EXTENSION fail,
 * and DROP EXTENSION takes ours along.
 *
 * Names with a leading underscore are the extension's own: nobody is granted
 * them, and they may change in any release.
 */
DO $$
BEGIN
    IF getdatabaseencoding() <> 'UTF8' THEN
        RAISE EXCEPTION 'sandbox_exec needs a database with encoding UTF8'
            USING ERRCODE = 'feature_not_supported',
                  DETAIL = format('The encoding of database "%s" is %s.',
                                  current_database(), getdatabaseencoding()),
                  HINT = 'Create a database with ENCODING ''UTF8'' and install the extension there.';
    END IF;
END
$$;

CREATE SCHEMA sandbox_exec;
COMMENT ON SCHEMA sandbox_exec IS 'durable execution of untrusted code: enqueue(), wait(), executions';
