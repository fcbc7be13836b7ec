-- approvals: tools that wait for a person before each call
\set SHOW_CONTEXT never

CREATE TABLE regress_tools.sent (at serial, "to" text);
CREATE FUNCTION regress_tools.send("to" text, copies regress_tools.positive DEFAULT 1) RETURNS integer LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO regress_tools.sent ("to") VALUES ("to");
    RETURN (SELECT count(*) FROM regress_tools.sent);
END $$;
CREATE FUNCTION regress_tools.fail() RETURNS void LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no luck'; END $$;
SELECT sandbox_exec.register_tool('regress_tools.send'::regproc, 'post.send', requires_approval => true),
       sandbox_exec.register_tool('regress_tools.fail'::regproc, 'post.fail', requires_approval => true);
SELECT name, requires_approval FROM sandbox_exec.tools WHERE name ~ 'post|crm.quiet' ORDER BY name;

SELECT test.enqueue('gate');
SELECT value -> 'requires_approval' AS requires_approval FROM test.call('gate', 'tools.describe', '{"name": "post.send"}');
-- bad arguments ask no one
SELECT value ->> 'code' AS code, value ->> 'message' AS message FROM test.call('gate', 'post.send', '{"copies": 0}');
SELECT value ->> 'code' AS code, value ->> 'message' AS message FROM test.call('gate', 'post.send', '{"to": "a", "cc": "b"}');
SELECT count(*) FROM sandbox_exec.pause;

-- approved: the next attempt runs it, under the number that the approval got
SELECT test.call('gate', 4, 'tool', 'post.send', '{"to": "a"}'), test.suspend('gate');
SELECT kind, name, args, message, owner FROM sandbox_exec.pending;
SELECT count(*) FROM regress_tools.sent;
SELECT test.resume('gate', 4), test.claim('gate');
SELECT outcome, value, no FROM test.journal WHERE code = 'gate' AND seq = 4;
SELECT count(*) FROM regress_tools.sent;
SELECT test.call('gate', 4, 'tool', 'post.send', '{"to": "a"}');
SELECT test.call('gate', 4, 'tool', 'post.send', '{"to": "a"}');
SELECT outcome, value, no FROM test.journal WHERE code = 'gate' AND seq = 4;
SELECT "to" FROM regress_tools.sent;
SELECT type, data FROM test.log WHERE code = 'gate' AND pos > 7 ORDER BY pos;

-- an attempt that is lost in between: the one after it runs the tool
SELECT test.call('gate', 5, 'tool', 'post.send', '{"to": "b"}'), test.suspend('gate'), test.resume('gate', 5), test.claim('gate');
SELECT action FROM sandbox_exec._recover(ARRAY[test.id('gate')], '2100-01-01');
SELECT test.claim('gate'), test.call('gate', 5, 'tool', 'post.send', '{"to": "b"}');
SELECT "to" FROM regress_tools.sent ORDER BY at;
-- another call in its place has diverged
SELECT test.enqueue('diverge'), test.call('diverge', 1, 'tool', 'post.send', '{"to": "d"}'), test.suspend('diverge'),
       test.resume('diverge', 1), test.claim('diverge');
SELECT test.call('diverge', 1, 'tool', 'post.send', '{"to": "e"}');
SELECT error_code, error FROM sandbox_exec.get(test.id('diverge'));

-- declined, cancelled: an error, and it never ran
SELECT test.call('gate', 6, 'tool', 'post.send', '{"to": "c"}'), test.call('gate', 7, 'tool', 'post.send', '{"to": "c"}'), test.suspend('gate');
SELECT test.resume('gate', 6, 'decline'), test.resume('gate', 7, 'cancel', '"later"'), test.claim('gate');
SELECT test.call('gate', 6, 'tool', 'post.send', '{"to": "c"}');
SELECT test.call('gate', 7, 'tool', 'post.send', '{"to": "c"}');
SELECT count(*) FROM regress_tools.sent;
-- a tool that fails when it is run at last
SELECT test.call('gate', 8, 'tool', 'post.fail'), test.suspend('gate'), test.resume('gate', 8), test.claim('gate');
SELECT test.call('gate', 8, 'tool', 'post.fail');
SELECT outcome, value ->> 'code' AS code, no FROM test.journal WHERE code = 'gate' AND seq = 8;

