-- what code gives to a tool, and what it gets back: JSON that means the same in both directions
\set SHOW_CONTEXT never

-- as a tool has them: the text of a value is compared with what a tool made of it
SET TimeZone = 'UTC';
SET DateStyle = 'ISO, MDY';
SET IntervalStyle = 'postgres';

CREATE SCHEMA regress_args;
CREATE TYPE regress_args.mood AS ENUM ('sad', 'o k', '"quoted"', 'ü');
CREATE DOMAIN regress_args.positive AS bigint CHECK (VALUE > 0);
CREATE DOMAIN regress_args.word AS text NOT NULL CHECK (VALUE <> '');
CREATE DOMAIN regress_args.words AS text[] CHECK (cardinality(VALUE) < 100);
CREATE TYPE regress_args.point AS (x bigint, y numeric, "odd name" text);
CREATE DOMAIN regress_args.right_point AS regress_args.point CHECK ((VALUE).x >= 0);
CREATE TYPE regress_args.path AS (name text, points regress_args.point[], moods regress_args.mood[], more jsonb, start date);
CREATE TABLE regress_args.row (id integer PRIMARY KEY, gone integer, body text, tags text[]);
ALTER TABLE regress_args.row DROP COLUMN gone;

-- random parts
CREATE FUNCTION regress_args.upto(most numeric) RETURNS bigint LANGUAGE sql VOLATILE AS 'SELECT floor(random() * (most + 1))::bigint';
CREATE FUNCTION regress_args.digits(few integer, many integer) RETURNS text LANGUAGE sql VOLATILE AS $$
    SELECT coalesce(string_agg(regress_args.upto(9)::text, ''), '')
    FROM generate_series(1, few + regress_args.upto(many - few)) $$;
CREATE FUNCTION regress_args.sign() RETURNS text LANGUAGE sql VOLATILE AS $$ SELECT CASE WHEN random() < 0.5 THEN '-' ELSE '' END $$;
-- letters, what needs an escape in JSON, in arrays and in records, two to four bytes of UTF-8
CREATE FUNCTION regress_args.text() RETURNS text LANGUAGE sql VOLATILE AS $$
    SELECT coalesce(string_agg(CASE regress_args.upto(4)
        WHEN 0 THEN chr(1 + regress_args.upto(126)::integer)
        WHEN 1 THEN substr(E'"\\/{}(),[]:\n\t\r\b\f\x01\x7f ''$', 1 + regress_args.upto(20)::integer, 1)
        WHEN 2 THEN substr('äßπ…€日本語🙂𝄞', 1 + regress_args.upto(9)::integer, 1)
        ELSE chr(97 + regress_args.upto(25)::integer) END, ''), '')
    FROM generate_series(1, regress_args.upto(20)) $$;
CREATE FUNCTION regress_args.instant() RETURNS timestamp LANGUAGE sql VOLATILE AS $$
    SELECT timestamp '0001-01-01' + regress_args.upto(3650000) * interval '1 day' + regress_args.upto(86399999999) * interval '1 us' $$;
CREATE FUNCTION regress_args.json(depth integer) RETURNS jsonb LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    RETURN CASE regress_args.upto(CASE WHEN depth > 0 THEN 6 ELSE 4 END)
        WHEN 0 THEN 'null'
        WHEN 1 THEN to_jsonb(random() < 0.5)
        WHEN 2 THEN (regress_args.sign() || '1' || regress_args.digits(0, 40) || '.' || regress_args.digits(1, 40))::jsonb
        WHEN 3 THEN (regress_args.sign() || '1' || regress_args.digits(0, 18))::jsonb
        WHEN 4 THEN to_jsonb(regress_args.text())
        WHEN 5 THEN (SELECT coalesce(jsonb_agg(regress_args.json(depth - 1)), '[]') FROM generate_series(1, regress_args.upto(4)))
        ELSE (SELECT coalesce(jsonb_object_agg(regress_args.text(), regress_args.json(depth - 1)), '{}')
              FROM generate_series(1, regress_args.upto(4))) END;
END $$;
CREATE FUNCTION regress_args.mood() RETURNS regress_args.mood LANGUAGE sql VOLATILE AS
    'SELECT (enum_range(NULL::regress_args.mood))[1 + regress_args.upto(3)]';
