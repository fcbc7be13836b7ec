-- modules: versions that never change, and require()
\set SHOW_CONTEXT never

SELECT sandbox_exec.register_module('util', 'return {version = 1}');
SELECT sandbox_exec.register_module('util', 'return {version = 1}');     -- the same again is the same
SELECT sandbox_exec.register_module('util.strings', 'return {}');
SELECT name, version, size, created_at <= now() AS created FROM sandbox_exec.modules ORDER BY name;

-- every execution may require; nothing has to be granted
SELECT count(*) FROM sandbox_exec.enqueue_many('[
    {"code": "module", "runtime": "test", "max_attempts": 5}, {"code": "module 2", "runtime": "test"}]');
SELECT count(*) FROM sandbox_exec.claim('test', id => test.id('module'));
SELECT * FROM test.call('module', 'util', kind => 'module');
SELECT * FROM test.call('module', 'nope', kind => 'module');
SELECT seq, kind, name, args, outcome, value - 'message' AS value FROM sandbox_exec.call WHERE execution_id = test.id('module') ORDER BY seq;
SELECT type, data FROM sandbox_exec._log_after(test.id('module'), 1, 100) WHERE data -> 'seq' = '1';
SELECT tools_used FROM sandbox_exec.get(test.id('module'));

-- a new version is for calls to come; an attempt that comes later gets the one it had, even a dropped one
SELECT sandbox_exec.register_module('util', 'return {version = 2}');
SELECT * FROM test.call('module', 'util', kind => 'module');
SELECT sandbox_exec.drop_module('util');
SELECT sandbox_exec.release(test.id('module'), test.token('module'));
SELECT count(*) FROM sandbox_exec.claim('test', id => test.id('module'));
SELECT * FROM sandbox_exec.call(test.id('module'), test.token('module'), 1, 'module', 'util');
SELECT seq, outcome, value FROM sandbox_exec.journal(test.id('module'), test.token('module')) WHERE outcome = 'ok';
SELECT outcome, value ->> 'code' AS code FROM test.call('module', 'util', kind => 'module');
SELECT name FROM sandbox_exec.modules;

-- registered again, numbers go on
SELECT sandbox_exec.register_module('util', 'return {version = 2}');
SELECT * FROM test.call('module', 'util', kind => 'module');
SELECT name, version, source, dropped_at IS NOT NULL AS dropped FROM sandbox_exec.module ORDER BY name, version;

-- what is refused
SELECT sandbox_exec.register_module(NULL, '');
SELECT sandbox_exec.register_module('a b', '');
SELECT sandbox_exec.register_module(repeat('x', 256), '');
SELECT sandbox_exec.register_module('x', NULL);
SELECT sandbox_exec.register_module('x', repeat('x', 1048577));
SELECT sandbox_exec.register_module('x', repeat(E'\n', 600000));
SELECT sandbox_exec.drop_module('x');
SELECT sandbox_exec.drop_module(NULL);
SET ROLE regress_tool_user;
SELECT sandbox_exec.register_module('x', '');
SELECT sandbox_exec.drop_module('util');
SELECT name, version FROM sandbox_exec.modules ORDER BY name;
SELECT * FROM sandbox_exec.module;
RESET ROLE;
DELETE FROM sandbox_exec.module;
SELECT test.clear();

-- what these tests have made
SELECT count(sandbox_exec.drop_tool(name)) FROM sandbox_exec.tools WHERE kind = 'sql';
SET client_min_messages = warning;
DROP SCHEMA regress_tools CASCADE;
DROP OWNED BY regress_tool_user;
DROP ROLE regress_tool_user;
