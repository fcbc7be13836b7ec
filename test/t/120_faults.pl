
# What the world does to a server: things are killed, missing, broken, held or
# exhausted.  Each gives a clear line in health or a terminal record, leaves the
# others alone, and is over by itself once its cause is gone.

use strict;
use warnings FATAL => 'all';

use IPC::Run ();
use POSIX ();
use Test::More;
use PostgreSQL::Test::Utils;
use SandboxExec;

my $endless = 'print("at work") while true do end';

# an hour's lease: nothing here is repaired because one expired
my $node = new_node(
	'main',
	conf => q{
sandbox_exec.workers = 1
sandbox_exec.lease = '1 h'
});

sub state_of
{
	my ($id, $of) = @_;
	return ($of // $node)->safe_psql('postgres',
		"SELECT status, attempt_count FROM sandbox_exec.execution WHERE id = '$id'");
}

# ---------------------------------------------------------- a runner is killed

my $id = enqueue($node, $endless);
my ($runner, $worker) = runner_of($node, $id);
kill_process($node, 'KILL', $runner);
# guarantee: a kill from outside is not the program's fault: it runs again
poll_until(sub { state_of($id) eq 'running|2' }, 'the second attempt');
runner_of($node, $id);
wait_for_output($node, $id, "at work\n");
$node->safe_psql('postgres', "SELECT sandbox_exec.cancel('$id')");
expect_terminal($node, $id, { status => 'cancelled', attempt_count => 2, stdout => "at work\n" },
	'a runner is killed once: the next attempt goes on, and the log is of that attempt alone');

$id = enqueue($node, $endless);
($runner) = runner_of($node, $id);
kill_process($node, 'KILL', $runner);
poll_until(sub { state_of($id) eq 'running|2' }, 'the second attempt');
my ($second) = runner_of($node, $id);
isnt($second, $runner, 'the second attempt has a runner of its own');
kill_process($node, 'KILL', $second);
# guarantee: on its last attempt it ends, and says what happened
expect_terminal(
	$node, $id,
	{ status => 'failed', error_code => 'executor_error', error => qr/signal 9/, attempt_count => 2, stdout => "at work\n" },
	'killed on its last attempt');

$id = enqueue($node, $endless, max_attempts => 1);
($runner) = runner_of($node, $id);
kill_process($node, 'SEGV', $runner);
# guarantee: what looks like a crash of the VM isn't tried again
expect_terminal($node, $id, { status => 'failed', error_code => 'runner_crash', attempt_count => 1 }, 'a crash is final');
is((worker_pids($node, 'postgres'))[0], $worker, 'the worker outlived all of its runners');

# ----------------------------------------------------- cancel while it runs

$id = enqueue($node, $endless);
($runner) = runner_of($node, $id);
$node->safe_psql('postgres', "SELECT sandbox_exec.cancel('$id', 'enough')");
# guarantee: code is never asked to stop; what it printed is kept
expect_terminal($node, $id, { status => 'cancelled', error => 'enough', error_code => 'cancelled', stdout => "at work\n", result => undef },
	'a running one is cancelled');
no_such_process($runner);
cmp_ok($node->safe_psql('postgres', "SELECT finished_at - cancel_requested_at < '10 s' FROM sandbox_exec.executions WHERE id = '$id'"),
	'eq', 't', 'soon, not at the end of a lease or a timeout');

# ------------------------------------------ a cancel that is never committed

# guarantee: no worker waits for a row that a session holds

my $holder = $node->background_psql('postgres');

$id = enqueue($node, $endless, timeout => q('5 s'));
runner_of($node, $id);
$holder->query_safe("BEGIN; SELECT sandbox_exec.cancel('$id')");
my $other = enqueue($node, 'return "other"');
expect_terminal($node, $other, { status => 'succeeded', result => 'other' },
	'the outcome of a row that is held keeps nobody else waiting');
is(state_of($id), 'running|1', 'it is kept');
$holder->query_safe('ROLLBACK');
expect_terminal($node, $id, { status => 'timed_out', attempt_count => 1, stdout => "at work\n" },
	'and recorded when the cancel is rolled back');

