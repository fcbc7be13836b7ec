
# Settings that change while the server runs, workers that come and go, and
# databases that compete for them.

use strict;
use warnings FATAL => 'all';

use Test::More;
use PostgreSQL::Test::Utils;
use SandboxExec;

my $endless = 'while true do end';
my $node = new_node(
	'main',
	conf => q{
sandbox_exec.workers = 1
sandbox_exec.lease = '1 h'
});

sub count_of
{
	my ($status, $dbname) = @_;
	return $node->safe_psql($dbname // 'postgres', "SELECT count(*) FROM sandbox_exec.execution WHERE status = '$status'");
}

sub wait_for_running
{
	my ($count) = @_;
	poll_until(
		sub {
			$node->safe_psql('postgres', 'SELECT count(*) FROM sandbox_exec.workers WHERE execution_id IS NOT NULL') == $count
			  && count_of('running') == $count;
		},
		"$count executions to be running");
}

# ---------------------------------------------------------- how many workers

# each of its own owner: a runner apiece
my @ids = map { enqueue($node, $endless, owner => "'owner $_'") } 1 .. 4;
wait_for_running(1);
is(scalar worker_pids($node, 'postgres'), 1, 'one worker at first');
set_config($node, 'sandbox_exec.workers' => 3);
wait_for_running(3);
# guarantee: the budget is what the setting says, at once and without a restart
is(scalar worker_pids($node), 3, 'three workers after a reload, and no more');

set_config($node, 'sandbox_exec.workers' => 1);
# guarantee: a smaller budget doesn't cost anybody a run: who is at work ends it
my ($watched) = grep { $node->safe_psql('postgres', "SELECT status FROM sandbox_exec.execution WHERE id = '$_'") eq 'running' } @ids;
my ($runner) = runner_of($node, $watched);
is($node->safe_psql('postgres', "SELECT status, attempt_count FROM sandbox_exec.execution WHERE id = '$watched'"), 'running|1',
	'those at work go on');
for my $id (@ids[ 0 .. 2 ])
{
	$node->safe_psql('postgres', "SELECT sandbox_exec.cancel('$id')");
	expect_terminal($node, $id, { status => 'cancelled', attempt_count => 1 }, 'until they end');
}
poll_until(sub { worker_pids($node) == 1 }, 'the surplus workers to leave');
wait_for_running(1);
is($node->safe_psql('postgres', "SELECT status, attempt_count FROM sandbox_exec.execution WHERE id = '$ids[3]'"), 'running|1',
	'the one that is left takes the next');
$node->safe_psql('postgres', "SELECT sandbox_exec.cancel('$ids[3]')");
expect_terminal($node, $ids[3], { status => 'cancelled' }, 'which ends, too');

set_config($node, 'sandbox_exec.workers' => 0);
poll_until(sub { worker_pids($node) == 0 }, 'all workers to leave');
my $id = enqueue($node, 'return 1');
is(count_of('queued'), 1, 'with no workers nothing runs');
set_config($node, 'sandbox_exec.workers' => 2);
expect_terminal($node, $id, { status => 'succeeded' }, 'with some it does');

# ----------------------------------------------------------------- switched off

# a queue that is at work when it is switched off
my $turns = turns($node, 3);
my @load = enqueue_batch($node, [ map { { code => "for i = 1, $turns do end return args", args => $_ } } 1 .. 2000 ]);
poll_until(sub { count_of('succeeded') > 20 }, 'the queue to be at work');
set_config($node, 'sandbox_exec.enabled' => 'off');
like(wait_for_health($node, 'enabled', qr/./), qr/sandbox_exec\.enabled is off/, 'health says that it is off');
poll_until(sub { worker_pids($node) == 0 && count_of('running') == 0 }, 'the workers to leave');
my $done = count_of('succeeded');
# guarantee: off means that nothing is claimed, and that nothing is lost by it
cmp_ok(count_of('queued'), '>', 0, 'some are left');
is($node->safe_psql('postgres', q{SELECT max(attempt_count) FROM sandbox_exec.execution WHERE status = 'queued'}), 0, 'at no cost to them');
wait_for_health($node, 'enabled', qr/./);
is(count_of('succeeded'), $done, 'and stay where they are');
set_config($node, 'sandbox_exec.enabled' => 'on');
# guarantee: it goes on by itself, without a new enqueue
wait_for_terminal($node, $load[-1]);
$node->poll_query_until('postgres', q{SELECT count(*) = 0 FROM sandbox_exec.execution WHERE status IN ('queued', 'running')})
  or die 'the queue did not go on';
my $list = join "', '", @load;
is($node->safe_psql('postgres', "SELECT count(*), max(attempt_count) FROM sandbox_exec.execution WHERE id IN ('$list') AND status = 'succeeded'"),
	'2000|1', 'on again, it finishes the queue');

# ------------------------------------------------------------------ idle workers

my ($worker) = worker_pids($node, 'postgres');
set_config($node, 'sandbox_exec.worker_idle_timeout' => q('100 ms'));
# guarantee: who has nothing to do leaves the database to its owner
poll_until(sub { worker_pids($node) == 0 }, 'idle workers to leave');
$id = enqueue($node, 'return "woken"');
expect_terminal($node, $id, { status => 'succeeded', result => 'woken' }, 'an enqueue brings one back');
poll_until(sub { worker_pids($node) == 0 }, 'it to leave again');

# guarantee: what is due later is run then, though nobody stays to wait for it
$id = enqueue($node, 'return "later"', run_at => q(now() + interval '2 s'));
poll_until(sub { worker_pids($node) == 0 }, 'nobody to be there');
is(count_of('queued'), 1, 'it waits');
expect_terminal($node, $id, { status => 'succeeded', result => 'later' }, 'a deferred one comes when it is due');
is($node->safe_psql('postgres', "SELECT started_at >= run_at FROM sandbox_exec.executions WHERE id = '$id'"), 't', 'and not before');

# guarantee: a worker that is busy for long looks after the queue all the same
my $long = enqueue($node, $endless);
runner_of($node, $long);
$id = enqueue($node, 'return "beside"', run_at => q(now() + interval '1500 ms'));
expect_terminal($node, $id, { status => 'succeeded' }, 'a deferred one comes when it is due, though the only worker is busy');
is($node->safe_psql('postgres', "SELECT status FROM sandbox_exec.execution WHERE id = '$long'"), 'running', 'as it still is');
$node->safe_psql('postgres', "SELECT sandbox_exec.cancel('$long')");
expect_terminal($node, $long, { status => 'cancelled' }, 'it is cancelled');

# ------------------------------------------------------------------- fairness

# Two databases with more work than one worker gets done; one with none.
set_config($node, 'sandbox_exec.workers' => 1, 'sandbox_exec.worker_idle_timeout' => q('1 min'));
$node->safe_psql('postgres', "CREATE DATABASE $_") for qw(second third);
$node->safe_psql($_, 'CREATE EXTENSION sandbox_exec') for qw(second third);
my @two = qw(postgres second);
for my $dbname (@two)
{
	enqueue_batch($node, [ map { { code => $endless, timeout => '100 ms' } } 1 .. 600 ], dbname => $dbname);
}
poll_until(
	sub {
		my @ended = map { count_of('timed_out', $_) } @two;
		return $ended[0] >= 15 && $ended[1] >= 15;
	},
	'both databases to be served');
# guarantee: a database with endless work doesn't keep the others from theirs
cmp_ok(count_of('queued', $_), '>', 100, "$_ progresses while there is more to do than one worker can") for @two;
# guarantee: taking turns doesn't interrupt anybody
is($node->safe_psql($_, 'SELECT max(attempt_count), bool_or(solo) FROM sandbox_exec.execution'), '1|f', "$_: no attempt was lost") for @two;

$id = enqueue($node, $endless, dbname => 'third', timeout => q('2500 ms'));
# guarantee: an execution that takes longer than a turn ends, even so
expect_terminal($node, $id, { status => 'timed_out', attempt_count => 1 }, 'a long one in a third database ends', dbname => 'third');
cmp_ok(count_of('queued', $_), '>', 0, "while $_ still has work") for @two;

done_testing();
