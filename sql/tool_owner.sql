-- code of one owner neither sees nor becomes another owner of its submitter
\set SHOW_CONTEXT never

CREATE ROLE regress_tenant;
SELECT sandbox_exec.grant_submitter('regress_tenant'), sandbox_exec.grant_executor('regress_tenant');
CREATE SCHEMA regress_owner;
GRANT USAGE ON SCHEMA regress_owner, test TO regress_tenant;
CREATE FUNCTION regress_owner.plain() RETURNS text LANGUAGE sql AS $$ SELECT current_setting('sandbox_exec.owner') $$;
-- as a role with more rights, which enqueues for itself
CREATE FUNCTION regress_owner.delegate(code text) RETURNS uuid LANGUAGE sql SECURITY DEFINER SET search_path = ''
AS $$ SELECT sandbox_exec.enqueue(code, runtime => 'test') $$;
SELECT sandbox_exec.register_tool(f::regprocedure, n)
FROM (VALUES ('regress_owner.plain()', 'plain'), ('regress_owner.delegate(text)', 'delegate')) t(f, n);

-- an execution of each, two of which have ended and one waits
SET ROLE regress_tenant;
SELECT count(sandbox_exec.enqueue(o || '''s ' || what, owner => o, org_id => 'org', tools => '{sql.*,plain,delegate,executions.*}',
                                  runtime => 'test'))
FROM unnest('{ada,mallory}'::text[]) o, unnest('{first,second,third}'::text[]) what;
RESET ROLE;
SELECT count(*) FROM sandbox_exec.claim('test', max_rows => 10);
SELECT sandbox_exec.finalize(test.id(o || '''s first'), test.token(o || '''s first'), 'succeeded', to_jsonb('secret of ' || o))
FROM unnest('{ada,mallory}'::text[]) o;
SELECT outcome FROM unnest('{ada,mallory}'::text[]) o,
    LATERAL test.call(o || '''s second', 'ask', jsonb_build_object('message', 'question of ' || o), 'ask');
SELECT sandbox_exec.suspend(test.id(o || '''s second'), test.token(o || '''s second')) FROM unnest('{ada,mallory}'::text[]) o;

-- what her code gets from a statement
CREATE FUNCTION test.mallory(query text, VARIADIC params text[] DEFAULT '{}') RETURNS jsonb LANGUAGE sql AS $$
    SELECT CASE outcome WHEN 'ok' THEN value -> 'rows' ELSE value - 'tool' END
    FROM test.call('mallory''s third', 'sql.execute', jsonb_build_object('query', query, 'params', params))
$$;
SELECT test.mallory('SELECT owner, result FROM sandbox_exec.executions ORDER BY id');
SELECT test.mallory('SELECT owner, result FROM sandbox_exec.list() ORDER BY id');
SELECT test.mallory('SELECT owner FROM sandbox_exec.list(owner => $1)', 'ada');
SELECT test.mallory('SELECT owner FROM sandbox_exec.get($1) UNION ALL SELECT owner FROM sandbox_exec.get($2)',
                    test.id('ada''s first')::text, test.id('mallory''s first')::text) AS get;
SELECT test.mallory('SELECT data FROM sandbox_exec.tail($1) UNION ALL SELECT data FROM sandbox_exec.tail($2)',
                    test.id('ada''s first')::text, test.id('mallory''s first')::text) AS tail;
SELECT test.mallory('SELECT owner, message FROM sandbox_exec.pending');
SELECT test.mallory('SELECT running, paused FROM sandbox_exec.queue_stats WHERE runtime = ''test''');
SELECT count(sandbox_exec.enqueue('due', owner => o, runtime => 'test')) FROM unnest('{ada,mallory}'::text[]) o;
SELECT test.mallory('SELECT owner FROM sandbox_exec.due');
SELECT test.mallory('SELECT ok FROM sandbox_exec.health WHERE check_name = ''runtimes''');
-- also where a function of somebody else looks
CREATE FUNCTION regress_owner.look() RETURNS bigint LANGUAGE sql SECURITY DEFINER SET search_path = ''
AS $$ SELECT count(*) FROM sandbox_exec.list(owner => 'ada') $$;
SELECT test.mallory('SELECT regress_owner.look() AS look');
-- and outside of tools everybody sees what they did
SET ROLE regress_tenant;
SELECT owner, count(*) FROM sandbox_exec.executions GROUP BY owner ORDER BY owner;
SELECT owner, count(*) FROM sandbox_exec.list() GROUP BY owner ORDER BY owner;
SELECT owner, message FROM sandbox_exec.pending ORDER BY owner;
SELECT running, paused FROM sandbox_exec.queue_stats WHERE runtime = 'test';
SELECT owner FROM sandbox_exec.due ORDER BY owner;
RESET ROLE;

-- what it enqueues is a child: for the same owner, with its tools, and counted
CREATE FUNCTION test.enqueued(arguments text) RETURNS jsonb LANGUAGE sql AS $$
    SELECT test.mallory(format('SELECT sandbox_exec.enqueue(''child'', runtime => ''test'', %s) IS NOT NULL AS enqueued', arguments))
$$;
SELECT test.enqueued('args => null');
SELECT e.owner, e.org_id, e.thread_id, e.depth, e.parent_id = test.id('mallory''s third') AS mine, e.submitter, i.tools
FROM sandbox_exec.execution e JOIN sandbox_exec.execution_input i USING (id) WHERE i.code = 'child';
SELECT test.enqueued($$owner => 'mallory', org_id => 'org', tools => '{plain,sql.query}'$$);
SELECT a, test.enqueued(a) FROM unnest(ARRAY[
    $$owner => 'ada'$$, $$owner => 'regress_tenant'$$, $$org_id => 'another'$$, $$thread_id => 'any'$$,
    $$tools => '{plain,*}'$$, $$tools => '{workspace.get}'$$, $$tools => ARRAY[NULL]$$]) a;
SELECT test.mallory($$SELECT count(*) FROM sandbox_exec.enqueue_many('[{"code": "many", "runtime": "test"}]')$$);
SELECT test.mallory($$SELECT count(*) FROM sandbox_exec.enqueue_many('[{"code": "x", "runtime": "test"}, {"code": "x", "owner": "ada"}]')$$);
SELECT owner FROM sandbox_exec.execution JOIN sandbox_exec.execution_input i USING (id, owner) WHERE i.code = 'many';
-- keys of another owner are out of reach, too
SELECT test.enqueued($$idempotency_key => 'k'$$);
SELECT owner FROM sandbox_exec.execution_input WHERE idempotency_key = 'k';
-- at most 100, however they are enqueued
SELECT test.mallory($$SELECT count(sandbox_exec.enqueue('flood', runtime => 'test')) FROM generate_series(1, 97)$$);
SELECT test.mallory($$SELECT count(sandbox_exec.enqueue('flood', runtime => 'test')) FROM generate_series(1, 96)$$);
SELECT test.enqueued('args => null');
SELECT value ->> 'message' AS message FROM test.call('mallory''s third', 'executions.enqueue', '{"code": "x"}');
SELECT count(*) FROM sandbox_exec.execution WHERE parent_id = test.id('mallory''s third');
-- nor are its limits wider than its parent's
UPDATE sandbox_exec.execution SET rank = 100, timeout_ms = 2000, max_output_chars = 10, memory_limit_kb = 2048, max_attempts = 1
WHERE id = test.id('ada''s third');
SELECT value FROM test.call('ada''s third', 'sql.execute', jsonb_build_object('query', $$SELECT sandbox_exec.enqueue('wide', runtime => 'test', priority => 1000000, timeout => '30 min',
    max_output_chars => 200000, memory_limit_kb => 65536, max_attempts => 100, run_at => '2000-01-01') IS NOT NULL AS enqueued$$)) c;
SELECT value FROM test.call('ada''s third', 'sql.execute', jsonb_build_object('query', $$SELECT sandbox_exec.enqueue('narrow', runtime => 'test', priority => -200, timeout => '1 s',
    max_output_chars => 5, memory_limit_kb => 1024, max_attempts => 1, run_at => now() + interval '1 h') IS NOT NULL AS enqueued$$)) c;
SELECT value FROM test.call('ada''s third', 'sql.execute', jsonb_build_object('query', $$SELECT count(*) FROM sandbox_exec.enqueue_many('[{"code": "by default", "runtime": "test"}]')$$)) c;
SELECT i.code, e.rank, e.timeout_ms, e.max_output_chars, e.memory_limit_kb, e.max_attempts, e.run_at < e.created_at AS early, e.ready
FROM sandbox_exec.execution e JOIN sandbox_exec.execution_input i USING (id)
WHERE i.code IN ('wide', 'narrow', 'by default') ORDER BY i.code;
-- and 5 deep
UPDATE sandbox_exec.execution SET depth = 5, parent_id = id WHERE id = test.id('ada''s third');
SELECT value ->> 'message' AS message
FROM test.call('ada''s third', 'sql.execute', '{"query": "SELECT sandbox_exec.enqueue(''deep'')"}');

-- a function with more rights enqueues as itself, for the same owner; the code
-- that called it learns the id, and nothing else
UPDATE sandbox_exec.execution SET depth = 0, parent_id = NULL WHERE id = test.id('ada''s third');
SELECT outcome FROM test.call('ada''s third', 'delegate', '{"code": "delegated"}');
SELECT owner, submitter = CURRENT_USER::regrole AS definers, depth, parent_id = test.id('ada''s third') AS hers
FROM sandbox_exec.execution WHERE id = test.id('delegated');
SELECT value ->> 'message' = format('execution %s does not exist', test.id('delegated')) AS out_of_reach
FROM test.call('ada''s third', 'executions.get', jsonb_build_object('id', test.id('delegated')));

SELECT test.clear();
DROP FUNCTION test.mallory, test.enqueued;