$id = enqueue($node, $endless, timeout => q('5 s'));
runner_of($node, $id);
$holder->query_safe("BEGIN; SELECT sandbox_exec.cancel('$id', 'late')");
$other = enqueue($node, 'return "other"');
expect_terminal($node, $other, { status => 'succeeded' }, 'again');
$holder->query_safe('COMMIT');
expect_terminal($node, $id, { status => 'cancelled', error => 'late', attempt_count => 1, stdout => "at work\n" },
	'when it is committed the execution ends as cancelled');

$node->safe_psql('postgres', 'SELECT sandbox_exec.pause_queue()');
$id = enqueue($node, 'return "held"');
$other = enqueue($node, 'return "other"');
$holder->query_safe("BEGIN; SELECT sandbox_exec.cancel('$id')");
$node->safe_psql('postgres', 'SELECT sandbox_exec.resume_queue()');
expect_terminal($node, $other, { status => 'succeeded' }, 'a claim passes over a queued one that is held');
is(state_of($id), 'queued|0', 'which stays');
$holder->query_safe('ROLLBACK');
expect_terminal($node, $id, { status => 'succeeded', result => 'held' }, 'and runs when it is let go');

# A batch of one that takes long and of others; the worker is kept in the
# release until one of the others is held.
$node->safe_psql(
	'postgres', q{
CREATE TABLE public.gate (closed boolean);
CREATE FUNCTION public.wait_at_gate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	WHILE EXISTS (SELECT FROM public.gate WHERE closed) LOOP
		PERFORM pg_sleep(0.01);    -- lint: slept on purpose: a gate
	END LOOP;
	RETURN new;
END $$;
CREATE TRIGGER wait_at_gate BEFORE UPDATE ON sandbox_exec.execution FOR EACH ROW
	WHEN (old.status = 'running' AND new.status = 'queued' AND old.thread_id = 'first')
	EXECUTE FUNCTION public.wait_at_gate();
INSERT INTO public.gate VALUES (true);
});
my ($long, $held);
poll_until(
	sub {
		$node->safe_psql('postgres', "SELECT sandbox_exec.cancel('$long')") if defined $long;
		my @quick = enqueue_batch($node, [ map { { code => "return $_" } } 1 .. 300 ]);
		wait_for_terminal($node, $quick[-1]);
		my @ids = enqueue_batch($node,
			[ (map { { code => "return $_" } } 1 .. 300), { code => $endless },
			  { code => 'return "first"', thread_id => 'first' }, { code => 'return "held"' } ]);
		($long, $held) = @ids[ 301 - 1, 303 - 1 ];
		runner_of($node, $long);
		return $node->safe_psql('postgres',
			"SELECT count(*) FROM sandbox_exec.execution WHERE id IN ('$ids[301]', '$held') AND status = 'running'") == 2;
	},
	'three executions to be claimed together');
$holder->query_safe("BEGIN; SELECT sandbox_exec.cancel('$held', 'not you')");
my ($was_at_work) = $node->safe_psql('postgres', "SELECT pid FROM sandbox_exec.workers WHERE execution_id = '$long'");
$node->safe_psql('postgres', 'UPDATE public.gate SET closed = false');
# it can't give back what is held, and so goes; another one takes the long one up
poll_until(
	sub {
		my $now = $node->safe_psql('postgres', "SELECT pid FROM sandbox_exec.workers WHERE execution_id = '$long'");
		return $now ne '' && $now ne $was_at_work;
	},
	'another worker to run the long one');
is(state_of($held), 'running|1', 'a claim that is held when its batch is released stays as it is');
$holder->query_safe('COMMIT');
# guarantee: a claim that could not be given back is not forgotten, even though
# the only worker is busy
expect_terminal($node, $held, { status => 'cancelled', error => 'not you' }, 'until the holder commits: then the cancel takes effect');
is(state_of($long), 'running|1', 'while the long one runs');
$node->safe_psql('postgres', "SELECT sandbox_exec.cancel('$long')");
expect_terminal($node, $long, { status => 'cancelled' }, 'and the long one of that batch');
$node->safe_psql('postgres', 'DROP TRIGGER wait_at_gate ON sandbox_exec.execution');
$holder->quit;