CREATE FUNCTION regress_args.point() RETURNS regress_args.point LANGUAGE sql VOLATILE AS $$
    SELECT CASE WHEN random() < 0.9 THEN
        ROW((regress_args.sign() || '1' || regress_args.digits(0, 17))::bigint,
            ('1' || regress_args.digits(0, 30) || '.' || regress_args.digits(1, 30))::numeric, regress_args.text())::regress_args.point END $$;

-- values at the edges of each type, and how to make random ones
CREATE TABLE regress_args.type (type text, edges text[], random text);
INSERT INTO regress_args.type VALUES
    ('smallint', '{-32768,-1,0,32767}', 'regress_args.upto(65535) - 32768'),
    ('integer', '{-2147483648,0,2147483647}', 'regress_args.upto(4294967295) - 2147483648'),
    ('bigint', '{-9223372036854775808,-9007199254740993,9007199254740993,9223372036854775807}',
        $$regress_args.sign() || regress_args.digits(1, 18)$$),
    ('numeric', '{0,0.00,-0.10,1e131071,1e-16383,NaN,Infinity,-Infinity,9007199254740993,123456789012345678901234567890.1234567890}',
        $$regress_args.sign() || regress_args.digits(1, 300) || '.' || regress_args.digits(1, 300)$$),
    ('real', '{0,1e38,-3.4028235e38,1.4e-45,0.1,NaN,Infinity,-Infinity}', '((random() - 0.5) * 10 ^ (regress_args.upto(60) - 30))::real'),
    ('double precision', '{0,1.7976931348623157e308,5e-324,0.1,0.30000000000000004,9007199254740993,NaN,Infinity,-Infinity}',
        '(random() - 0.5) * 10 ^ (regress_args.upto(600) - 300)'),
    ('text', '{"",null,0,"  ","\\","{}"}', 'regress_args.text()'),
    ('varchar', '{"",x}', 'regress_args.text()'),
    ('bpchar', '{"x  "}', 'regress_args.text()'),
    ('bytea', '{"","\\x00","\\x5c7800"}', $$decode(md5(random()::text), 'hex')$$),
    ('boolean', '{true,false}', 'random() < 0.5'),
    ('date', '{infinity,-infinity,4713-01-01 BC,5874897-12-31,0044-03-15 BC}', 'regress_args.instant()::date'),
    ('time', '{00:00:00,24:00:00,23:59:59.999999}', 'regress_args.instant()::time'),
    ('timetz', '{00:00:00+14,24:00:00-12}', $$regress_args.instant()::time || '+' || regress_args.upto(12)$$),
    ('timestamp', '{infinity,-infinity,0044-03-15 12:00:00 BC,294276-12-31 23:59:59.999999}', 'regress_args.instant()'),
    ('timestamptz', '{infinity,-infinity,0044-03-15 12:00:00+00 BC,294276-12-31 23:59:59.999999+00}', 'regress_args.instant()'),
    ('interval', '{0,1 year -2 mons +3 days -04:05:06.789,-178000000 years,2562047788:00:54.775807}',
        $$regress_args.upto(1000) * interval '1 month' - regress_args.upto(1000) * interval '1 day' + regress_args.upto(9999999999) * interval '1 us'$$),
    ('uuid', '{00000000-0000-0000-0000-000000000000}', 'md5(random()::text)::uuid'),
    ('jsonb', '{"{\"b\": 1, \"a\": [1.0, 1.50, null]}","\"null\"",123456789012345678901234567890,"[[]]"}', $$nullif(regress_args.json(4), 'null')$$),
    ('json', '{"{\"b\": 1}","[1.50]"}', $$nullif(regress_args.json(4), 'null')$$),
    ('inet', '{::1,10.0.0.1/8}', $$('10.0.0.0'::inet + regress_args.upto(16777215))$$),
    ('bit varying', '{"",1,0}', 'regress_args.upto(1000000)::integer::bit(32)'),
    ('oid', '{0,4294967295}', 'regress_args.upto(4294967295)'),
    ('tsvector', '{}', $$to_tsvector('simple', regress_args.text())$$),
    ('regress_args.mood', '{"\"quoted\"","o k"}', 'regress_args.mood()'),
    ('regress_args.positive', '{1,9223372036854775807}', '1 + regress_args.upto(1000000000000000000)'),
    ('regress_args.word', '{x}', $$'x' || regress_args.text()$$),
    ('regress_args.words', '{"{}"}', 'ARRAY[regress_args.text(), NULL, regress_args.text()]'),
    ('regress_args.point', '{"(,,)"}', 'regress_args.point()'),
    ('regress_args.right_point', '{"(0,,)"}', $$ROW(regress_args.upto(9), 1.50, regress_args.text())::regress_args.point$$),
    ('regress_args.path', '{"(,,,,)","(\"\",{},{},,)"}',
        $$ROW(regress_args.text(), ARRAY(SELECT regress_args.point() FROM generate_series(1, n % 4)),
              ARRAY[regress_args.mood(), NULL], nullif(regress_args.json(2), 'null'), regress_args.instant()::date)::regress_args.path$$),
    ('regress_args.row', '{"(,,)"}', $$ROW(regress_args.upto(9), regress_args.text(), ARRAY[regress_args.text()])::regress_args.row$$),
    ('bigint[]', '{"{}","{NULL}","{{1,2},{3,4}}","{{{9223372036854775807}}}"}', 'ARRAY[[n, regress_args.upto(9)], [NULL, -n]]'),
    ('numeric[]', '{"{0.10,NaN}"}', $$ARRAY[('1' || regress_args.digits(0, 50) || '.50')::numeric]$$),
    ('text[]', '{"{\"\",NULL,\"NULL\"}"}', 'ARRAY[regress_args.text(), regress_args.text()]'),
    ('bytea[]', '{"{}"}', $$ARRAY[decode(md5(random()::text), 'hex')]$$),
    ('regress_args.mood[]', '{"{}"}', 'ARRAY[[regress_args.mood()], [regress_args.mood()]]'),
    ('regress_args.positive[]', '{"{1,NULL}"}', 'ARRAY[1 + n]'),
    ('regress_args.point[]', '{"{NULL,\"(,,)\"}"}', 'ARRAY[[regress_args.point(), regress_args.point()]]'),
    ('timestamptz[]', '{"{infinity}"}', 'ARRAY[regress_args.instant()]'),
    ('int4range', '{empty,"(,)","[1,)"}', 'int4range(regress_args.upto(9)::integer, 9 + regress_args.upto(9)::integer)'),
    ('numrange', '{empty,"(0.10,1.0]"}', 'numrange(regress_args.upto(9), 10.50)'),
    ('tstzrange', '{"(,infinity)"}', $$tstzrange(regress_args.instant(), 'infinity')$$),
    ('int4multirange', '{"{}","{[1,2),[4,)}"}', 'int4multirange(int4range(-n, n), int4range(2 * n, 3 * n))'),
    ('int8range[]', '{"{}"}', 'ARRAY[int8range(-n, n), NULL]');

