-- call and journal: what is recorded, replay, and what is refused
\set SHOW_CONTEXT never

SELECT count(*) FROM sandbox_exec.enqueue_many('[
    {"code": "journal", "runtime": "test", "owner": "o", "tools": ["crm.*"], "max_attempts": 3},
    {"code": "journal none", "runtime": "test"}]');
SELECT count(*) FROM sandbox_exec.claim('test', id => test.id('journal'));
SELECT test.id('journal') AS id, test.token('journal') AS token \gset

-- one call
SELECT * FROM sandbox_exec.call(:'id', :'token', 1, 'tool', 'crm.lookup', '{"id": 1}',
    events => '[{"type": "stdout", "data": {"text": "before"}}]');
-- again: what it was, and nothing new
SELECT * FROM sandbox_exec.call(:'id', :'token', 1, 'tool', 'crm.lookup', '{"id": 1.0}');
SELECT * FROM sandbox_exec.call(:'id', :'token', 2, 'tool', 'crm.rows', '{"n": 2}');
SELECT * FROM sandbox_exec.call(:'id', :'token', 3, 'tool', 'crm.quiet');
SELECT * FROM sandbox_exec.call(:'id', :'token', 4, 'tool', 'crm.quiet', '{}');
-- errors are outcomes
SELECT outcome, value ->> 'code' AS code FROM sandbox_exec.call(:'id', :'token', 5, 'tool', 'crm.lookup', '{"id": "x"}');
SELECT * FROM sandbox_exec.call(:'id', :'token', 6, 'tool', 'crm.lokup', '{"id": 1}');
SELECT seq, kind, name, args, outcome, value -> 'code' AS code, delivered_no, at > now() - interval '1 h' AS recent
FROM sandbox_exec.journal(:'id', :'token');
SELECT seq FROM sandbox_exec.journal(:'id', :'token', after_seq => 2, max_rows => 2);
SELECT pos, type, CASE WHEN data -> 'outcome' = '"error"' THEN data - 'value' ELSE data END AS data FROM sandbox_exec.tail(:'id');
SELECT stdout, tools_used FROM sandbox_exec.executions WHERE id = :'id';
SELECT call_count, delivered_count, journal_size > 0 AS size, known_started FROM sandbox_exec.execution WHERE id = :'id';

-- mistakes of an executor
SELECT * FROM sandbox_exec.call(:'id', :'token', 8, 'tool', 'crm.quiet');
SELECT * FROM sandbox_exec.call(:'id', :'token', 0, 'tool', 'crm.quiet');
SELECT * FROM sandbox_exec.call(:'id', :'token', -1, 'tool', 'crm.quiet');
SELECT * FROM sandbox_exec.call(:'id', :'token', -2147483648, 'tool', 'crm.quiet');
SELECT * FROM sandbox_exec.call(:'id', :'token', NULL, 'tool', 'crm.quiet');
SELECT * FROM sandbox_exec.call(:'id', :'token', 7, NULL, 'crm.quiet');
SELECT * FROM sandbox_exec.call(:'id', :'token', 7, 'tool', NULL);
SELECT * FROM sandbox_exec.call(:'id', :'token', 7, 'ask', 'crm.quiet');
SELECT * FROM sandbox_exec.call(:'id', :'token', 7, 'tool', '');
SELECT * FROM sandbox_exec.call(:'id', :'token', 7, 'tool', repeat('x', 256));
SELECT * FROM sandbox_exec.call(:'id', :'token', 7, 'tool', 'crm.quiet', '[]');
SELECT * FROM sandbox_exec.call(:'id', :'token', 7, 'tool', 'crm.quiet', 'null');
SELECT * FROM sandbox_exec.call(:'id', :'token', 7, 'module', 'm', '{}');
SELECT * FROM sandbox_exec.call(:'id', :'token', 7, 'tool', 'crm.quiet', jsonb_build_object('x', repeat('x', 1048576)));
SELECT * FROM sandbox_exec.call(:'id', :'token', 7, 'tool', 'crm.quiet', events => '[{"type": "call", "data": {}}]');
SELECT * FROM sandbox_exec.call(:'id', :'token', 7, 'tool', 'crm.quiet', events => '{}');
SELECT * FROM sandbox_exec.call(NULL, :'token', 7, 'tool', 'crm.quiet');
SELECT * FROM sandbox_exec.call(:'id', NULL, 7, 'tool', 'crm.quiet');
SELECT * FROM sandbox_exec.journal(NULL, :'token');
SELECT * FROM sandbox_exec.journal(:'id', :'token', max_rows => 0);
BEGIN;
SELECT * FROM sandbox_exec.call(:'id', :'token', 7, 'tool', 'crm.quiet');
ROLLBACK;
BEGIN;
SELECT * FROM sandbox_exec.journal(:'id', :'token');
ROLLBACK;
-- a claim that doesn't hold
SELECT * FROM sandbox_exec.call(:'id', gen_random_uuid(), 7, 'tool', 'crm.quiet');
SELECT * FROM sandbox_exec.call(gen_random_uuid(), :'token', 7, 'tool', 'crm.quiet');
SELECT count(*) FROM sandbox_exec.journal(:'id', gen_random_uuid());
SELECT call_count FROM sandbox_exec.execution WHERE id = :'id';

