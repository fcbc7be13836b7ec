
# Workers, and the whole server, die in mid-run.  Everything still comes to its
# end, within the attempts that it was given.
#
# The lease is an hour, so nothing here comes back because one expired: it must
# be seen that the worker, or the server start, that held a claim is gone.

use strict;
use warnings FATAL => 'all';

use Test::More;
use SandboxExec;

my $node = new_node(
	'main',
	conf => q{
sandbox_exec.workers = 1
sandbox_exec.lease = '1 h'
});

sub busy { return enqueue($node, 'print("at work") while true do end') }

# it never ends by itself: once it is at work again, for the ATTEMPT-th time, end it
sub is_at_work_again
{
	my ($id, $attempt, $name) = @_;

	runner_of($node, $id);
	wait_for_output($node, $id, "at work\n");
	$node->safe_psql('postgres', "SELECT sandbox_exec.cancel('$id')");
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	expect_terminal($node, $id, { status => 'cancelled', attempt_count => $attempt, stdout => "at work\n" }, $name);
}

sub row
{
	my ($id) = @_;
	return $node->safe_psql('postgres',
		"SELECT status, attempt_count, solo FROM sandbox_exec.execution WHERE id = '$id'");
}

# kill the worker that runs it, as the out-of-memory killer would
sub crash_worker_of
{
	my ($id) = @_;
	my $epoch = server_epoch($node);
	my ($runner, $worker) = runner_of($node, $id);

	kill_process($node, 'KILL', $worker);
	wait_for_restart($node, $epoch);
	process_gone($runner);
}

# ------------------------------------------------------------- a worker dies

my $id = busy();
crash_worker_of($id);
# guarantee: a claim of a worker that died goes back at once, and counts
is_at_work_again($id, 2, 'a worker is killed: a second attempt runs it');

# ------------------------------------------- a poison takes nobody along

# The rest of a batch is released after 20 ms, too soon to kill a worker that
# holds it.  So that worker, and no other, gets stuck in the release.
$node->safe_psql(
	'postgres', q{
CREATE TABLE public.stuck (pid integer);
CREATE FUNCTION public.get_stuck() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	PERFORM pg_sleep(600) FROM public.stuck WHERE pid = pg_backend_pid();
	RETURN new;
END $$;
CREATE TRIGGER get_stuck BEFORE UPDATE ON sandbox_exec.execution FOR EACH ROW
	WHEN (old.status = 'running' AND new.status = 'queued') EXECUTE FUNCTION public.get_stuck();
});

# Claim a poison together with others, by a worker whose batches have grown.
# How far they grow depends on the machine, so there are as many rounds as it
# takes to have the poison claimed in company.
sub claim_in_company
{
	my (@mates, $poison);

	poll_until(
		sub {
			$node->safe_psql('postgres', "SELECT sandbox_exec.cancel('$poison')") if defined $poison;
			my @quick = enqueue_batch($node, [ map { { code => "return $_" } } 1 .. 300 ]);
			wait_for_terminal($node, $quick[-1]);
			$node->safe_psql('postgres',
				'TRUNCATE public.stuck; INSERT INTO public.stuck SELECT pid FROM sandbox_exec.workers');
			my @ids = enqueue_batch($node,
				[ (map { { code => "return $_" } } 1 .. 300),
				  { code => 'while true do end', timeout => '5 min' },
				  map { { code => 'return args', args => $_, thread_id => 'mate' } } 1 .. 200 ]);
			$poison = $ids[300];
			runner_of($node, $poison);
			@mates = split /\n/, $node->safe_psql('postgres', q{
				SELECT id FROM sandbox_exec.execution
				WHERE thread_id = 'mate' AND status = 'running' AND NOT known_started});
			return scalar @mates;
		},
		'a poison to be claimed in company');
	return ($poison, @mates);
}

my ($poison, @mates) = claim_in_company();
my $claimed_mates = "FROM sandbox_exec.execution WHERE id IN ('" . join("', '", @mates) . "')";

crash_worker_of($poison);
runner_of($node, $poison);
# guarantee: of claims lost together none is known to have started; none counts,
# and whichever was to blame is found out by claiming each alone
is(row($poison), 'running|1|t', 'the poison lost no attempt in company, and is then claimed alone');
is($node->safe_psql('postgres', "SELECT DISTINCT status, attempt_count, solo $claimed_mates"),
	'queued|0|t', 'nor did those that were claimed with it');