-- A sample of every type, made at one go: the seed of random() does not outlive a call.
CREATE TABLE regress_args.sample (type text, n integer, value text);
SELECT setseed(0.4);
DO $$
DECLARE
    t regress_args.type;
BEGIN
    FOR t IN SELECT * FROM regress_args.type LOOP
        INSERT INTO regress_args.sample SELECT t.type, -e.n, e.value FROM unnest(t.edges || NULL) WITH ORDINALITY e(value, n)
        WHERE e.value IS NOT NULL OR t.type <> 'regress_args.word';
        EXECUTE format('INSERT INTO regress_args.sample SELECT %L, n, (%s)::%s::text FROM generate_series(1, 12) n',
                       t.type, t.random, t.type);
    END LOOP;
END $$;

-- for each type a tool that returns what it was given, and as which text it had it, and one that returns a set
DO $$
DECLARE
    t regress_args.type;
    f text;
BEGIN
    FOR t IN SELECT * FROM regress_args.type LOOP
        f := 'of_' || regexp_replace(t.type, '\W', '_', 'g');
        EXECUTE format('CREATE FUNCTION regress_args.%I(x %s, OUT back %s, OUT as_text text) LANGUAGE plpgsql AS %L',
                       f, t.type, t.type, 'BEGIN back := x; as_text := x; END');
        EXECUTE format('CREATE FUNCTION regress_args.%I(x %s) RETURNS SETOF %s LANGUAGE sql AS %L',
                       f || '_set', t.type, t.type, 'SELECT x FROM generate_series(1, 2)');
        PERFORM sandbox_exec.register_tool(p.oid, 'types.' || p.proname)
        FROM pg_proc p WHERE p.pronamespace = 'regress_args'::regnamespace AND p.proname IN (f, f || '_set');
        PERFORM sandbox_exec.enqueue(f, tools => '{types.*}', runtime => 'test');
    END LOOP;
