
# A worker does nothing else while a tool runs.  So what it claimed together
# with the execution that calls the tool must not wait for that, and what has
# ended before must be on record.

use strict;
use warnings FATAL => 'all';

use Test::More;
use SandboxExec;

my $node = new_node(
	'main',
	conf => q{
sandbox_exec.workers = 2
sandbox_exec.worker_idle_timeout = '1 h'
sandbox_exec.lease = '1 h'
sandbox_exec.tool_timeout = '1 min'
});

sub sql
{
	return $node->safe_psql('postgres', $_[0]);
}

# a tool that runs for as long as a lock is held
sql(q{
CREATE FUNCTION wait_for_gate() RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_advisory_xact_lock_shared(1);
	RETURN 'open';
END $$;
SELECT sandbox_exec.register_tool('wait_for_gate()');
});

# batches grow while executions are short
expect_terminal($node, (enqueue_batch($node, [ ({ code => 'return 1' }) x 300 ]))[-1], { status => 'succeeded' }, 'many short ones');
wait_until_idle($node, 'postgres');

my $gate = session($node);
$gate->query('SELECT pg_advisory_lock(1)');

# One batch, whoever takes it: the slow one is in the middle.
my @ids = split /\n/, sql(q{
SELECT sandbox_exec.enqueue_many((
	SELECT jsonb_agg(jsonb_build_object('code', CASE n WHEN 10 THEN 'return tools.wait_for_gate()' ELSE 'return ' || n END,
		'tools', jsonb_build_array('*')) ORDER BY n)
	FROM generate_series(1, 20) n))});
my $slow = splice @ids, 9, 1;

# Guarantee: the others end while the tool runs, those before it and those after it.
expect_terminal($node, $_, { status => 'succeeded' }, "$_ does not wait for a tool") for @ids;
is(record($node, $slow)->{status}, 'running', 'the tool still runs');

# Guarantee: it is made once, and others follow.
$gate->query('SELECT pg_advisory_unlock(1)');
expect_terminal($node, $slow, { status => 'succeeded', result => 'open', attempt_count => 1 }, 'it ends when it may');
expect_terminal($node, enqueue($node, 'return tools.wait_for_gate()', tools => "'{*}'"), { status => 'succeeded' }, "and is quick ($_)")
  for 1 .. 3;
# Guarantee: a tool runs once, however long somebody holds the row of its execution.
sql(q{
CREATE SEQUENCE runs;
CREATE FUNCTION run() RETURNS bigint LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_advisory_xact_lock_shared(1);
	RETURN nextval('runs');
END $$;
SELECT sandbox_exec.register_tool('run()')});

# Holds it until the worker has waited for longer than its lock_timeout is.
sub hold_row
{
	my ($id) = @_;

	$gate->query("BEGIN; SELECT 1 FROM sandbox_exec.execution WHERE id = '$id' FOR NO KEY UPDATE");
	$gate->query('SELECT pg_advisory_unlock(1)');
	poll_until(
		sub {
			return sql(q{SELECT bool_or(waitstart < clock_timestamp() - interval '1.5 s') FROM pg_locks
				WHERE NOT granted AND pid IN (SELECT pid FROM sandbox_exec.workers)}) eq 't';
		},
		'a worker that waits for a row');
}
sub begin_run
{
	$gate->query('SELECT pg_advisory_lock(1)');
	my $id = enqueue($node, 'return tools.run()', tools => "'{*}'");
	poll_until(sub { sql(q{SELECT count(*) > 0 FROM pg_locks WHERE NOT granted AND locktype = 'advisory'}) eq 't' }, 'the tool to run');
	hold_row($id);
	return $id;
}

my $held = begin_run();
$gate->query('ROLLBACK');
expect_terminal($node, $held, { status => 'succeeded', result => 1, attempt_count => 1 }, 'a row that was held: its tool ran once');

is(sql('SELECT count(*) FROM sandbox_exec.executions WHERE attempt_count <> 1'), '0', 'nothing was begun twice');

# Guarantee: such a worker leaves all the same.
my $from = -s $node->logfile;
$held = begin_run();
my $worker = sql("SELECT pid FROM sandbox_exec.workers WHERE execution_id = '$held'");
kill_process($node, 'TERM', $worker);
poll_until(sub { !is_alive($worker) }, 'the worker to leave while the row is held');
$gate->query('ROLLBACK');
expect_terminal($node, $held, { status => 'succeeded', result => 3 }, 'and another one makes the call');
# the log tells of a transaction that a shutdown would have had to wait for
my $leaves = qr/must leave|canceling statement|terminating background worker/;
is(scalar(grep { !/$leaves/ } worker_complaints($node, $from)), 0, 'which is nothing to complain about')
  or diag(worker_complaints($node, $from));
is_deeply([ grep { !/$leaves/ } worker_complaints($node) ], [], 'workers have nothing to complain about');
$node->stop;

done_testing();
