-- tools: the registry, and what may be registered
\set SHOW_CONTEXT never

CREATE SCHEMA regress_tools;
CREATE TYPE regress_tools.mood AS ENUM ('sad', 'ok');
CREATE DOMAIN regress_tools.positive AS integer CHECK (VALUE > 0);
CREATE TYPE regress_tools.point AS (x integer, moods regress_tools.mood[]);
CREATE TYPE regress_tools.line AS (a regress_tools.point, b regress_tools.point);
CREATE TABLE regress_tools.note (id integer PRIMARY KEY, body text);

CREATE FUNCTION regress_tools.lookup(id integer, deep boolean DEFAULT false) RETURNS text LANGUAGE sql AS $$
    SELECT 'customer ' || id || CASE WHEN deep THEN ' and all that' ELSE '' END $$;
COMMENT ON FUNCTION regress_tools.lookup IS 'Finds a customer by number.';
CREATE FUNCTION regress_tools.everything(
    a smallint, b bigint, c numeric, d real, e boolean, f text, g regress_tools.mood, h regress_tools.positive,
    i regress_tools.point, j regress_tools.line, k text[], l jsonb, m uuid, n date, o time, p timestamp, q timestamptz,
    r interval, s int4range, t bytea, u varchar(3), v regress_tools.note, w json DEFAULT NULL, x oid DEFAULT NULL)
    RETURNS regress_tools.point LANGUAGE sql AS 'SELECT NULL::regress_tools.point';
CREATE FUNCTION regress_tools.rows(INOUT n integer, OUT square bigint) RETURNS SETOF record LANGUAGE sql AS
    'SELECT i, i * i::bigint FROM generate_series(1, n) i';
CREATE FUNCTION regress_tools.quiet() RETURNS void LANGUAGE sql AS '';

-- the name is that of the function, unless given
SELECT sandbox_exec.register_tool('regress_tools.lookup(integer, boolean)');
SELECT sandbox_exec.register_tool('regress_tools.lookup'::regproc, name => 'crm.lookup', description => 'Finds somebody.',
    arguments_schema => '{"type": "object"}');
SELECT sandbox_exec.register_tool('regress_tools.everything'::regproc, 'crm.everything', kind => NULL, requires_approval => NULL);
SELECT sandbox_exec.register_tool(p.oid, 'crm.' || p.proname)
FROM pg_proc p WHERE p.pronamespace = 'regress_tools'::regnamespace AND p.proname IN ('rows', 'quiet') ORDER BY p.proname;
SELECT name, kind, function, description, arguments, available FROM sandbox_exec.tools WHERE kind = 'sql' ORDER BY name;
SELECT name, function FROM sandbox_exec.tools WHERE kind = 'builtin' ORDER BY name;

-- what the catalog tells
SELECT key, value FROM jsonb_each(sandbox_exec._arguments_schema('regress_tools.everything'::regproc) -> 'properties') ORDER BY key;
SELECT sandbox_exec._arguments_schema('regress_tools.everything'::regproc) -> 'required' AS required;
SELECT sandbox_exec._arguments_schema('regress_tools.rows'::regproc), sandbox_exec._result_schema('regress_tools.rows'::regproc);
SELECT sandbox_exec._arguments_schema('regress_tools.quiet'::regproc), sandbox_exec._result_schema('regress_tools.quiet'::regproc);
SELECT sandbox_exec._result_schema('regress_tools.everything'::regproc);

-- names
SELECT sandbox_exec.register_tool('regress_tools.quiet()', 'crm.lookup');
SELECT sandbox_exec.register_tool('regress_tools.lookup(integer, boolean)');
SELECT sandbox_exec.register_tool('regress_tools.quiet()', n)
FROM unnest('{sql.query,tools,workspace.x,executions.run}'::text[]) n LIMIT 1;
SELECT test.error(format($$SELECT sandbox_exec.register_tool('regress_tools.quiet()', %L)$$, n))
FROM unnest('{"",a.,.a,a..b,a b,1a,a.1,ä,a*,*,a.*,tools,executions.run}'::text[]) n;
SELECT sandbox_exec.register_tool('regress_tools.quiet()', repeat('x', 256));
SELECT sandbox_exec.register_tool('regress_tools.quiet()', repeat('x', 255)) = repeat('x', 255) AS longest;
SELECT sandbox_exec.drop_tool(repeat('x', 255));
CREATE FUNCTION regress_tools."odd name"() RETURNS void LANGUAGE sql AS '';
SELECT sandbox_exec.register_tool('regress_tools."odd name"()');
SELECT sandbox_exec.register_tool('regress_tools."odd name"()', '_odd.Name2');
SELECT function FROM sandbox_exec.tools WHERE name = '_odd.Name2';