END $$;
SELECT count(*) = (SELECT count(*) FROM regress_args.type) AS claimed FROM sandbox_exec.claim('test', max_rows => 100, lease => '1 h');

-- The argument is to_jsonb() of the value; so must the result be, and the tool have had the same value.
CREATE FUNCTION regress_args.check(sample regress_args.sample) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    f CONSTANT text := 'of_' || regexp_replace(sample.type, '\W', '_', 'g');
    value jsonb;
    answer record;
BEGIN
    EXECUTE format('SELECT to_jsonb($1::%s)', sample.type) INTO value USING sample.value;
    answer := test.call(f, 'types.' || f, jsonb_build_object('x', value));
    IF answer.outcome <> 'ok' OR (answer.value -> 'back')::text <> coalesce(value, 'null')::text
       OR (answer.value ->> 'as_text') IS DISTINCT FROM sample.value THEN
        RETURN answer.value;
    END IF;
    answer := test.call(f, 'types.' || f || '_set', jsonb_build_object('x', value));
    IF answer.outcome <> 'ok' OR answer.value::text <> jsonb_build_array(value, value)::text THEN
        RETURN answer.value;
    END IF;
    RETURN NULL;
END $$;
-- the texts of a type are several: make them those that the type itself writes
DO $$
DECLARE
    t regress_args.type;
BEGIN
    FOR t IN SELECT * FROM regress_args.type LOOP
        EXECUTE format('UPDATE regress_args.sample SET value = value::%s::text WHERE type = %L', t.type, t.type);
    END LOOP;
END $$;
SELECT s.type, s.value, left(c.wrong, 500) AS wrong FROM regress_args.sample s, regress_args.check(s) c(wrong) WHERE c.wrong IS NOT NULL;
SELECT count(*) > 500 AS many, count(DISTINCT s.type) AS types FROM regress_args.sample s;

-- what the types themselves make of other JSON
SELECT sandbox_exec.enqueue('values', tools => '{types.*,shapes.*}', runtime => 'test') IS NOT NULL AS id;
SELECT count(*) FROM sandbox_exec.claim('test', lease => '1 h');
CREATE FUNCTION regress_args.try(type text, value text) RETURNS text LANGUAGE sql AS $$
    SELECT CASE c.outcome WHEN 'ok' THEN 'ok ' || coalesce(c.value ->> 'as_text', 'null') ELSE c.value ->> 'message' END
    FROM test.call('values', 'types.of_' || type, format('{"x": %s}', value)::jsonb) c $$;
SELECT t.type, v.value, regress_args.try(t.type, v.value)
FROM (VALUES ('integer', '{"1.0","1e2","1.5","\"7\"","\"\"",true,2147483648,"null","[]"}'::text[]),
             ('bigint', '{9223372036854775807,9223372036854775808,"\"9223372036854775807\""}'),
             ('numeric', '{1e2,"\"1e2\"",1.50,"\"NaN\"","{}"}'),
             ('boolean', '{true,"\"yes\"",1,"null"}'),
             ('text', '{1.50,true,"{\"a\": [1]}","null"}'),
             ('date', '{"\"2024-02-29\"","\"2023-02-29\"","\"now then\"",20240229}'),
             ('jsonb', '{"null","\"null\"","[null]"}'),
             ('regress_args_mood', '{"\"sad\"","\"SAD\"",1}'),
             ('regress_args_positive', '{1,0,"null"}'),
             ('regress_args_word', '{"\"\"","null"}'),
             ('bigint__', '{"[1, [2]]","[[1], [2, 3]]","\"{1,2}\"","{}",1}'),
             ('regress_args_point', '{"{\"x\": 1}","{}","\"(1,2.50,x)\"","[]","{\"x\": 1, \"z\": 2}"}'),
             ('regress_args_right_point', '{"{\"x\": -1}"}')) t(type, values), unnest(t.values) v(value);

-- everything that is wrong, each with its path
CREATE FUNCTION regress_args.several(a integer, b regress_args.path, c regress_args.point[], d text DEFAULT 'dee', e boolean DEFAULT NULL)
    RETURNS jsonb LANGUAGE sql AS 'SELECT jsonb_build_object(''a'', a, ''b'', b, ''c'', c, ''d'', d, ''e'', e)';
