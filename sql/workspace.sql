-- workspace.*: values that outlive an execution, for one submitter and owner
\set SHOW_CONTEXT never

SELECT count(*) FROM sandbox_exec.enqueue_many('[
    {"code": "w1", "runtime": "test", "owner": "o", "tools": ["workspace.*"]},
    {"code": "w2", "runtime": "test", "owner": "o", "tools": ["workspace.get"]},
    {"code": "w3", "runtime": "test", "owner": "other", "tools": ["workspace.*"]}]');
SET ROLE regress_tool_user;
SELECT sandbox_exec.enqueue('w4', owner => 'o', tools => '{workspace.*}', runtime => 'test') IS NOT NULL AS id;
RESET ROLE;
SELECT count(*) FROM sandbox_exec.claim('test', max_rows => 10);

SELECT * FROM test.call('w1', 'workspace.get', '{"key": "k"}');
SELECT * FROM test.call('w1', 'workspace.set', '{"key": "k", "value": {"n": 12345678901234567890.5, "list": [1, null, "ä"]}}');
SELECT * FROM test.call('w1', 'workspace.get', '{"key": "k"}');
SELECT * FROM test.call('w1', 'workspace.set', '{"key": "k", "value": [false]}');
SELECT * FROM test.call('w1', 'workspace.set', '{"key": "k/2", "value": "text"}');
SELECT * FROM test.call('w1', 'workspace.list');
SELECT * FROM test.call('w1', 'workspace.list', '{"prefix": "k/"}');
SELECT * FROM test.call('w1', 'workspace.list', '{"prefix": "%"}');

-- another execution of the same submitter and owner, but for what it wasn't granted
SELECT * FROM test.call('w2', 'workspace.get', '{"key": "k"}');
SELECT outcome, value ->> 'code' AS code FROM test.call('w2', 'workspace.set', '{"key": "k", "value": 1}');
-- another owner, another submitter
SELECT * FROM test.call('w3', 'workspace.get', '{"key": "k"}');
SELECT * FROM test.call('w4', 'workspace.list');
SELECT * FROM test.call('w4', 'workspace.set', '{"key": "k", "value": "of the user"}');
SELECT * FROM test.call('w1', 'workspace.get', '{"key": "k"}');

-- deleting
SELECT * FROM test.call('w1', 'workspace.delete', '{"key": "k"}');
SELECT * FROM test.call('w1', 'workspace.delete', '{"key": "k"}');
SELECT * FROM test.call('w1', 'workspace.set', '{"key": "k/2", "value": null}');
SELECT * FROM test.call('w1', 'workspace.set', '{"key": "k/2"}');
SELECT * FROM test.call('w1', 'workspace.list');

-- bad keys
SELECT value - 'tool' AS value FROM test.call('w1', 'workspace.get', '{"key": ""}');
SELECT value - 'tool' AS value FROM test.call('w1', 'workspace.get', '{"key": null}');
SELECT value - 'tool' AS value FROM test.call('w1', 'workspace.set', jsonb_build_object('key', repeat('ä', 256), 'value', 1));
SELECT outcome FROM test.call('w1', 'workspace.set', jsonb_build_object('key', repeat('ä', 255), 'value', 1));

-- the quota: bytes of all values, keys (a value is bounded by what a call's arguments may have)
INSERT INTO sandbox_exec.workspace SELECT current_user::regrole, 'other', 'n' || n, now(), 1048500, '1' FROM generate_series(1, 9) n;
SELECT outcome FROM test.call('w3', 'workspace.set', jsonb_build_object('key', 'a', 'value', repeat('x', 1000000)));
SELECT value - 'tool' AS value FROM test.call('w3', 'workspace.set', jsonb_build_object('key', 'b', 'value', repeat('x', 100000)));
SELECT outcome FROM test.call('w3', 'workspace.set', jsonb_build_object('key', 'a', 'value', repeat('x', 1000001)));
UPDATE sandbox_exec.workspace SET size = 1;
INSERT INTO sandbox_exec.workspace SELECT current_user::regrole, 'other', 'm' || n, now(), 1, '1' FROM generate_series(1, 990) n;
SELECT value - 'tool' AS value FROM test.call('w3', 'workspace.set', '{"key": "b", "value": 1}');
SELECT outcome FROM test.call('w3', 'workspace.set', '{"key": "m1", "value": 1}');

SELECT w.submitter = 'regress_tool_user'::regrole AS of_the_user, w.owner, count(*) FROM sandbox_exec.workspace w GROUP BY 1, 2 ORDER BY 1, 2;
SELECT outcome, value ->> 'code' FROM test.call('w1', 'workspace.get', '{"key": "k", "owner": "other"}');

-- it isn't for purge, and not for submitters but through code
SELECT sandbox_exec.finalize(id, claim_token, 'succeeded') FROM sandbox_exec.execution WHERE status = 'running';
SELECT sandbox_exec.purge('0');
SELECT count(*) > 1000 AS kept FROM sandbox_exec.workspace;
SET ROLE regress_tool_user;
SELECT * FROM sandbox_exec.workspace;
RESET ROLE;
DELETE FROM sandbox_exec.workspace;
SELECT test.clear();
