-- append and the log: positions, who may write, what is refused, what an end leaves behind
\set SHOW_CONTEXT never

CREATE FUNCTION test.text(stream text, text text) RETURNS jsonb LANGUAGE sql AS $$
    SELECT jsonb_build_object('type', $1, 'data', jsonb_build_object('text', $2))
$$;
CREATE FUNCTION test.append(code text, VARIADIC events jsonb[]) RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
    RETURN sandbox_exec._append(test.id($1), test.token($1), to_jsonb($2));
END
$$;
CREATE FUNCTION test.log(code text) RETURNS TABLE (pos bigint, type text, data jsonb) LANGUAGE sql AS $$
    SELECT t.pos, t.type, t.data FROM sandbox_exec.tail(test.id($1)) t
$$;
-- positions are 1 to the last, without gaps: what is wrong, if anything
CREATE FUNCTION test.gaps(code text) RETURNS TABLE (nth bigint, pos bigint) LANGUAGE sql AS $$
    SELECT n.nth, n.pos
    FROM (SELECT row_number() OVER (ORDER BY l.pos) AS nth, l.pos FROM test.log($1) l) n WHERE n.nth <> n.pos
$$;
CREATE FUNCTION test.lose(code text) RETURNS TABLE (action text) LANGUAGE plpgsql AS $$
BEGIN
    UPDATE sandbox_exec.execution SET lease_expires_at = '2001-01-01' WHERE id = test.id(code) AND status = 'running';
    RETURN QUERY SELECT r.action FROM sandbox_exec.reap() r WHERE r.id = test.id(code);
END
$$;

-- positions go on from the last; position 1 is the start
SELECT sandbox_exec.enqueue('l1', runtime => 'test') IS NOT NULL AS id;
SELECT log_pos FROM sandbox_exec.claim('test');
SELECT test.append('l1', test.text('stdout', 'one '), test.text('stderr', 'oops '));
SELECT sandbox_exec.append(test.id('l1'), test.token('l1'), '[]');
SELECT sandbox_exec.append(test.id('l1'), test.token('l1'), '[{"type": "custom", "data": {"step": 1}},
    {"type": "custom", "data": null}, {"type": "stdout", "data": {"text": "two", "more": true}}]');
SELECT stdout, stderr FROM sandbox_exec.get(test.id('l1'));     -- the record shows them while it runs
SELECT log_pos, log_size FROM sandbox_exec.execution WHERE id = test.id('l1');

-- a token that does not hold appends nothing, and is told so
SELECT sandbox_exec.append(test.id('l1'), gen_random_uuid(), '[{"type": "custom", "data": 1}]') IS NULL AS refused;
SELECT sandbox_exec.append(gen_random_uuid(), test.token('l1'), '[{"type": "custom", "data": 1}]') IS NULL AS refused;
SELECT log_pos FROM sandbox_exec.execution WHERE id = test.id('l1');

-- finalize brings the rest; log and record agree, and the end is the last position
SELECT test.token('l1') AS token \gset
SELECT sandbox_exec.finalize(test.id('l1'), :'token', 'succeeded', '42', 0,
    events => jsonb_build_array(test.text('stdout', ' three'), test.text('stderr', 'again') || '{}',
                                '{"type": "stdout", "data": {"text": ".", "truncated": true}}'::jsonb));
SELECT * FROM test.log('l1');
SELECT count(*) FROM test.gaps('l1');
SELECT stdout, stderr, stdout_truncated, stderr_truncated FROM sandbox_exec.get(test.id('l1'));
SELECT g.stdout = l.stdout AS stdout, g.stderr = l.stderr AS stderr
FROM sandbox_exec.get(test.id('l1')) g,
     (SELECT string_agg(data ->> 'text', '' ORDER BY pos) FILTER (WHERE type = 'stdout') AS stdout,
             string_agg(data ->> 'text', '' ORDER BY pos) FILTER (WHERE type = 'stderr') AS stderr
      FROM test.log('l1')) l;
-- a closed log takes no more
SELECT sandbox_exec.append(test.id('l1'), :'token', '[{"type": "custom", "data": 1}]') IS NULL AS refused,
       sandbox_exec.append(test.id('l1'), :'token', '[]') IS NULL AS refused_empty;
SELECT log_pos FROM sandbox_exec.execution WHERE id = test.id('l1');

-- no event row without output
SELECT sandbox_exec.enqueue('quiet', runtime => 'test') IS NOT NULL AS id;
SELECT count(*) FROM sandbox_exec.claim('test');
SELECT sandbox_exec.finalize(test.id('quiet'), test.token('quiet'), 'succeeded', events => '[]');
SELECT count(*) FROM sandbox_exec.event WHERE execution_id = test.id('quiet');
SELECT * FROM test.log('quiet');

