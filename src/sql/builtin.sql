/*
 * The tools that come with the extension.  Each is a function like any other,
 * granted by name or pattern; those that work on the extension's own tables run
 * as its owner, sql.* as the submitter.
 *
 * The functions behind sql.* have no search_path of their own: the statement is
 * found by that of the submitter.  They are C, so that nothing else is.
 */
CREATE FUNCTION sandbox_exec._sql_query(query text, params jsonb DEFAULT '[]', max_rows integer DEFAULT 1000)
RETURNS jsonb
    LANGUAGE C VOLATILE PARALLEL UNSAFE SET transaction_read_only = on
    AS 'MODULE_PATHNAME', 'sql_query_v1';

CREATE FUNCTION sandbox_exec._sql_execute(query text, params jsonb DEFAULT '[]')
RETURNS jsonb
    LANGUAGE C VOLATILE PARALLEL UNSAFE AS 'MODULE_PATHNAME', 'sql_execute_v1';

INSERT INTO sandbox_exec.tool (name, kind, trusted, function, description)
SELECT b.name, 'builtin', split_part(b.name, '.', 1) <> 'sql', sandbox_exec._signature(b.function), b.description
FROM (VALUES
    ('tools.search', 'sandbox_exec._tools_search(text, integer, integer)'::regprocedure,
     'Finds tools that this program may call, by words in their names and descriptions; the best come first. '
     'Without a query, lists them all. Returns {total, tools: [{name, description}]}.'),
    ('tools.describe', 'sandbox_exec._tools_describe(text)',
     'Describes one tool: its arguments and its result as JSON Schema.'),
    ('workspace.get', 'sandbox_exec._workspace_get(text)',
     'Returns the value that was kept under a key, by this execution or an earlier one; null when there is none.'),
    ('workspace.set', 'sandbox_exec._workspace_set(text, jsonb)',
     'Keeps a value under a key for later executions of the same owner; null deletes it.'),
    ('workspace.delete', 'sandbox_exec._workspace_delete(text)',
     'Deletes a key; true when it was there.'),
    ('workspace.list', 'sandbox_exec._workspace_list(text)',
     'Lists the keys that begin with a prefix.'),
    ('executions.enqueue', 'sandbox_exec._executions_enqueue(text, jsonb, text[], interval, timestamptz)',
     'Has code run as an execution of its own, with at most the tools of this one; returns its id at once.'),
    ('executions.get', 'sandbox_exec._executions_get(uuid)',
     'Returns status, result and output of an execution that this one enqueued.'),
    ('executions.wait', 'sandbox_exec._executions_wait(uuid)',
     'Waits until an execution that this one enqueued has ended, and returns status, result and output.'),
    ('sql.query', 'sandbox_exec._sql_query(text, jsonb, integer)',
     'Runs one SQL query in a read-only transaction, with values for $1, $2, ... in params. Returns {rows, truncated}; '
     'truncated is true when there are more than max_rows. Each column needs a name of its own.'),
    ('sql.execute', 'sandbox_exec._sql_execute(text, jsonb)',
     'Runs one SQL statement, with values for $1, $2, ... in params. Returns {rows_affected, rows}.')
) b(name, function, description);

-- a view's functions run as its user: this one reads for everybody who may
-- select from the view
CREATE FUNCTION sandbox_exec._tools()
RETURNS TABLE (name text, kind text, trusted boolean, function text, function_oid oid, schema oid, description text,
               arguments jsonb, requires_approval boolean, created_at timestamptz)
    LANGUAGE sql STABLE PARALLEL RESTRICTED ROWS 10 SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
    SELECT t.name, t.kind, t.trusted, t.function, f.oid, (SELECT p.pronamespace FROM pg_proc p WHERE p.oid = f.oid),
           coalesce(t.description, obj_description(f.oid, 'pg_proc')),
           coalesce(t.arguments_schema, CASE WHEN f.oid IS NOT NULL THEN sandbox_exec._arguments_schema(f.oid) END),
           t.requires_approval, t.created_at
    FROM sandbox_exec.tool t CROSS JOIN LATERAL (SELECT sandbox_exec._resolve(t.function)::oid) f(oid)
$$;

-- what there is to grant: what the user may execute
CREATE VIEW sandbox_exec.tools WITH (security_barrier) AS
SELECT t.name, t.kind, t.function, t.description, t.arguments, t.requires_approval,
       t.function_oid IS NOT NULL OR t.kind = 'external' AS available, t.created_at
FROM sandbox_exec._tools() t
WHERE t.trusted OR t.function_oid IS NULL
      OR has_function_privilege(t.function_oid, 'EXECUTE') AND has_schema_privilege(t.schema, 'USAGE');

COMMENT ON VIEW sandbox_exec.tools IS 'tools that the current user may grant to executions';
COMMENT ON COLUMN sandbox_exec.tools.name IS 'what code calls it, and enqueue() grants';
COMMENT ON COLUMN sandbox_exec.tools.kind IS 'sql: a function of this database; external: the application answers; builtin: came with the extension';
COMMENT ON COLUMN sandbox_exec.tools.function IS 'signature of the function behind it; null: external';
COMMENT ON COLUMN sandbox_exec.tools.description IS 'what it does';
COMMENT ON COLUMN sandbox_exec.tools.arguments IS 'JSON Schema of its arguments';
COMMENT ON COLUMN sandbox_exec.tools.requires_approval IS 'each call of it waits until somebody approves';
COMMENT ON COLUMN sandbox_exec.tools.available IS 'false: the function is gone, and calls fail';
COMMENT ON COLUMN sandbox_exec.tools.created_at IS 'when it was registered';

CREATE VIEW sandbox_exec.modules WITH (security_barrier) AS
SELECT m.name, m.version, octet_length(m.source) AS size, m.created_at
FROM sandbox_exec.module m
WHERE m.dropped_at IS NULL
      AND m.version = (SELECT max(l.version) FROM sandbox_exec.module l WHERE l.name = m.name);

COMMENT ON VIEW sandbox_exec.modules IS 'modules that code may require()';
COMMENT ON COLUMN sandbox_exec.modules.name IS 'what code requires';
COMMENT ON COLUMN sandbox_exec.modules.version IS 'newest version: what a program gets that requires it now';
COMMENT ON COLUMN sandbox_exec.modules.size IS 'bytes of source';
COMMENT ON COLUMN sandbox_exec.modules.created_at IS 'when that version was registered';

CREATE VIEW sandbox_exec.policies WITH (security_barrier) AS
SELECT p.pattern, p.owner, p.action FROM sandbox_exec.policy p;

COMMENT ON VIEW sandbox_exec.policies IS 'policies in force; see set_policy()';
COMMENT ON COLUMN sandbox_exec.policies.pattern IS 'the tools that it is about';
COMMENT ON COLUMN sandbox_exec.policies.owner IS 'whom it is about; null: everybody';
COMMENT ON COLUMN sandbox_exec.policies.action IS 'allow, require_approval or block';
