-- resume: who answers what, and what the code gets
\set SHOW_CONTEXT never

SELECT test.enqueue('form'), test.call('form', 1, 'ask', 'ask', '{"message": "m", "schema": {"required": ["name", "age"], "properties": {
    "name": {"type": "string", "minLength": 2, "maxLength": 5}, "age": {"type": "integer", "minimum": 18, "maximum": 120},
    "size": {"enum": ["S", "L"]}, "ok": {"type": "boolean"}, "tags": {"type": "array"}, "more": {"type": "object"},
    "none": {"type": "null"}, "ratio": {"type": "number"}}}}'), test.suspend('form');

-- content that doesn't fit: the error names the field, and the call stays open
SELECT content, split_part(test.error(format('SELECT test.resume(%L, 1, %L, %L)', 'form', 'accept', content)), E'\n', 1) AS error
FROM unnest(ARRAY[NULL, '[]', '{"name": "Bob"}', '{"age": 30}', '{"name": 1, "age": 30}', '{"name": "B", "age": 30}',
    '{"name": "Robert", "age": 30}', '{"name": "Bob", "age": "30"}', '{"name": "Bob", "age": 30.5}', '{"name": "Bob", "age": 17}',
    '{"name": "Bob", "age": 121}', '{"name": "Bob", "age": null}', '{"name": "Bob", "age": 30, "size": "M"}',
    '{"name": "Bob", "age": 30, "ok": "yes"}', '{"name": "Bob", "age": 30, "tags": {}}', '{"name": "Bob", "age": 30, "more": []}',
    '{"name": "Bob", "age": 30, "none": 0}', '{"name": "Bob", "age": 30, "ratio": "1"}']::jsonb[]) content;
SELECT test.error($$ SELECT test.resume('form', 1, 'accept', '{"age": 30}') $$);
SELECT status, jsonb_array_length(pending) FROM sandbox_exec.get(test.id('form'));

-- what an enum has, and nothing that is only like it; a deep value, which the code could not read
SELECT test.enqueue('enum'), test.call('enum', 1, 'ask', 'ask', '{"message": "m", "schema": {"properties": {
    "list": {"enum": [[1, 2], {"role": "x"}, 7]}}}}'), test.suspend('enum');
SELECT content, split_part(test.error(format('SELECT test.resume(%L, 1, %L, %L)', 'enum', 'accept', content)), E'\n', 1) AS error
FROM unnest(ARRAY['{"list": [1]}', '{"list": []}', '{"list": [2, 1]}', '{"list": {}}', '{"list": "7"}']::jsonb[]) content;
SELECT test.error(format('SELECT test.resume(%L, 1, %L, %L)', 'enum', 'accept', '{"deep": ' || repeat('[', 99) || repeat(']', 99) || '}'));
SELECT test.resume('enum', 1, 'accept', ('{"list": 7.0, "deep": ' || repeat('[', 98) || '1' || repeat(']', 98) || '}')::jsonb);
SELECT sandbox_exec.cancel(test.id('enum'));

-- other mistakes
SELECT test.error($$ SELECT sandbox_exec.resume(NULL) $$);
SELECT test.error($$ SELECT test.resume('form', 1, 'approve') $$);
SELECT test.error($$ SELECT test.resume('form', 1, scope => 'thread') $$);
SELECT test.error($$ SELECT test.resume('form', 1, scope => 'execution') $$);
SELECT test.error($$ SELECT sandbox_exec.resume(test.call_id('form', 1), actor => repeat('x', 256)) $$);
SELECT test.error($$ SELECT sandbox_exec.resume(test.call_id('form', 1), content => to_jsonb(repeat('x', 1048576))) $$);
SELECT test.error($$ SELECT sandbox_exec.resume('00000000-0000-7000-8000-000000000000') $$);
-- somebody else's is as unknown
SELECT test.error(format('SELECT sandbox_exec.resume(%L, owner => %L)', test.call_id('form', 1), 'other'))
       = replace(test.error($$ SELECT sandbox_exec.resume('00000000-0000-7000-8000-000000000000') $$),
                 '00000000-0000-7000-8000-000000000000', test.call_id('form', 1)::text) AS alike;

-- the first answer stands
SELECT r.execution_id = test.id('form') AS id, r.outcome
FROM sandbox_exec.resume(test.call_id('form', 1), 'accept', '{"name": "Bob", "age": 30.0, "size": "L", "ok": true, "tags": [1],
    "more": {}, "none": null, "ratio": 1, "other": "is allowed"}', 'Ann', owner => 'o') r;