-- a claim that was lost, one given back, an executor's own failure: each is told, and so is what it had written
SELECT sandbox_exec.enqueue('again', runtime => 'test', max_attempts => 3) IS NOT NULL AS id;
SELECT attempt, log_pos FROM sandbox_exec.claim('test');
SELECT test.append('again', test.text('stdout', 'a'));
SELECT * FROM test.lose('again');
SELECT attempt, log_pos FROM sandbox_exec.claim('test');
SELECT test.append('again', test.text('stdout', 'b'));
SELECT sandbox_exec.release(test.id('again'), test.token('again'));
SELECT attempt, log_pos FROM sandbox_exec.claim('test');
SELECT sandbox_exec.finalize(test.id('again'), test.token('again'), 'failed', error_code => 'executor_error',
    events => jsonb_build_array(test.text('stdout', 'c')));
SELECT attempt, log_pos FROM sandbox_exec.claim('test');
SELECT sandbox_exec.finalize(test.id('again'), test.token('again'), 'failed', error => 'broken', exit_code => 3, error_code => 'executor_error',
    events => jsonb_build_array(test.text('stdout', 'd')));
SELECT * FROM test.log('again');
SELECT count(*) FROM test.gaps('again');
SELECT stdout FROM sandbox_exec.get(test.id('again'));

-- a loss that nobody could have seen is not told: nothing had begun
SELECT count(*) FROM sandbox_exec.enqueue_many('[{"code": "u1", "runtime": "test"}, {"code": "u2", "runtime": "test"}]');
SELECT count(*) FROM sandbox_exec.claim('test', max_rows => 2);
SELECT * FROM test.lose('u1');
SELECT sandbox_exec.release(test.id('u2'), test.token('u2'));
SELECT code, status, log_pos FROM test.state WHERE code IN ('u1', 'u2') ORDER BY code;
SELECT count(*) FROM sandbox_exec.event WHERE execution_id IN (test.id('u1'), test.id('u2'));
-- what it appended shows that it had begun: then the loss counts
SELECT count(*) FROM sandbox_exec.claim('test', max_rows => 2);        -- solo comes alone
SELECT sandbox_exec.release(test.id('u1'), test.token('u1'));
SELECT sandbox_exec.cancel(test.id('u1'));
SELECT count(*) FROM sandbox_exec.enqueue_many('[{"code": "u3", "runtime": "test"}]');
SELECT count(*) FROM sandbox_exec.claim('test', max_rows => 2);
SELECT code, known FROM test.state WHERE code IN ('u2', 'u3') ORDER BY code;
SELECT test.append('u2', test.text('stdout', 'x'));
SELECT * FROM test.lose('u2');
SELECT code, known, attempts FROM test.state WHERE code IN ('u2', 'u3') ORDER BY code;
SELECT * FROM test.log('u2');

-- and what goes back unstarted, in company, adds nothing to what earlier attempts have logged
SELECT sandbox_exec.enqueue('u4', runtime => 'test', priority => 5) IS NOT NULL AS id;
SELECT code FROM sandbox_exec.claim('test');
SELECT test.append('u4', test.text('stdout', 'x'));
SELECT sandbox_exec.finalize(test.id('u4'), test.token('u4'), 'failed', error_code => 'executor_error');
SELECT sandbox_exec.enqueue('u5', runtime => 'test', priority => 5) IS NOT NULL AS id;
SELECT code, log_pos FROM sandbox_exec.claim('test', max_rows => 2) ORDER BY code;
SELECT sandbox_exec.release(test.id('u4'), test.token('u4'));
SELECT * FROM test.log('u4');
SELECT code FROM sandbox_exec.claim('test');
SELECT sandbox_exec.release(test.id('u4'), test.token('u4'));
SELECT pos, data FROM test.log('u4') WHERE pos > 3;

-- the last loss ends it: no other attempt is told of
SELECT sandbox_exec.enqueue('once', runtime => 'test', max_attempts => 1, priority => 9) IS NOT NULL AS id;
SELECT code FROM sandbox_exec.claim('test');
SELECT test.append('once', test.text('stdout', 'x'));
SELECT * FROM test.lose('once');
SELECT * FROM test.log('once');

