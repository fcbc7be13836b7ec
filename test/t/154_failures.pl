
# Writes on the way to the outcome fail: appends, outcomes, notifications.  The
# execution still ends, and says all that went wrong, the first cause first; or
# it is tried again.  Nothing is stuck, nobody else suffers.
#
# Faults are triggers on the tables, which raise what a full disk, a value that
# a column refuses, or a full notification queue would.

use strict;
use warnings FATAL => 'all';

use Test::More;
use SandboxExec;

my $node = new_node(
	'main',
	conf => q{
sandbox_exec.workers = 2
sandbox_exec.flush_interval = '20 ms'
sandbox_exec.lease = '1 h'
});

sub sql
{
	return $node->safe_psql('postgres', $_[0]);
}

sub log_of
{
	my ($id) = @_;
	return sql("SELECT string_agg(pos || ' ' || type || coalesce(' ' || trim((data ->> 'text'), E'\\n'), ''), ', ' ORDER BY pos) FROM sandbox_exec.tail('$id')");
}

# A fault has a name, and is there while fault holds that name.  Triggers can't
# count what is rolled back with them, but sequences can.
sql(q{
	CREATE TABLE public.fault (name text PRIMARY KEY, sqlstate text NOT NULL, message text NOT NULL, times integer NOT NULL);
	CREATE SEQUENCE public.raised;
	CREATE FUNCTION public.raise_fault(which text) RETURNS void LANGUAGE plpgsql AS $$
	DECLARE
		f public.fault;
	BEGIN
		SELECT * INTO f FROM public.fault WHERE name = which;
		IF FOUND AND nextval('public.raised') <= f.times THEN
			RAISE EXCEPTION '%', f.message USING ERRCODE = f.sqlstate;
		END IF;
	END $$;
	-- a flush, or the log of an outcome, that brings the word "poison"
	CREATE FUNCTION public.on_event() RETURNS trigger LANGUAGE plpgsql AS $$
	BEGIN
		IF new.data ->> 'text' ~ 'poison' THEN
			PERFORM public.raise_fault('event');
		END IF;
		RETURN new;
	END $$;
	CREATE TRIGGER fault BEFORE INSERT ON sandbox_exec.event FOR EACH ROW EXECUTE FUNCTION public.on_event();
	-- an outcome
	CREATE FUNCTION public.on_outcome() RETURNS trigger LANGUAGE plpgsql AS $$
	BEGIN
		IF new.thread_id = 'poison' THEN
			PERFORM public.raise_fault(TG_ARGV[0]);
		END IF;
		RETURN new;
	END $$;
	CREATE TRIGGER fault BEFORE UPDATE ON sandbox_exec.execution FOR EACH ROW
		WHEN (old.status = 'running' AND new.status IN ('succeeded', 'failed', 'timed_out') AND new.error_code IS DISTINCT FROM 'lease_expired')
		EXECUTE FUNCTION public.on_outcome('outcome');
	CREATE CONSTRAINT TRIGGER fault_at_commit AFTER UPDATE ON sandbox_exec.execution DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
		WHEN (old.status = 'running' AND new.status <> 'running' AND new.finished_at IS NOT NULL)
		EXECUTE FUNCTION public.on_outcome('commit');
});

sub fault
{
	my ($name, $sqlstate, $message, $times) = @_;
	sql("TRUNCATE public.fault; SELECT setval('public.raised', 1, false)");
	sql("INSERT INTO public.fault VALUES ('$name', '$sqlstate', '$message', @{[ $times // 1000000 ]})") if $name;
}

sub raised
{
	return sql('SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM public.raised');
}

my $thread = q{'poison'};

# ------------------------------------------------------------------------ append

# Guarantee: while a flush fails the program goes on; what it printed is kept,
# and stands in the log once when that can be written again.
fault('event', '53100', 'no space left');
my $id = enqueue($node, q{print("poison") emit(1) while true do end}, timeout => "'2 min'");
poll_until(sub { raised() >= 3 }, 'some flushes to fail');
is(record($node, $id)->{status}, 'running', 'flushes fail: the program goes on');
is(log_of($id), '1 started', 'its log does not');
fault();
poll_until(sub { log_of($id) eq '1 started, 2 stdout poison, 3 custom' }, 'the output to be logged');
sql("SELECT sandbox_exec.cancel('$id')");
expect_terminal($node, $id, { status => 'cancelled', stdout => "poison\n", attempt_count => 1 }, 'and ends as it should');
is(log_of($id), '1 started, 2 stdout poison, 3 custom, 4 cancelled', 'all of it is logged once');