SELECT status, ready FROM test.state WHERE code = 'form';
SELECT test.resume('form', 1, 'decline'), test.resume('form', 1, 'accept', '{}'), test.resume('form', 1, 'cancel');
SELECT outcome, content ->> 'name' AS name, answered_by, actor, answered_at > requested_at AS later
FROM sandbox_exec.pause WHERE execution_id = test.id('form');
SELECT count(*) FROM sandbox_exec.pending;
SELECT outcome, value, no FROM test.journal WHERE code = 'form';
-- it is delivered with the next claim
SELECT test.claim('form');
SELECT outcome, value -> 'action' AS action, value -> 'content' -> 'name' AS name, no FROM test.journal WHERE code = 'form';
SELECT answers, open_pauses, delivered_count FROM sandbox_exec.execution WHERE id = test.id('form');
SELECT c.created_at = p.answered_at AS clock FROM sandbox_exec.call c JOIN sandbox_exec.pause p USING (execution_id, seq) WHERE c.execution_id = test.id('form');
SELECT pos, type, CASE WHEN type = 'resumed' THEN data END AS data FROM test.log WHERE code = 'form' ORDER BY pos;
SELECT attempt_count, pending IS NULL AS none FROM sandbox_exec.get(test.id('form'));

-- answers count for the journal, which is limited
SELECT test.enqueue('heavy'), test.call('heavy', 1, 'ask', 'ask', '{"message": "m"}'), test.call('heavy', 2, 'ask', 'ask', '{"message": "m"}'), test.suspend('heavy');
UPDATE sandbox_exec.execution SET journal_size = 33554432 - 1000 WHERE id = test.id('heavy');
SELECT test.resume('heavy', 1, 'accept', to_jsonb(repeat('x', 1000))), test.resume('heavy', 2, 'accept', '1'), test.claim('heavy');
SELECT seq, outcome, value ->> 'code' AS code, value -> 'content' AS content, no FROM test.journal WHERE code = 'heavy' ORDER BY seq;
SELECT journal_size <= 33554432 AS within FROM sandbox_exec.execution WHERE id = test.id('heavy');
SELECT sandbox_exec.cancel(test.id('heavy'));

-- an accepted url has no content; declined and cancelled ones have none to give
SELECT test.enqueue('url'), test.call('url', 1, 'ask', 'ask', '{"message": "m", "url": "https://x"}'),
       test.call('url', 2, 'ask', 'ask', '{"message": "m"}'), test.call('url', 3, 'ask', 'ask', '{"message": "m", "schema": {"required": ["a"]}}'),
       test.call('url', 4, 'ask', 'ask', '{"message": "m", "schema": {"additionalProperties": false}}');
SELECT test.error($$ SELECT test.resume('url', 1, 'accept', '1') $$);
SELECT test.error($$ SELECT test.resume('url', 4, 'accept', '{"a": 1}') $$);
-- answers during an attempt are for the next one
SELECT test.resume('url', 3, 'decline'), test.resume('url', 1), test.resume('url', 2, 'cancel'), test.resume('url', 4, 'accept');
SELECT seq, outcome, no FROM test.journal WHERE code = 'url' ORDER BY seq;
SELECT test.call('url', 1, 'ask', 'ask', '{"message": "m", "url": "https://x"}');
SELECT status, answers, open_pauses FROM sandbox_exec.execution WHERE id = test.id('url');
-- it need not pause: there is something to go on with
SELECT test.suspend('url');
SELECT status, ready, attempts FROM test.state WHERE code = 'url';
SELECT test.claim('url');
-- numbered as they were answered
SELECT seq, outcome, value, no FROM test.journal WHERE code = 'url' ORDER BY seq;
SELECT test.call('url', 5, 'tool', 'crm.lookup', '{"id": 1}');
SELECT seq, no FROM test.journal WHERE code = 'url' AND seq > 4;

-- what an answer in the middle of an attempt would be without that: the attempt
-- after it sees the same numbers again
SELECT test.call('url', 6, 'ask', 'ask', '{"message": "f"}'), test.call('url', 7, 'ask', 'ask', '{"message": "g"}'), test.suspend('url');
SELECT test.resume('url', 7), test.claim('url'), test.call('url', 8, 'tool', 'crm.lookup', '{"id": 8}');
SELECT test.resume('url', 6), test.call('url', 9, 'tool', 'crm.lookup', '{"id": 9}'), test.suspend('url'), test.claim('url');
SELECT seq, name, no FROM test.journal WHERE code = 'url' AND seq > 5 ORDER BY no;
SELECT seq, outcome, delivered_no FROM sandbox_exec.journal(test.id('url'), test.token('url'), after_seq => 5) ORDER BY seq;

