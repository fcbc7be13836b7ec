
# What falls due at its time: with nobody there, after a restart, and without
# a poll that would find it by accident.

use strict;
use warnings FATAL => 'all';

use Test::More;
use SandboxExec;

# A poll that never comes, leases that outlast the test, and workers that leave
# almost at once: whoever wakes here was woken on purpose.
my $node = new_node(
	'main',
	conf => q{
	sandbox_exec.poll_interval = '1h'
	sandbox_exec.lease = '1h'
	sandbox_exec.worker_idle_timeout = '100ms'
	max_prepared_transactions = 5
	});

sub sql
{
	return $node->safe_psql('postgres', $_[0]);
}

sub wait_until_nobody
{
	return poll_until(sub { !worker_pids($node) }, 'all workers to leave');
}

# one test: it ends as expected, and it did not begin too early
sub expect_on_time
{
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my ($id, $name) = @_;
	my $row = expect_terminal($node, $id, { status => 'succeeded' }, $name);
	is(sql("SELECT started_at >= run_at FROM sandbox_exec.executions WHERE id = '$id'"), 't', "$name, and not before");
	return $row;
}

# ------------------------------------------------------------ deferred rows

# Guarantee: the launcher knows when the next row falls due, and starts a worker then.
wait_for_terminal($node, enqueue($node, 'return 0'));
wait_until_nobody();
my $later = enqueue($node, 'return 1', run_at => "now() + '1500 ms'");
my $soon = enqueue($node, 'return 1', run_at => "now() + '500 ms'");
expect_on_time($soon, 'a deferred row runs though no worker is there');
expect_on_time($later, 'so does the one behind it');

# Guarantee: after a restart, too, when nobody remembers.  The second one falls due while the server is down.
wait_until_nobody();
$later = enqueue($node, 'return 2', run_at => "now() + '5 s'");
my $far = enqueue($node, 'return 2', run_at => "now() + '1 day'");
$node->stop;
$node->start;
is(record($node, $later)->{attempt_count}, 0, 'nothing was claimed before its time');
expect_on_time($later, 'a deferred row runs after a restart');
$soon = enqueue($node, 'return 2', run_at => "now() + '50 ms'");
$node->stop('immediate');
$node->start;
expect_on_time($soon, 'one that fell due while the server was down runs when it is up');
is(record($node, $far)->{status}, 'queued', 'one that is not due stays');

# Guarantee: an idle worker sleeps no longer than until the next row falls due.
sql(q{ALTER SYSTEM SET sandbox_exec.worker_idle_timeout = '1h'; ALTER SYSTEM SET sandbox_exec.workers = 1});
$node->reload;
wait_for_terminal($node, enqueue($node, 'return 3'));
wait_until_idle($node, 'postgres');
my @workers = worker_pids($node);
expect_on_time(enqueue($node, 'return 3', run_at => "now() + '300 ms'"), 'an idle worker wakes for a deferred row');
is_deeply([ worker_pids($node) ], \@workers, 'it was that worker');

# Guarantee: resume_queue() finds what fell due meanwhile.
sql('SELECT sandbox_exec.pause_queue()');
$soon = enqueue($node, 'return 4', run_at => "now() + '100 ms'");
$node->poll_query_until('postgres', "SELECT run_at < now() FROM sandbox_exec.executions WHERE id = '$soon'") or die;
is(record($node, $soon)->{status}, 'queued', 'a paused queue runs nothing');
sql('SELECT sandbox_exec.resume_queue()');
expect_on_time($soon, 'what fell due during a pause runs after it');

# ------------------------------------------------------ whose commit comes late

my $session = session($node);

# Guarantee: an enqueue is due when its transaction commits, not before; and a
# worker that looked meanwhile misses nothing.
my $id = $session->query(q{BEGIN; SELECT sandbox_exec.enqueue('return 5')});
expect_terminal($node, enqueue($node, 'return 5'), { status => 'succeeded' }, 'others run while a transaction stays open');
is(record($node, $id), undef, 'what it enqueued is not to be seen');
my $committed = sql('SELECT clock_timestamp()');
$session->query('COMMIT');
expect_terminal($node, $id, { status => 'succeeded', result => 5 }, 'it runs after the commit');
is(sql("SELECT started_at > '$committed' FROM sandbox_exec.executions WHERE id = '$id'"), 't', 'and not before');

# Guarantee: what is rolled back never was.
my ($gone, $kept) = split /\n/, $session->query(q{
	BEGIN;
	SAVEPOINT s;
	SELECT sandbox_exec.enqueue('return 6');
	ROLLBACK TO s;
	SELECT sandbox_exec.enqueue('return 7');
	COMMIT;});
expect_terminal($node, $kept, { status => 'succeeded', result => 7 }, 'what comes after a rolled back savepoint runs');
is(record($node, $gone), undef, 'what was enqueued in it is gone');
is(sql("SELECT count(*) FROM sandbox_exec.execution_input WHERE id = '$gone'"), 0, 'with its code');
$gone = $session->query(q{BEGIN; SELECT sandbox_exec.enqueue('return 8'); ROLLBACK;});
is(record($node, $gone), undef, 'so with a whole transaction');

