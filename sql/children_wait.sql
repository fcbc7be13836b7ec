-- executions.wait: a parent pauses until its child has ended
\set SHOW_CONTEXT never

CREATE FUNCTION test.child(parent text, code text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    answer record := (SELECT c FROM test.call(parent, 'executions.enqueue', jsonb_build_object('code', code)) c);
BEGIN
    RETURN answer.outcome;
END $$;
CREATE FUNCTION test.await(parent text, seq integer, code text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    answer record := sandbox_exec.call(test.id(parent), test.token(parent), seq, 'child', 'executions.wait', jsonb_build_object('id', test.id(code)));
BEGIN
    RETURN concat_ws(' ', answer.outcome, answer.value ->> 'status', answer.value ->> 'code', answer.value ->> 'result', answer.value ->> 'stdout');
END $$;

SELECT test.enqueue('parent', '{executions.*}'), test.child('parent', 'child'), test.await('parent', 2, 'child'), test.suspend('parent');
SELECT kind, name, child_id = test.id('child') AS child, due_at FROM sandbox_exec.pause WHERE execution_id = test.id('parent');
SELECT count(*) FROM sandbox_exec.pending;
SELECT sandbox_exec.promote();
SELECT test.claim('child');
-- a worker tells the parent of what it ended
BEGIN;
SELECT sandbox_exec._finalize(test.id('child'), test.token('child'), 'succeeded', '42', NULL, NULL, NULL,
    '[{"type": "stdout", "data": {"text": "out"}}]');
SELECT status FROM test.state WHERE code = 'parent';
SELECT sandbox_exec._answer_parents(ARRAY[test.id('child')]);
COMMIT;
SELECT status, ready FROM test.state WHERE code = 'parent';
SELECT test.claim('parent'), test.await('parent', 2, 'child');
-- one that has ended answers at once
SELECT test.await('parent', 3, 'child');
-- the same as a tool
SELECT outcome, value ->> 'status' AS status FROM test.call('parent', 'executions.wait', jsonb_build_object('id', test.id('child')));

-- told by nobody: promote() finds it
SELECT test.child('parent', 'second'), test.await('parent', 6, 'second'), test.suspend('parent');
BEGIN;
SELECT sandbox_exec._cancel(current_user::regrole, test.id('second'), 'enough', NULL);
SELECT status FROM test.state WHERE code = 'parent';
SELECT sandbox_exec._promote(1000);
COMMIT;
SELECT test.claim('parent'), test.await('parent', 6, 'second');
-- its end is noted until the parent has been told, and a worker is wanted so long
SELECT test.child('parent', 'noted'), test.await('parent', 8, 'noted'), test.suspend('parent');
BEGIN;
SELECT sandbox_exec._cancel(current_user::regrole, test.id('noted'), NULL, NULL);
SELECT parent_id = test.id('parent') AS parent, sandbox_exec._next_due() <= now() AS due FROM sandbox_exec.child_end WHERE child_id = test.id('noted');
SELECT sandbox_exec._promote(1000);
SELECT count(*) FROM sandbox_exec.child_end;
COMMIT;
SELECT test.claim('parent'), test.await('parent', 8, 'noted');
-- it ended before the parent was suspended
SELECT test.child('parent', 'third'), test.await('parent', 10, 'third');
BEGIN;
SELECT sandbox_exec._cancel(current_user::regrole, test.id('third'), NULL, NULL);
SELECT sandbox_exec._suspend(test.id('parent'), test.token('parent'), NULL, false);
COMMIT;
SELECT test.claim('parent'), test.await('parent', 10, 'third');
-- deleted before anybody told
SELECT test.child('parent', 'fourth'), test.call_id('parent', 10) IS NOT NULL AS id;
SELECT test.id('fourth') AS fourth \gset
SELECT test.await('parent', 12, 'fourth'), test.suspend('parent');
BEGIN;
SELECT sandbox_exec._cancel(current_user::regrole, :'fourth', NULL, NULL);
DELETE FROM sandbox_exec.execution WHERE id = :'fourth';
SELECT sandbox_exec._promote(1000);
COMMIT;
SELECT test.claim('parent');
SELECT outcome, value ->> 'code' AS code, value ->> 'sqlstate' AS state, no FROM test.journal WHERE code = 'parent' AND seq = 12;

-- a record that is too large for an answer
SELECT test.child('parent', 'large'), test.claim('large'), sandbox_exec.finalize(test.id('large'), test.token('large'), 'succeeded', to_jsonb(repeat('x', 1048000)),
    events => jsonb_build_array(jsonb_build_object('type', 'stdout', 'data', jsonb_build_object('text', repeat('y', 1000)))));
SELECT test.await('parent', 14, 'large');

-- none of its own, and what is no id
SELECT test.enqueue('other', '{executions.enqueue}');
SELECT outcome, value ->> 'code' AS code, value ->> 'message' AS message
FROM unnest(ARRAY['{}', '{"id": 7}', '{"id": "x"}', '{"id": null}']::jsonb[]) args, test.call('parent', 'executions.wait', args, 'child');
SELECT test.await('parent', 19, 'other'), test.await('parent', 20, 'parent');
-- granted like any tool, and blocked
SELECT test.await('other', 1, 'child');
SELECT sandbox_exec.set_policy('executions.*', 'block');
SELECT test.await('parent', 21, 'child');
SELECT sandbox_exec.set_policy('executions.*', NULL);

DROP FUNCTION test.child, test.await;
SELECT test.clear();