-- an execution that ended answers what was open with cancel, until it is purged
SELECT test.call('url', 10, 'ask', 'ask', '{"message": "open"}'), sandbox_exec.finalize(test.id('url'), test.token('url'), 'succeeded', '1');
SELECT test.resume('url', 10, 'accept'), test.resume('url', 3, 'accept');
SELECT outcome FROM sandbox_exec.pause WHERE call_id = test.call_id('url', 10);
SELECT status, result, pending IS NULL AS none FROM sandbox_exec.get(test.id('url'));
SELECT test.enqueue('cancelled'), test.call('cancelled', 1, 'ask', 'ask', '{"message": "m"}'), test.suspend('cancelled');
SELECT sandbox_exec.cancel(test.id('cancelled')), test.resume('cancelled', 1), test.resume('cancelled', 1, 'decline');
SELECT status FROM test.state WHERE code = 'cancelled';

-- an expired one answers itself with cancel
SELECT test.enqueue('late'), test.call('late', 1, 'ask', 'ask', '{"message": "m", "expires": 3600}'), test.suspend('late');
BEGIN;
UPDATE sandbox_exec.pause SET due_at = now() - interval '1 s' WHERE execution_id = test.id('late');
SELECT sandbox_exec._promote(1000);
COMMIT;
SELECT test.resume('late', 1), test.claim('late'), test.call('late', 1, 'ask', 'ask', '{"message": "m", "expires": 3600}');
SELECT answered_by IS NULL AS nobody, actor FROM sandbox_exec.pause WHERE execution_id = test.id('late');
-- whether or not somebody has noted it
SELECT test.enqueue('unseen'), test.call('unseen', 1, 'ask', 'ask', '{"message": "m", "expires": 3600}'), test.suspend('unseen');
BEGIN;
UPDATE sandbox_exec.pause SET due_at = now() - interval '1 s' WHERE execution_id = test.id('unseen');
SELECT count(*) FROM sandbox_exec.pending WHERE execution_id = test.id('unseen');
SELECT pending IS NULL AS none FROM sandbox_exec.get(test.id('unseen'));
SELECT test.resume('unseen', 1);
COMMIT;
SELECT answered_by IS NULL AS nobody, outcome FROM sandbox_exec.pause WHERE execution_id = test.id('unseen');
-- that of an ended execution is put out of the way when it falls due
SELECT test.enqueue('gone'), test.call('gone', 1, 'ask', 'ask', '{"message": "m", "expires": 3600}'), sandbox_exec.cancel(test.id('gone'));
SELECT sandbox_exec.finalize(test.id('gone'), test.token('gone'), 'succeeded');
BEGIN;
UPDATE sandbox_exec.pause SET due_at = now() - interval '1 s' WHERE execution_id = test.id('gone');
SELECT sandbox_exec._promote(1000);
COMMIT;
SELECT outcome FROM sandbox_exec.pause WHERE execution_id = test.id('gone');
SELECT status, log_pos FROM test.state WHERE code = 'gone';

-- calls that nobody answers so
SELECT test.enqueue('others'), test.call('others', 1, 'sleep', 'sleep', '{"seconds": 3600}'), test.call('others', 2, 'event', 'e'),
       test.suspend('others');
SELECT test.error($$ SELECT test.resume('others', 1) $$);
SELECT test.error($$ SELECT test.resume('others', 2) $$);
SELECT sandbox_exec.cancel(test.id('others'));

-- other roles
CREATE ROLE regress_asker;
CREATE ROLE regress_stranger;
SELECT sandbox_exec.grant_submitter('regress_asker'), sandbox_exec.grant_submitter('regress_stranger');
SET ROLE regress_asker;
SELECT sandbox_exec.enqueue('role', owner => 'o', runtime => 'test') IS NOT NULL AS id;
RESET ROLE;
SELECT test.claim('role'), test.call('role', 1, 'ask', 'ask', '{"message": "m"}'), test.suspend('role'), test.call_id('role', 1) AS call_id \gset
SET ROLE regress_stranger;
SELECT count(*) FROM sandbox_exec.pending;
\set VERBOSITY sqlstate
SELECT sandbox_exec.resume(:'call_id');
\set VERBOSITY default
SET ROLE regress_asker;
SELECT kind, message FROM sandbox_exec.pending;
SELECT pending -> 0 ->> 'message' AS message FROM sandbox_exec.executions WHERE status = 'paused';
SELECT r.outcome FROM sandbox_exec.resume(:'call_id', actor => 'Ann') r;
RESET ROLE;
SELECT answered_by, actor FROM sandbox_exec.pause WHERE call_id = :'call_id';

-- a repeat works until the record is purged; then it is unknown
SELECT sandbox_exec.purge('0') > 3 AS purged;
SELECT count(*) FROM sandbox_exec.pause WHERE execution_id = test.id('url');
SELECT test.clear();
DROP OWNED BY regress_asker, regress_stranger;
DROP ROLE regress_asker, regress_stranger;