# Guarantee: COMMIT PREPARED, which may come from anywhere, wakes like COMMIT;
# that of a deferred row is seen even by a worker that has just looked for some.
sql('ALTER SYSTEM RESET ALL');
$node->reload;
$id = $session->query(q{BEGIN; SELECT sandbox_exec.enqueue('return 9'); PREPARE TRANSACTION 'ready'});
expect_terminal($node, enqueue($node, 'return 9'), { status => 'succeeded' }, 'others run while a transaction is prepared');
is(record($node, $id), undef, 'what it enqueued is not to be seen');
wait_until_nobody();
sql(q{COMMIT PREPARED 'ready'});
expect_terminal($node, $id, { status => 'succeeded', result => 9 }, 'COMMIT PREPARED makes it run');

for my $round (1 .. 3)
{
	$id = $session->query(
		q{BEGIN; SELECT sandbox_exec.enqueue('return 10', run_at => now() + '700 ms'); PREPARE TRANSACTION 'deferred'});
	wait_for_terminal($node, enqueue($node, 'return 10'));
	sql(q{COMMIT PREPARED 'deferred'});
	expect_on_time($id, "COMMIT PREPARED of a deferred row, $round");
}
$gone = $session->query(q{BEGIN; SELECT sandbox_exec.enqueue('return 11'); PREPARE TRANSACTION 'never'});
sql(q{ROLLBACK PREPARED 'never'});
is(record($node, $gone), undef, 'ROLLBACK PREPARED leaves nothing');
$session->close;

# ------------------------------------------------------------------ priorities

# Guarantee: higher priority first, then the older; one worker takes them one by
# one, since each is long enough to end a batch.
sql('ALTER SYSTEM SET sandbox_exec.workers = 1');
$node->reload;
poll_until(sub { worker_pids($node) <= 1 }, 'one worker');
sql('SELECT sandbox_exec.pause_queue()');
my @ids = map { enqueue($node, 'for i = 1, 10000000 do end', priority => $_, thread_id => "'order'") } (0, 0, -5, 10, 7, 10);
sql('SELECT sandbox_exec.resume_queue()');
wait_for_terminal($node, $_) for @ids;
is( sql(q{SELECT string_agg(priority::text, ' ' ORDER BY finished_at, id) FROM sandbox_exec.executions WHERE thread_id = 'order'}),
	'10 10 7 0 0 -5',
	'executions run in the order of their priorities');
is( sql(q{SELECT count(*) FROM (SELECT id, lag(id) OVER (PARTITION BY priority ORDER BY finished_at, id) AS previous
		FROM sandbox_exec.executions WHERE thread_id = 'order') o WHERE previous > id}),
	0, 'and within one priority the older first');
my @claimed = map { enqueue($node, 'return 1', priority => $_, runtime => "'outside'") } (1, 2, 2);
is(sql(q{SELECT string_agg(id::text, ' ') FROM sandbox_exec.claim('outside', 10, '1 h')}),
	"@claimed[1, 2, 0]", 'claim() returns them in that order');

# ------------------------------------------------------- leases of others

# Guarantee: a lease that expires with no worker alive is noticed at its time,
# not at the next accident; both ways that it can go.
wait_until_nobody();
my ($once) = enqueue($node, 'return 1', runtime => "'other'", max_attempts => 1);
my ($twice) = enqueue($node, 'return 1', runtime => "'other'");
wait_until_nobody();
is(sql("SELECT count(*) FROM sandbox_exec.claim('other', 1, '1 s', 'gone', '$_')"), 1, 'an outside executor claims') for $once, $twice;
expect_terminal($node, $once, { status => 'failed', error_code => 'lease_expired', attempt_count => 1 },
	'its lease expires: with no attempt left that is the end');
$node->poll_query_until('postgres', "SELECT status = 'queued' FROM sandbox_exec.executions WHERE id = '$twice'")
  or die "not reaped";
is(record($node, $twice)->{attempt_count}, 1, 'with attempts left it is queued again');

# Guarantee: a renewal moves that time, and the new one is noticed as well.
my ($token) = sql("SELECT claim_token FROM sandbox_exec.claim('other', 1, '1 s', 'back', '$twice')");
is(sql("SELECT sandbox_exec.renew('$twice', '$token', '3 s')"), 'held', 'an outside executor renews');
my $expires = sql("SELECT lease_expires_at FROM sandbox_exec.execution WHERE id = '$twice'");
expect_terminal($node, $twice, { status => 'failed', error_code => 'lease_expired', attempt_count => 2 },
	'the renewed lease expires, too');
is(sql("SELECT finished_at > '$expires' FROM sandbox_exec.executions WHERE id = '$twice'"), 't', 'and not before');

# --------------------------------------------------------- what isn't woken

# Guarantee: a launcher that knows of work, and has no worker to give it to, isn't
# woken by each commit that brings more; it looks by itself, and then it runs.
sql('ALTER SYSTEM SET sandbox_exec.workers = 0');
$node->reload;
poll_until(sub { !worker_pids($node) }, 'no worker');
my $switches = sub { return process_status(launcher_pid($node))->{voluntary_ctxt_switches} };
my $before = $switches->();
sql(q{DO $$ BEGIN FOR i IN 1 .. 2000 LOOP PERFORM sandbox_exec.enqueue('return 1', thread_id => 'many'); COMMIT; END LOOP; END $$});
cmp_ok($switches->() - $before, '<', 1000, 'commits leave a launcher alone that knows');
sql('ALTER SYSTEM SET sandbox_exec.workers = 1');
$node->reload;
$node->poll_query_until('postgres',
	q{SELECT count(*) = 2000 FROM sandbox_exec.execution WHERE thread_id = 'many' AND status = 'succeeded'})
  or die 'not run';
pass('all of it runs when there is a worker');

is_deeply([ worker_complaints($node) ], [], 'the log has no complaint of launcher or workers');
done_testing();
