
# What a worker cannot write at present, and what it does for the queue as a
# whole: neither gets lost, nor in the way of the other.

use strict;
use warnings FATAL => 'all';

use Test::More;
use SandboxExec;

my $node = new_node(
	'main',
	conf => q{
sandbox_exec.workers = 1
sandbox_exec.lease = '3 s'
sandbox_exec.poll_interval = '100 ms'
});

sub sql
{
	return $node->safe_psql('postgres', $_[0]);
}

sub state_of
{
	return sql("SELECT status, attempt_count FROM sandbox_exec.execution WHERE id = '$_[0]'");
}

my $busy = 'while true do end';

# Obstacles: a row of this table makes certain changes fail.
sql(q{
CREATE TABLE public.obstacle (what text);
CREATE FUNCTION public.stands(text) RETURNS boolean LANGUAGE sql AS 'SELECT EXISTS (SELECT FROM public.obstacle WHERE what = $1)';
CREATE FUNCTION public.fail() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	RAISE EXCEPTION 'an obstacle: %', tg_argv[0] USING ERRCODE = tg_argv[0];
END $$;
CREATE TRIGGER too_much BEFORE UPDATE ON sandbox_exec.execution FOR EACH ROW
	WHEN (new.result IS NOT NULL AND new.thread_id = 'too much') EXECUTE FUNCTION public.fail('54000');
CREATE TRIGGER no_room BEFORE UPDATE ON sandbox_exec.execution FOR EACH ROW
	WHEN (old.status = 'running' AND new.status = 'succeeded' AND public.stands('no room')) EXECUTE FUNCTION public.fail('53100');
});

# a worker that sleeps and wakes again has done all that it had to
sub rest_of
{
	my ($pid) = @_;
	my $naps = sub { process_status($pid)->{voluntary_ctxt_switches} };
	my $before = $naps->();
	return poll_until(sub { $naps->() > $before + 3 }, "process $pid to sleep and wake");
}

# --------------------------------------------- an outcome and an older error

# Guarantee: an outcome is stripped for an error of its own only.  The worker has
# had one that was too much; the next one meets a transaction that drops the
# extension, which is none.
expect_terminal($node, enqueue($node, 'return 41', thread_id => "'too much'"), { status => 'failed', error_code => 'result_invalid' },
	'a result that is too much');
my $id = enqueue($node, 'print("kept") for i = 1, ' . turns($node, 1500) . ' do end return 42');
my ($runner, $worker) = runner_of($node, $id);
kill_process($node, 'STOP', $runner);
my $dropper = session($node);
is(($dropper->query('BEGIN; DROP EXTENSION sandbox_exec CASCADE'))[1] =~ /ERROR/, '', 'DROP EXTENSION in an open transaction');
kill_process($node, 'CONT', $runner);
poll_until(sub { my $s = process_status($runner); $s && $s->{State} =~ /^S/ }, 'the code to end');
rest_of($worker);
$dropper->query('ROLLBACK');
$dropper->close;
expect_terminal($node, $id, { status => 'succeeded', result => 42, stdout => "kept\n", attempt_count => 1 },
	'an outcome that had to wait is written as it was');

# ------------------------------------- outcomes that wait longer than a lease

# Guarantee: what was done is recorded, and not done again, however long it could
# not be: nobody takes the claim of a worker back that is alive and tries.
sql(q{INSERT INTO public.obstacle VALUES ('no room')});
$id = enqueue($node, 'return 43', max_attempts => 1);
my $other = enqueue($node, 'return 44');
for (1 .. 2)
{
	poll_until(sub { sql("SELECT count(*) FROM sandbox_exec.execution WHERE status = 'running' AND lease_expires_at < clock_timestamp() - interval '1 s'") eq '2' },
		'leases to be over');
	is(sql('SELECT count(*) FROM sandbox_exec.reap()'), 0, "nothing is taken back, $_");
	rest_of($worker);
}
is(state_of($_), 'running|1', 'it is kept') for $id, $other;
is(sql("SELECT count(*) FROM sandbox_exec.claim('lua', 1, '1 h', 'else', '$id')"), 0, 'nor does claim() take it');

# Guarantee: not so one that does not try any more; its own outcomes come first
# when it is back, and what was taken from it is none of its business.
kill_process($node, 'STOP', $worker);
my $token;
poll_until(sub { $token = sql("SELECT claim_token FROM sandbox_exec.claim('lua', 1, '1 h', 'else', '$other')") }, 'the claim of a worker that stands still');
sql('DELETE FROM public.obstacle');
kill_process($node, 'CONT', $worker);
expect_terminal($node, $id, { status => 'succeeded', result => 43, attempt_count => 1 }, 'recorded when there is room, before anything is repaired');
is(sql("SELECT sandbox_exec.finalize('$other', '$token', 'succeeded', '45')"), 't', 'the other one belongs to who claimed it');
is(record($node, $other)->{result}, 45, 'and so does its outcome');
is((worker_pids($node, 'postgres'))[0], $worker, 'all by one worker');

