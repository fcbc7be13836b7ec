
# The recipe of docs/tools.md: code of many owners runs under one role, and sees
# the rows of its own owner only, whatever it sets, defines or calls.

use strict;
use warnings FATAL => 'all';

use JSON::PP ();
use Test::More;
use SandboxExec;

my $node = new_node('main', conf => 'sandbox_exec.workers = 2');

# the recipe, on a table that is large enough for parallel plans to be tempting
my $recipe = q{
CREATE FUNCTION app.tenant() RETURNS text LANGUAGE sql STABLE
RETURN (SELECT nullif(s.setting, '') FROM pg_catalog.pg_settings s
        WHERE s.name = 'sandbox_exec.owner' AND s.context = 'internal');
ALTER TABLE app.note ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON app.note TO agent
	USING (owner = (SELECT app.tenant())) WITH CHECK (owner = (SELECT app.tenant()));
};
$node->safe_psql('postgres', qq{
CREATE ROLE agent LOGIN;
SELECT sandbox_exec.grant_submitter('agent');
CREATE SCHEMA app;
CREATE SCHEMA evil AUTHORIZATION agent;
GRANT USAGE ON SCHEMA app TO agent;
CREATE TABLE app.note (owner text NOT NULL, body text);
GRANT SELECT, INSERT, UPDATE, DELETE ON app.note TO agent;
INSERT INTO app.note SELECT o, o || ' ' || n FROM unnest('{alice,bob}'::text[]) o, generate_series(1, 3) n;
INSERT INTO app.note SELECT 'crowd', repeat('x', 500) FROM generate_series(1, 30000);
INSERT INTO app.note VALUES ('', 'of nobody');
ALTER TABLE app.note SET (parallel_workers = 4);
ANALYZE app.note;
$recipe
CREATE FUNCTION app.bodies() RETURNS SETOF text LANGUAGE sql STABLE AS 'SELECT body FROM app.note ORDER BY body';
CREATE FUNCTION app.whoami() RETURNS text LANGUAGE sql STABLE AS \$\$
	SELECT concat_ws('|', current_setting('sandbox_exec.execution_id'), current_setting('sandbox_exec.owner'),
		current_setting('sandbox_exec.org_id'), current_setting('sandbox_exec.thread_id')) \$\$;
SELECT sandbox_exec.register_tool('app.bodies()', 'app.bodies'), sandbox_exec.register_tool('app.whoami()', 'app.whoami');
});

sub run_as
{
	my ($owner, $code, %arg) = @_;
	my $row = wait_for_terminal($node, enqueue($node, $code, role => 'agent', owner => "'$owner'", tools => "'{*}'", %arg));
	diag("$owner: $row->{error}") if $row->{status} ne 'succeeded';
	return $row->{result};
}

# --------------------------------------------------- each sees what is its own

my @alice = map { "alice $_" } 1 .. 3;
is_deeply(run_as('alice', 'return tools.app.bodies()'), \@alice, 'a tool shows the rows of the owner');
is_deeply(run_as('bob', 'return tools.app.bodies()'), [ map { "bob $_" } 1 .. 3 ], 'of each its own');
is_deeply(run_as('nobody', 'return tools.app.bodies()'), [], 'who has none sees none');
is(run_as('crowd', 'return #tools.sql.query{query = "SELECT body FROM app.note", max_rows = 100}.rows'), 100, 'and who has many sees many');
# guarantee: no parallel worker, which lacks the settings, looks for rows
is(run_as('crowd', 'return tools.sql.query{query = "SELECT count(*) FROM app.note"}.rows[1].count'), 30000, 'all of them');

my $id = enqueue($node, 'return tools.app.whoami()', role => 'agent', tools => "'{app.*}'", owner => "'alice'", org_id => "'org'", thread_id => "'t'");
is(wait_for_terminal($node, $id)->{result}, "$id|alice|org|t", 'functions know for whom they work');
$id = enqueue($node, 'return tools.app.whoami()', role => 'agent', tools => "'{app.*}'", owner => "'bob'");
is(wait_for_terminal($node, $id)->{result}, "$id|bob||", 'and nothing of an earlier one');

# ------------------------------------------------------------ what code may try

# one statement, and then a look at what can be seen in the same call
sub tries
{
	my ($what, $statement, $error) = @_;
	my $got = run_as('alice', qq{
		local ok, e = pcall(tools.sql.execute, {query = args})
		local _, seen = pcall(function() return tools.app.bodies() end)
		return {ok, ok and "" or e.message, seen}}, args => "to_jsonb(\$try\$$statement\$try\$::text)");
	my ($ok, $message, $seen) = @$got;

	defined $error
	  ? ok(!$ok && $message =~ $error, "$what is refused")
	  : ok($ok, "$what is no error");
	diag($message) if !$ok && !(defined $error && $message =~ $error);
	is_deeply($seen, \@alice, "$what: nothing else is seen");
}

