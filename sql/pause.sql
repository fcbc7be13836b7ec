-- pauses: what opens one, suspend, and what a paused execution is
\set SHOW_CONTEXT never

-- helpers for the topics on pauses: the next attempt, and what the journal and the log have
CREATE FUNCTION test.claim(code text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    PERFORM sandbox_exec.claim('test', id => test.id(code));
    RETURN (SELECT status FROM sandbox_exec.execution WHERE id = test.id(code));
END $$;
-- call by number, for replay
CREATE FUNCTION test.call(code text, seq integer, kind text, name text, args jsonb DEFAULT NULL) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    answer record := sandbox_exec.call(test.id(code), test.token(code), seq, kind, name, args);
BEGIN
    RETURN concat_ws(' ', coalesce(answer.outcome, 'none'), answer.value::text);
END $$;
CREATE FUNCTION test.suspend(code text, events jsonb DEFAULT NULL) RETURNS text LANGUAGE sql AS $$
    SELECT sandbox_exec.suspend(test.id(code), test.token(code), events) $$;
CREATE FUNCTION test.call_id(code text, seq integer) RETURNS uuid LANGUAGE sql AS $$
    SELECT call_id FROM sandbox_exec.pause WHERE execution_id = test.id(code) AND pause.seq = $2 $$;
CREATE FUNCTION test.resume(code text, seq integer, action text DEFAULT NULL, content jsonb DEFAULT NULL, scope text DEFAULT NULL)
RETURNS text LANGUAGE sql AS $$
    SELECT r.outcome FROM sandbox_exec.resume(test.call_id(code, seq), action, content, scope => resume.scope) r $$;
CREATE VIEW test.journal AS
    SELECT i.code, c.seq, c.kind, c.name, c.outcome, c.value, c.delivered_no AS no
    FROM sandbox_exec.call c JOIN sandbox_exec.execution_input i ON i.id = c.execution_id;
CREATE VIEW test.log AS
    SELECT i.code, v.pos, v.type, v.data - 'call_id' - 'calls' AS data
    FROM sandbox_exec.execution_input i
         CROSS JOIN LATERAL sandbox_exec._log_after(i.id, 1, 1000) v
    WHERE v.type NOT IN ('succeeded', 'failed', 'timed_out', 'cancelled');
CREATE FUNCTION test.enqueue(code text, tools text[] DEFAULT '{*}', owner text DEFAULT 'o') RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    PERFORM sandbox_exec.enqueue(code, tools => tools, owner => owner, runtime => 'test', timeout => '1 s');
    RETURN test.claim(code);
END $$;

-- a question
SELECT test.enqueue('ask');
SELECT test.call('ask', 1, 'tool', 'crm.lookup', '{"id": 1}');
SELECT test.call('ask', 2, 'ask', 'ask', '{"message": "how many?", "expires": 86400,
    "schema": {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}}');
-- asked again it is the same one
SELECT test.call('ask', 2, 'ask', 'ask', '{"message": "how many?", "expires": 86400,
    "schema": {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}}');
SELECT seq, kind, name, outcome, value, no FROM test.journal WHERE code = 'ask' ORDER BY seq;
-- it shows while the code goes on
SELECT execution_id = test.id('ask') AS mine, kind, name, args, message, schema, url, owner,
       expires_at - requested_at AS expires FROM sandbox_exec.pending;
SELECT status, attempt_count, jsonb_array_length(pending) AS pending FROM sandbox_exec.get(test.id('ask'));

-- nothing can go on
SELECT test.suspend('ask', '[{"type": "stdout", "data": {"text": "asked"}}]');
SELECT status, stdout, attempt_count, max_attempts, p - 'call_id' - 'requested_at' - 'expires_at' AS pending
FROM sandbox_exec.get(test.id('ask')), jsonb_array_elements(pending) p;
SELECT test.call_id('ask', 2)::text = pending -> 0 ->> 'call_id' AS same FROM sandbox_exec.get(test.id('ask'));
SELECT pos, type, data FROM test.log WHERE code = 'ask' ORDER BY pos;
SELECT jsonb_path_query(data, '$.calls[*]') - 'call_id' AS call FROM sandbox_exec.event WHERE execution_id = test.id('ask') AND type = 'paused';
-- it holds nothing
SELECT status, ready, attempts, solo, known, claimed FROM test.state WHERE code = 'ask';
SELECT num_nulls(claim_token, lease_expires_at, worker_epoch, worker_no, finished_at) AS nothing FROM sandbox_exec.execution WHERE id = test.id('ask');
-- nor is it lost, or to be claimed
SELECT count(*) FROM sandbox_exec.claim('test');
SELECT count(*) FROM sandbox_exec.claim('test', id => test.id('ask'));
SELECT count(*) FROM sandbox_exec.reap();
SELECT sandbox_exec.promote();
SELECT sandbox_exec.suspend(test.id('ask'), gen_random_uuid());
SELECT status FROM sandbox_exec.wait(test.id('ask'));
SELECT status FROM sandbox_exec.list(status => 'paused');
SELECT count(*) FROM sandbox_exec.due;
SELECT ready, deferred, running, paused FROM sandbox_exec.queue_stats WHERE runtime = 'test';

-- what can't be asked is an error of the code, and nobody is asked
SELECT test.enqueue('wrong');
CREATE FUNCTION test.wrong(kind text, args jsonb) RETURNS text LANGUAGE sql AS $$
    SELECT concat_ws(': ', c.outcome, c.value ->> 'code', c.value ->> 'message', c.value ->> 'detail')
    FROM test.call('wrong', CASE kind WHEN 'child' THEN 'executions.wait' ELSE kind END, args, kind) c $$;
SELECT args, test.wrong('ask', args) FROM unnest(ARRAY['{}', '{"message": 1}', '{"message": ""}', '{"message": "m", "scheme": {}}',
    '{"message": "m", "schema": {}, "url": "https://x"}', '{"message": "m", "url": "ftp://x"}', '{"message": "m", "url": "https://a b"}',
    '{"message": "m", "url": 1}', '{"message": "m", "expires": 0}', '{"message": "m", "expires": "1 d"}',
    '{"message": "m", "expires": 31536001}']::jsonb[]) args;
SELECT length(test.wrong('ask', jsonb_build_object('message', repeat('x', 10001)))) < 100 AS long;
SELECT schema, test.wrong('ask', jsonb_build_object('message', 'm', 'schema', schema)) FROM unnest(ARRAY['[1]', '{"type": "array"}',
    '{"properties": [1]}', '{"required": "a"}', '{"required": [1]}', '{"oneOf": []}', '{"properties": {"a": 1}}',
    '{"properties": {"a": {"type": "date"}}}', '{"properties": {"a": {"type": ["string", "null"]}}}', '{"properties": {"a": {"enum": []}}}',
    '{"properties": {"a": {"minLength": "1"}}}', '{"properties": {"a": {"pattern": "x"}}}', '{"additionalProperties": {}}']::jsonb[]) schema;
SELECT args, test.wrong('sleep', args) FROM unnest(ARRAY[NULL, '{}', '{"seconds": -1}', '{"seconds": "1"}', '{"seconds": null}',
    '{"seconds": 31536001}']::jsonb[]) args;
SELECT test.wrong('sleep', '{"seconds": 1e400}');
SELECT args, test.wrong('event', args) FROM unnest(ARRAY['{"timeout": -0.1}', '{"timeout": true}']::jsonb[]) args;
SELECT count(*) FROM sandbox_exec.pause WHERE execution_id = test.id('wrong');
SELECT test.suspend('wrong');
SELECT test.call('wrong', 1000, 'ask', 'other', '{}');
SELECT test.call('wrong', 1000, 'ask', 'ask', '[]');
SELECT test.call('wrong', 1000, 'child', 'executions.get', '{}');
SELECT test.call('wrong', 1000, 'wait', 'wait', '{}');
SELECT sandbox_exec.suspend(NULL, NULL);
SELECT sandbox_exec.suspend(test.id('wrong'), test.token('wrong'), '[{"type": "call", "data": {}}]');
BEGIN;
SELECT sandbox_exec.suspend(test.id('wrong'), test.token('wrong'));
ROLLBACK;

-- a worker that has suspended what waits for nothing doesn't try it for ever
SELECT test.enqueue('idle'), sandbox_exec._suspend(test.id('idle'), test.token('idle'), NULL, true);
SELECT status FROM test.state WHERE code = 'idle';
SELECT test.claim('idle'), sandbox_exec._suspend(test.id('idle'), test.token('idle'), NULL, true);
SELECT status, error_code, error FROM sandbox_exec.get(test.id('idle'));

-- a page instead of a form; and schemas that are fine
SELECT test.wrong('ask', '{"message": "sign", "url": "https://example.com/sign?id=1"}');
SELECT test.wrong('ask', '{"message": "m", "schema": {"title": "t", "description": "d", "required": [], "additionalProperties": false, "properties":
    {"a": {"type": "string", "title": "t", "description": "d", "default": "", "format": "email", "minLength": 1, "maxLength": 9},
     "b": {"type": "number", "minimum": 0, "maximum": 9.5}, "c": {"enum": ["x", 1, null], "enumNames": []}, "d": {}}}}');