-- a cancel: an executor that only ever appends learns of it so, and that ends it
SELECT sandbox_exec.enqueue('stop', runtime => 'test', priority => 9) IS NOT NULL AS id;
SELECT code FROM sandbox_exec.claim('test');
SELECT test.append('stop', test.text('stdout', 'x'));
SELECT sandbox_exec.cancel(test.id('stop'), 'enough');
SELECT test.append('stop', test.text('stdout', 'y')) IS NULL AS refused;
SELECT * FROM test.log('stop');
SELECT status, stdout FROM sandbox_exec.get(test.id('stop'));
-- and one that brings its outcome is too late, but what it brings is kept
SELECT sandbox_exec.enqueue('stop2', runtime => 'test', priority => 9) IS NOT NULL AS id;
SELECT code FROM sandbox_exec.claim('test');
SELECT sandbox_exec.cancel(test.id('stop2'));
SELECT sandbox_exec.finalize(test.id('stop2'), test.token('stop2'), 'succeeded', '1', 0, events => jsonb_build_array(test.text('stdout', 'x')));
SELECT * FROM test.log('stop2');

-- what is refused changes nothing
SELECT sandbox_exec.enqueue('bad', runtime => 'test', priority => 9) IS NOT NULL AS id;
SELECT code FROM sandbox_exec.claim('test');
SELECT test.id('bad') AS id, test.token('bad') AS token \gset
SELECT sandbox_exec.append(NULL, :'token', '[]');
SELECT sandbox_exec.append(:'id', NULL, '[]');
SELECT sandbox_exec.append(:'id', :'token', NULL);
SELECT sandbox_exec.append(:'id', :'token', '{"type": "custom", "data": 1}');
SELECT sandbox_exec.append(:'id', :'token', '[5]');
SELECT sandbox_exec.append(:'id', :'token', '[{"data": 1}]');
SELECT sandbox_exec.append(:'id', :'token', '[{"type": "custom"}]');
SELECT sandbox_exec.append(:'id', :'token', '[{"type": "custom", "data": 1}, {"type": "stdout", "data": "text"}]');
SELECT sandbox_exec.append(:'id', :'token', '[{"type": "stderr", "data": {"text": 5}}]');
SELECT sandbox_exec.append(:'id', :'token', '[{"type": "stdout", "data": {"text": "x", "truncated": "yes"}}]');
SELECT test.error(format('SELECT sandbox_exec._append(%L, %L, %L)', :'id', :'token', jsonb_build_array(jsonb_build_object('type', t, 'data', '{}'::jsonb)))) = refusal AS same, t
FROM (SELECT test.error(format('SELECT sandbox_exec._append(%L, %L, %L)', :'id', :'token', '[5]')) AS refusal) r,
     unnest('{started,retry,call,returned,paused,resumed,succeeded,failed,timed_out,cancelled,Stdout}'::text[]) t;
SELECT sandbox_exec.append(:'id', :'token', (SELECT jsonb_agg('{"type": "custom", "data": 1}'::jsonb) FROM generate_series(1, 1001)));
SELECT sandbox_exec.append(:'id', :'token', jsonb_build_array(jsonb_build_object('type', 'custom', 'data', repeat('x', 4194304))));
BEGIN;
SELECT sandbox_exec.append(:'id', :'token', '[]');
ROLLBACK;
SELECT log_pos, log_size FROM sandbox_exec.execution WHERE id = :'id';

-- the edges: 1000 events; 4 MB for all of it, in one append or many
SELECT sandbox_exec.append(:'id', :'token', (SELECT jsonb_agg(test.text('stdout', n || ' ')) FROM generate_series(1, 1000) n));
SELECT sum(w::integer) FROM sandbox_exec.get(:'id') g, unnest(string_to_array(rtrim(g.stdout), ' ')) w;
-- [{"data": "…", "type": "custom"}] has 32 bytes around the text
SELECT 4194304 - log_size - 32 AS room FROM sandbox_exec.execution WHERE id = :'id' \gset
SELECT sandbox_exec.append(:'id', :'token', jsonb_build_array(jsonb_build_object('type', 'custom', 'data', repeat('x', :room + 1))));
SELECT log_pos FROM sandbox_exec.execution WHERE id = :'id';
SELECT sandbox_exec.append(:'id', :'token', jsonb_build_array(jsonb_build_object('type', 'custom', 'data', repeat('x', :room))));
SELECT log_pos, log_size FROM sandbox_exec.execution WHERE id = :'id';
SELECT sandbox_exec.append(:'id', :'token', '[{"type": "custom", "data": 1}]');
SELECT sandbox_exec.finalize(:'id', :'token', 'succeeded', events => '[{"type": "custom", "data": 1}]');
SELECT sandbox_exec.finalize(:'id', :'token', 'succeeded');
SELECT count(*), max(pos) FROM (SELECT pos FROM sandbox_exec.tail(:'id') UNION ALL SELECT pos FROM sandbox_exec.tail(:'id', 1000)) t;

DROP FUNCTION test.text, test.append, test.log, test.gaps, test.lose;
SELECT test.clear();