my $context = 'cannot be changed';
tries('SET', q{SET sandbox_exec.owner = 'bob'}, qr/parameter "sandbox_exec.owner" $context/);
tries('SET LOCAL', q{SET LOCAL sandbox_exec.owner = 'bob'}, qr/$context/);
tries('set_config', q{SELECT set_config('sandbox_exec.owner', 'bob', false)}, qr/$context/);
tries('an update of pg_settings', q{UPDATE pg_settings SET setting = 'bob' WHERE name = 'sandbox_exec.owner'}, qr/$context/);
tries('RESET', 'RESET sandbox_exec.owner', qr/$context/);
tries('RESET ALL', 'RESET ALL', undef);
tries('ALTER ROLE', q{ALTER ROLE agent SET sandbox_exec.owner = 'bob'}, qr/cannot execute ALTER ROLE in a tool/);
tries('another writing', q{SET "SANDBOX_EXEC"."Owner" = 'bob'}, qr/$context/);
tries('a function of its own that sets it', q{CREATE FUNCTION evil.f() RETURNS void LANGUAGE sql SET sandbox_exec.owner = 'bob' AS ''}, qr/$context/);
tries('row_security', 'SET row_security = off', undef);
tries('a policy of its own', q{CREATE POLICY all_of_it ON app.note USING (true)}, qr/must be owner/);
tries('another owner\'s row', q{INSERT INTO app.note VALUES ('bob', 'forged')}, qr/row-level security/);
tries('giving a row away', q{UPDATE app.note SET owner = 'bob'}, qr/row-level security/);
tries('deleting those of others', q{DELETE FROM app.note WHERE owner = 'bob'}, undef);
tries('COPY', q{COPY app.note TO STDOUT}, qr/./);

# names that the recipe uses, found elsewhere first
tries('a view of that name', q{CREATE VIEW evil.pg_settings AS SELECT 'sandbox_exec.owner' AS name, 'bob' AS setting, 'internal' AS context}, undef);
tries('a function of that name', q{CREATE FUNCTION evil.nullif(text, text) RETURNS text LANGUAGE sql AS $$ SELECT 'bob' $$}, undef);
tries('an operator of that name', q{CREATE OPERATOR evil.= (LEFTARG = text, RIGHTARG = text, FUNCTION = pg_catalog.textne)}, undef);
is_deeply(
	run_as('alice', q{return tools.sql.query{query = "SELECT set_config('search_path', 'evil, pg_catalog', false), (SELECT array_agg(body ORDER BY body) FROM app.note) AS bodies"}.rows[1].bodies}),
	\@alice, 'a search_path leads nowhere');
is($node->safe_psql('postgres', q{SELECT count(*) FROM app.note WHERE owner = 'bob' AND body LIKE 'bob%'}), 3, 'the rows of others are as they were');

# ---------------------------------------------------------- parallel workers