# Guarantee: a log that refuses what was printed doesn't keep the execution from
# its end.  Both causes are told, first the one that came first.
my $endless = 'while true do end';    # the only one with a short time
my @cases = (
	[ 'return 1', 'succeeded', 'failed', 'result_invalid',
		qr/^the result could not be recorded: no such text; the log could not be recorded: no such text$/ ],
	[ 'error("first", 0)', 'failed', 'failed', 'runtime_error', qr/^first; the log could not be recorded: no such text$/ ],
	[ 'error{code = "mine", message = "first"}', 'failed', 'failed', 'mine', qr/^first; the log could not be recorded: no such text$/ ],
	[ 'os.exit(3)', 'failed', 'failed', 'exit', qr/; the log could not be recorded: no such text$/ ],
	[ $endless, 'timed_out', 'timed_out', 'timeout', qr/^the execution exceeded its timeout of 300 ms; the log could not be recorded: no such text$/ ],
	[ 'local t = {} while true do t[#t + 1] = ("x"):rep(1e6) .. #t end', 'failed', 'failed', 'memory_limit', qr/memory.*; the log could not be recorded: no such text$/ ]);
for my $case (@cases)
{
	my ($code, $without, $status, $error_code, $error) = @$case;
	fault('event', '22P05', 'no such text');
	$id = enqueue($node, "print('poison') $code", timeout => $code eq $endless ? "'300 ms'" : "'1 min'");
	expect_terminal($node, $id, { status => $status, error_code => $error_code, error => $error, result => undef, stdout => '', attempt_count => 1 },
		"the log is refused: $code");
	is(log_of($id), "1 started, 2 $status", 'its log is closed');
	fault();
	$id = enqueue($node, "print('poison') $code", timeout => $code eq $endless ? "'300 ms'" : "'1 min'");
	expect_terminal($node, $id, { status => $without, stdout => "poison\n" }, 'which without the fault is not so');
}

# Guarantee: what came into the log before the fault stays.
fault('event', '22P05', 'no such text');
$id = enqueue($node, q{print("fine") for i = 1, } . turns($node, 1000) . q{ do end print("poison") error("first", 0)}, timeout => "'2 min'");
expect_terminal($node, $id, { status => 'failed', error => 'first; the log could not be recorded: no such text', stdout => "fine\n" }, 'what was logged before is kept');

# Guarantee: it is the one outcome that suffers, not those that are written with it.
my @ids = enqueue_batch($node, [ map { { code => $_ == 50 ? 'print("poison") return 50' : "print($_) return $_" } } 1 .. 100 ]);
wait_for_terminal($node, $_) for @ids;
is(sql(q{SELECT count(*) FILTER (WHERE e.status = 'succeeded'), string_agg(e.id::text, ' ') FILTER (WHERE e.status <> 'succeeded')
		FROM sandbox_exec.execution e WHERE id IN ('} . join("', '", @ids) . q{')}),
	"99|$ids[49]", 'of a hundred, one has the fault');
fault();

# ---------------------------------------------------------------------- finalize

# Guarantee: an outcome that can't be written for now is written later, and the
# code isn't run again for it.
for my $fault ([ '53100', 'no space left' ], [ '40001', 'could not serialize' ], [ '55P03', 'a lock' ], [ 'P0001', 'whatever' ])
{
	fault('outcome', @$fault, 2);
	$id = enqueue($node, 'print("out") return 7', thread_id => $thread);
	expect_terminal($node, $id, { status => 'succeeded', result => 7, stdout => "out\n", error => undef, attempt_count => 1 },
		"$fault->[0]: written at last, as it was");
	cmp_ok(raised(), '>=', 3, 'after it failed twice');
	is(log_of($id), '1 started, 2 stdout out, 3 succeeded', 'with its log');
}

# Guarantee: one that the record refuses, in company and alone, is written
# without what it refuses.
fault('outcome', '22003', 'out of range', 2);
$id = enqueue($node, 'print("out") return 7', thread_id => $thread);
expect_terminal($node, $id,
	{ status => 'failed', error_code => 'result_invalid', error => 'the result could not be recorded: out of range', result => undef, stdout => "out\n", attempt_count => 1 },
	'a value that is refused: the log is kept');