crash_worker_of($poison);
runner_of($node, $poison);
is(row($poison), 'running|2|t', 'alone, a lost claim counts');
crash_worker_of($poison);
# guarantee: an execution that kills its executor ends, and says why
expect_terminal(
	$node, $poison,
	{ status => 'failed', error_code => 'lease_expired', error => qr/attempt 2 of 2 was lost: its worker is gone/, attempt_count => 2 },
	'the second lost claim ends the poison');

$node->poll_query_until('postgres', q{
	SELECT count(*) = 0 FROM sandbox_exec.execution WHERE thread_id = 'mate' AND status IN ('queued', 'running')})
  or die 'the others did not end';
# guarantee: a poison costs nobody else an attempt or an outcome
is($node->safe_psql('postgres', q{
		SELECT count(*) FROM sandbox_exec.execution e JOIN sandbox_exec.execution_input i USING (id)
		WHERE thread_id = 'mate' AND (status, result, attempt_count) IS DISTINCT FROM ('succeeded', args, 1)}),
	0, 'all others succeeded at their first attempt, each with its own result');
is($node->safe_psql('postgres', "SELECT count(*), bool_and(solo) $claimed_mates AND status = 'succeeded'"),
	scalar(@mates) . '|t', 'those that were claimed with it were then claimed alone');
$node->safe_psql('postgres', 'DROP TRIGGER get_stuck ON sandbox_exec.execution');

# ----------------------------------------------------- a worker is terminated

$id = busy();
my ($runner, $worker) = runner_of($node, $id);
my $epoch = server_epoch($node);
$node->safe_psql('postgres', "SELECT pg_terminate_backend($worker)");
no_such_process($runner);
# guarantee: who is told to go gives its claim back, at no cost to the execution
is_at_work_again($id, 1, 'a worker is terminated: another one runs it, and no attempt was used');
is(row($id), 'cancelled|1|f', 'the claim was given back, not lost');
isnt((worker_pids($node, 'postgres'))[0], $worker, 'by another worker');
is(server_epoch($node), $epoch, 'and the server went on');

# ------------------------------------------------------------ the server stops

# what stood in the queue when the server went; it has to be there afterwards
sub enqueue_crowd { return enqueue_batch($node, [ map { { code => 'return args', args => $_ } } 1 .. 200 ]) }

sub crowd_succeeded
{
	my ($what, @ids) = @_;
	wait_for_terminal($node, $_) for @ids[ 0, -1 ];
	my $list = join "', '", @ids;
	$node->poll_query_until('postgres',
		"SELECT count(*) = 0 FROM sandbox_exec.execution WHERE id IN ('$list') AND status IN ('queued', 'running')")
	  or die 'the queue did not drain';
	is($node->safe_psql('postgres',
			"SELECT count(*), max(attempt_count) FROM sandbox_exec.execution WHERE id IN ('$list') AND status = 'succeeded'"),
		'200|1', $what);
}

$id = busy();
($runner, $worker) = runner_of($node, $id);
my @crowd = enqueue_crowd();
$node->stop('fast');
no_such_process($runner);
no_such_process($worker);
$node->adjust_conf('postgresql.conf', 'sandbox_exec.workers', 0);
$node->start;
# guarantee: an orderly shutdown gives claims back before the server is down
is(row($id), 'queued|0|f', 'a fast stop released the claim, and no attempt was used');
set_config($node, 'sandbox_exec.workers' => 1);
is_at_work_again($id, 1, 'after the start it runs to its end');
crowd_succeeded('and so do those that were queued', @crowd);

$id = busy();
($runner, $worker) = runner_of($node, $id);
@crowd = enqueue_crowd();
$node->stop('immediate');
no_such_process($runner);
$node->start;
# guarantee: claims of an earlier server start go back by themselves, and count
is_at_work_again($id, 2, 'an immediate stop: a second attempt runs it');
crowd_succeeded('and the queue goes on', @crowd);

$id = busy();
($runner, $worker) = runner_of($node, $id);
@crowd = enqueue_crowd();
my $postmaster = $node->{_pid};
my @orphans = (children_of($postmaster), $runner);
$node->kill9;
# guarantee: when the postmaster is gone nothing goes on running code
process_gone($_) for @orphans;
no_such_process($postmaster);    # as a zombie it would still hold its lock file
$node->start;
is_at_work_again($id, 2, 'the postmaster is killed: a second attempt runs it');
crowd_succeeded('and the queue goes on', @crowd);

is($node->safe_psql('postgres', q{SELECT count(*) FROM sandbox_exec.execution WHERE status IN ('queued', 'running')}),
	0, 'nothing is stuck');

done_testing();
