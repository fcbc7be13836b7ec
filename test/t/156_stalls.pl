
# What others do to a worker: rows they hold, locks, cancels that come at a bad
# moment, standbys that never answer, a server without room.  One execution may
# suffer; the queue goes on.

use strict;
use warnings FATAL => 'all';

use Test::More;
use SandboxExec;

my $node = new_node(
	'main',
	init => { allows_streaming => 1 },
	conf => q{
sandbox_exec.workers = 1
sandbox_exec.flush_interval = '20 ms'
sandbox_exec.lease = '1 h'
});

sub sql
{
	return $node->safe_psql('postgres', $_[0]);
}

my $busy = 'while true do end';

# ------------------------------------------------------- what the log may contain

# Guarantee: an event of the code's own may be any value: whoever reads the log
# for the next attempt takes it for what it is.
my $id = enqueue($node, qq{emit{truncated = "x", text = 5} emit("x") emit{truncated = true} $busy}, timeout => "'20 min'");
poll_until(sub { sql("SELECT count(*) FROM sandbox_exec.event WHERE execution_id = '$id'") eq '3' }, 'the events');
kill_process($node, 'KILL', (runner_of($node, $id))[0]);
poll_until(sub { sql("SELECT string_agg(type, ' ' ORDER BY pos) FROM sandbox_exec.event WHERE execution_id = '$id'") =~ /retry/ }, 'another attempt');
runner_of($node, $id);
sql("SELECT sandbox_exec.cancel('$id')");
wait_for_terminal($node, $id);
expect_terminal($node, enqueue($node, 'return 1'), { status => 'succeeded' }, 'the queue goes on after odd events');

# ------------------------------------------------------------- cancel in a batch

# Guarantee: a cancel is heeded at once when it comes between claim and start.
# The first of the batch keeps the worker until both are claimed and one of them
# is cancelled; its own renewal is what eats the word of the cancel.
wait_for_terminal($node, $_) for enqueue_batch($node, [ map { { code => 'return 1' } } 1 .. 300 ]);
my @both = enqueue_batch($node, [
	{ code => 'local t = {} for i = 1, 2e5 do t[i] = i end return #t', priority => 2 },
	{ code => $busy, timeout => '20 min', priority => 1 }]);
poll_until(sub { my $r = record($node, $both[1]); $r->{status} eq 'running' }, 'the second to be claimed');
sql("SELECT sandbox_exec.cancel('$both[1]')");
expect_terminal($node, $both[1], { status => 'cancelled' }, 'cancelled before it began, or just after');
expect_terminal($node, $both[0], { status => 'succeeded' }, 'the other one is not');

# ------------------------------------------------------- a cancel of the process

# Guarantee: pg_cancel_backend() is for statements; the code that runs is not one.
$id = enqueue($node, q{local n = 0 while true do n = n + 1 print(n) for i = 1, 3e6 do end end}, timeout => "'20 min'");
my ($runner) = runner_of($node, $id);
my ($worker) = worker_pids($node);
for my $n (1 .. 3)
{
	sql("SELECT pg_cancel_backend($worker)");
	my $text = record($node, $id)->{stdout};
	poll_until(sub { record($node, $id)->{stdout} ne $text }, 'the code to go on');
}
is_deeply([ worker_pids($node) ], [$worker], 'the worker is the same');
ok(is_alive($runner), 'and so is the process of the code');
is(record($node, $id)->{attempt_count}, 1, 'no attempt is lost');
sql("SELECT sandbox_exec.cancel('$id')");
wait_for_terminal($node, $id);

# -------------------------------------------------------- outcomes of held rows

# Guarantee: outcomes that cannot be written wait, but no more than a few: then
# the worker claims nothing.  All are recorded in the end.
my $hold = session($node);
$hold->query('BEGIN');
my @held;
my $turns = turns($node, 400);
while (@held < 40)
{
	my $big = enqueue($node, q{io.write(("\1"):rep(190000)) local n = 0 for i = 1, } . $turns . q{ do n = n + i end return n}, max_output_chars => 200000);
	my $state = '';
	poll_until(
		sub {
			$state = sql("SELECT status FROM sandbox_exec.execution WHERE id = '$big'");
			$state ne 'queued' or sql(q{SELECT count(*) FROM sandbox_exec.execution WHERE status = 'running'}) >= 12;
		},
		'a claim, or a worker that has enough');
	last if $state eq 'queued';
	$hold->query("SELECT FROM sandbox_exec.execution WHERE id = '$big' FOR UPDATE");
	push @held, $big;
}
cmp_ok(scalar(@held), '<', 40, 'a worker does not collect outcomes without end: ' . @held);
$hold->query('ROLLBACK');
$hold->close;
poll_until(sub { sql('SELECT count(*) FROM sandbox_exec.execution WHERE finished_at IS NULL') eq '0' }, 'all to be recorded');
is(sql(q{SELECT count(*) FROM sandbox_exec.executions WHERE length(stdout) = 190000 AND status = 'succeeded'}), @held + 1, 'none of them is lost');

# ------------------------------------------------ a standby that never answers

# Guarantee: a fast shutdown ends a worker that waits for a synchronous standby.
set_config($node, synchronous_standby_names => q{'none_such'});
poll_until(sub { sql(q{SET synchronous_commit = local; SELECT sandbox_exec.enqueue('return 1')}); sql(q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'sandbox_exec worker' AND wait_event = 'SyncRep'}) }, 'a worker to wait for the standby');
$node->stop('fast');
pass('the server stops');
$node->append_conf('postgresql.auto.conf', "synchronous_standby_names = ''");
$node->start;
poll_until(sub { sql(q{SELECT count(*) FROM sandbox_exec.execution WHERE finished_at IS NULL}) eq '0' }, 'all to end');

# ------------------------------------------------------- a server without room

# Guarantee: where there is a place for one worker only, databases take turns.
$node->stop;
$node->append_conf('postgresql.conf', "max_worker_processes = 2\nmax_logical_replication_workers = 0\nsandbox_exec.workers = 4\n");
$node->start;
for my $database (qw(one two three))
{
	sql("CREATE DATABASE $database");
	$node->safe_psql($database, 'CREATE EXTENSION sandbox_exec');
}
my $slow = 'local n = 0 for i = 1, ' . turns($node, 400) . ' do n = n + i end return n';
$node->safe_psql('one', "SELECT count(sandbox_exec.enqueue('$slow')) FROM generate_series(1, 200)");
poll_until(sub { $node->safe_psql('one', q{SELECT count(*) FROM sandbox_exec.execution WHERE finished_at IS NOT NULL}) > 1 }, 'the first database to have its turn');
expect_terminal($node, enqueue($node, 'return 2', dbname => 'two'), { status => 'succeeded' }, 'the second has its turn', dbname => 'two');
expect_terminal($node, enqueue($node, 'return 3', dbname => 'three'), { status => 'succeeded' }, 'and the third', dbname => 'three');
cmp_ok($node->safe_psql('one', q{SELECT count(*) FROM sandbox_exec.execution WHERE finished_at IS NULL}), '>', 0, 'while the first has more to do');

done_testing();
