-- built-in tools: sql.query, sql.execute, executions.*
\set SHOW_CONTEXT never

INSERT INTO regress_tools.note SELECT n, 'note ' || n FROM generate_series(1, 5) n;
GRANT SELECT, INSERT, UPDATE ON regress_tools.note TO regress_tool_user;
CREATE TABLE regress_tools.secret (x integer);
CREATE FUNCTION regress_tools.sneak() RETURNS integer LANGUAGE sql AS 'INSERT INTO regress_tools.note VALUES (100) RETURNING id';
ALTER ROLE regress_tool_user SET search_path = regress_tools;
SET ROLE regress_tool_user;
SELECT sandbox_exec.enqueue('sql', owner => 'o', org_id => 'g', thread_id => 't', tools => '{sql.*}', runtime => 'test') IS NOT NULL AS id;
RESET ROLE;
SELECT sandbox_exec.enqueue('sql of superuser', tools => '{sql.*}', runtime => 'test') IS NOT NULL AS id;
SELECT count(*) FROM sandbox_exec.claim('test', max_rows => 2);
CREATE FUNCTION test.query(query text, params jsonb DEFAULT NULL, max_rows integer DEFAULT NULL) RETURNS jsonb LANGUAGE sql AS $$
    SELECT value - 'tool' FROM test.call('sql', 'sql.query', jsonb_strip_nulls(jsonb_build_object('query', query, 'max_rows', max_rows))
        || CASE WHEN params IS NULL THEN '{}' ELSE jsonb_build_object('params', params) END)
$$;
CREATE FUNCTION test.execute(query text, params jsonb DEFAULT NULL) RETURNS jsonb LANGUAGE sql AS $$
    SELECT value - 'tool' FROM test.call('sql', 'sql.execute', jsonb_build_object('query', query)
        || CASE WHEN params IS NULL THEN '{}' ELSE jsonb_build_object('params', params) END)
$$;

