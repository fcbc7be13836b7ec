-- enqueue refuses: SQLSTATE, message, detail and hint of each
\pset format unaligned
\pset tuples_only on

SELECT test.error($$ SELECT sandbox_exec.enqueue(NULL) $$);
SELECT test.error($$ SELECT sandbox_exec.enqueue('') $$);
SELECT test.error($$ SELECT sandbox_exec.enqueue(E' \n\t') $$);
SELECT bool_and((test.error(format($$ SELECT sandbox_exec._check_request(%L, %s) $$, c, repeat('NULL, ', 12) || 'NULL')) = 'no error')
                = (c ~ '[^[:space:]]')) AS blank_as_in_regular_expressions
FROM unnest(ARRAY[E'\u00a0', E'\u2003', E'\u200b', E'\u3000', E' \t\u2003\n', E'\x01', E'\x7f', 'ä', E'\u2003ä ', E' \r\n\v\f']) c;
SELECT test.error($$ SELECT sandbox_exec.enqueue(repeat('x', 1048577)) $$);
SELECT test.error($$ SELECT sandbox_exec.enqueue(repeat('ä', 524289)) $$);
SELECT test.error($$ SELECT sandbox_exec.enqueue('x', to_jsonb(repeat('x', 1048575))) $$);
SELECT test.error($$ SELECT sandbox_exec.enqueue('x', owner => repeat('ä', 256)) $$);
SELECT test.error($$ SELECT sandbox_exec.enqueue('x', org_id => repeat('x', 256)) $$);
SELECT test.error($$ SELECT sandbox_exec.enqueue('x', thread_id => repeat('x', 256)) $$);
SELECT test.error($$ SELECT sandbox_exec.enqueue('x', idempotency_key => repeat('x', 256)) $$);
SELECT test.error($$ SELECT sandbox_exec.enqueue('x', runtime => repeat('x', 256)) $$);
SELECT test.error($$ SELECT sandbox_exec.enqueue('x', owner => '') $$);
SELECT test.error($$ SELECT sandbox_exec.enqueue('x', runtime => '') $$);
SELECT test.error($$ SELECT sandbox_exec.enqueue('x', idempotency_key => '') $$);
SELECT test.error($$ SELECT sandbox_exec.enqueue('x', tools => '{a,NULL}') $$);
SELECT test.error($$ SELECT sandbox_exec.enqueue('x', tools => ARRAY['a', '']) $$);
SELECT test.error($$ SELECT sandbox_exec.enqueue('x', tools => array_fill('t'::text, ARRAY[1001])) $$);
SELECT test.error($$ SELECT sandbox_exec.enqueue('x', timeout => '0') $$);
SELECT test.error($$ SELECT sandbox_exec.enqueue('x', timeout => '-1 s') $$);
SELECT test.error($$ SELECT sandbox_exec.enqueue('x', timeout => '999 us') $$);
SELECT test.error($$ SELECT sandbox_exec.enqueue('x', timeout => '30 min 1 us') $$);
SELECT test.error($$ SELECT sandbox_exec.enqueue('x', timeout => '178000000 years') $$);
SELECT test.error($$ SELECT sandbox_exec.enqueue('x', max_output_chars => -1) $$);
SELECT test.error($$ SELECT sandbox_exec.enqueue('x', max_output_chars => 200001) $$);
SELECT test.error($$ SELECT sandbox_exec.enqueue('x', memory_limit_kb => 0) $$);
SELECT test.error($$ SELECT sandbox_exec.enqueue('x', memory_limit_kb => 65537) $$);
SELECT test.error($$ SELECT sandbox_exec.enqueue('x', max_attempts => 0) $$);
SELECT test.error($$ SELECT sandbox_exec.enqueue('x', max_attempts => 101) $$);
SELECT test.error($$ SELECT sandbox_exec.enqueue('x', priority => -1000001) $$);
SELECT test.error($$ SELECT sandbox_exec.enqueue('x', priority => -2147483648) $$);
SELECT test.error($$ SELECT sandbox_exec.enqueue('x', run_at => 'infinity') $$);
SELECT test.error($$ SELECT sandbox_exec.enqueue('x', run_at => '-infinity') $$);

-- an oversized value that is compressed where it comes from
CREATE TABLE test.large AS SELECT to_jsonb(repeat('x', 2000000)) AS value, repeat('x', 2000000) AS code;
SELECT test.error($$ SELECT sandbox_exec.enqueue('x', value) FROM test.large $$);
SELECT test.error($$ SELECT sandbox_exec.enqueue(code) FROM test.large $$);
DROP TABLE test.large;

SELECT count(*) FROM sandbox_exec.execution;