-- blocked meanwhile: approved or not, it doesn't run
SELECT test.call('gate', 9, 'tool', 'post.send', '{"to": "f"}'), test.suspend('gate'), test.resume('gate', 9), test.claim('gate');
SELECT sandbox_exec.set_policy('post.*', 'block');
SELECT test.call('gate', 9, 'tool', 'post.send', '{"to": "f"}');
SELECT sandbox_exec.set_policy('post.*', NULL);
SELECT outcome, no FROM test.journal WHERE code = 'gate' AND seq = 9;
-- replaced meanwhile by one that the application does
SELECT test.call('gate', 10, 'tool', 'post.fail'), test.suspend('gate'), test.resume('gate', 10), test.claim('gate');
SELECT sandbox_exec.drop_tool('post.fail'), sandbox_exec.register_tool(NULL, 'post.fail', kind => 'external');
SELECT value ->> 'code' AS code, value ->> 'message' AS message FROM sandbox_exec.call(test.id('gate'), test.token('gate'), 10, 'tool', 'post.fail');
SELECT sandbox_exec.drop_tool('post.fail'), sandbox_exec.register_tool('regress_tools.fail'::regproc, 'post.fail', requires_approval => true);
SELECT outcome FROM test.journal WHERE code = 'gate' AND seq = 10;
SELECT open_pauses FROM sandbox_exec.execution WHERE id = test.id('gate');
-- EXECUTE is looked at again, too
CREATE ROLE regress_sender;
SELECT sandbox_exec.grant_submitter('regress_sender');
GRANT USAGE ON SCHEMA regress_tools TO regress_sender;
GRANT INSERT, SELECT ON regress_tools.sent TO regress_sender;
GRANT USAGE ON SEQUENCE regress_tools.sent_at_seq TO regress_sender;
REVOKE EXECUTE ON FUNCTION regress_tools.send FROM PUBLIC;
SET ROLE regress_sender;
SELECT sandbox_exec.enqueue('revoked', tools => '{post.*}', runtime => 'test') IS NOT NULL AS id;
RESET ROLE;
SELECT test.claim('revoked'), test.call('revoked', 1, 'tool', 'post.send', '{"to": "g"}');
GRANT EXECUTE ON FUNCTION regress_tools.send TO regress_sender;
SELECT test.call('revoked', 2, 'tool', 'post.send', '{"to": "g"}'), test.suspend('revoked'), test.resume('revoked', 2), test.claim('revoked');
REVOKE EXECUTE ON FUNCTION regress_tools.send FROM regress_sender;
SELECT test.call('revoked', 2, 'tool', 'post.send', '{"to": "g"}');
SELECT count(*) FROM regress_tools.sent;
SELECT tools_used FROM sandbox_exec.get(test.id('revoked'));

-- for the rest of the execution: later calls of that tool, and of no other
SELECT test.enqueue('scope'), test.call('scope', 1, 'tool', 'post.send', '{"to": "h"}'), test.call('scope', 2, 'tool', 'post.send', '{"to": "i"}'),
       test.suspend('scope');
SELECT test.resume('scope', 1, scope => 'execution'), test.claim('scope'), test.call('scope', 1, 'tool', 'post.send', '{"to": "h"}');
SELECT test.call('scope', 2, 'tool', 'post.send', '{"to": "i"}'), test.call('scope', 3, 'tool', 'post.send', '{"to": "j"}'),
       test.call('scope', 4, 'tool', 'post.fail');
SELECT sandbox_exec.set_policy('post.send', 'block');
SELECT value ->> 'code' AS code FROM test.call('scope', 'post.send', '{"to": "k"}');
SELECT sandbox_exec.set_policy('post.send', NULL);
SELECT test.enqueue('scope'), test.call('scope', 1, 'tool', 'post.send', '{"to": "l"}');

-- by policy: the most restrictive wins, and allow loosens nothing
SELECT sandbox_exec.set_policy('*', 'allow'), sandbox_exec.set_policy('post.send', 'allow'), sandbox_exec.set_policy('crm.*', 'require_approval', 'p'),
       sandbox_exec.set_policy('crm.rows', 'block', 'p');
SELECT o.owner, t.name, sandbox_exec._restriction(t.name, o.owner)
FROM unnest('{o,p}'::text[]) o(owner), unnest('{crm.lookup,crm.rows,post.send}'::text[]) t(name) ORDER BY 1, 2;
SELECT test.enqueue('policy', owner => 'p'), test.call('policy', 1, 'tool', 'crm.lookup', '{"id": 1}'), test.call('policy', 2, 'tool', 'post.send', '{"to": "m"}');
SELECT value ->> 'code' AS code FROM test.call('policy', 'crm.rows', '{"n": 1}');
SELECT test.enqueue('free', owner => 'o'), test.call('free', 1, 'tool', 'crm.lookup', '{"id": 1}'), test.call('free', 2, 'tool', 'post.send', '{"to": "m"}');
SELECT sandbox_exec.set_policy('*', 'require_approval');
-- to find out costs no approval, built-in tools do
SELECT outcome FROM test.call('free', 'tools.search', '{}');
SELECT outcome FROM test.call('free', 'workspace.list', '{}');
SELECT outcome, value ->> 'code' AS code FROM test.call('free', 'workspace.get', '{"key": 1, "x": 2}');
SELECT sandbox_exec.set_policy(pattern, NULL, owner) FROM sandbox_exec.policies;

-- long arguments are cut for whoever looks, not for the tool
SELECT test.call('free', 6, 'tool', 'post.send', jsonb_build_object('to', repeat('x', 70000)));
SELECT length(args ->> 'truncated') AS shown, args -> 'bytes' AS bytes FROM sandbox_exec.pending
WHERE execution_id = test.id('free') ORDER BY requested_at DESC LIMIT 1;

SELECT test.clear();
SELECT sandbox_exec.drop_tool('post.send'), sandbox_exec.drop_tool('post.fail');
DROP FUNCTION regress_tools.send, regress_tools.fail;
DROP TABLE regress_tools.sent;
DROP OWNED BY regress_sender;
DROP ROLE regress_sender;