SELECT sandbox_exec.register_tool('regress_args.several'::regproc, 'shapes.several');
CREATE FUNCTION regress_args.problems(args jsonb) RETURNS TABLE (problems text) LANGUAGE sql AS $$
    SELECT CASE c.outcome WHEN 'ok' THEN c.value::text
           ELSE concat_ws(E'\n', c.value ->> 'code', c.value ->> 'message', c.value ->> 'detail', c.value ->> 'hint') END
    FROM test.call('values', 'shapes.several', args) c $$;
\pset format unaligned
\pset tuples_only on
SELECT p.problems || E'\n' FROM unnest(ARRAY[
    NULL,
    '{}',
    '{"a": 1, "b": {}, "c": []}',
    '{"a": null, "b": null, "c": null, "d": null}',
    '{"A": 1, "b": {"nam": "x", "name": "y"}, "c": [], "f": 1}',
    '{"a": "one", "b": {"points": [{"x": 1}, {"x": "two", "y": [], "z": 1}], "moods": ["sad", "glad"], "start": "never"}, "c": [[{"y": 1}], [{"y": "y"}]], "e": "perhaps"}',
    '{"a": 1, "b": 5, "c": {"x": 1}}'
]::jsonb[]) args, regress_args.problems(args) p;
-- a path ends with what is told: at most twenty of them
SELECT p.problems FROM regress_args.problems(jsonb_build_object('a', 1, 'b', '{}'::jsonb, 'c',
    (SELECT jsonb_agg(jsonb_build_object('x', 'x' || n)) FROM generate_series(1, 30) n))) p;
-- in a long array the wrong element is found in few tries: each by itself would take 200,000
CREATE FUNCTION regress_args.many(x bigint[]) RETURNS integer LANGUAGE sql AS 'SELECT cardinality(x)';
SELECT sandbox_exec.register_tool('regress_args.many'::regproc, 'shapes.many');
CREATE FUNCTION regress_args.most_memory() RETURNS bigint LANGUAGE sql AS $$
    SELECT (regexp_match(pg_read_file('/proc/self/status'), 'VmHWM:\s+(\d+)'))[1]::bigint $$;
SELECT regress_args.most_memory() AS before \gset
SELECT c.value ->> 'detail' FROM test.call('values', 'shapes.many', (
    SELECT jsonb_build_object('x', jsonb_agg(CASE WHEN n IN (3, 199999) THEN to_jsonb('x'::text) ELSE '1' END ORDER BY n))
    FROM generate_series(0, 199999) n)) c;
SELECT regress_args.most_memory() - :before < 150000 AS "little memory";
-- there are 20 problems that are told, and no more are looked for
SELECT split_part(p.problems, E'\n', 2) FROM regress_args.problems(jsonb_build_object('a', 1, 'b', '{}'::jsonb, 'c',
    (SELECT jsonb_agg('{"no field": 1}'::jsonb) FROM generate_series(1, 20000) n))) p;
-- what no element is to blame for takes few tries, too
CREATE SEQUENCE regress_args.tries;
CREATE FUNCTION regress_args.try() RETURNS boolean LANGUAGE sql AS $$ SELECT nextval('regress_args.tries') > 0 $$;
CREATE DOMAIN regress_args.counted AS bigint CHECK (regress_args.try());
CREATE FUNCTION regress_args.many(x regress_args.counted[]) RETURNS integer LANGUAGE sql AS 'SELECT cardinality(x)';
SELECT sandbox_exec.register_tool('regress_args.many(regress_args.counted[])', 'shapes.counted');
SELECT c.value ->> 'detail' FROM test.call('values', 'shapes.counted', (
    SELECT jsonb_build_object('x', jsonb_agg(CASE n % 2 WHEN 0 THEN '1' ELSE '[1]'::jsonb END)) FROM generate_series(1, 10000) n)) c;
SELECT nextval('regress_args.tries') < 10000 AS "few tries";
CREATE DOMAIN regress_args.three AS bigint[] CHECK (cardinality(VALUE) = 3);
CREATE FUNCTION regress_args.many(x regress_args.three) RETURNS integer LANGUAGE sql AS 'SELECT cardinality(x)';
SELECT sandbox_exec.register_tool('regress_args.many(regress_args.three)', 'shapes.three');
SELECT c.value ->> 'detail' FROM test.call('values', 'shapes.three', '{"x": [1, 2, 3, 4]}') c;
SELECT c.value ->> 'detail' FROM test.call('values', 'shapes.three', '{"x": [1, "x", 3, 4]}') c;
-- an array has six dimensions at most
SELECT c.value ->> 'detail' FROM test.call('values', 'shapes.many', ('{"x": ' || repeat('[', 500) || repeat(']', 500) || '}')::jsonb) c;
SELECT c.value ->> 'detail' FROM test.call('values', 'shapes.many', ('{"x": ' || repeat('[', 500) || '1' || repeat(']', 500) || '}')::jsonb) c;
\pset format aligned
\pset tuples_only off

