
# The queue in dumps, and the extension's coming and going.

use strict;
use warnings FATAL => 'all';

use Test::More;
use PostgreSQL::Test::Utils;
use SandboxExec;

# Leases outlast the test: no claim is given up but for a better reason.
my $node = new_node('main', conf => "sandbox_exec.lease = '1h'");
my $dir = PostgreSQL::Test::Utils::tempdir;

sub sql
{
	my ($text, $dbname) = @_;
	return $node->safe_psql($dbname // 'postgres', $text);
}

# The roles of the two clusters have the same names and other oids.
my $other = new_node('other', extension => 0, conf => "sandbox_exec.lease = '1h'");
sql(q{CREATE ROLE alice; CREATE ROLE "Bob ""B"""});
$other->safe_psql('postgres', q{CREATE ROLE first; CREATE ROLE "Bob ""B"""; CREATE ROLE alice});
sql('CREATE DATABASE source');
sql(q{CREATE EXTENSION sandbox_exec; SELECT sandbox_exec.grant_submitter(r) FROM unnest('{alice,"\"Bob \"\"B\"\"\""}'::regrole[]) r}, 'source');

# -------------------------------------------------------- something to dump

my @source = (dbname => 'source');
my %id = (
	done => enqueue($node, 'print("out"); return {a = 1}', @source, role => 'alice', owner => "'o'", org_id => "'org'", idempotency_key => "'key'"),
	failed => enqueue($node, 'io.stderr:write("err"); error("no")', @source, role => '"Bob ""B"""', args => q('{"x": [1, null]}')));
wait_for_terminal($node, $_, @source) for values %id;
$id{running} = enqueue($node, 'if execution.thread_id then return "again" end while true do end', @source, role => 'alice');
wait_for_status($node, $id{running}, 'running', @source);
$id{deferred} = enqueue($node, 'return 1', @source, run_at => "now() + '1 day'");
$id{foreign} = enqueue($node, 'return 1', @source, runtime => "'python'");
$id{queued} = do
{
	sql('SELECT sandbox_exec.pause_queue()', 'source');
	enqueue($node, 'return args', @source, args => q('"kept"'), role => '"Bob ""B"""', priority => 3);
};

my %file = map { $_ => "$dir/$_" } qw(custom plain paused secured);
sub dump_source
{
	my ($format, $file, @option) = @_;
	$node->command_ok([ 'pg_dump', @option, "-F$format", '-f', $file, $node->connstr('source') ], "pg_dump -F$format");
	return;
}
dump_source(c => $file{paused});

# A row that a session has locked is skipped by claims: it stays queued for as
# long as the dumps take, in a queue that is open.
my $keeper = session($node, @source);
$keeper->query("BEGIN; SELECT FROM sandbox_exec.execution WHERE id = '$id{queued}' FOR UPDATE");
sql('SELECT sandbox_exec.resume_queue()', 'source');
dump_source(c => $file{custom});
dump_source(p => $file{plain});
dump_source(c => $file{secured}, '--enable-row-security');
is(record($node, $id{queued}, @source)->{status}, 'queued', 'it was dumped while it was queued');

# what a dump has to keep, as text without any oid
my $whole = q{SELECT json_agg(x ORDER BY x.id) FROM (
	SELECT e.*, i.code, i.args, i.tools, v.events
	FROM sandbox_exec.execution e JOIN sandbox_exec.execution_input i USING (id)
	CROSS JOIN LATERAL (SELECT json_agg(v ORDER BY v.pos) AS events FROM sandbox_exec.event v WHERE v.execution_id = e.id) v) x};

my $expected = sql($whole, 'source');
$keeper->query('ROLLBACK');
$keeper->close;

# ----------------------------------------------------------------- restores

for my $case (
	[ 'another database of the cluster', $node, 'copy', 'custom' ],
	[ 'another cluster', $other, 'copy', 'custom' ],
	[ 'another cluster, with row security', $other, 'copy_secured', 'secured' ],
	[ 'another cluster, as SQL', $other, 'copy_plain', 'plain' ])
{
	my ($where, $target, $dbname, $format) = @$case;
	my @target = (dbname => $dbname);
	$target->safe_psql('postgres', "CREATE DATABASE $dbname TEMPLATE template0");

	# Guarantee: a dump restores without an error.
	my $connstr = $target->connstr($dbname);
	$target->command_ok(
		$format eq 'plain'
		? [ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-o', '/dev/null', '-d', $connstr, '-f', $file{plain} ]
		: [ 'pg_restore', '--exit-on-error', ($format eq 'secured' ? '--enable-row-security' : ()), '-d', $connstr, $file{$format} ],
		"restore into $where");

	# Guarantee: nothing runs in a restored copy until it is adopted, though a
	# worker comes and looks; nor is what ran there taken for lost.
	$id{new} = enqueue($target, 'return "new"', @target);
	wait_until_idle($target, $dbname);
	is(record($target, $id{new}, @target)->{status}, 'queued', 'a worker came, and ran nothing');
	$target->safe_psql($dbname, "DELETE FROM sandbox_exec.$_ WHERE id = '$id{new}'") for qw(execution execution_input);
	is($target->safe_psql($dbname, $whole), $expected, 'rows are as they were, submitters by name');
	is($target->safe_psql($dbname, 'SELECT count(*) FROM sandbox_exec.claim()'), 0, 'other executors get nothing, either');
	is($target->safe_psql($dbname, 'SELECT count(*) FROM sandbox_exec.reap()'), 0, 'nothing is reaped');
	like($target->safe_psql($dbname, q{SELECT detail FROM sandbox_exec.health WHERE check_name = 'home' AND NOT ok}), qr/adopt\(\)/, 'health tells');
	is($target->safe_psql($dbname, q{SET ROLE alice; SELECT string_agg(status, ' ' ORDER BY id) FROM sandbox_exec.list()}),
		'succeeded running', 'who submitted sees the same as before, by the same grants');

	# Guarantee: after adopt() it goes on: what was queued runs, what was running
	# is lost with its worker and runs again, what had ended is not touched.
	my $ended = q{SELECT json_agg(e ORDER BY e.id) FROM sandbox_exec.executions e WHERE status IN ('succeeded', 'failed') AND id IN ('%s', '%s')};
	my $history = $target->safe_psql($dbname, sprintf($ended, @id{qw(done failed)}));
	$target->safe_psql($dbname, "UPDATE sandbox_exec.execution SET thread_id = 't' WHERE id = '$id{running}'");
	$target->safe_psql($dbname, 'SELECT sandbox_exec.adopt()');
	expect_terminal($target, $id{queued}, { status => 'succeeded', result => 'kept', submitter => '"Bob ""B"""', attempt_count => 1 },
		'after adopt() the queued one runs', @target);
	expect_terminal($target, $id{running}, { status => 'succeeded', result => 'again', submitter => 'alice', attempt_count => 2 },
		'and the one that was running', @target);
	is(record($target, $id{$_}, @target)->{status}, 'queued', "the $_ one waits on") for qw(deferred foreign);
	is($target->safe_psql($dbname, sprintf($ended, @id{qw(done failed)})), $history, 'history is as it was');
	is( $target->safe_psql($dbname,
			q{SET ROLE alice; SELECT sandbox_exec.enqueue('return 1', owner => 'o', idempotency_key => 'key')}),
		$id{done}, 'an idempotency key is still taken');
	is($target->safe_psql($dbname, q{SELECT string_agg(check_name, ' ') FROM sandbox_exec.health WHERE NOT ok AND check_name <> 'runtimes'}),
		'', 'health is content');
}
is(record($node, $id{running}, @source)->{status}, 'running', 'the original runs on');

# Guarantee: nor does anything run while the restore goes on, table by table,
# though a worker looks at what is there already.
$other->safe_psql('postgres', 'CREATE DATABASE slowly TEMPLATE template0');
my @slowly = ('pg_restore', '--exit-on-error', '-d', $other->connstr('slowly'));
my $look = sub {
	$other->safe_psql('slowly', 'SELECT sandbox_exec._work_ready()');
	wait_until_idle($other, 'slowly');
	return $other->safe_psql('slowly', "SELECT status FROM sandbox_exec.execution WHERE id = '$id{queued}'");
};
$other->command_ok([ @slowly, '--section=pre-data', $file{custom} ], 'a restore in progress: the extension');
is($look->(), '', 'nothing is there');
for my $table (qw(execution execution_input event))
{
	$other->command_ok([ @slowly, '--data-only', '-t', $table, $file{custom} ], "and its table $table");
	is($look->(), 'queued', 'nothing ran');
}
$other->command_ok([ @slowly, '--data-only', '-t', $_, $file{custom} ], "and $_") for qw(home queue_pause);
is($look->(), 'queued', 'nor when it is complete');
$other->safe_psql('slowly', 'SELECT sandbox_exec.adopt()');
expect_terminal($other, $id{queued}, { status => 'succeeded', result => 'kept' }, 'until adopt()', dbname => 'slowly');

# Guarantee: a paused queue stays paused in the copy.
$node->safe_psql('postgres', 'CREATE DATABASE paused TEMPLATE template0');
$node->command_ok([ 'pg_restore', '--exit-on-error', '-d', $node->connstr('paused'), $file{paused} ], 'restore of a paused queue');
sql('SELECT sandbox_exec.adopt()', 'paused');
wait_until_idle($node, 'paused');
is(record($node, $id{queued}, dbname => 'paused')->{status}, 'queued', 'it is paused, adopted or not');
sql('SELECT sandbox_exec.resume_queue()', 'paused');
expect_terminal($node, $id{queued}, { status => 'succeeded' }, 'until it is resumed', dbname => 'paused');

# Guarantee: without data, a dump gives an empty queue.
$node->command_ok([ 'pg_dump', '-Fc', '--schema-only', '-f', "$dir/empty", $node->connstr('source') ], 'pg_dump --schema-only');
$other->safe_psql('postgres', 'CREATE DATABASE empty TEMPLATE template0');
$other->command_ok([ 'pg_restore', '--exit-on-error', '-d', $other->connstr('empty'), "$dir/empty" ], 'restore of it');
is($other->safe_psql('empty', 'SELECT count(*) FROM sandbox_exec.executions'), 0, 'it is empty');
$other->safe_psql('empty', 'SELECT sandbox_exec.adopt()');
expect_terminal($other, enqueue($other, 'return 1', dbname => 'empty'), { status => 'succeeded' }, 'and works', dbname => 'empty');

# ---------------------------------------------------------------- pg_upgrade

# Guarantee: no column holds an oid that a dump or pg_upgrade would take for
# another object; regrole is written by name and allowed.
is( sql(q{
	SELECT string_agg(attrelid::regclass || '.' || attname, ' ')
	FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
	WHERE relnamespace = 'sandbox_exec'::regnamespace AND relkind IN ('r', 'p', 'm', 'i') AND attnum > 0 AND NOT attisdropped
	      AND (atttypid = 'oid'::regtype OR atttypid::regtype::text ~ '^(oid\M|reg|xid|tid)') AND atttypid <> 'regrole'::regtype}),
	'', 'no oid and no reg* but regrole in any table');
is( sql(q{SELECT count(*) > 0 FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
	WHERE relnamespace = 'sandbox_exec'::regnamespace AND relkind = 'r' AND atttypid = 'regrole'::regtype}),
	't', '(which the query would find)');

# Guarantee: every table and sequence is dumped with its rows.
is( sql(q{
	SELECT string_agg(c.oid::regclass::text, ' ') FROM pg_class c, pg_extension x
	WHERE relnamespace = 'sandbox_exec'::regnamespace AND relkind IN ('r', 'S') AND extname = 'sandbox_exec' AND c.oid <> ALL (extconfig)}),
	'', 'every table is marked for pg_dump');

# ------------------------------------------------------ coming and going

# Guarantee: DROP EXTENSION leaves nothing behind, in any catalog, whatever was
# granted and done before.
sql('CREATE DATABASE clean');
sub catalogs
{
	return sql(q{
		SELECT string_agg(format('%s %s', c.relname, (xpath('/row/n/text()',
		           query_to_xml(format('SELECT count(*) AS n FROM %s', c.oid::regclass), false, true, '')))[1]), E'\n' ORDER BY c.relname)
		FROM pg_class c
		WHERE c.relnamespace = 'pg_catalog'::regnamespace AND c.relkind = 'r' AND c.relname NOT IN ('pg_statistic')}, 'clean');
}
my $before = catalogs();
sql('CREATE EXTENSION sandbox_exec', 'clean');
isnt(catalogs(), $before, 'CREATE EXTENSION leaves traces');
sql(q{SELECT sandbox_exec.grant_submitter('alice'), sandbox_exec.grant_executor('alice')}, 'clean');
wait_for_terminal($node, enqueue($node, 'return 1', dbname => 'clean', role => 'alice'), dbname => 'clean');
my $long = enqueue($node, 'while true do end', dbname => 'clean');
wait_for_status($node, $long, 'running', dbname => 'clean');
sql('DROP EXTENSION sandbox_exec', 'clean');
is(catalogs(), $before, 'DROP EXTENSION leaves none');
poll_until(sub { !worker_pids($node, 'clean') }, 'the worker to leave');
pass('its worker leaves');
is(sql('SELECT count(*) FROM sandbox_exec._processes() WHERE execution_id = $$' . $long . '$$'), 0, 'with what it ran');

# Guarantee: a schema of that name that isn't ours is neither taken over nor touched.
sql('CREATE SCHEMA sandbox_exec; CREATE TABLE sandbox_exec.mine AS SELECT 1 AS x; CREATE TABLE sandbox_exec.execution AS SELECT 2 AS x', 'clean');
$before = catalogs();
fails_with($node, $_, '42P06', qr/schema "sandbox_exec" already exists/, $_, dbname => 'clean')
  for 'CREATE EXTENSION sandbox_exec', 'CREATE EXTENSION sandbox_exec CASCADE';
is(catalogs(), $before, 'a foreign schema is left alone');
is(sql('SELECT (SELECT x FROM sandbox_exec.mine), (SELECT x FROM sandbox_exec.execution)', 'clean'), '1|2', 'with what is in it');
fails_with($node, 'CREATE EXTENSION sandbox_exec SCHEMA public', '0A000', qr/must be installed in schema/, 'no other schema will do', dbname => 'clean');

# Guarantee: workers aren't fooled by it.
sql('DROP SCHEMA sandbox_exec CASCADE; CREATE EXTENSION sandbox_exec', 'clean');
expect_terminal($node, enqueue($node, 'return 1', dbname => 'clean'), { status => 'succeeded' }, 'and then it can be installed', dbname => 'clean');

# Guarantee: a database with another encoding refuses, and nothing is left.
for my $encoding (qw(LATIN1 SQL_ASCII))
{
	my $dbname = lc $encoding;
	sql("CREATE DATABASE $dbname ENCODING '$encoding' LOCALE 'C' TEMPLATE template0");
	fails_with($node, 'CREATE EXTENSION sandbox_exec', '0A000', qr/UTF8.*DETAIL:.*$encoding.*HINT:/s, "encoding $encoding", dbname => $dbname);
	is(sql(q{SELECT count(*) FROM pg_namespace WHERE nspname = 'sandbox_exec'}, $dbname), 0, 'leaves nothing');
}

is_deeply([ map { worker_complaints($_) } $node, $other ], [], 'the logs have no complaint of launcher or workers');
done_testing();