# ----------------------------------------------- repair without its listeners

# Guarantee: what repair ends is ended even when the server cannot take its
# notifications: without them.  The queue of notifications is full, says a trigger
# once.
sql(q{
CREATE SEQUENCE public.tries;
CREATE TRIGGER queue_is_full BEFORE UPDATE ON sandbox_exec.execution FOR EACH ROW
	WHEN (old.runtime = 'outside' AND new.status = 'failed' AND nextval('public.tries') = 1) EXECUTE FUNCTION public.fail('54000');
ALTER SYSTEM SET sandbox_exec.notify_channel = 'ended';
SELECT pg_reload_conf();
});
my $listener = session($node);
$listener->query('LISTEN ended');
$id = enqueue($node, 'return 1', runtime => "'outside'", max_attempts => 1);
is(sql("SELECT count(*) FROM sandbox_exec.claim('outside', 1, '1 ms', 'gone', '$id')"), 1, 'an outside executor claims');
expect_terminal($node, $id, { status => 'failed', error_code => 'lease_expired' }, 'a lost claim ends');
$other = enqueue($node, 'return 1');
wait_for_terminal($node, $other);
my ($heard) = ('');
poll_until(sub { $heard .= $listener->query('SELECT 1'); $heard =~ /$other/ }, 'a notification');
unlike($heard, qr/$id/, 'at once, and without the notification that could not be sent');
is(sql('SELECT last_value FROM public.tries'), 2, 'in the same go');
sql('DROP TRIGGER queue_is_full ON sandbox_exec.execution');
$listener->close;

# -------------------------------------------------- steps that stand in no way

# Guarantee: records that can't be deleted keep neither lost claims nor deferred
# executions from running.
my $from = -s $node->logfile;
sql("CREATE TABLE public.note (execution uuid REFERENCES sandbox_exec.execution); INSERT INTO public.note VALUES ('$other')");
set_config($node, 'sandbox_exec.retention' => 0);
$node->wait_for_log(qr/ERROR:.*violates foreign key constraint/, $from);
$id = enqueue($node, 'return 46', run_at => "clock_timestamp() + interval '1 s'");
poll_until(sub { (state_of($id) || 'deleted') =~ /succeeded|deleted/ }, 'a deferred execution to run');
pass('deferred executions run');
$id = enqueue($node, 'return 1', runtime => "'outside'", max_attempts => 2);
sql("SELECT FROM sandbox_exec.claim('outside', 1, '1 ms', 'gone', '$id')");
poll_until(sub { state_of($id) eq 'queued|1' }, 'a lost claim to go back');
pass('lost claims go back');
sql('DROP TABLE public.note');
poll_until(sub { sql('SELECT count(*) FROM sandbox_exec.execution WHERE finished_at IS NOT NULL') eq '0' }, 'the records to be deleted');
set_config($node, 'sandbox_exec.retention' => -1);

# Guarantee: a worker that dies while it repairs is no reason to forget what is due.
sql(q{
CREATE FUNCTION public.wait_at_gate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	WHILE public.stands('gate') LOOP
		PERFORM pg_sleep(0.01);    -- lint: slept on purpose: a gate
	END LOOP;
	RETURN new;
END $$;
CREATE TRIGGER wait_at_gate BEFORE UPDATE ON sandbox_exec.execution FOR EACH ROW
	WHEN (new.ready AND NOT old.ready) EXECUTE FUNCTION public.wait_at_gate();
INSERT INTO public.obstacle VALUES ('gate');
});
$id = enqueue($node, 'return 47', run_at => "clock_timestamp() + interval '300 ms'");
my $stuck;
poll_until(sub { $stuck = sql(q{SELECT pid FROM pg_stat_activity WHERE backend_type = 'sandbox_exec worker' AND wait_event = 'PgSleep'}) }, 'a worker to be stuck');
sql("SELECT pg_terminate_backend($stuck)");
no_such_process($stuck);
sql('DELETE FROM public.obstacle');
expect_terminal($node, $id, { status => 'succeeded', result => 47 }, 'another worker comes for it');

# ------------------------------------------------------------------- a reload

# Guarantee: settings are for the next execution; a process that was started with
# the old ones runs none any more.
expect_terminal($node, enqueue($node, 'return 1'), { status => 'succeeded' }, 'something runs');
my ($kept) = runner_pids($node);
ok(defined $kept, 'its process is kept for the next');
set_config($node, 'sandbox_exec.memory_limit' => "'128 MB'");
no_such_process($kept);
pass('a reload ends it');
expect_terminal($node, enqueue($node, 'local t = {} for i = 1, 8 do t[i] = ("x"):rep(10000000 + i) end return #t', memory_limit_kb => 128 * 1024),
	{ status => 'succeeded', result => 8 }, 'and the next one has the new limit');

done_testing();