-- results: a value, a row, sets, nothing, null
CREATE FUNCTION regress_args.a_row() RETURNS regress_args.point LANGUAGE sql AS $$ SELECT 1::bigint, 2.50, 'x' $$;
CREATE FUNCTION regress_args.no_row() RETURNS regress_args.point LANGUAGE sql AS $$ SELECT 1::bigint, 2.50, 'x' WHERE false $$;
CREATE FUNCTION regress_args.out_one(OUT x bigint) LANGUAGE sql AS 'SELECT 9223372036854775807';
CREATE FUNCTION regress_args.out_two(OUT x bigint, OUT "odd name" numeric) LANGUAGE sql AS 'SELECT 1::bigint, 1.0';
CREATE FUNCTION regress_args.rows() RETURNS SETOF regress_args.row LANGUAGE sql AS $$ VALUES (1, 'one', '{a,b}'::text[]), (2, NULL, NULL) $$;
CREATE FUNCTION regress_args.a_table() RETURNS TABLE (n integer, square bigint) LANGUAGE plpgsql AS
    $$ BEGIN RETURN QUERY SELECT i, i * i::bigint FROM generate_series(1, 3) i; END $$;
CREATE FUNCTION regress_args.values() RETURNS SETOF numeric LANGUAGE sql AS 'VALUES (1.0), (NULL), (1e20)';
CREATE FUNCTION regress_args.none() RETURNS SETOF regress_args.row LANGUAGE sql AS 'SELECT * FROM regress_args.row';
CREATE FUNCTION regress_args.voids() RETURNS SETOF void LANGUAGE sql AS 'SELECT FROM generate_series(1, 2)';
CREATE FUNCTION regress_args.nothing() RETURNS void LANGUAGE sql AS '';
CREATE FUNCTION regress_args.a_null() RETURNS text LANGUAGE sql AS 'SELECT NULL';
CREATE FUNCTION regress_args.json_null() RETURNS jsonb LANGUAGE sql AS $$ SELECT 'null'::jsonb $$;
CREATE FUNCTION regress_args.strict(x integer) RETURNS text LANGUAGE sql STRICT AS $$ SELECT 'called' $$;
SELECT p.proname, c.outcome, c.value
FROM (SELECT p.proname, sandbox_exec.register_tool(p.oid, 'shapes.' || p.proname) AS tool, p.pronargs FROM pg_proc p
      WHERE p.pronamespace = 'regress_args'::regnamespace AND p.proname = ANY
            ('{a_row,no_row,out_one,out_two,rows,a_table,values,none,voids,nothing,a_null,json_null,strict}')
      ORDER BY p.proname COLLATE "C") p,
     test.call('values', p.tool, CASE WHEN p.pronargs > 0 THEN '{"x": null}' ELSE '{}' END::jsonb) c;

-- defaults that are expressions, and names that want quotes
CREATE FUNCTION regress_args.defaults("order" integer, "Größe" text DEFAULT upper('large') || '!', at date DEFAULT 'epoch')
    RETURNS text LANGUAGE sql AS $$ SELECT concat_ws(', ', "order", "Größe", at) $$;
SELECT sandbox_exec.register_tool('regress_args.defaults'::regproc, 'shapes.defaults');
SELECT c.value FROM unnest('{"{\"order\": 1}","{\"order\": 1, \"at\": \"2024-01-01\"}","{\"order\": 1, \"Größe\": null}"}'::jsonb[]) args,
     test.call('values', 'shapes.defaults', args) c;
SELECT arguments -> 'required' AS required FROM sandbox_exec.tools WHERE name = 'shapes.defaults';

SELECT count(sandbox_exec.drop_tool(name)) > 0 AS dropped FROM sandbox_exec.tools WHERE name ~ '^(types|shapes)\.';
SELECT test.clear();
SET client_min_messages = warning;
DROP SCHEMA regress_args CASCADE;
RESET ALL;