-- nulls are as good as nothing
SELECT test.wrong('ask', '{"message": "m", "schema": null, "url": null, "expires": null}'), test.wrong('event', '{"timeout": null}');
-- empty tables, as Lua has them
SELECT schema, test.wrong('ask', jsonb_build_object('message', 'm', 'schema', schema))
FROM unnest(ARRAY['[]', '{"properties": []}', '{"properties": {"a": []}}']::jsonb[]) schema;
SELECT message, url, schema IS NULL AS no_schema FROM sandbox_exec.pending WHERE execution_id = test.id('wrong') ORDER BY requested_at;

-- a short sleep is over at once for executors outside, which sleep themselves
SELECT test.enqueue('sleep');
SELECT test.call('sleep', 1, 'sleep', 'sleep', '{"seconds": 0}'), test.call('sleep', 2, 'sleep', 'sleep', '{"seconds": 0.2}');
SELECT test.call('sleep', 3, 'sleep', 'sleep', '{"seconds": 3600}');
SELECT kind, name, due_at - requested_at AS due FROM sandbox_exec.pause WHERE execution_id = test.id('sleep');
SELECT count(*) FROM sandbox_exec.pending WHERE execution_id = test.id('sleep');
-- nor the record, where wait() looks for somebody to ask
SELECT pending IS NULL AS none FROM sandbox_exec.get(test.id('sleep'));
SELECT test.suspend('sleep');
SELECT status, clock_timestamp() > statement_timestamp() + interval '200 ms' AS waited FROM sandbox_exec.wait(test.id('sleep'), '300 ms');
UPDATE sandbox_exec.pause SET due_at = now() + interval '1 min' WHERE execution_id = test.id('sleep');
SELECT sandbox_exec._next_due() = due_at AS next FROM sandbox_exec.pause WHERE execution_id = test.id('sleep');
SELECT sandbox_exec.promote(), count(*) FROM sandbox_exec.due;
-- its time comes (in a transaction: a worker must not come first)
BEGIN;
UPDATE sandbox_exec.pause SET due_at = now() - interval '1 s' WHERE execution_id = test.id('sleep');
SELECT id = test.id('sleep') AS id, runtime, owner FROM sandbox_exec.due;
SELECT sandbox_exec._promote(1000);
COMMIT;
SELECT status, ready FROM test.state WHERE code = 'sleep';
SELECT test.claim('sleep');
SELECT test.call('sleep', 3, 'sleep', 'sleep', '{"seconds": 3600}');
SELECT pos, type, data FROM test.log WHERE code = 'sleep' AND pos > 5 ORDER BY pos;
-- what fell due before it could be suspended is an answer, too
SELECT test.call('sleep', 4, 'sleep', 'sleep', '{"seconds": 60}');
BEGIN;
UPDATE sandbox_exec.pause SET due_at = now() - interval '1 s' WHERE execution_id = test.id('sleep') AND outcome IS NULL;
SELECT sandbox_exec._suspend(test.id('sleep'), test.token('sleep'), NULL, false);
COMMIT;
SELECT status, ready FROM test.state WHERE code = 'sleep';
SELECT type, data FROM test.log WHERE code = 'sleep' AND pos > 10 ORDER BY pos;

