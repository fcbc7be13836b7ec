-- policies: what is blocked, whatever was granted
\set SHOW_CONTEXT never

SELECT sandbox_exec.set_policy('crm.*', 'block', owner => 'mallory');
SELECT sandbox_exec.set_policy('crm.rows', 'block');
SELECT sandbox_exec.set_policy('crm.rows', 'allow', 'alice');
SELECT sandbox_exec.set_policy('*', 'allow');
SELECT pattern, owner, action FROM sandbox_exec.policies ORDER BY pattern, owner;

-- the most restrictive match wins, whoever it is for
SELECT o.owner, t.name, sandbox_exec._is_blocked(t.name, o.owner) AS blocked
FROM unnest('{alice,mallory}'::text[]) o(owner), unnest('{crm.lookup,crm.rows,other}'::text[]) t(name) ORDER BY 1, 2;

-- set again is changed; null removes; removing what isn't there is no error
SELECT sandbox_exec.set_policy('crm.rows', 'allow');
SELECT sandbox_exec.set_policy('crm.rows', NULL, 'alice'), sandbox_exec.set_policy('crm.rows', NULL, 'alice');
SELECT pattern, owner, action FROM sandbox_exec.policies ORDER BY pattern, owner;

SELECT sandbox_exec.set_policy(NULL, 'block');
SELECT sandbox_exec.set_policy('crm*', 'block');
SELECT sandbox_exec.set_policy(repeat('x', 256), 'block');
SELECT sandbox_exec.set_policy('*', 'forbid');
SELECT sandbox_exec.set_policy('*', 'require_approval');
SELECT sandbox_exec.set_policy('*', 'allow');
SELECT sandbox_exec.set_policy('*', 'block', '');
SELECT sandbox_exec.set_policy('*', 'block', repeat('x', 256));

-- what a pattern is: as this regular expression says, for all that it might be
SELECT t.text FROM (
    SELECT concat(a, b, c, d, e) FROM unnest('{"",a,_,9,.,*,é}'::text[]) a, unnest('{"",Z,0,.,*," "}'::text[]) b,
        unnest('{"",_,1,.,*}'::text[]) c, unnest('{"",x,.,*}'::text[]) d, unnest(ARRAY['', '.', '*', '.*', E'\n']) e
    UNION SELECT repeat('x', n) FROM generate_series(254, 257) n
    UNION SELECT chr(n) FROM generate_series(1, 300) n) t(text)
WHERE sandbox_exec._is_pattern(t.text) IS DISTINCT FROM
      (length(t.text) <= 255 AND t.text ~ '^(\*|[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*(\.\*)?)$');

-- for code: seen nowhere, and a call says so; it takes hold at once
SELECT sandbox_exec.enqueue('policy', owner => 'mallory', tools => '{crm.*}', runtime => 'test') IS NOT NULL AS id;
SELECT count(*) FROM sandbox_exec.claim('test');
SELECT * FROM test.call('policy', 'crm.lookup', '{"id": 1}');
SELECT * FROM test.call('policy', 'tools.search', '{"query": "customer"}');
SELECT * FROM test.call('policy', 'tools.describe', '{"name": "crm.lookup"}');
SELECT sandbox_exec.set_policy('crm.*', NULL, 'mallory');
SELECT * FROM test.call('policy', 'crm.lookup', '{"id": 1}');
SELECT sandbox_exec.set_policy('tools.*', 'block');
SELECT * FROM test.call('policy', 'tools.search');
SELECT tools_used FROM sandbox_exec.executions WHERE id = test.id('policy');

SELECT sandbox_exec.set_policy(pattern, NULL, owner) FROM sandbox_exec.policies;
SELECT count(*) FROM sandbox_exec.policies;
SELECT test.clear();
