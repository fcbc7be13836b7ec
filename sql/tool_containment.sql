-- what a tool does to its session ends with it: one test for each way in
\set SHOW_CONTEXT never

CREATE ROLE regress_alice;
CREATE ROLE regress_bob;
CREATE ROLE regress_other;
GRANT regress_other TO regress_alice;
SELECT sandbox_exec.grant_submitter(r::regrole) FROM unnest('{regress_alice,regress_bob}'::text[]) r;
CREATE SCHEMA regress_tool;
GRANT USAGE ON SCHEMA regress_tool TO regress_alice, regress_bob;
CREATE SCHEMA regress_evil AUTHORIZATION regress_alice;

-- one call by a role, as an outside executor in this session makes it
CREATE FUNCTION test.run(submitter text, tool text, args jsonb DEFAULT NULL, lease interval DEFAULT '90 s')
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    before CONSTANT text := format('%s %s %s', current_user, session_user, current_setting('role'));
    execution uuid;
    token uuid;
    answer record;
BEGIN
    PERFORM set_config('role', submitter, true);
    execution := sandbox_exec.enqueue('calls ' || tool, tools => '{*}', runtime => 'test',
                                      owner => 'owner of ' || submitter, org_id => 'org');
    PERFORM set_config('role', 'none', true);
    SELECT claim_token INTO token FROM sandbox_exec.claim('test', lease => lease, id => execution);
    answer := sandbox_exec.call(execution, token, 1, 'tool', tool, args);
    PERFORM sandbox_exec.finalize(execution, token, 'succeeded');
    IF before <> format('%s %s %s', current_user, session_user, current_setting('role')) THEN
        RAISE WARNING 'the session is somebody else''s';
    END IF;
    RETURN CASE answer.outcome WHEN 'ok' THEN 'ok ' || coalesce(answer.value::text, 'null')
        ELSE concat_ws(' ', answer.value ->> 'code', answer.value ->> 'sqlstate', answer.value ->> 'message') END;
END
$$;

-- define a tool and register it
CREATE FUNCTION test.tool(name text, body text, language text DEFAULT 'plpgsql', result text DEFAULT 'void',
                          options text DEFAULT '')
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE FUNCTION regress_tool.%I() RETURNS %s LANGUAGE %s %s AS %L', name, result, language, options,
                   CASE WHEN language = 'plpgsql' AND body !~ '^\s*(DECLARE|BEGIN)' THEN 'BEGIN ' || body || ' END' ELSE body END);
    PERFORM sandbox_exec.register_tool(format('regress_tool.%I()', name)::regprocedure);
END
$$;

-- what a tool of another role finds in the session
CREATE FUNCTION test.trace(what text) RETURNS text LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    RETURN CASE what
        WHEN 'locks' THEN (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid())
        WHEN 'temporary' THEN (SELECT count(*) FROM pg_depend WHERE refclassid = 'pg_namespace'::regclass
                                                                AND refobjid = pg_my_temp_schema())
        WHEN 'prepared' THEN (SELECT count(*) FROM pg_prepared_statements)
        WHEN 'cursors' THEN (SELECT count(*) FROM pg_cursors WHERE name <> '')
        WHEN 'channels' THEN (SELECT count(*) FROM pg_listening_channels()) END;
END
$$;
GRANT USAGE ON SCHEMA test TO regress_alice, regress_bob;
SELECT test.tool('traces', $$
    SELECT concat_ws(' ', current_user, session_user, current_setting('role'),
        'path', current_setting('search_path'), 'tz', current_setting('TimeZone'), 'mem', current_setting('work_mem'),
        'read only', current_setting('transaction_read_only'), current_setting('default_transaction_read_only'),
        'mine', current_setting('regress.mine', true), current_setting('sandbox_exec.owner'),
        'locks', test.trace('locks'), 'temporary', test.trace('temporary'), 'prepared', test.trace('prepared'),
        'cursors', test.trace('cursors'), 'channels', test.trace('channels'))
$$, 'sql', 'text');
SELECT test.run('regress_bob', 'traces');

-- identity: current_user, session_user, SET ROLE and SET SESSION AUTHORIZATION
SELECT test.tool('set_role', 'SET ROLE regress_other;');
SELECT test.tool('set_local_role', 'SET LOCAL ROLE regress_other;');
SELECT test.tool('reset_role', 'RESET ROLE;');
SELECT test.tool('set_role_by_function', $$PERFORM set_config('role', 'regress_other', false);$$);
SELECT test.tool('set_session_authorization', 'SET SESSION AUTHORIZATION regress_other;');
SELECT test.tool('reset_session_authorization', 'RESET SESSION AUTHORIZATION;');
SELECT tool, test.run('regress_alice', tool)
FROM unnest('{set_role,set_local_role,reset_role,set_role_by_function,set_session_authorization,
              reset_session_authorization}'::text[]) tool;
