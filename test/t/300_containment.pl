
# What the process that runs code can do, as the kernel sees it; and what is
# left of it afterwards.
#
# The shipped runner can't be looked into (it is not dumpable): of it, status
# and limits are read.  The probe build differs in that it stays dumpable, so
# that descriptors and environment can be read, and has a global probe(name)
# that tries what is forbidden.

use strict;
use warnings FATAL => 'all';
no warnings 'portable';    # hex of 64-bit masks

use Test::More;
use PostgreSQL::Test::Utils;
use SandboxExec;

my $conf = q{
sandbox_exec.workers = 1
sandbox_exec.lease = '1 h'
};
my $endless = 'while true do end';
my $node = new_node('shipped', conf => $conf);

# the columns of /proc/PID/limits: name => "soft hard"
sub limits_of
{
	my ($pid) = @_;
	return { map { /^(Max .*?)\s{2,}(\S+)\s+(\S+)/ ? ($1, "$2 $3") : () } split /\n/, slurp_file("/proc/$pid/limits") };
}

sub nice_of
{
	my ($pid) = @_;
	return (split / /, slurp_file("/proc/$pid/stat") =~ s/.*\) //sr)[16];
}

# ------------------------------------------------------ as the kernel sees it

my $id = enqueue($node, $endless);
my ($runner, $worker) = runner_of($node, $id);
my $status = process_status($runner);

# guarantee: the filter is in force while foreign code runs
is($status->{Seccomp}, 2, 'a seccomp filter is in force');
is($status->{NoNewPrivs}, 1, 'no new privileges');
is($status->{Threads}, 1, 'one thread');
is($status->{PPid}, $worker, 'its parent is the worker');
# guarantee: nothing of a server process's signal state survives exec
is(hex $status->{$_}, 0, "$_ is empty") for qw(SigBlk SigCgt CapInh CapPrm CapEff);
# (libc ignores two signals of its own, 32 and 33, in what it spawns)
is(hex($status->{SigIgn}) & ~0x180000000, 0, 'no signal is ignored');

# guarantee: were the filter to fail, the process could still do next to nothing
my $limits = limits_of($runner);
is($limits->{"Max $_"}, '0 0', "$_: none")
  for ('core file size', 'file size', 'processes', 'open files', 'locked memory', 'msgqueue size', 'pending signals');
my ($soft, $hard) = split / /, $limits->{'Max address space'};
like($soft, qr/^\d+$/, 'the address space is limited');
is($hard, $soft, 'for good');
# the arena reserves twice the limit for each of two kinds of blocks
cmp_ok($soft, '<=', (4 * 64 + 64) * 1024 * 1024, 'to the arena, and the program');
is(nice_of($runner), nice_of($worker) + 5, 'it is nicer than its worker by runner_nice');

# guarantee: nobody but root looks into it, and it leaves no core file
ok(!opendir(my $dir, "/proc/$runner/fd"), 'its descriptors cannot be read');
ok(!defined readlink("/proc/$runner/exe"), 'it is not dumpable');

$node->safe_psql('postgres', "SELECT sandbox_exec.cancel('$id')");
expect_terminal($node, $id, { status => 'cancelled' }, 'cancelled');
no_such_process($runner);

# ----------------------------------------------------------- who may share one

# The process that was started for an execution, and is kept after it; 0: one that
# was kept before took it.
my $role_made = $node->safe_psql('postgres', q{CREATE ROLE other; SELECT sandbox_exec.grant_submitter('other')});