# A policy that opens where the setting is empty, as in the application's own
# sessions, and as it would be in a parallel worker.
$node->safe_psql('postgres', q{
CREATE TABLE app.open AS SELECT * FROM app.note;
ALTER TABLE app.open SET (parallel_workers = 4);
ANALYZE app.open;
ALTER TABLE app.open ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON app.open USING (current_setting('sandbox_exec.owner') IN ('', owner));
GRANT SELECT ON app.open TO agent;
SET ROLE agent;
CREATE FUNCTION evil.wants_workers() RETURNS void LANGUAGE sql AS $$
	SELECT set_config(name, value, true) FROM (VALUES ('max_parallel_workers_per_gather', '4'), ('parallel_setup_cost', '0'),
		('parallel_tuple_cost', '0'), ('min_parallel_table_scan_size', '0'), ('parallel_leader_participation', 'off'),
		('max_parallel_maintenance_workers', '4')) s(name, value) $$;
CREATE FUNCTION evil.counts() RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
	plan jsonb;
	open bigint;
BEGIN
	PERFORM evil.wants_workers();
	EXECUTE 'EXPLAIN (ANALYZE, FORMAT json) SELECT count(*) FROM app.open' INTO plan;
	EXECUTE 'SELECT count(*) FROM app.open' INTO open;
	RETURN jsonb_build_array(open, plan::text ~ 'Gather');
END $$;
-- looks around from within a worker that builds an index
CREATE FUNCTION evil.look(integer) RETURNS integer LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
	IF current_setting('sandbox_exec.owner') = '' THEN
		RAISE 'open: %', (SELECT count(*) FROM app.open);
	END IF;
	RETURN $1;
END $$;
CREATE FUNCTION evil.builds() RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM evil.wants_workers();
	CREATE TABLE evil.built (x integer) WITH (parallel_workers = 4);
	INSERT INTO evil.built SELECT generate_series(1, 20000);
	CREATE INDEX ON evil.built (evil.look(x));
	ALTER TABLE evil.built ALTER x TYPE integer USING x + 1;
	RETURN 'built';
END $$;
RESET ROLE;
SELECT sandbox_exec.register_tool('evil.counts()', 'evil.counts'), sandbox_exec.register_tool('evil.builds()', 'evil.builds')});
my $own_session = 'SET ROLE agent; SELECT evil.counts() ->> 0';
is($node->safe_psql('postgres', $own_session), 30007, 'outside of tools such a policy shows all rows');
is_deeply(run_as('alice', 'return tools.evil.counts()'), [ 3, JSON::PP::false ], 'no plan of a tool is parallel, whatever it sets');
is(run_as('alice', 'return tools.evil.builds()'), 'built', 'nor is a build of an index');
tries('parallel workers', q{SET max_parallel_workers = 8}, qr/parameter "max_parallel_workers" cannot be changed/);

# a plan that the session of an outside executor made before
my $before = $node->safe_psql('postgres', q{
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA sandbox_exec TO agent;
SET ROLE agent;
SET plan_cache_mode = force_generic_plan;
CREATE FUNCTION evil.planned() RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN RETURN (SELECT count(*) FROM app.open); END $$;
RESET ROLE;
SELECT sandbox_exec.register_tool('evil.planned()', 'evil.planned') <> '';
SET ROLE agent;
BEGIN;
SELECT evil.wants_workers();
SELECT evil.planned();
SELECT evil.planned();
COMMIT;
SELECT sandbox_exec.enqueue('x', owner => 'alice', tools => '{*}', runtime => 'test') AS id \gset
SELECT claim_token AS token FROM sandbox_exec.claim('test', id => :'id') \gset
SELECT value FROM sandbox_exec.call(:'id', :'token', 1, 'tool', 'evil.planned');
SELECT sandbox_exec.finalize(:'id', :'token', 'succeeded');
BEGIN;
SELECT evil.wants_workers();
SELECT evil.planned();
SHOW max_parallel_workers;
COMMIT});
is($before, "t\n\n30007\n30007\n3\nt\n\n30007\n8", 'a plan from before the tool is run without workers, and with them after it');

# --------------------------------------------------------- sessions of that role

# as somebody who has the role's password, or a tool of another extension
sub session_of_agent
{
	my ($sql, %opt) = @_;
	my ($status, $out, $err) = $node->psql('postgres', $sql, extra_params => [ '-U', 'agent' ], %opt);
	return wantarray ? ($out, $err) : $out;
}

is(session_of_agent('SELECT count(*) FROM app.note'), 0, 'outside of tools no row is visible');
like((session_of_agent(q{SET sandbox_exec.owner = 'bob'; SELECT count(*) FROM app.note}))[1], qr/$context/, 'nor can the setting be made');
my $connstr = $node->connstr('postgres') . q{ user=agent options='-c sandbox_exec.owner=bob'};
like((session_of_agent('SELECT 1', connstr => $connstr))[1], qr/$context/, 'nor by the options of a connection');

# guarantee: where the library isn't loaded the setting is anybody's, and counts for nothing
$node->append_conf('postgresql.conf', q{shared_preload_libraries = ''});
$node->restart;
is(session_of_agent(q{SET sandbox_exec.owner = 'bob'; SELECT current_setting('sandbox_exec.owner'), (SELECT count(*) FROM app.note)}),
	'bob|0', 'without the library: the setting can be made, and shows nothing');
is(session_of_agent(q{SELECT count(*) FROM app.note}, connstr => $connstr), 0, 'nor does one of the connection');
my ($out) = session_of_agent(q{
	SET sandbox_exec.owner = 'bob';
	SELECT count(*) >= 0 FROM sandbox_exec.get('00000000-0000-0000-0000-000000000000');
	SELECT count(*) FROM app.note});
is((split /\n/, $out)[-1], 0, 'nor when the library is loaded after it was made');

$node->stop;
done_testing();