SELECT test.tool('definer', $$SELECT current_user || ' ' || session_user || ' ' || current_setting('is_superuser')$$,
                 'sql', 'text', 'SECURITY DEFINER');
SELECT test.run('regress_alice', 'definer') = 'ok "' || current_user || ' regress_alice off"' AS session_user_is_the_submitter;
SELECT test.tool('definer_sets_role', 'SET ROLE regress_other;', options => 'SECURITY DEFINER');
SELECT test.tool('definer_temp_table', 'CREATE TEMP TABLE t (x integer);', options => 'SECURITY DEFINER');
SELECT test.tool('definer_listens', 'LISTEN evil;', options => 'SECURITY DEFINER');
SELECT tool, test.run('regress_alice', tool)
FROM unnest('{definer_sets_role,definer_temp_table,definer_listens}'::text[]) tool;
SELECT test.run('regress_bob', 'traces');

-- a session that is somebody else's already, and stays so
CREATE ROLE regress_executor;
SELECT sandbox_exec.grant_executor('regress_executor');
SELECT test.tool('fails', $$RAISE EXCEPTION 'fails' USING DETAIL = 'a detail', HINT = 'a hint';$$);
SET ROLE regress_alice;
SELECT sandbox_exec.enqueue('identity', tools => '{*}', runtime => 'test') AS id \gset
SET ROLE regress_executor;
SELECT claim_token AS token FROM sandbox_exec.claim('test', id => :'id') \gset
SELECT * FROM sandbox_exec.call(:'id', :'token', 1, 'tool', 'definer');
SELECT current_user, session_user = :'USER' AS same, current_setting('role');
SELECT * FROM sandbox_exec.call(:'id', :'token', 2, 'tool', 'fails');
SELECT current_user, session_user = :'USER' AS same, current_setting('role');
RESET ROLE;
SET SESSION AUTHORIZATION regress_executor;
SELECT * FROM sandbox_exec.call(:'id', :'token', 3, 'tool', 'definer');
SELECT * FROM sandbox_exec.call(:'id', :'token', 4, 'tool', 'fails');
SELECT current_user, session_user, current_setting('is_superuser');
SELECT sandbox_exec.finalize(:'id', :'token', 'succeeded');
RESET SESSION AUTHORIZATION;
SELECT current_user = :'USER' AS same, session_user = :'USER' AS same, current_setting('is_superuser');

-- search_path: that of a new session of the role; a plain SET ends with the tool
SELECT test.tool('path', $$SELECT current_setting('search_path')$$, 'sql', 'text');
SELECT test.tool('pinned_path', $$SELECT current_setting('search_path')$$, 'sql', 'text', 'SET search_path = regress_tool');
SELECT test.run('regress_alice', 'path'), test.run('regress_alice', 'pinned_path');
SELECT current_database() AS here \gset
ALTER DATABASE :here SET search_path = of_database;
SELECT test.run('regress_alice', 'path');
ALTER ROLE regress_alice SET search_path = of_role;
SELECT test.run('regress_alice', 'path'), test.run('regress_bob', 'path');
ALTER ROLE regress_alice IN DATABASE :here SET search_path = "of Both", public;
SELECT test.run('regress_alice', 'path'), test.run('regress_bob', 'path');
ALTER ROLE regress_alice IN DATABASE :here RESET search_path;
ALTER ROLE regress_alice RESET search_path;
ALTER DATABASE :here RESET search_path;
SELECT test.tool('set_path', 'SET search_path = regress_evil, public;');
SELECT test.run('regress_alice', 'set_path'), test.run('regress_bob', 'path');
SHOW search_path;