-- a cancel ends it at once
SELECT sandbox_exec.cancel(test.id('ask'), 'enough');
SELECT status, error, pending IS NULL AS none FROM sandbox_exec.get(test.id('ask'));
SELECT count(*) FROM sandbox_exec.pending WHERE execution_id = test.id('ask');
SELECT sandbox_exec.cancel(test.id('ask'));
-- and what is about to be suspended
SELECT sandbox_exec.cancel(test.id('wrong'));
SELECT test.suspend('wrong', '[{"type": "stdout", "data": {"text": "kept"}}]');
SELECT status, stdout FROM sandbox_exec.get(test.id('wrong'));

-- a claim that is lost while something is pending: the next attempt finds it so
SELECT test.enqueue('lost');
SELECT test.call('lost', 1, 'ask', 'ask', '{"message": "m"}');
SELECT action FROM sandbox_exec._recover(ARRAY[test.id('lost')], '2100-01-01');
SELECT status, ready, attempts FROM test.state WHERE code = 'lost';
SELECT test.claim('lost'), test.call('lost', 1, 'ask', 'ask', '{"message": "m"}'), test.suspend('lost');
SELECT status, attempts FROM test.state WHERE code = 'lost';
SELECT count(*) FROM sandbox_exec.pause WHERE execution_id = test.id('lost');