# ------------------------------------------- the outcome can't be written

$node->safe_psql(
	'postgres', q{
CREATE FUNCTION public.no_room() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	RAISE EXCEPTION 'no room for the log' USING ERRCODE = 'disk_full';
END $$;
CREATE TRIGGER no_room BEFORE INSERT ON sandbox_exec.event FOR EACH ROW EXECUTE FUNCTION public.no_room();
});
my $from = -s $node->logfile;
($worker) = worker_pids($node, 'postgres');
$id = enqueue($node, 'print("precious") return 1');
$node->wait_for_log(qr/ERROR:.*no room for the log/, $from);
$other = enqueue($node, 'return "quiet"');
expect_terminal($node, $other, { status => 'succeeded' }, 'others are recorded while an outcome cannot be');
is(state_of($id), 'running|1', 'that one is kept, not lost and not run again');
$node->safe_psql('postgres', 'DROP TRIGGER no_room ON sandbox_exec.event');
# guarantee: work that was done is recorded as soon as there is room
expect_terminal($node, $id, { status => 'succeeded', result => 1, stdout => "precious\n", attempt_count => 1 },
	'and recorded when there is room again');
is((worker_pids($node, 'postgres'))[0], $worker, 'by the worker that ran it');

# -------------------------------------------------------- a dropped submitter

$node->safe_psql('postgres', q{
	CREATE ROLE passing;
	SELECT sandbox_exec.grant_submitter('passing');
	SELECT sandbox_exec.pause_queue();
});
$id = enqueue($node, 'return 1', role => 'passing');
$other = enqueue($node, 'return 2');
$node->safe_psql('postgres', 'DROP OWNED BY passing; DROP ROLE passing; SELECT sandbox_exec.resume_queue()');
# guarantee: code runs for somebody, or not at all
expect_terminal($node, $id, { status => 'failed', error_code => 'submitter_dropped', result => undef, stdout => '' },
	'the submitter was dropped');
expect_terminal($node, $other, { status => 'succeeded', result => 2 }, 'which fails its own executions only');

# ---------------------------------------------------------- an unknown runtime

$id = enqueue($node, 'return 1', runtime => q('cobol'));
like(wait_for_health($node, 'runtimes', qr/"cobol"/), qr/start an executor/, 'health names a runtime that nothing serves');
$other = enqueue($node, 'return 2');
expect_terminal($node, $other, { status => 'succeeded' }, 'the others run');
# guarantee: it is neither failed nor claimed by who can't run it
is(state_of($id), 'queued|0', 'it stays queued');
$node->safe_psql('postgres', "SELECT sandbox_exec.cancel('$id')");
wait_for_health($node, 'runtimes', undef);

# ------------------------------------- an extension version that is not ours

my $version = $node->safe_psql('postgres', 'SELECT sandbox_exec.version()');
$node->safe_psql('postgres', q{UPDATE pg_extension SET extversion = '99.0' WHERE extname = 'sandbox_exec'});
$id = enqueue($node, 'return "after the update"');
# guarantee: a library doesn't touch rows whose rules it doesn't know
like(wait_for_health($node, 'extension version', qr/./), qr/ALTER EXTENSION sandbox_exec UPDATE/, 'health says what to do');
poll_until(sub { !worker_pids($node, 'postgres') }, 'the worker to leave');
is(state_of($id), 'queued|0', 'nothing is claimed');
$node->safe_psql('postgres', qq{
	UPDATE pg_extension SET extversion = '$version' WHERE extname = 'sandbox_exec';
	ALTER EXTENSION sandbox_exec UPDATE;
});
expect_terminal($node, $id, { status => 'succeeded', attempt_count => 1 }, 'after ALTER EXTENSION it runs');
wait_for_health($node, 'extension version', undef);