-- a role's settings and password are there for all its tools, and for who logs in
SELECT test.tool('alters_path', 'ALTER ROLE regress_alice SET search_path = regress_evil;');
SELECT test.tool('alters_path_here', format('ALTER ROLE regress_alice IN DATABASE %I SET search_path = regress_evil;', current_database()));
SELECT test.tool('alters_database', format('ALTER DATABASE %I SET search_path = regress_evil;', current_database()));
SELECT test.tool('alters_password', $$ALTER ROLE CURRENT_USER PASSWORD 'known';$$);
SELECT test.tool('alters_password_as_definer', $$ALTER ROLE CURRENT_USER PASSWORD 'known';$$, options => 'SECURITY DEFINER');
SELECT test.tool('creates_role', 'CREATE ROLE regress_friend;');
SELECT test.tool('drops_role', 'DROP ROLE regress_other;');
SELECT test.tool('renames_role', 'ALTER ROLE regress_other RENAME TO regress_friend;');
SELECT test.tool('grants_role', 'GRANT regress_other TO regress_bob;');
SELECT test.tool('alters_in_a_block', $$DO 'BEGIN ALTER ROLE regress_alice RESET ALL; END';$$);
SELECT test.tool('alters_privileges', 'ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO PUBLIC;');
SELECT test.tool('creates_mapping', 'CREATE USER MAPPING FOR CURRENT_USER SERVER somewhere;');
SELECT test.tool('alters_mapping', $$ALTER USER MAPPING FOR CURRENT_USER SERVER somewhere OPTIONS (SET user 'evil');$$);
SELECT test.tool('drops_mapping', 'DROP USER MAPPING FOR CURRENT_USER SERVER somewhere;');
SELECT test.tool('renames_table', 'CREATE TABLE regress_evil.a (); ALTER TABLE regress_evil.a RENAME TO b;');
ALTER ROLE regress_alice CREATEROLE;
GRANT regress_other TO regress_alice WITH ADMIN OPTION;
SELECT tool, test.run('regress_alice', tool)
FROM unnest('{alters_path,alters_path_here,alters_database,alters_password,alters_password_as_definer,creates_role,drops_role,
              renames_role,grants_role,alters_in_a_block,alters_privileges,creates_mapping,alters_mapping,
              drops_mapping,renames_table}'::text[]) tool;
ALTER ROLE regress_alice NOCREATEROLE;
SELECT test.run('regress_alice', 'path'), (SELECT rolpassword IS NULL FROM pg_authid WHERE rolname = 'regress_alice') AS no_password;

-- other settings: SET, set_config(), RESET ALL, SET SESSION CHARACTERISTICS
SELECT test.tool('settings', $$
    SET TimeZone = 'Asia/Tokyo'; SET work_mem = '77MB'; SET regress.mine = 'evil'; SET statement_timeout = 1;
    PERFORM set_config('DateStyle', 'SQL, DMY', false);
    SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY;$$);
SELECT test.tool('reset_all', 'RESET ALL;');
SELECT test.tool('read_only', 'SET TRANSACTION READ ONLY;');
SELECT test.run('regress_alice', 'settings');
SELECT test.run('regress_bob', 'traces');
SET regress.mine = 'ours';
SELECT test.run('regress_alice', 'reset_all');
SELECT test.run('regress_alice', 'read_only');
SELECT test.run('regress_bob', 'traces');
SELECT current_setting('regress.mine'), current_setting('DateStyle'), current_setting('statement_timeout');
RESET regress.mine;
SELECT test.tool('sets_and_fails', $$SET work_mem = '77MB'; SET regress.mine = 'evil'; RAISE EXCEPTION 'fails';$$);
SELECT test.run('regress_alice', 'sets_and_fails');
SELECT test.run('regress_bob', 'traces');
SHOW work_mem;