sub run_and_keep
{
	my ($code, %arg) = @_;
	my %before = map { $_ => 1 } runner_pids($node);
	my $row = wait_for_terminal($node, enqueue($node, $code, %arg));
	my @new = grep { !$before{$_} } runner_pids($node);

	cmp_ok(scalar @new, '<=', 1, 'one runner at most is started');
	return ($new[0] // 0, $row);
}

my ($first, $row) = run_and_keep('seen = "secret"; string.seen = seen; table.seen = seen; return seen', owner => q('ann'));
is($row->{result}, 'secret', 'a program leaves something behind');
ok($first, 'its runner is kept');
(my $again, $row) = run_and_keep(
	'return {seen == nil, string.seen == nil, table.seen == nil, ("").seen == nil}', owner => q('ann'));
is($again, 0, 'and serves the same submitter and owner again');
# guarantee: each execution begins with a state that nobody has touched
is_deeply($row->{result}, [ (JSON::PP::true()) x 4 ], 'in a fresh state');

# guarantee: a process holds code and data of one submitter and owner only
my ($bens) = run_and_keep('return 1', owner => q('ben'));
ok($bens, 'another owner gets another runner');
my ($others) = run_and_keep('return 1', owner => q('ben'), role => 'other');
ok($others, 'and so does another submitter, for the same owner');

# guarantee: a worker keeps no more than a few, and one where nothing is to be done
wait_for_terminal($node, $_) for map { enqueue($node, 'return 1', owner => "'tenant $_'") } 1 .. 12;
my @workers = worker_pids($node);
my @runners = runner_pids($node);
cmp_ok(scalar @runners, '<=', 8 * @workers, 'eight a worker at most are kept');
poll_until(sub { my @left = runner_pids($node); @left <= worker_pids($node) }, 'and of an idle one, one');

# guarantee: what was interrupted in the middle is never used again
($first) = run_and_keep('return 1', owner => q('cleo'));
$id = enqueue($node, $endless, owner => q('cleo'));
is((runner_of($node, $id))[0], $first, 'a kept runner takes an execution');
$node->safe_psql('postgres', "SELECT sandbox_exec.cancel('$id')");
expect_terminal($node, $id, { status => 'cancelled' }, 'that is stopped');
no_such_process($first);
($again) = run_and_keep('return 1', owner => q('cleo'));
ok($again, 'the next execution gets another one');

# guarantee: an idle runner is small
($first, $row) = run_and_keep(
	'local t = {} for i = 1, 40 do t[i] = string.rep("x", 1024 * 1024) end return collectgarbage("count")',
	owner => q('dora'));
cmp_ok($row->{result}, '>', 40 * 1024, 'an execution used 40 MB');
my $kept = $first ? process_status($first) : undef;
cmp_ok($kept ? $kept->{VmRSS} =~ s/ kB//r : 0, '<', 8 * 1024, 'that are not kept afterwards');
(undef, $row) = run_and_keep('return "next"', owner => q('dora'));
is($row->{result}, 'next', 'and the next one runs');

# --------------------------------------------------------- what is left behind

# guarantee: a worker that leaves, for whatever reason, leaves no process behind
($first) = run_and_keep('return 1', owner => q('ann'));
($worker) = worker_pids($node, 'postgres');
$node->safe_psql('postgres', "SELECT pg_terminate_backend($worker)");
no_such_process($worker);
no_such_process($first);
pass('a worker that is terminated takes its idle runner along');

$id = enqueue($node, $endless);
($runner, $worker) = runner_of($node, $id);
$node->safe_psql('postgres', "SELECT pg_terminate_backend($worker)");
no_such_process($runner);
my ($next, $next_worker) = runner_of($node, $id);
isnt($next, $runner, 'and one at work, and another worker starts another');

# guarantee: not even a worker that is killed outright
my $epoch = server_epoch($node);
kill_process($node, 'KILL', $next_worker);
process_gone($next);
wait_for_restart($node, $epoch);
pass('a worker that is killed takes its runner along');
$node->safe_psql('postgres', "SELECT sandbox_exec.cancel('$id')");
expect_terminal($node, $id, { status => 'cancelled' }, 'cancelled');

set_config($node, 'sandbox_exec.worker_idle_timeout' => q('100 ms'));
($id) = enqueue($node, $endless);
($runner, $worker) = runner_of($node, $id);
$node->safe_psql('postgres', "SELECT sandbox_exec.cancel('$id')");
wait_for_terminal($node, enqueue($node, 'return 1'));
no_such_process($worker);
is(join(' ', children_of($node->{_pid}, $worker) ? grep { !-e "/proc/$_/exe" } children_of($worker) : ()), '', 'an idle worker that left has no child');
$node->stop;

# ------------------------------------------------------------- forbidden calls

my $probe = new_node('probe', conf => $conf, install_path => installation_with($ENV{SANDBOX_EXEC_PROBE}));

$id = enqueue($probe, $endless);
($runner, $worker) = runner_of($probe, $id);

# guarantee: nothing of the server's is within reach: no file, no socket but the
# one to the worker, no secret from an environment
opendir($dir, "/proc/$runner/fd") or die "could not read /proc/$runner/fd: $!";
my %descriptor = map { $_ => readlink("/proc/$runner/fd/$_") } grep { /^\d+$/ } readdir $dir;
is_deeply([ sort keys %descriptor ], [3], 'one descriptor is open') or diag(explain(\%descriptor));
like($descriptor{3}, qr/^socket:/, 'a socket');
is(slurp_file("/proc/$runner/environ"), '', 'the environment is empty');
is(readlink("/proc/$runner/cwd"), '/', 'it stands in no directory of the server');
unlike(slurp_file("/proc/$runner/maps"), qr/ rwx|[r-]wx/, 'no memory is writable and executable');
unlike(slurp_file("/proc/$runner/maps"), qr{pgdata|/dev/shm|PostgreSQL|/SYSV}, 'no memory of the server is mapped');
is(process_status($runner)->{Seccomp}, 2, 'its filter is that of the shipped runner');
$probe->safe_psql('postgres', "SELECT sandbox_exec.cancel('$id')");
wait_for_terminal($probe, $id);

# guarantee: an attempt is the end, not an error that code could go on from
for my $what (qw(open socket fork kill ptrace execve mmap_exec))
{
	expect_terminal(
		$probe,
		enqueue($probe, qq{print("before") print(pcall(probe, "$what")) return "alive"}),
		{ status => 'failed', error_code => 'sandbox_violation', result => undef, stdout => "before\n", attempt_count => 1 },
		"$what ends the execution");
	expect_terminal($probe, enqueue($probe, 'return "next"'), { status => 'succeeded', result => 'next' }, 'and no other');
}
is((worker_pids($probe, 'postgres'))[0], $worker, 'nor its worker');
# the probe is what it says: it reports what it doesn't know, and only dies of what it does
expect_terminal($probe, enqueue($probe, 'probe("nothing")'), { status => 'failed', error_code => 'runtime_error' },
	'the probe itself is harmless');
expect_terminal($node = new_node('plain', conf => $conf), enqueue($node, 'return probe == nil'), { status => 'succeeded', result => JSON::PP::true() },
	'the shipped runner has none');

done_testing();