-- what cannot be a tool
CREATE AGGREGATE regress_tools.total(integer) (SFUNC = int4pl, STYPE = integer);
CREATE PROCEDURE regress_tools.act() LANGUAGE sql AS '';
CREATE FUNCTION regress_tools.on_change() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE FUNCTION regress_tools.same(x anyelement) RETURNS anyelement LANGUAGE sql AS 'SELECT x';
CREATE FUNCTION regress_tools.several(VARIADIC x integer[]) RETURNS void LANGUAGE sql AS '';
CREATE FUNCTION regress_tools.unnamed(integer, y integer) RETURNS void LANGUAGE sql AS '';
CREATE FUNCTION regress_tools.half_named(x integer, integer) RETURNS void LANGUAGE sql AS '';
CREATE FUNCTION regress_tools.anything() RETURNS record LANGUAGE sql AS 'SELECT 1, 2';
SELECT test.error(format('SELECT sandbox_exec.register_tool(%L)', f))
FROM unnest('{regress_tools.total(integer),regress_tools.act(),regress_tools.on_change(),regress_tools.same(anyelement),
              regress_tools.several(integer[]),"regress_tools.unnamed(integer,integer)","regress_tools.half_named(integer,integer)",
              regress_tools.anything(),pg_catalog.rank(),"pg_catalog.array_in(cstring,oid,integer)",
              "sandbox_exec.reap(integer)","sandbox_exec._workspace_get(text)"}'::text[]) f;
SELECT sandbox_exec.register_tool(NULL);
SELECT sandbox_exec.register_tool(0);
SELECT sandbox_exec.register_tool('regress_tools.missing()');
SELECT sandbox_exec.register_tool('regress_tools.quiet()', 'q', kind => 'shell');
SELECT sandbox_exec.register_tool('regress_tools.quiet()', 'q', kind => 'builtin');
SELECT sandbox_exec.register_tool('regress_tools.quiet()', 'q', kind => 'external');
SELECT sandbox_exec.register_tool(NULL, kind => 'external');
SELECT sandbox_exec.register_tool('regress_tools.quiet()', 'q', repeat('x', 10001));
SELECT sandbox_exec.register_tool('regress_tools.quiet()', 'q', arguments_schema => '[]');
SELECT sandbox_exec.register_tool('regress_tools.quiet()', 'q', arguments_schema => to_jsonb(repeat('x', 65536)));
SELECT sandbox_exec.register_tool('regress_tools.quiet()', 'q', arguments_schema => jsonb_build_object('x', repeat('x', 65536)));

-- dropping
SELECT sandbox_exec.drop_tool('missing');
SELECT sandbox_exec.drop_tool('sql.query');
SELECT sandbox_exec.drop_tool(NULL);
SELECT sandbox_exec.drop_tool('_odd.Name2');
DROP FUNCTION regress_tools."odd name"();

-- a function that is gone, with its types or its schema: listed, not available
CREATE SCHEMA regress_gone;
CREATE TYPE regress_gone.t AS (x integer);
CREATE FUNCTION regress_gone.f(x regress_gone.t) RETURNS void LANGUAGE sql AS '';
CREATE FUNCTION regress_tools.g(x integer) RETURNS void LANGUAGE sql AS '';
SELECT sandbox_exec.register_tool('regress_gone.f'::regproc, 'gone.f'), sandbox_exec.register_tool('regress_tools.g'::regproc, 'gone.g');
DROP FUNCTION regress_tools.g;
DROP FUNCTION regress_gone.f;
SELECT name, function, description, arguments, available FROM sandbox_exec.tools WHERE name LIKE 'gone.%' ORDER BY name;
DROP TYPE regress_gone.t;
SELECT name, available FROM sandbox_exec.tools WHERE name LIKE 'gone.%' ORDER BY name;
DROP SCHEMA regress_gone;
SELECT name, available FROM sandbox_exec.tools WHERE name LIKE 'gone.%' ORDER BY name;
SELECT sandbox_exec.drop_tool('gone.f'), sandbox_exec.drop_tool('gone.g');

-- who may: nobody until told so; the view shows what one may execute
CREATE ROLE regress_tool_user;
SELECT sandbox_exec.grant_submitter('regress_tool_user');
REVOKE EXECUTE ON FUNCTION regress_tools.quiet FROM PUBLIC;
SET ROLE regress_tool_user;
SELECT sandbox_exec.register_tool('now()', 'q');
SELECT sandbox_exec.drop_tool('crm.lookup');
SELECT name FROM sandbox_exec.tools WHERE kind = 'sql' ORDER BY name;   -- no USAGE on the schema
SELECT * FROM sandbox_exec.tool;
RESET ROLE;
GRANT USAGE ON SCHEMA regress_tools TO regress_tool_user;
SET ROLE regress_tool_user;
SELECT name, description, available FROM sandbox_exec.tools WHERE kind = 'sql' ORDER BY name;
RESET ROLE;
REVOKE USAGE ON SCHEMA regress_tools FROM regress_tool_user;

-- grants: names and patterns
SELECT sandbox_exec.enqueue('t', tools => ARRAY[t], runtime => 'test') IS NOT NULL AS id
FROM unnest('{crm.lookup,crm.*,a.b.*,*,_x}'::text[]) t;
SELECT test.error(format($$SELECT sandbox_exec.enqueue('t', tools => ARRAY['ok', %L], runtime => 'test')$$, t))
FROM unnest('{"",crm.,crm*,*.x,a.*.b,**,"a b"}'::text[]) t;
SELECT sandbox_exec.enqueue('t', tools => '{a,NULL}', runtime => 'test');
SELECT name, pattern, sandbox_exec._matches(name, pattern)
FROM unnest('{crm,crm.lookup,crm.deep.er,crmx.lookup}'::text[]) name, unnest('{crm,crm.*,*,crm.deep.*}'::text[]) pattern
ORDER BY pattern, name;
SELECT test.clear();
