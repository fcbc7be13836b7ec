
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
is(sql('SELECT count(*) FROM sandbox_exec.executions WHERE attempt_count <> 1'), '0', 'nothing was begun twice');
is_deeply([ worker_complaints($node) ], [], 'workers have nothing to complain about');
$node->stop;

done_testing();