# ------------------------------------------------- a long one among short ones

set_config($node, 'sandbox_exec.workers' => 2);
$long = undef;
my @short = enqueue_batch($node, [ map { { code => "return $_" } } 1 .. 300 ]);
my @rest;
($long, @rest) = enqueue_batch($node, [ { code => $endless }, map { { code => "return $_" } } 1 .. 300 ]);
my $list = join "', '", @short, @rest;
$node->poll_query_until('postgres', "SELECT count(*) = 600 FROM sandbox_exec.execution WHERE id IN ('$list') AND status = 'succeeded'")
  or die 'the short ones did not end';
# guarantee: one long execution never keeps others from a free worker
is(state_of($long), 'running|1', 'all short ones ended while the long one runs');
is($node->safe_psql('postgres', "SELECT max(attempt_count) FROM sandbox_exec.execution WHERE id IN ('$list')"),
	1, 'at no cost to them');
$node->safe_psql('postgres', "SELECT sandbox_exec.cancel('$long')");
expect_terminal($node, $long, { status => 'cancelled' }, 'the long one is cancelled');
$node->stop;

# ------------------------------------- no background worker is to be had

$node = new_node(
	'crowded',
	conf => q{
max_worker_processes = 2			# the launcher's, and one more
max_logical_replication_workers = 0
sandbox_exec.worker_idle_timeout = '100 ms'
});

# a parallel query that lasts; it has the place when no worker of ours has it
my $setting = $node->pg_version >= 16 ? 'debug_parallel_query' : 'force_parallel_mode';
my $hogs = q{FROM pg_stat_activity WHERE query LIKE 'SET max_parallel%pg_sleep%' AND pid <> pg_backend_pid()};
my $hog;
poll_until(
	sub {
		$hog = IPC::Run::start(
			[   $node->installed_command('psql'), '-XAtq', '-d', $node->connstr('postgres'), '-c',
				"SET max_parallel_workers_per_gather = 1; SET $setting = on; SELECT pg_sleep(600)" ],
			'<', \undef, '>', \my $out, '2>', \my $err);
		$node->poll_query_until('postgres', "SELECT count(*) > 0 $hogs AND wait_event = 'PgSleep'") or die 'no parallel query';
		return 1 if $node->safe_psql('postgres', "SELECT count(*) $hogs AND backend_type = 'parallel worker'");
		$node->safe_psql('postgres', "SELECT pg_terminate_backend(pid) $hogs");
		$hog->finish;
		return 0;
	},
	'a parallel query to take the last background worker');
$id = enqueue($node, 'return "in the end"');
# guarantee: it waits, says why, and needs no restart
like(wait_for_health($node, 'worker start', qr/./), qr/max_worker_processes/, 'health names the setting');
is(state_of($id), 'queued|0', 'the execution stays queued');
$node->safe_psql('postgres', "SELECT pg_terminate_backend(pid) $hogs AND backend_type = 'client backend'");
$hog->finish;
expect_terminal($node, $id, { status => 'succeeded', result => 'in the end' }, 'and runs when there is a place');
wait_for_health($node, 'worker start', undef);
like(slurp_file($node->logfile), qr/sandbox_exec could not start a worker/, 'the log has it, too');
$node->stop;

# ----------------------------------------------- the runner can't be started

my $shipped = "$ENV{SANDBOX_EXEC_PKGLIBDIR}/sandbox_exec_runner";
$node = new_node('broken', install_path => installation_with(undef), conf => 'sandbox_exec.workers = 1');
my $epoch = server_epoch($node);

# a program that changes the world and becomes the runner
sub wrapper
{
	my ($name, $body) = @_;
	my $file = PostgreSQL::Test::Utils::tempdir() . "/$name";

	append_to_file($file, "#!$^X\n$body\nexec { '$shipped' } 'sandbox_exec_runner', \@ARGV;\n");
	return $file;
}