-- limits
SELECT test.enqueue('limit');
SELECT count(*) FROM generate_series(1, 99) i WHERE test.call('limit', i, 'ask', 'ask', '{"message": "m"}') = 'pending';
SELECT test.call('limit', 100, 'event', 'e'), test.call('limit', 101, 'event', 'e'), test.call('limit', 102, 'tool', 'crm.lookup', '{"id": 1}');
SELECT open_pauses, call_count, delivered_count FROM sandbox_exec.execution WHERE id = test.id('limit');
SELECT test.suspend('limit');
-- the log doesn't tell of so many each time, nor of any when it is full
SELECT data FROM sandbox_exec.event WHERE execution_id = test.id('limit') AND type = 'paused';
SELECT test.enqueue('full'), test.call('full', 1, 'ask', 'ask', '{"message": "m"}');
UPDATE sandbox_exec.execution SET log_size = 4194304 WHERE id = test.id('full');
SELECT test.suspend('full');
SELECT data FROM sandbox_exec.event WHERE execution_id = test.id('full') AND type = 'paused';
SELECT sandbox_exec.cancel(test.id('full'));

-- the end of an execution, and of its record
SELECT sandbox_exec.cancel(test.id('limit'));
SELECT count(*) FROM sandbox_exec.pause WHERE execution_id = test.id('limit') AND outcome IS NULL;
SELECT count(*) FROM sandbox_exec.pending WHERE execution_id = test.id('limit');
SELECT sandbox_exec.purge('0');
SELECT DISTINCT i.code FROM sandbox_exec.pause p LEFT JOIN sandbox_exec.execution_input i ON i.id = p.execution_id ORDER BY 1;

DROP FUNCTION test.wrong;
SELECT test.clear();
