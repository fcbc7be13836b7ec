-- tools.search and tools.describe: what code finds out about what it may call
\set SHOW_CONTEXT never

CREATE FUNCTION test.found(code text, query jsonb) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    found jsonb;
BEGIN
    found := (SELECT value FROM test.call(code, 'tools.search', query));
    RETURN (SELECT format('%s: %s', found ->> 'total', string_agg(t ->> 'name', ', ' ORDER BY place))
            FROM jsonb_array_elements(found -> 'tools') WITH ORDINALITY x(t, place));
END
$$;
CREATE FUNCTION regress_tools.tool() RETURNS void LANGUAGE sql AS '';
SELECT sandbox_exec.register_tool('regress_tools.tool'::regproc, name, description) FROM (VALUES
    ('mail.send', 'Sends an email to a customer.'),
    ('mail.sendAll', 'Sends emails to every customer of a list.'),
    ('mail.list', 'Lists what was sent.'),
    ('list_invoices', 'Invoices of a customer, newest first.'),
    ('send', NULL),
    ('hr.fire', 'Ends an employment.')) v(name, description);

SELECT sandbox_exec.enqueue('search', tools => '{crm.*,mail.*,list_invoices,send,workspace.get}', runtime => 'test') IS NOT NULL AS id;
SELECT sandbox_exec.enqueue('search none', runtime => 'test') IS NOT NULL AS id;
SELECT count(*) FROM sandbox_exec.claim('test', max_rows => 2);

SELECT * FROM test.call('search', 'tools.search', '{"query": "invoice"}');
-- without a query, all that was granted
SELECT test.found('search', '{}');
SELECT test.found('search', '{"query": ""}');
SELECT test.found('search', '{"query": null}');
-- forms of a word, any of several, words of names; the exact name first
SELECT q, test.found('search', jsonb_build_object('query', q))
FROM unnest('{customers,sending emails,send,mail.send,MAIL.SEND,invoices of customers,all,crm,look,the,nothing of this,"& | ! ()",fire}'::text[]) q;
-- pages
SELECT test.found('search', '{"query": "customer", "limit": 2}');
SELECT test.found('search', '{"query": "customer", "limit": 2, "offset": 2}');
SELECT test.found('search', '{"query": "customer", "limit": 100, "offset": 2147483647}');
SELECT value - 'tool' FROM test.call('search', 'tools.search', '{"limit": 0}');
SELECT value - 'tool' FROM test.call('search', 'tools.search', '{"limit": 101}');
SELECT value - 'tool' FROM test.call('search', 'tools.search', '{"offset": -1}');
SELECT value - 'tool' FROM test.call('search', 'tools.search', jsonb_build_object('query', repeat('abc%d ', 200)));
SELECT test.found('search none', '{"query": "customer"}');

-- one tool
SELECT * FROM test.call('search', 'tools.describe', '{"name": "crm.rows"}');
SELECT * FROM test.call('search', 'tools.describe', '{"name": "crm.lookup"}');
SELECT * FROM test.call('search', 'tools.describe', '{"name": "workspace.get"}');
-- what comes near; nothing that wasn't granted
SELECT q, c.outcome, c.value ->> 'code' AS code, c.value ->> 'hint' AS hint
FROM unnest('{crm.lokup,lookup,CRM.Lookup,mail.sent,mail,invoices,hr.fire,xyz,""}'::text[]) q,
     LATERAL test.call('search', 'tools.describe', jsonb_build_object('name', q)) c;
SELECT value FROM test.call('search none', 'tools.describe', '{"name": "crm.lookup"}');
SELECT value FROM test.call('search', 'hr.fire');

-- what the submitter may not execute is not there
ALTER FUNCTION regress_tools.tool OWNER TO regress_tool_user;
SELECT sandbox_exec.drop_tool(name) FROM sandbox_exec.tools WHERE function = 'regress_tools.tool()';
SET ROLE regress_tool_user;
SELECT sandbox_exec.enqueue('search as user', tools => '{crm.*}', runtime => 'test') IS NOT NULL AS id;
RESET ROLE;
SELECT count(*) FROM sandbox_exec.claim('test');
SELECT test.found('search as user', '{}');      -- no USAGE on the schema
GRANT USAGE ON SCHEMA regress_tools TO regress_tool_user;
SELECT test.found('search as user', '{}');      -- but no EXECUTE on one of them
GRANT EXECUTE ON FUNCTION regress_tools.quiet TO regress_tool_user;
SELECT test.found('search as user', '{}');
DROP FUNCTION test.found;
DROP FUNCTION regress_tools.tool;
SELECT test.clear();