# what waits is queued and has lost nothing; claims come and go meanwhile
sub still_queued
{
	my ($what) = @_;

	$node->safe_psql('postgres', 'SELECT sandbox_exec.pause_queue()');
	poll_until(sub { state_of($id) =~ /^queued/ }, 'the claim to be given back');
	is(state_of($id), 'queued|0', $what);
	$node->safe_psql('postgres', 'SELECT sandbox_exec.resume_queue()');
}

# guarantee: nothing fails for what is the server's fault; health says what it is
$id = enqueue($node, 'return "repaired"');
like(wait_for_health($node, 'runner start', qr/./), qr/sandbox_exec_runner": No such file/, 'the runner is missing');
still_queued('nothing is lost');
is($node->safe_psql('postgres', 'SELECT coalesce(sum(executions), 0) FROM sandbox_exec.workers'), 0, 'what never ran is not counted');

install_runner($node, $shipped, '644');
like(wait_for_health($node, 'runner start', qr/ermission/), qr/sandbox_exec_runner": Permission denied/, 'the runner is not executable');
still_queued('nothing is lost');

install_runner($node, wrapper('other_version', q{$ARGV[1] = '0.0.0';}));
like(wait_for_health($node, 'runner start', qr/version/), qr/another version/, 'the runner is of another version');
still_queued('nothing is lost');

install_runner($node, $shipped);
expect_terminal($node, $id, { status => 'succeeded', result => 'repaired', attempt_count => 1 }, 'once it is repaired everything runs');
wait_for_health($node, 'runner start', undef);
is(server_epoch($node), $epoch, 'without a restart');

# ------------------------------------------------------------- no seccomp here

# A kernel that refuses filters, by means of one: seccomp(2) and
# prctl(PR_SET_SECCOMP) fail with EPERM.
my %call = (x86_64 => [ 317, 157 ], aarch64 => [ 277, 167 ]);
my ($seccomp, $prctl) = @{ $call{ (POSIX::uname())[4] } // die 'no system call numbers for this machine' };
install_runner($node, wrapper('no_seccomp', qq{
my \$filter = pack('(S C C L)*',
	0x20, 0, 0, 0,             # the number of the call
	0x15, 4, 0, $seccomp,      # seccomp: refuse
	0x15, 0, 2, $prctl,        # not prctl: allow
	0x20, 0, 0, 16,            # its first argument
	0x15, 1, 0, 22,            # PR_SET_SECCOMP: refuse
	0x06, 0, 0, 0x7fff0000,    # allow
	0x06, 0, 0, 0x00050001);   # EPERM
exit 99 if syscall($prctl, 38, 1, 0, 0, 0) != 0;                              # PR_SET_NO_NEW_PRIVS
exit 99 if syscall($prctl, 22, 2, pack('S x6 P', 7, \$filter), 0, 0) != 0;    # PR_SET_SECCOMP
}));
$node->safe_psql('postgres', q{SELECT pg_terminate_backend(pid) FROM sandbox_exec.workers WHERE kind = 'worker'});
$id = enqueue($node, 'return "without a filter"');
# guarantee: code doesn't run outside of its sandbox unless an administrator said so
like(wait_for_health($node, 'runner start', qr/./), qr/could not install its seccomp filter/, 'without seccomp nothing runs');
still_queued('the execution stays queued');

set_config($node, 'sandbox_exec.require_seccomp' => 'off');
expect_terminal($node, $id, { status => 'succeeded', attempt_count => 1 }, 'with require_seccomp off it runs');
# guarantee: and then it is not forgotten
like(wait_for_health($node, 'seccomp', qr/./), qr/without the seccomp filter/, 'health goes on to say so');

set_config($node, 'sandbox_exec.require_seccomp' => 'on');
install_runner($node, $shipped);
$node->safe_psql('postgres', q{SELECT pg_terminate_backend(pid) FROM sandbox_exec.workers WHERE kind = 'worker'});
expect_terminal($node, enqueue($node, 'return 1'), { status => 'succeeded' }, 'with seccomp it runs');
wait_for_health($node, 'seccomp', undef);

done_testing();