-- and whatever the session has, a tool finds what it would elsewhere
SELECT test.tool('defaults', $$SELECT jsonb_object_agg(name, current_setting(name)) FROM unnest('{lock_timeout,
    max_parallel_workers_per_gather,row_security,session_replication_role,DateStyle,IntervalStyle,TimeZone,bytea_output,
    extra_float_digits,xmlbinary,standard_conforming_strings,transform_null_equals}'::text[]) name$$, 'sql', 'jsonb');
SET lock_timeout = '1 min';
SET max_parallel_workers_per_gather = 4;
SET row_security = off;
SET session_replication_role = replica;
SET DateStyle = 'German, DMY';
SET IntervalStyle = iso_8601;
SET TimeZone = 'Asia/Tokyo';
SET bytea_output = escape;
SET extra_float_digits = 0;
SET xmlbinary = hex;
SET transform_null_equals = on;
SET standard_conforming_strings = off;
SELECT key, value FROM jsonb_each(substr(test.run('regress_alice', 'defaults'), 4)::jsonb);
SELECT current_setting('lock_timeout'), current_setting('session_replication_role'), current_setting('TimeZone');
RESET ALL;

-- temporary objects: tables, and what the server does not refuse by itself
SELECT test.tool('temp_table', 'CREATE TEMP TABLE t (x integer);');
SELECT test.tool('temp_table_as', 'CREATE TEMP TABLE t AS SELECT 1;');
SELECT test.tool('temp_view', 'CREATE TEMP VIEW v AS SELECT 1;');
SELECT test.tool('temp_sequence', 'CREATE TEMP SEQUENCE s;');
SELECT test.tool('temp_function', 'CREATE FUNCTION pg_temp.f() RETURNS integer LANGUAGE sql AS ''SELECT 1'';');
SELECT test.tool('temp_type', 'CREATE DOMAIN pg_temp.int4 AS text;');
SELECT tool, left(test.run('regress_alice', tool), 17)      -- which of them the server refuses itself differs
FROM unnest('{temp_table,temp_table_as,temp_view,temp_sequence,temp_function,temp_type}'::text[]) tool;
SELECT test.run('regress_bob', 'traces');
-- also where the executor has a temporary schema, which is nobody's first choice
CREATE TEMP TABLE ours (x integer);
CREATE DOMAIN pg_temp.int4 AS text;
SELECT test.tool('int4_is', $$DECLARE result text; BEGIN EXECUTE 'SELECT pg_typeof(NULL::int4)' INTO result; RETURN result; END$$,
                 'plpgsql', 'text');
SELECT pg_typeof(NULL::int4) AS ours, test.run('regress_bob', 'int4_is');
SELECT left(test.run('regress_alice', 'temp_type'), 17), left(test.run('regress_alice', 'temp_function'), 17);
CREATE FUNCTION pg_temp.ours() RETURNS integer LANGUAGE sql AS 'SELECT 1';
SELECT test.tool('temp_swap', $$
    DROP FUNCTION pg_temp.ours();
    CREATE FUNCTION pg_temp.theirs() RETURNS integer LANGUAGE sql AS 'SELECT 2';$$, options => 'SECURITY DEFINER');
SELECT left(test.run('regress_alice', 'temp_swap'), 17);
DROP FUNCTION pg_temp.ours();
DROP TABLE ours;
DROP DOMAIN pg_temp.int4;
SELECT test.run('regress_bob', 'traces');

-- advisory locks, also of a tool that fails
SELECT test.tool('lock', 'PERFORM pg_advisory_lock(42); PERFORM pg_advisory_lock_shared(43);');
SELECT test.tool('lock_and_fail', $$PERFORM pg_advisory_lock(42); RAISE EXCEPTION 'fails';$$);
SELECT test.run('regress_alice', 'lock');
SELECT test.run('regress_bob', 'traces');
SELECT test.run('regress_alice', 'lock_and_fail');
SELECT test.run('regress_bob', 'traces');
SELECT pg_advisory_lock(44);
SELECT test.run('regress_alice', 'traces');
SELECT pg_advisory_unlock(44);
DECLARE secret CURSOR WITH HOLD FOR VALUES ('secret');
SELECT test.run('regress_alice', 'traces');
CLOSE secret;

-- deferred triggers would run at commit, as whoever commits: nothing is deferred
CREATE TABLE regress_tool.log (place integer GENERATED ALWAYS AS IDENTITY, who name, session name, what text);
CREATE TABLE regress_tool.parent (id integer PRIMARY KEY);
CREATE TABLE regress_tool.child (id integer REFERENCES regress_tool.parent DEFERRABLE INITIALLY DEFERRED);
CREATE TABLE regress_tool.deferred (id integer);
GRANT ALL ON ALL TABLES IN SCHEMA regress_tool TO regress_alice;
CREATE FUNCTION regress_tool.note() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO regress_tool.log (who, session, what) VALUES (current_user, session_user, 'trigger');
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER note AFTER INSERT ON regress_tool.deferred DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION regress_tool.note();
SELECT test.tool('defer', $$INSERT INTO regress_tool.deferred VALUES (1);
                            INSERT INTO regress_tool.log (who, session, what) VALUES (current_user, session_user, 'tool');$$);
SELECT test.tool('parent_first', 'INSERT INTO regress_tool.parent VALUES (1); INSERT INTO regress_tool.child VALUES (1);');
SELECT test.tool('orphan', 'INSERT INTO regress_tool.child VALUES (2);');
SELECT test.tool('set_deferred', 'SET CONSTRAINTS ALL DEFERRED; INSERT INTO regress_tool.child VALUES (1);');
SELECT test.tool('set_deferred_as_definer', 'SET CONSTRAINTS ALL DEFERRED; INSERT INTO regress_tool.child VALUES (1);',
                 options => 'SECURITY DEFINER');
SELECT tool, test.run('regress_alice', tool)
FROM unnest('{defer,parent_first,orphan,set_deferred,set_deferred_as_definer}'::text[]) tool;
SELECT who, session, what FROM regress_tool.log ORDER BY place;
SELECT * FROM regress_tool.child;
-- and what an executor has deferred runs as the executor
TRUNCATE regress_tool.log;
GRANT USAGE, CREATE ON SCHEMA regress_tool TO regress_executor;
GRANT ALL ON regress_tool.log TO regress_executor;
SET SESSION AUTHORIZATION regress_executor;
CREATE TABLE regress_tool.mine (id integer);
CREATE CONSTRAINT TRIGGER note AFTER INSERT ON regress_tool.mine DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION regress_tool.note();
RESET SESSION AUTHORIZATION;
CREATE FUNCTION regress_tool.call_after(statement text, id uuid, token uuid, seq integer, tool text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE statement;
    RETURN (SELECT outcome FROM sandbox_exec.call(id, token, seq, 'tool', tool));
END $$;
SET ROLE regress_alice;
SELECT sandbox_exec.enqueue('after', tools => '{*}', runtime => 'test') AS id \gset
RESET ROLE;
SELECT claim_token AS token FROM sandbox_exec.claim('test', id => :'id') \gset
SET SESSION AUTHORIZATION regress_executor;
SELECT regress_tool.call_after('INSERT INTO regress_tool.mine VALUES (1)', :'id', :'token', 1, 'defer');
RESET SESSION AUTHORIZATION;
SELECT who, session, what FROM regress_tool.log ORDER BY place;
CREATE FUNCTION regress_tool.again() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    SET CONSTRAINTS ALL DEFERRED;
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER again AFTER INSERT ON regress_tool.mine DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION regress_tool.again();
SET SESSION AUTHORIZATION regress_executor;
SELECT regress_tool.call_after('INSERT INTO regress_tool.mine VALUES (1)', :'id', :'token', 2, 'defer');
SELECT sandbox_exec.finalize(:'id', :'token', 'succeeded');
RESET SESSION AUTHORIZATION;

-- prepared statements, cursors, notifications
SELECT test.tool('prepares', $$EXECUTE 'PREPARE evil AS SELECT 1';$$);
SELECT test.tool('deallocates', 'DEALLOCATE ALL;');
SELECT test.tool('discards', 'DISCARD ALL;');
SELECT test.tool('holds', $$EXECUTE 'DECLARE evil CURSOR WITH HOLD FOR SELECT 1';$$);
SELECT test.tool('declares', $$EXECUTE 'DECLARE evil CURSOR FOR SELECT 1';$$);
SELECT test.tool('listens', 'LISTEN evil;');
SELECT test.tool('unlistens', 'UNLISTEN *;');
SELECT test.tool('notifies', 'NOTIFY something;');
PREPARE ours AS SELECT 1;
SELECT tool, test.run('regress_alice', tool)
FROM unnest('{prepares,deallocates,discards,holds,declares,listens,unlistens,notifies}'::text[]) tool;
EXECUTE ours;
DEALLOCATE ours;
SELECT test.run('regress_bob', 'traces');

-- what currval() and lastval() know, and values that a session holds back
CREATE SEQUENCE regress_tool.numbers;
GRANT ALL ON SEQUENCE regress_tool.numbers TO regress_alice, regress_bob;
SELECT test.tool('next', $$RETURN nextval('regress_tool.numbers');$$, 'plpgsql', 'bigint');
SELECT test.tool('last', 'RETURN lastval();', 'plpgsql', 'bigint');
SELECT test.tool('current', $$RETURN currval('regress_tool.numbers');$$, 'plpgsql', 'bigint');
SELECT test.run('regress_alice', 'next');
SELECT tool, test.run('regress_bob', tool) FROM unnest('{last,current}'::text[]) tool;
ALTER SEQUENCE regress_tool.numbers CACHE 10;
SELECT test.run('regress_alice', 'next'), test.run('regress_bob', 'next');
ALTER SEQUENCE regress_tool.numbers CACHE 1;

-- the seed of random()
SELECT test.tool('seed', 'SELECT setseed(0.5); SELECT random();', 'sql', 'float8');
SELECT test.tool('random', 'SELECT random()', 'sql', 'float8');
SELECT setseed(0.5);
SELECT random() AS first \gset
SELECT test.run('regress_alice', 'seed') = 'ok ' || to_jsonb(:first::float8)::text AS seeded;
SELECT setseed(0.5);
SELECT random() AS first, random() AS second, random() AS third \gset
SELECT test.run('regress_alice', 'seed') = 'ok ' || to_jsonb(:first::float8)::text AS seeded,
       test.run('regress_bob', 'random') <> ALL (ARRAY['ok ' || to_jsonb(:first::float8)::text, 'ok ' || to_jsonb(:second::float8)::text]) AS unpredictable;

-- transaction control and what must not run in a transaction
CREATE PROCEDURE regress_tool.commits() LANGUAGE plpgsql AS 'BEGIN COMMIT; END';
GRANT EXECUTE ON PROCEDURE regress_tool.commits() TO regress_alice;
SELECT test.tool('commit', 'COMMIT;');
SELECT test.tool('rollback', 'ROLLBACK;');
SELECT test.tool('call_commit', 'CALL regress_tool.commits();');
SELECT test.tool('do_commit', $$EXECUTE 'DO $d$ BEGIN COMMIT; END $d$';$$);
SELECT test.tool('savepoint', $$EXECUTE 'SAVEPOINT s';$$);
SELECT test.tool('prepare_transaction', $$EXECUTE 'PREPARE TRANSACTION ''x''';$$);
SELECT test.tool('alter_system', $$EXECUTE 'ALTER SYSTEM SET work_mem = ''1MB''';$$);
SELECT test.tool('vacuum', $$EXECUTE 'VACUUM';$$);
SELECT test.tool('create_table', 'CREATE TABLE regress_evil.made (x integer);');     -- DDL is part of the transaction
SELECT tool, test.run('regress_alice', tool)
FROM unnest('{commit,rollback,call_commit,do_commit,savepoint,prepare_transaction,alter_system,vacuum,create_table}'::text[]) tool;
SELECT test.run('regress_bob', 'traces');

-- the settings that name the execution: nobody else sets them
SELECT test.tool('context', $$SELECT current_setting('sandbox_exec.owner') || ', ' || current_setting('sandbox_exec.org_id')
    || ', ' || current_setting('sandbox_exec.thread_id') || ', ' || (current_setting('sandbox_exec.execution_id') <> '')$$, 'sql', 'text');
SELECT test.run('regress_alice', 'context'), test.run('regress_bob', 'context');
SELECT current_setting('sandbox_exec.owner') AS owner, current_setting('sandbox_exec.execution_id') AS execution_id;
SET sandbox_exec.owner = 'forged';
SELECT set_config('sandbox_exec.owner', 'forged', true);
ALTER ROLE regress_alice SET sandbox_exec.owner = 'forged';
ALTER SYSTEM SET sandbox_exec.owner = 'forged';
CREATE FUNCTION regress_tool.forges() RETURNS void LANGUAGE sql SET sandbox_exec.owner = 'forged' AS '';
SELECT test.tool('forges', $$PERFORM set_config('sandbox_exec.owner', 'forged', true);$$);
SELECT test.run('regress_alice', 'forges');
CREATE TABLE regress_tool.secret (owner text, secret text);
INSERT INTO regress_tool.secret SELECT 'owner of ' || o, o || '''s' FROM unnest('{regress_alice,regress_bob}'::text[]) o;
GRANT SELECT ON regress_tool.secret TO regress_alice, regress_bob;
ALTER TABLE regress_tool.secret ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON regress_tool.secret USING (owner = current_setting('sandbox_exec.owner'));
SELECT test.tool('secrets', 'SELECT secret FROM regress_tool.secret', 'sql', 'SETOF text');
SELECT test.run('regress_alice', 'secrets'), test.run('regress_bob', 'secrets');

-- time: half of the lease, here; a tool can't catch its way out
SELECT test.tool('sleeps', 'PERFORM pg_sleep(600);');
SELECT test.tool('catches', $$BEGIN PERFORM pg_sleep(600); EXCEPTION WHEN query_canceled THEN NULL; END;$$);
SELECT test.tool('disguises', $$BEGIN PERFORM pg_sleep(600); EXCEPTION WHEN query_canceled THEN RAISE EXCEPTION 'mine'; END;$$);
\set VERBOSITY terse
SELECT test.run('regress_alice', 'sleeps', NULL, '1 s');
SELECT test.run('regress_alice', 'catches', NULL, '1 s');
SELECT test.run('regress_alice', 'disguises', NULL, '1 s');
\set VERBOSITY default
SELECT test.run('regress_bob', 'traces');

-- depth, size of a value, and a set without end
CREATE FUNCTION regress_tool.deeper(n integer) RETURNS integer LANGUAGE plpgsql AS 'BEGIN RETURN regress_tool.deeper(n + 1); END';
SELECT test.tool('deep', 'PERFORM regress_tool.deeper(1);');
SELECT test.run('regress_alice', 'deep');
SELECT test.tool('large', $$SELECT repeat('x', 100000000)$$, 'sql', 'text');
SELECT test.tool('refuses', $$SELECT sandbox_exec.enqueue(repeat('x', 2000000))$$, 'sql', 'uuid');
SELECT test.run('regress_alice', 'refuses');      -- an ERROR of the same kind, but not of its result
SELECT test.tool('endless', 'SELECT generate_series(1, 1000000000000)', 'sql', 'SETOF bigint');
SELECT test.tool('just_fits', $$SELECT repeat('x', 1048574)$$, 'sql', 'text');
SELECT test.run('regress_alice', 'large'), test.run('regress_alice', 'endless'),
       length(test.run('regress_alice', 'just_fits'));

-- privileges, at the time of the call
REVOKE EXECUTE ON FUNCTION regress_tool.path() FROM PUBLIC;
SELECT test.run('regress_alice', 'path');
GRANT EXECUTE ON FUNCTION regress_tool.path() TO regress_alice;
SELECT test.run('regress_alice', 'path'), test.run('regress_bob', 'path');
REVOKE USAGE ON SCHEMA regress_tool FROM regress_alice;
SELECT test.run('regress_alice', 'path');
GRANT USAGE ON SCHEMA regress_tool TO regress_alice;

-- a function that was dropped, or replaced by what can't be called
DROP FUNCTION regress_tool.path();
SELECT test.run('regress_alice', 'path');
CREATE PROCEDURE regress_tool.path() LANGUAGE sql AS '';
SELECT test.run('regress_alice', 'path');
DROP PROCEDURE regress_tool.path();
CREATE FUNCTION regress_tool.path(x integer) RETURNS integer LANGUAGE sql AS 'SELECT 1';
SELECT test.run('regress_alice', 'path');
CREATE FUNCTION regress_tool.path() RETURNS integer LANGUAGE sql AS 'SELECT 1';
SELECT test.run('regress_alice', 'path');

-- a submitter who is gone
CREATE ROLE regress_leaver;
SELECT sandbox_exec.grant_submitter('regress_leaver');
GRANT USAGE ON SCHEMA regress_tool TO regress_leaver;
SET ROLE regress_leaver;
SELECT sandbox_exec.enqueue('leaver', tools => '{*}', runtime => 'test') AS id \gset
RESET ROLE;
SELECT claim_token AS token FROM sandbox_exec.claim('test', id => :'id') \gset
SELECT * FROM sandbox_exec.call(:'id', :'token', 1, 'tool', 'fails');
DROP OWNED BY regress_leaver;
DROP ROLE regress_leaver;
SELECT * FROM sandbox_exec.call(:'id', :'token', 2, 'tool', 'fails');
SELECT outcome, value ->> 'code' AS code FROM sandbox_exec.call(:'id', :'token', 3, 'tool', 'tools.search');
SELECT sandbox_exec.finalize(:'id', :'token', 'failed', error => 'nobody is left');
SELECT test.run('regress_bob', 'traces');

-- code can't operate the queue that runs it
GRANT ALL ON ALL FUNCTIONS IN SCHEMA sandbox_exec TO regress_alice;
CREATE FUNCTION regress_tool.queue(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE result text; BEGIN EXECUTE statement INTO result; RETURN result; END $$;
SELECT sandbox_exec.register_tool('regress_tool.queue(text)');
SELECT statement, test.run('regress_alice', 'queue', jsonb_build_object('statement', 'SELECT ' || statement))
FROM unnest(ARRAY[
    'count(*) FROM sandbox_exec.enqueue(''x'', runtime => ''test'')',
    'count(*) FROM sandbox_exec.enqueue_many(''[{"code": "x", "runtime": "test"}]'')',
    'count(*) > 0 FROM sandbox_exec.list()',
    'count(*) FROM sandbox_exec.get(gen_random_uuid())',
    'count(*) FROM sandbox_exec.tail(gen_random_uuid())']) statement;
-- every other function that changes something, with any arguments
SELECT f.call, test.run('regress_alice', 'queue', jsonb_build_object('statement', 'SELECT ' || f.call))
FROM (SELECT format('sandbox_exec.%I(%s)', p.proname,
                    (SELECT string_agg(CASE a.type WHEN 'uuid'::regtype THEN 'gen_random_uuid()'
                                                   WHEN 'integer'::regtype THEN '1'
                                                   WHEN 'jsonb'::regtype THEN quote_literal('[]')
                                                   WHEN 'interval'::regtype THEN quote_literal('1 s')
                                                   WHEN 'text'::regtype THEN quote_literal('x')
                                                   ELSE 'NULL' END, ', ' ORDER BY a.place)
                     FROM sandbox_exec._arguments(p.oid) a WHERE NOT a.optional)) AS call
      FROM pg_proc p
      WHERE p.pronamespace = 'sandbox_exec'::regnamespace AND p.proname !~ '^_' AND p.provolatile = 'v'
            AND p.proname <> ALL ('{enqueue,enqueue_many,list,get,tail}')) f
ORDER BY f.call COLLATE "C";

-- errors: a table for the code; internal faults by number only; not those of the server
SELECT test.tool('internal', $$RAISE EXCEPTION 'secret' USING ERRCODE = 'XX001', DETAIL = 'secret', HINT = 'secret';$$);
SELECT test.tool('no_disk', $$RAISE EXCEPTION 'disk full' USING ERRCODE = '53100';$$);
SELECT regexp_replace(test.run('regress_alice', 'internal'), '[0-9a-f]{8}', 'NUMBER');
SELECT test.run('regress_alice', 'no_disk');
-- what only looks like one of those is the tool's, as when another server reports it
CREATE FUNCTION regress_tool.raises(state text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'raised' USING ERRCODE = state;
END $$;
SELECT sandbox_exec.register_tool('regress_tool.raises(text)');
SELECT state, test.run('regress_alice', 'raises', jsonb_build_object('state', state))
FROM unnest('{57014,57P01,57P03,53000,53200,53300,53400,58000,58030,SX001,SX004}'::text[]) state;
-- a cancel of the statement is its executor's
SELECT test.tool('cancels', 'PERFORM test.cancel(); PERFORM pg_sleep(600);');
CREATE FUNCTION test.cancel() RETURNS boolean LANGUAGE sql SECURITY DEFINER AS 'SELECT pg_cancel_backend(pg_backend_pid())';
SELECT test.run('regress_alice', 'cancels');
SELECT test.run('regress_bob', 'traces');

-- serialization failures and deadlocks are tried again, three times
SELECT test.tool('fourth_time', $$
    IF nextval('regress_tool.numbers') % 4 <> 0 THEN RAISE EXCEPTION 'again' USING ERRCODE = '40001'; END IF;$$);
SELECT test.tool('never', $$PERFORM nextval('regress_tool.numbers'); RAISE EXCEPTION 'again' USING ERRCODE = '40P01';$$);
SELECT setval('regress_tool.numbers', 100);
SELECT test.run('regress_alice', 'fourth_time');
SELECT last_value FROM regress_tool.numbers;
SELECT test.run('regress_alice', 'never');
SELECT last_value FROM regress_tool.numbers;

-- languages with data of their own bind a process to one role; none is here, so one that pretends
CREATE TRUSTED LANGUAGE regress_language HANDLER plpgsql_call_handler INLINE plpgsql_inline_handler;
SELECT test.tool('globals', 'BEGIN RETURN 1; END', 'regress_language', 'integer');
SELECT test.tool('nested', 'RETURN regress_tool.globals();', 'plpgsql', 'integer');
\c
SELECT test.run('regress_bob', 'traces') LIKE 'ok%' AS works;
SELECT test.run('regress_alice', 'nested');
SELECT test.run('regress_alice', 'nested');
SELECT test.run('regress_bob', 'traces');
\c
SELECT test.run('regress_bob', 'traces') LIKE 'ok%' AS works;
SELECT test.tool('block', $$DO LANGUAGE regress_language 'BEGIN END';$$);
SELECT test.run('regress_alice', 'block');
SELECT test.run('regress_bob', 'traces');
\c

-- clean up
SELECT count(sandbox_exec.drop_tool(name)) > 0 AS dropped
FROM sandbox_exec.tools WHERE function LIKE 'regress_tool.%';
SELECT test.clear();
SET client_min_messages = warning;
DROP SCHEMA regress_tool, regress_evil CASCADE;
DROP LANGUAGE regress_language;
REVOKE USAGE ON SCHEMA test FROM regress_alice, regress_bob;
DROP FUNCTION test.run, test.tool, test.trace;
DROP OWNED BY regress_alice, regress_bob, regress_other, regress_executor CASCADE;
DROP ROLE regress_alice, regress_bob, regress_other, regress_executor;
