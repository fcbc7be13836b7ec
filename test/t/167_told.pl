
# What a tool tells others by NOTIFY is told once, also when the server crashes
# right after: the journal of such a call is on disk before anybody hears of it.

use strict;
use warnings FATAL => 'all';

use Test::More;
use SandboxExec;

# nothing but a commit that waits for it brings anything to disk in time
my $node = new_node(
	'main',
	conf => q{
sandbox_exec.workers = 1
sandbox_exec.lease = '1 h'
wal_writer_delay = '10 s'
});

$node->safe_psql('postgres', q{
CREATE ROLE app;
SELECT sandbox_exec.grant_submitter('app');
CREATE SCHEMA app AUTHORIZATION app;
SET ROLE app;
CREATE FUNCTION app.tell(what text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	RAISE LOG 'told %', what;
	PERFORM pg_notify('chan', what);
END $$;
CREATE FUNCTION app.fail(what text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	PERFORM app.tell(what);
	RAISE 'failed';
END $$;
CREATE VIEW app.telling AS SELECT app.tell('it')::text AS told;
CREATE FUNCTION app.queries() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	PERFORM app.tell('it');
	PERFORM sandbox_exec._sql_query('SELECT 1');
END $$;
CREATE FUNCTION app.look() RETURNS integer LANGUAGE sql STABLE AS 'SELECT 1';
RESET ROLE;
SELECT sandbox_exec.register_tool('app.tell(text)', 'app.tell'), sandbox_exec.register_tool('app.look()', 'app.look'),
	sandbox_exec.register_tool('app.fail(text)', 'app.fail'), sandbox_exec.register_tool('app.queries()', 'app.queries');
});

# guarantee: a message is sent once for each call that the code makes
for my $case (
	[ 'a function', 'tools.app.tell{what = execution.id}' ],
	[ 'a query', q{tools.sql.query{query = "SELECT app.tell($1)", params = {execution.id}}} ])
{
	my ($name, $call) = @$case;
	my $epoch = server_epoch($node);
	my $id = enqueue($node, "$call while true do end", role => 'app', tools => "'{*}'");

	poll_until(sub { $node->safe_psql('postgres', "SELECT count(*) FROM sandbox_exec.call WHERE execution_id = '$id'") }, "$name to be journaled");
	my (undef, $worker) = runner_of($node, $id);
	kill_process($node, 'KILL', $worker);
	wait_for_restart($node, $epoch);
	runner_of($node, $id);
	is(record($node, $id)->{attempt_count}, 2, "$name: another attempt is at work");
	is(scalar(() = PostgreSQL::Test::Utils::slurp_file($node->logfile) =~ /LOG:  told $id/g), 1, "$name: and has not told it again");
	$node->safe_psql('postgres', "SELECT sandbox_exec.cancel('$id')");
	wait_for_terminal($node, $id);
}

# what tells nobody doesn't wait for the disk; now and then something else does
my $unflushed = 'SELECT pg_current_wal_flush_lsn() < pg_current_wal_insert_lsn();';

sub unflushed_after
{
	my ($tool, $args) = @_;
	my $calls = join "\n", map { "SELECT FROM sandbox_exec.call(:'id', :'token', $_, 'tool', '$tool', '$args');\n$unflushed" } 1 .. 20;
	my $got = $node->safe_psql('postgres', qq{
		SET ROLE app;
		SELECT sandbox_exec.enqueue('x', tools => '{*}', runtime => 'test') AS id \\gset
		RESET ROLE;
		SELECT claim_token AS token FROM sandbox_exec.claim('test', id => :'id') \\gset
		$calls
		SELECT FROM sandbox_exec.finalize(:'id', :'token', 'succeeded')});

	return scalar(() = $got =~ /^t$/mg);
}
is(unflushed_after('app.tell', '{"what": "it"}'), 0, 'after a call that may have told somebody all is on disk');
is(unflushed_after('sql.query', qq({"query": "$_"})), 0, "$_ may have")
  for q{SELECT app.tell(''it'')}, 'TABLE app.telling', q{EXPLAIN ANALYZE SELECT app.tell(''it'')},
  q{SELECT sandbox_exec._sql_query(''SELECT 1''), app.tell(''it'')};
is(unflushed_after('app.queries', '{}'), 0, 'and so may a function that runs a query');
cmp_ok(unflushed_after($_->[0], $_->[1]), '>', 10, "$_->[0] is not waited for")
  for [ 'app.look', '{}' ], [ 'workspace.get', '{"key": "x"}' ],
  [ 'sql.query', '{"query": "SELECT count(*) FROM pg_class WHERE relname LIKE $1", "params": ["pg%"]}' ], [ 'app.fail', '{"what": "nothing"}' ];

$node->stop;
done_testing();