fault('outcome', '22003', 'out of range', 2);
$id = enqueue($node, 'error{code = "mine", message = "first"}', thread_id => $thread);
expect_terminal($node, $id, { status => 'failed', error_code => 'mine', error => 'first; the log could not be recorded: out of range' },
	'after a failure of the program: both causes');

# Guarantee: one that can never be written is lost with its lease, and the
# execution is tried again, until its attempts are used up.  Then it ends.
set_config($node, 'sandbox_exec.lease' => q{'3 s'});
fault('outcome', 'P0001', 'never');
$id = enqueue($node, 'print("out") return 7', thread_id => $thread, max_attempts => 2);
my $other = enqueue($node, 'return "other"');
expect_terminal($node, $other, { status => 'succeeded' }, 'an outcome that can never be written: others go on');
expect_terminal($node, $id,
	{ status => 'failed', error_code => 'lease_expired', error => qr/attempt 2 of 2 was lost: its lease expired/, attempt_count => 2 },
	'it is tried again, and ends');
is(log_of($id), '1 started, 2 retry, 3 failed', 'its log tells');
fault();
set_config($node, 'sandbox_exec.lease' => q{'1 h'});

# ------------------------------------------------------------------------ notify

# Guarantee: no outcome depends on NOTIFY.  With a full queue the transaction
# fails as it commits, with this code and message; it is repeated without a
# notification, and nothing of the outcome is given up.  (To fill the queue for
# real takes 8 GB.)
my $listener = session($node);
$listener->query('LISTEN sandbox_exec');
my $loud = enqueue($node, 'return 1');
wait_for_terminal($node, $loud);
like($listener->query('SELECT 1'), qr/"id":"$loud","status":"succeeded"/, 'a listener hears of an end');
fault('commit', '54000', 'too many notifications in the NOTIFY queue', 1);
$id = enqueue($node, 'print("out") return {1, 2}', thread_id => $thread);
my $waiter = session($node);
$waiter->start("SELECT status FROM sandbox_exec.wait('$id', '60 s')");
expect_terminal($node, $id, { status => 'succeeded', result => [ 1, 2 ], stdout => "out\n", error => undef, attempt_count => 1 },
	'with a full queue the outcome is recorded, whole');
is($waiter->result, 'succeeded', 'who waits for it is woken');
is(raised(), 2, 'by the second try');
fault();
$loud = enqueue($node, 'return 2');
wait_for_terminal($node, $loud);
my $heard = $listener->query('SELECT 1');
like($heard, qr/"id":"$loud"/, 'a listener hears of the next one');
unlike($heard, qr/$id/, 'and has not heard of that');

# Guarantee: where that limit is the outcome's own, it is told.
# in company and alone, each with and without a notification
fault('outcome', '54000', 'too much', 4);
$id = enqueue($node, 'return 1', thread_id => $thread);
expect_terminal($node, $id, { status => 'failed', error_code => 'result_invalid', error => 'the result could not be recorded: too much' },
	'a limit that is not the queue\'s');
fault();

# ------------------------------------------------------------------- the runner

# Guarantee: a failure of the executor and one of the record: both are told, or
# the execution is tried again.
fault('event', '22P05', 'no such text');
$id = enqueue($node, q{print("poison") while true do end}, timeout => "'2 min'", max_attempts => 2);
for my $attempt (1, 2)
{
	poll_until(sub { record($node, $id)->{attempt_count} == $attempt }, "attempt $attempt");
	kill_process($node, 'KILL', (runner_of($node, $id))[0]);
}
expect_terminal($node, $id,
	{ status => 'failed', error_code => 'executor_error', error => qr/^.+; the log could not be recorded: no such text$/, attempt_count => 2 },
	'the runner dies, and the log is refused');
is(log_of($id), '1 started, 2 retry, 3 failed', 'the first death is a retry, the second the end');
fault();

is(sql(q{SELECT count(*) FROM sandbox_exec.execution WHERE status IN ('queued', 'running')}), 0, 'nothing is stuck');
is(scalar(() = grep { /FATAL|PANIC/ } worker_complaints($node)), 0, 'no worker has died of it');
$_->close for $listener, $waiter;
done_testing();