-- long arguments and values are in the journal, not in the log
SELECT outcome FROM sandbox_exec.call(:'id', :'token', 7, 'tool', 'crm.rows', '{"n": 1000}');
SELECT outcome FROM sandbox_exec.call(:'id', :'token', 8, 'tool', 'crm.nothing', jsonb_build_object('x', repeat('x', 8192)));
SELECT type, data -> 'seq' AS seq, data -> 'omitted' AS omitted FROM sandbox_exec.tail(:'id', (SELECT log_pos - 4 FROM sandbox_exec.execution WHERE id = :'id'));
SELECT seq, length(args::text) > 8192 AS args, length(value::text) > 8192 AS value FROM sandbox_exec.call
WHERE execution_id = :'id' AND seq IN (7, 8) ORDER BY seq;

-- events that the journal tells of have their places among the others, and every page is a part of the whole
SELECT count(*), bool_and(v.pos = v.place) AS without_gaps, bool_and(v.at >= v.before) AS in_order
FROM (SELECT w.*, row_number() OVER (ORDER BY w.pos) AS place, lag(w.at, 1, '-infinity') OVER (ORDER BY w.pos) AS before
      FROM sandbox_exec.tail(:'id') w) v;
SELECT count(*) AS pages, bool_and(page = part) AS fit
FROM generate_series(0, (SELECT max(pos) FROM sandbox_exec.tail(:'id'))) after, generate_series(1, 5) size,
     LATERAL (SELECT coalesce(jsonb_agg(v ORDER BY v.pos), '[]') AS page FROM sandbox_exec.tail(:'id', after, '0', size) v) p,
     LATERAL (SELECT coalesce(jsonb_agg(w ORDER BY w.pos), '[]') AS part
              FROM (SELECT * FROM sandbox_exec.tail(:'id') v WHERE v.pos > after ORDER BY v.pos LIMIT size) w) q;

-- another attempt: the same calls give the same answers, and run nothing
SELECT sandbox_exec.release(:'id', :'token');
SELECT attempt, claim_token AS token FROM sandbox_exec.claim('test', id => :'id') \gset
CREATE OR REPLACE FUNCTION regress_tools.lookup(id integer, deep boolean DEFAULT false) RETURNS text LANGUAGE sql AS $$ SELECT 'changed' $$;
SELECT * FROM sandbox_exec.call(:'id', :'token', 1, 'tool', 'crm.lookup', '{"id": 1}');
SELECT value ->> 'code' AS code FROM sandbox_exec.call(:'id', :'token', 6, 'tool', 'crm.lokup', '{"id": 1}');
-- an executor that replays by itself goes on where the journal ends
SELECT * FROM sandbox_exec.call(:'id', :'token', 9, 'tool', 'crm.lookup', '{"id": 1}');
CREATE OR REPLACE FUNCTION regress_tools.lookup(id integer, deep boolean DEFAULT false) RETURNS text LANGUAGE sql AS $$
    SELECT 'customer ' || id || CASE WHEN deep THEN ' and all that' ELSE '' END $$;

-- a call that differs from the recorded one ends the execution
SELECT * FROM sandbox_exec.call(:'id', :'token', 2, 'tool', 'crm.rows', '{"n": 3}', events => '[{"type": "stdout", "data": {"text": "after"}}]');
SELECT status, error_code, error, stdout FROM sandbox_exec.get(:'id');
SELECT * FROM sandbox_exec.call(:'id', :'token', 2, 'tool', 'crm.rows', '{"n": 2}');

-- after a cancel, a call ends the execution, and isn't made
SELECT count(*) FROM sandbox_exec.enqueue_many('[
    {"code": "journal cancel", "runtime": "test", "tools": ["*"]}, {"code": "journal limit", "runtime": "test", "tools": ["*"]}]');