-- rows, by the submitter's rights and search_path
SELECT test.query('SELECT id, body FROM note ORDER BY id LIMIT 2');
SELECT test.query('SELECT current_user, session_user, current_setting(''sandbox_exec.owner'') AS owner,
    current_setting(''sandbox_exec.org_id'') AS org, current_setting(''sandbox_exec.thread_id'') AS thread');
SELECT test.query('SELECT * FROM secret');
SELECT test.query('SELECT 1 AS a, NULL AS b, 9007199254740993 AS c, 0.1::numeric AS d, ARRAY[1,2] AS e, ''{"x": 1}''::jsonb AS f, now() > ''2000-01-01'' AS g');
SELECT test.query('VALUES (1), (2)');
SELECT test.query('SELECT FROM note WHERE false');
SELECT test.query('SHOW transaction_read_only');
SELECT test.query('TABLE note; -- and a comment');
SELECT test.query('SELECT 1 AS a, 2 AS b, 3 AS a');
SELECT test.execute('UPDATE note SET body = body WHERE id = 1 RETURNING id, id');
-- parameters, typed by the statement
SELECT test.query('SELECT id FROM note WHERE id = $1 OR body = $2 ORDER BY id', '[1, "note 3"]');
SELECT test.query('SELECT $1::bigint AS a, $2 AS b, $3::text[] AS c, $4::jsonb AS d, $5::date + 1 AS e, $6::boolean AS f, $7::regress_tools.mood AS g',
    '[9223372036854775807, "text", ["x", null], {"y": [1]}, "2024-02-28", null, "sad"]');
SELECT test.query('SELECT id FROM note WHERE id = ANY ($1) AND body LIKE $2', '[[1, 2, 3], "%3"]');
SELECT test.query('SELECT $1::int', '["x"]');
SELECT test.query('SELECT $1::int', '[]');
SELECT test.query('SELECT $1::int', '[1, 2]');
SELECT test.query('SELECT 1', '{"a": 1}');
SELECT test.query('SELECT $2::int', '[1, 2]');
SELECT test.query('SELECT 1', '[]');
-- a cap on rows
SELECT test.query('SELECT id FROM note ORDER BY id', max_rows => 2);
SELECT test.query('SELECT id FROM note ORDER BY id', max_rows => 5);
SELECT q -> 'truncated' AS truncated, jsonb_array_length(q -> 'rows') AS rows FROM test.query('SELECT generate_series(1, 100000000) AS n') q;
SELECT test.query('SELECT 1', max_rows => 0);
SELECT test.query('SELECT 1', max_rows => 10001);
SELECT test.query('SELECT repeat(''x'', 1000) FROM generate_series(1, 2000)', max_rows => 2000);
-- nothing that writes, not even by detours
SELECT test.query('INSERT INTO note VALUES (99)');
SELECT test.query('WITH x AS (INSERT INTO note VALUES (99) RETURNING *) SELECT * FROM x');
SELECT test.query('SELECT sneak()');
SELECT test.query('SELECT set_config(''transaction_read_only'', ''off'', false)');
SELECT test.query('SET transaction_read_only = off');
SELECT test.query('CREATE TABLE regress_tools.t ()');
SELECT test.query('SELECT * FROM note FOR UPDATE');
-- one statement, and a whole one
SELECT test.query('SELECT 1; SELECT 2');
SELECT test.query('SELECT 1; COMMIT');
SELECT test.query(' -- nothing');
SELECT test.query('SELEC 1');
SELECT test.query('COMMIT');
SELECT test.query('COPY note TO STDOUT');
SELECT value - 'tool' AS value FROM test.call('sql', 'sql.query', '{"query": null}');
SELECT outcome, value ->> 'code' AS code FROM test.call('sql', 'sql.query');

-- sql.execute
SELECT test.execute('INSERT INTO note VALUES ($1, $2), (11, NULL) RETURNING id, body', '[10, "ten"]');
SELECT test.execute('UPDATE note SET body = upper(body) WHERE id > $1', '[9]');
SELECT test.execute('DELETE FROM note');
SELECT test.execute('SELECT count(*) FROM note');
SELECT test.execute('INSERT INTO note VALUES (12); INSERT INTO note VALUES (13)');
SELECT test.execute('INSERT INTO note VALUES (12), (12)');
SELECT test.execute('CREATE TEMP TABLE t ()');
SELECT test.execute('SET ROLE NONE');
SELECT test.execute('ROLLBACK');
SELECT test.execute('COPY note FROM STDIN');
SELECT test.execute('DO $$ BEGIN NULL; END $$');
SELECT * FROM regress_tools.note ORDER BY id;

-- a superuser's code runs no SQL
SELECT * FROM test.call('sql of superuser', 'sql.query', '{"query": "SELECT 1"}');
SELECT outcome, value ->> 'sqlstate' AS sqlstate FROM test.call('sql of superuser', 'sql.execute', '{"query": "SELECT 1"}');
DROP FUNCTION test.query, test.execute;

-- executions.enqueue: a child is for whom its parent is, with no more tools
SET ROLE regress_tool_user;
SELECT sandbox_exec.enqueue('parent', owner => 'o', org_id => 'g', thread_id => 't', tools => '{executions.*,crm.*,sql.query}',
    runtime => 'test', priority => 7, max_attempts => 4) IS NOT NULL AS id;
RESET ROLE;
SELECT count(*) FROM sandbox_exec.claim('test');
SELECT outcome FROM test.call('parent', 'executions.enqueue', '{"code": "child", "args": [1], "tools": ["crm.lookup", "crm.x.*"], "timeout": "5 s"}');
SELECT submitter, owner, org_id, thread_id, runtime, priority, max_attempts, timeout, parent_id = test.id('parent') AS of_parent
FROM sandbox_exec.executions WHERE id = test.id('child');
SELECT i.args, i.tools, e.depth FROM sandbox_exec.execution_input i JOIN sandbox_exec.execution e USING (id) WHERE i.code = 'child';
SELECT outcome FROM test.call('parent', 'executions.enqueue', '{"code": "child without tools"}');
SELECT tools FROM sandbox_exec.execution_input WHERE code = 'child without tools';
SELECT t, c.value ->> 'code' AS code, c.value ->> 'sqlstate' AS sqlstate, c.value ->> 'message' AS message
FROM unnest('{*,sql.*,sql.execute,crm,"crm.a b",workspace.get}'::text[]) t,
     LATERAL test.call('parent', 'executions.enqueue', jsonb_build_object('code', 'x', 'tools', jsonb_build_array(t))) c;
SELECT value - 'tool' AS value FROM test.call('parent', 'executions.enqueue', '{"code": "x", "tools": ["crm.lookup", null]}');
SELECT value - 'tool' AS value FROM test.call('parent', 'executions.enqueue', '{"code": " "}');
SELECT value ->> 'code' AS code FROM test.call('parent', 'executions.enqueue', '{"code": "x", "owner": "other"}');
-- executions.get: its own children, and no others
SELECT (value - 'id' - 'created_at') AS child FROM test.call('parent', 'executions.get', jsonb_build_object('id', test.id('child')));
SELECT outcome, (value - 'tool' - 'message') AS value FROM test.call('parent', 'executions.get', jsonb_build_object('id', test.id('parent')));
SELECT outcome, value ->> 'sqlstate' AS sqlstate FROM test.call('parent', 'executions.get', jsonb_build_object('id', test.id('sql')));
SELECT count(*) FROM sandbox_exec.claim('test', id => test.id('child'));
SELECT sandbox_exec.finalize(test.id('child'), test.token('child'), 'succeeded', '42', events => '[{"type": "stdout", "data": {"text": "hi"}}]');
SELECT value -> 'status' AS status, value -> 'result' AS result, value -> 'stdout' AS stdout
FROM test.call('parent', 'executions.get', jsonb_build_object('id', test.id('child')));
-- how deep, and how many
UPDATE sandbox_exec.execution SET depth = 5, parent_id = id WHERE id = test.id('parent');
SELECT value - 'tool' AS value FROM test.call('parent', 'executions.enqueue', '{"code": "x"}');
UPDATE sandbox_exec.execution SET depth = 4 WHERE id = test.id('parent');
SELECT outcome FROM test.call('parent', 'executions.enqueue', '{"code": "deep"}');
SELECT depth FROM sandbox_exec.execution WHERE id = test.id('deep');
SELECT count(sandbox_exec.enqueue('sibling', runtime => 'test')) FROM generate_series(1, 96);
UPDATE sandbox_exec.execution e SET parent_id = test.id('parent'), depth = 5
FROM sandbox_exec.execution_input i WHERE i.id = e.id AND i.code = 'sibling';
SELECT value - 'tool' AS value FROM test.call('parent', 'executions.enqueue', '{"code": "x"}');
SELECT tools_used FROM sandbox_exec.get(test.id('parent'));
SELECT count(*) FROM sandbox_exec.execution WHERE parent_id = test.id('parent') AND id <> test.id('parent');
SELECT test.clear();
