# A runner is told of several executions at once and goes on by itself.  What any
# of them does is nobody else's matter: each ends as it would have alone.

use strict;
use warnings FATAL => 'all';

use Test::More;
use SandboxExec;

my $node = new_node('main', conf => "sandbox_exec.workers = 1\nsandbox_exec.lease = '1 h'\n");
my $endless = 'while true do end';

sub sql { return $node->safe_psql('postgres', $_[0]) }

# Claimed together: the worker has seen that executions are short.
sub enqueue_together
{
	my @requests = @_;
	wait_for_terminal($node, $_) for (enqueue_batch($node, [ map { { code => "return $_" } } 1 .. 300 ]))[-1];
	return enqueue_batch($node, [ map { { timeout => '2 min', %$_ } } @requests ]);
}

sub quick { return map { { code => 'return args', args => $_, thread_id => 'quick' } } @_ }

sub all_ended
{
	poll_until(sub { sql(q{SELECT count(*) FROM sandbox_exec.execution WHERE status IN ('queued', 'running')}) eq '0' }, 'all to end');
}

# those that are none of it: each with its own result, at its first attempt
sub others_are_well
{
	my ($name) = @_;

	all_ended();
	is(sql(q{SELECT count(*) FROM sandbox_exec.executions e JOIN sandbox_exec.execution_input i USING (id)
			WHERE e.thread_id = 'quick' AND (e.status, e.result, e.attempt_count, e.stdout) IS DISTINCT FROM ('succeeded', i.args, 1, '')}),
		0, $name);
}

# ---------------------------------------------------------------- of all kinds

# guarantee: an execution that prints, fails or ends its process is the only one to notice
my @odd = (
	[ 'print("out") return 1', { status => 'succeeded', result => 1, stdout => "out\n" } ],
	[ 'io.stderr:write("err") return 2', { status => 'succeeded', result => 2, stderr => 'err' } ],
	[ 'emit{a = 1} return 3', { status => 'succeeded', result => 3 } ],
	[ 'error("oh", 0)', { status => 'failed', error_code => 'runtime_error', error => 'oh' } ],
	[ 'os.exit(3)', { status => 'failed', exit_code => 3 } ],
	[ 'os.exit(0)', { status => 'succeeded', result => undef } ],
	[ 'return ("x"):rep(100000)', { status => 'succeeded', result => 'x' x 100000 } ],
	[ 'local t = {} for i = 1, 1e9 do t[i] = {} end', { status => 'failed', error_code => 'memory_limit' } ],
	[ 'return pcall(tools.call, "none")', { status => 'succeeded' } ],
	[ 'sleep(0.01) return 4', { status => 'succeeded', result => 4 } ],    # lint: slept on purpose: the code does
	[ 'this is not Lua', { status => 'failed', error_code => 'syntax_error' } ],
	[ 'x = (x or 0) + 1 return x', { status => 'succeeded', result => 1 } ]);
my @ids = enqueue_together(map { my $odd = $_; ({ code => $odd->[0] }, quick(1 .. 20), { code => $odd->[0] }) } @odd);
others_are_well('executions beside others of every kind');
for my $i (0 .. $#odd)
{
	expect_terminal($node, $ids[ 22 * $i ], { attempt_count => 1, %{ $odd[$i][1] } }, "before others: $odd[$i][0]");
	expect_terminal($node, $ids[ 22 * $i + 21 ], { attempt_count => 1, %{ $odd[$i][1] } }, "after others: $odd[$i][0]");
}

# guarantee: what is printed belongs to who printed it
enqueue_together(map { { code => 'if args % 3 == 0 then print(args) end if args % 7 == 0 then emit(args) end return args', args => $_, thread_id => 'talk' } } 1 .. 400);
all_ended();
is(sql(q{SELECT count(*) FROM sandbox_exec.executions e JOIN sandbox_exec.execution_input i USING (id)
		WHERE e.thread_id = 'talk' AND (e.status, e.result, e.stdout) IS DISTINCT FROM
			('succeeded', i.args, CASE WHEN i.args::text::integer % 3 = 0 THEN i.args::text || E'\n' ELSE '' END)}),
	0, 'each has its own output');
is(sql(q{SELECT count(*) FROM sandbox_exec.execution e JOIN sandbox_exec.execution_input i USING (id)
			LEFT JOIN sandbox_exec.event v ON v.execution_id = i.id AND v.type = 'custom'
		WHERE e.thread_id = 'talk' AND v.data IS DISTINCT FROM CASE WHEN i.args::text::integer % 7 = 0 THEN i.args END}),
	0, 'and its own events');

# ------------------------------------------------------------ what is interrupted

# guarantee: the time that is over is that of the one at work
@ids = enqueue_together(quick(1 .. 30), { code => "print('mine') $endless", timeout => '300 ms' }, quick(31 .. 60));
expect_terminal($node, $ids[30], { status => 'timed_out', attempt_count => 1, stdout => "mine\n" }, 'one exceeds its time');
others_are_well('and those around it do not');

# guarantee: a cancel ends the one that was cancelled
@ids = enqueue_together(quick(1 .. 30), { code => "print('mine') $endless" }, quick(31 .. 60));
runner_of($node, $ids[30]);
sql("SELECT sandbox_exec.cancel('$ids[30]')");
expect_terminal($node, $ids[30], { status => 'cancelled', attempt_count => 1, stdout => "mine\n" }, 'one is cancelled');
others_are_well('and no other');

# guarantee: a runner that is killed costs the one at work an attempt, and no other
@ids = enqueue_together(quick(1 .. 30), { code => $endless }, quick(31 .. 60));
my ($runner) = runner_of($node, $ids[30]);
kill_process($node, 'KILL', $runner);
poll_until(sub { record($node, $ids[30])->{attempt_count} == 2 }, 'the second attempt');
runner_of($node, $ids[30]);
sql("SELECT sandbox_exec.cancel('$ids[30]')");
expect_terminal($node, $ids[30], { status => 'cancelled', attempt_count => 2 }, 'a runner is killed');
others_are_well('its other executions are none the worse');

# guarantee: what waits behind a long one is run by somebody else
set_config($node, 'sandbox_exec.workers' => 2);
@ids = enqueue_together(quick(1 .. 30), { code => $endless }, quick(31 .. 60));
runner_of($node, $ids[30]);
poll_until(sub { sql(q{SELECT count(*) FROM sandbox_exec.execution WHERE status IN ('queued', 'running')}) eq '1' }, 'all others to end');
is(record($node, $ids[30])->{status}, 'running', 'the others end while one goes on');
sql("SELECT sandbox_exec.cancel('$ids[30]')");
others_are_well('at their first attempts');

# guarantee: a zygote that is killed is replaced
my @children = children_of(worker_pids($node));
my %is_runner = map { $_ => 1 } runners_of(worker_pids($node));
kill_process($node, 'KILL', $_) for grep { !$is_runner{$_} } @children;
wait_for_terminal($node, $_) for map { enqueue($node, 'return 1', owner => "'tenant $_'") } 1 .. 20;
is(sql(q{SELECT count(*) FROM sandbox_exec.execution_input i JOIN sandbox_exec.execution e USING (id)
		WHERE i.owner ~ '^tenant' AND e.status = 'succeeded'}), 20, 'runners are forked from another one');

is_deeply([ worker_complaints($node) ], [], 'the log has no complaint of launcher or workers');
done_testing();