SELECT count(*) FROM sandbox_exec.claim('test', max_rows => 10);
SELECT sandbox_exec.cancel(test.id('journal cancel'));
SELECT * FROM test.call('journal cancel', 'crm.quiet');
SELECT status, tools_used FROM sandbox_exec.get(test.id('journal cancel'));

-- what wasn't granted doesn't exist
SELECT * FROM test.call('journal none', 'crm.lookup', '{"id": 1}');

-- limits
UPDATE sandbox_exec.execution SET call_count = 1000 WHERE id = test.id('journal limit');
SELECT * FROM sandbox_exec.call(test.id('journal limit'), test.token('journal limit'), 1001, 'tool', 'crm.quiet');
UPDATE sandbox_exec.execution SET call_count = 0, journal_size = 33554433 WHERE id = test.id('journal limit');
SELECT * FROM sandbox_exec.call(test.id('journal limit'), test.token('journal limit'), 1, 'tool', 'crm.quiet');
SELECT * FROM sandbox_exec.call(test.id('journal limit'), test.token('journal limit'), 5, 'tool', 'crm.quiet');
UPDATE sandbox_exec.execution SET journal_size = 0, log_size = 4194304 WHERE id = test.id('journal limit');
SELECT outcome FROM test.call('journal limit', 'crm.rows', '{"n": 1}');
SELECT type, data FROM sandbox_exec._log_after(test.id('journal limit'), 1, 100);
SELECT * FROM sandbox_exec.call(test.id('journal limit'), test.token('journal limit'), 2, 'tool', 'crm.quiet',
    events => '[{"type": "stdout", "data": {"text": "more"}}]');

-- a tool whose function is gone
CREATE FUNCTION regress_tools.brief() RETURNS void LANGUAGE sql AS '';
SELECT sandbox_exec.register_tool('regress_tools.brief()');
DROP FUNCTION regress_tools.brief;
SELECT * FROM test.call('journal limit', 'brief');
SELECT sandbox_exec.drop_tool('brief');
SELECT value ->> 'code' AS code FROM test.call('journal limit', 'brief');

-- what a session knows of a function ends with any change that could make its signature mean another
CREATE SCHEMA regress_moved;
CREATE TYPE regress_moved.size AS ENUM ('small', 'large');
CREATE FUNCTION regress_moved.here(size regress_moved.size) RETURNS text LANGUAGE sql AS $$ SELECT 'first ' || size $$;
SELECT sandbox_exec.register_tool('regress_moved.here(regress_moved.size)');
CREATE FUNCTION test.here(OUT outcome text, OUT answer text) LANGUAGE sql AS $$
    SELECT outcome, coalesce(value ->> 'code', value #>> '{}') FROM test.call('journal limit', 'here', '{"size": "small"}') $$;
SELECT *, 'twice' AS called FROM test.here() UNION ALL SELECT *, NULL FROM test.here();
ALTER SCHEMA regress_moved RENAME TO regress_away;
SELECT * FROM test.here();
ALTER SCHEMA regress_away RENAME TO regress_moved;
SELECT * FROM test.here();
ALTER TYPE regress_moved.size RENAME TO length;
SELECT * FROM test.here();
ALTER TYPE regress_moved.length RENAME TO size;
SELECT * FROM test.here();
ALTER FUNCTION regress_moved.here RENAME TO there;
CREATE FUNCTION regress_moved.here(size regress_moved.size) RETURNS text LANGUAGE sql AS $$ SELECT 'second ' || size $$;
SELECT * FROM test.here();
-- and a policy, or what the registry says, takes hold at once
SELECT sandbox_exec.set_policy('here', 'block');
SELECT * FROM test.here();
SELECT sandbox_exec.set_policy('here', NULL);
SELECT * FROM test.here();
SELECT sandbox_exec.drop_tool('here');
SELECT * FROM test.here();
DROP FUNCTION test.here;
DROP FUNCTION regress_moved.here, regress_moved.there;
DROP TYPE regress_moved.size;
DROP SCHEMA regress_moved;

-- the journal goes with the record
SELECT sandbox_exec.finalize(test.id('journal limit'), test.token('journal limit'), 'succeeded');
SELECT sandbox_exec.purge('0');
SELECT count(*) FROM sandbox_exec.call WHERE execution_id <> test.id('journal none');
SELECT test.clear();
