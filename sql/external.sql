-- external tools: the application does the work
\set SHOW_CONTEXT never

SELECT sandbox_exec.register_tool(NULL, 'shop.order', 'Orders something.', '{"type": "object", "required": ["item"], "additionalProperties": false,
    "properties": {"item": {"type": "string"}, "count": {"type": "integer", "minimum": 1}, "colour": {"enum": ["red", "blue"]},
                   "size": {"type": ["string", "null"], "pattern": "x"}}}', kind => 'external');
SELECT sandbox_exec.register_tool(NULL, 'shop.any', kind => 'external');
SELECT sandbox_exec.register_tool(NULL, 'shop.both', kind => 'external', requires_approval => true);
SELECT name, kind, function, description, arguments IS NOT NULL AS arguments, requires_approval, available
FROM sandbox_exec.tools WHERE kind = 'external' ORDER BY name;
SELECT sandbox_exec.register_tool(NULL, 'shop.any', kind => 'external');
SELECT sandbox_exec.register_tool(NULL, 'sql.any', kind => 'external');
SELECT sandbox_exec.register_tool(NULL, 'shop any', kind => 'external');
SELECT sandbox_exec.register_tool(NULL, 'shop.x', kind => 'external', arguments_schema => '[]');

SELECT test.enqueue('shop', '{shop.*}');
-- the code finds it like any other
SELECT test.call('shop', 1, 'tool', 'tools.search', '{"query": "order"}');
SELECT test.call('shop', 2, 'tool', 'tools.describe', '{"name": "shop.any"}');
-- arguments are checked before anybody is bothered
SELECT args, c.value ->> 'code' AS code, c.value ->> 'message' AS message
FROM unnest(ARRAY[NULL, '{"item": 1}', '{"item": "x", "count": 0}', '{"item": "x", "count": "1"}', '{"item": "x", "colour": "green"}',
    '{"item": "x", "more": 1}']::jsonb[]) args, test.call('shop', 'shop.order', args) c;
SELECT count(*) FROM sandbox_exec.pending;

-- accept, decline and cancel; an approval is not asked for besides
SELECT test.call('shop', 9, 'tool', 'shop.order', '{"item": "x", "count": 2, "size": 3}'), test.call('shop', 10, 'tool', 'shop.order', '{"item": "y"}'),
       test.call('shop', 11, 'tool', 'shop.order', '{"item": "z"}'), test.call('shop', 12, 'tool', 'shop.any', '{}'),
       test.call('shop', 13, 'tool', 'shop.any'), test.suspend('shop');
SELECT kind, name, args, message, owner FROM sandbox_exec.pending ORDER BY requested_at;
SELECT test.error($$ SELECT test.resume('shop', 13, scope => 'execution') $$);
SELECT test.resume('shop', 9, 'accept', '{"order": 17}'), test.resume('shop', 10, 'decline', '"sold out"'), test.resume('shop', 11, 'cancel'),
       test.resume('shop', 12), test.resume('shop', 13, 'accept', 'null');
SELECT test.claim('shop');
SELECT seq, outcome, value, no FROM test.journal WHERE code = 'shop' AND seq > 8 ORDER BY seq;
SELECT test.call('shop', 9, 'tool', 'shop.order', '{"item": "x", "count": 2, "size": 3}');
SELECT tools_used FROM sandbox_exec.get(test.id('shop'));

-- blocked, and not granted
SELECT sandbox_exec.set_policy('shop.any', 'block');
SELECT value ->> 'code' AS code FROM test.call('shop', 'shop.any');
SELECT sandbox_exec.set_policy('shop.any', NULL);
SELECT test.enqueue('none', '{}');
SELECT value ->> 'code' AS code FROM test.call('none', 'shop.order', '{"item": "x"}');
-- dropped while it waits: the answer still counts
SELECT test.call('shop', 15, 'tool', 'shop.any'), test.suspend('shop');
SELECT sandbox_exec.drop_tool('shop.any'), sandbox_exec.drop_tool('shop.order');
SELECT test.resume('shop', 15, 'accept', '1'), test.claim('shop'), test.call('shop', 15, 'tool', 'shop.any');
SELECT test.clear();
