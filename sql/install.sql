-- CREATE EXTENSION: refusals, what it creates, and helpers for the other tests
\set SHOW_CONTEXT never

-- a foreign schema of our name is not touched
CREATE SCHEMA sandbox_exec;
CREATE EXTENSION sandbox_exec;
DROP SCHEMA sandbox_exec;

-- the schema is fixed
CREATE EXTENSION sandbox_exec SCHEMA public;

CREATE EXTENSION sandbox_exec;
SELECT sandbox_exec.version() = extversion AS same FROM pg_extension WHERE extname = 'sandbox_exec';
PREPARE enqueue AS SELECT sandbox_exec.enqueue('prepared', runtime => 'test') IS NOT NULL AS id;
EXECUTE enqueue;
DROP EXTENSION sandbox_exec;
SELECT count(*) AS left_over FROM pg_namespace WHERE nspname = 'sandbox_exec';
CREATE EXTENSION sandbox_exec;
EXECUTE enqueue;        -- plans of the old one are of no harm
SELECT count(*) FROM sandbox_exec.execution;
DEALLOCATE enqueue;
ALTER EXTENSION sandbox_exec SET SCHEMA public;

-- UTF8 only
CREATE DATABASE regress_sandbox_exec_latin1 ENCODING 'LATIN1' TEMPLATE template0 LOCALE 'C';
SELECT current_database() AS here \gset
\c regress_sandbox_exec_latin1
CREATE EXTENSION sandbox_exec;
\c :here
DROP DATABASE regress_sandbox_exec_latin1;

-- the public API; names with an underscore are internal
\pset format unaligned
\pset tuples_only on
SELECT p.proname || E'(\n    ' || replace(pg_get_function_arguments(p.oid), ', ', E',\n    ') || ')',
       pg_get_function_result(p.oid)
FROM pg_proc p
WHERE p.pronamespace = 'sandbox_exec'::regnamespace AND p.proname !~ '^_'
ORDER BY p.proname COLLATE "C";
\pset format aligned
\pset tuples_only off

SELECT c.relname, c.relkind FROM pg_class c
WHERE c.relnamespace = 'sandbox_exec'::regnamespace AND c.relkind IN ('r', 'v', 'S') AND c.relname !~ '^_'
ORDER BY c.relkind, c.relname COLLATE "C";

-- nothing lacks a comment, is granted to PUBLIC, or follows the caller's search_path
SELECT p.oid::regprocedure AS uncommented FROM pg_proc p
WHERE p.pronamespace = 'sandbox_exec'::regnamespace AND p.proname !~ '^_'
      AND obj_description(p.oid, 'pg_proc') IS NULL;
SELECT c.oid::regclass AS uncommented, a.attname FROM pg_class c
     LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND c.relkind = 'v'
WHERE c.relnamespace = 'sandbox_exec'::regnamespace AND c.relkind IN ('r', 'v') AND c.relname !~ '^_'
      AND (obj_description(c.oid, 'pg_class') IS NULL
           OR a.attname IS NOT NULL AND col_description(c.oid, a.attnum) IS NULL);
SELECT p.oid::regprocedure AS public FROM pg_proc p
WHERE p.pronamespace = 'sandbox_exec'::regnamespace AND has_function_privilege('public', p.oid, 'EXECUTE');
SELECT p.oid::regprocedure AS unpinned FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
WHERE p.pronamespace = 'sandbox_exec'::regnamespace AND l.lanname <> 'c'
      AND NOT coalesce(p.proconfig::text LIKE '%search_path=pg_catalog, pg_temp%', false)
ORDER BY p.proname COLLATE "C";  -- inlined, or called by what pins it: bound when created, or qualified throughout

-- dumps keep every table; no column holds an oid but roles
SELECT c.relname FROM pg_class c
WHERE c.relnamespace = 'sandbox_exec'::regnamespace AND c.relkind IN ('r', 'S')
      AND c.oid <> ALL (SELECT unnest(extconfig) FROM pg_extension WHERE extname = 'sandbox_exec');
SELECT a.attrelid::regclass, a.attname, a.atttypid::regtype FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
WHERE c.relnamespace = 'sandbox_exec'::regnamespace AND c.relkind = 'r' AND a.attnum > 0
      AND (a.atttypid = 'oid'::regtype OR a.atttypid::regtype::text ~ '^reg')
ORDER BY c.relname COLLATE "C";

-- helpers
CREATE SCHEMA test;

-- run a statement that fails; how it fails
CREATE FUNCTION test.error(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    detail text;
    hint text;
BEGIN
    EXECUTE statement;
    RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
    RETURN SQLSTATE || ' ' || SQLERRM || E'\n  DETAIL: ' || detail || E'\n  HINT: ' || hint;
END
$$;

-- executions by the code that they were enqueued with
CREATE FUNCTION test.id(code text) RETURNS uuid LANGUAGE sql AS $$
    SELECT i.id FROM sandbox_exec.execution_input i WHERE i.code = $1 ORDER BY i.id DESC LIMIT 1
$$;
CREATE FUNCTION test.token(code text) RETURNS uuid LANGUAGE sql AS $$
    SELECT e.claim_token FROM sandbox_exec.execution e WHERE e.id = test.id($1)
$$;
-- a call of the code of an execution, the next one
CREATE FUNCTION test.call(code text, name text, args jsonb DEFAULT NULL, kind text DEFAULT 'tool')
RETURNS TABLE (outcome text, value jsonb) LANGUAGE plpgsql AS $$
DECLARE
    next CONSTANT integer := (SELECT e.call_count + 1 FROM sandbox_exec.execution e WHERE e.id = test.id(code));
BEGIN
    RETURN QUERY SELECT c.outcome, c.value FROM sandbox_exec.call(test.id(code), test.token(code), next, kind, name, args) c;
END
$$;
CREATE VIEW test.state AS
SELECT i.code, e.status, e.ready, e.attempt_count AS attempts, e.max_attempts AS max, e.solo, e.known_started AS known,
       e.log_pos, e.error_code, e.error, e.result, e.claim_token IS NOT NULL AS claimed
FROM sandbox_exec.execution e JOIN sandbox_exec.execution_input i ON i.id = e.id;

-- forget what a test left behind
CREATE FUNCTION test.clear() RETURNS void LANGUAGE sql AS $$
    DELETE FROM sandbox_exec.event;
    DELETE FROM sandbox_exec.child_end;
    DELETE FROM sandbox_exec.pause;
    DELETE FROM sandbox_exec.call;
    DELETE FROM sandbox_exec.execution_input;
    DELETE FROM sandbox_exec.execution;
$$;
