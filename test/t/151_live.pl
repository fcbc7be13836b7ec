
# The log while the code runs: output comes as it is written, in its true order,
# and a later attempt adds only what the log does not hold yet.

use strict;
use warnings FATAL => 'all';

use JSON::PP ();
use Test::More;
use SandboxExec;

my $node = new_node(
	'main',
	conf => q{
sandbox_exec.workers = 2
sandbox_exec.flush_interval = '50 ms'
sandbox_exec.lease = '1 h'
});
my $json = JSON::PP->new->canonical->allow_nonref;

sub sql
{
	return $node->safe_psql('postgres', $_[0]);
}

# events as "type data", those that every log has left out
sub events_of
{
	my ($id, $after, $wait) = @_;
	return split /\n/,
	  sql(sprintf q{SELECT type || ' ' || data FROM sandbox_exec.tail('%s', %d, '%s') WHERE type IN ('stdout', 'stderr', 'custom', 'retry')},
		$id, $after // 0, $wait // '0');
}

# until the log holds that text on that stream; how far it had got by then
sub read_until
{
	my ($id, $stream, $text) = @_;
	my ($pos, $seen) = (0, '');
	poll_until(
		sub {
			my $page = query_json($node, "SELECT json_agg(t ORDER BY t.pos) FROM sandbox_exec.tail('$id', $pos, '5 s') t") // [];
			for my $event (@$page)
			{
				$pos = $event->{pos};
				$seen .= $event->{data}{text} if $event->{type} eq $stream;
			}
			return index($seen, $text) >= 0;
		},
		"the log of $id to hold '$text'");
	return $pos;
}

# ------------------------------------------------------------------- as it runs

# Guarantee: who tails reads what was printed while the program goes on.
my $busy = 'while true do end';
my $id = enqueue($node, qq{print("first") $busy}, timeout => "'2 min'");
my $pos = read_until($id, 'stdout', "first\n");
is(record($node, $id)->{status}, 'running', 'the first line is read while the program runs');
is(record($node, $id)->{stdout}, "first\n", 'and stands in the record');
is(scalar(events_of($id, $pos, '200 ms')), 0, 'nothing more is made up');
sql("SELECT sandbox_exec.cancel('$id')");
wait_for_terminal($node, $id);

# Guarantee: it reaches the log within twice flush_interval.  That is made long
# here, so that the machine's own delays don't count.
set_config($node, 'sandbox_exec.flush_interval' => q{'3 s'});
$id = enqueue($node, qq{print("late") $busy}, timeout => "'2 min'");
read_until($id, 'stdout', "late\n");
is(sql("SELECT at < e.started_at + interval '6 s' FROM sandbox_exec.executions e, sandbox_exec.tail(e.id) WHERE e.id = '$id' AND type = 'stdout'"),
	't', 'within 2 x flush_interval');
is(record($node, $id)->{status}, 'running', 'and not because it ended');
sql("SELECT sandbox_exec.cancel('$id')");
wait_for_terminal($node, $id);

# Guarantee: it is collected for that long, a line is no commit of its own; the end brings the rest.
set_config($node, 'sandbox_exec.flush_interval' => q{'1 h'});
$id = enqueue($node, qq{for i = 1, 100 do print(i) end io.stderr:write("x") $busy}, timeout => "'3 s'");
is(record($node, $id)->{stdout}, '', 'nothing of it is there before') if wait_for_status($node, $id, 'running');
my $record = wait_for_terminal($node, $id);
is($record->{status}, 'timed_out', 'a program that is killed');
is($record->{stdout}, join('', map { "$_\n" } 1 .. 100), 'keeps what it had printed');
is($record->{stderr}, 'x', 'on both streams');
is(sql("SELECT count(*), count(DISTINCT at) FROM sandbox_exec.event WHERE execution_id = '$id'"), '2|1', 'a run of one stream is one event');

# Guarantee: a new flush_interval holds for what starts after the reload.
set_config($node, 'sandbox_exec.flush_interval' => q{'50 ms'});

# -------------------------------------------------------------------- true order

$id = enqueue($node, q{
	print("a") io.stderr:write("b\n") emit(1) print("c") io.write("d") emit{x = {true, json.null}} io.stderr:write("e")
	io.stderr:write("f") emit("g") return 1});
wait_for_terminal($node, $id);
# Guarantee: both streams and what was emitted stand in the order in which the code made them.
is_deeply(
	[ events_of($id) ],
	[
		'stdout {"text": "a\n"}', 'stderr {"text": "b\n"}', 'custom 1', 'stdout {"text": "c\nd"}',
		'custom {"x": [true, null]}', 'stderr {"text": "ef"}', 'custom "g"'
	],
	'the log has the true order');
$record = record($node, $id);
is("$record->{stdout}|$record->{stderr}", "a\nc\nd|b\nef", 'the record has each stream by itself');

# Guarantee: what is cut is marked in the log and in the record; the other stream and values go on.
my $cut = 'stdout {"text": "", "truncated": true}';
$id = enqueue($node, q{print("12345678") io.stderr:write("12") emit(1) print("9") emit(2) io.stderr:write("345678")}, max_output_chars => 5);
$record = wait_for_terminal($node, $id);
is_deeply(
	[ events_of($id) ],
	[
		'stdout {"text": "12345"}', $cut, 'stderr {"text": "12"}', 'custom 1', 'custom 2',
		'stderr {"text": "345"}', $cut =~ s/stdout/stderr/r
	],
	'each stream is cut by itself, and once');
ok($record->{stdout_truncated} && $record->{stderr_truncated}, 'the record says so');

# Guarantee: more than one page of events arrives whole and in order.
$id = enqueue($node, q{for i = 1, 3500 do emit(i) end return "done"});
wait_for_terminal($node, $id);
is(sql("SELECT count(*), bool_and(data::text = (pos - 1)::text) FROM sandbox_exec.event WHERE execution_id = '$id'"),
	'3500|t', 'thousands of values, each in its place');
is(sql("SELECT max(pos) FROM sandbox_exec.tail('$id', 3000)"), 3502, 'and the end after them');

# -------------------------------------------------------- attempts that are lost

# Guarantee: what an attempt logged before its runner was killed is not logged
# again; the log says that there was another.
$id = enqueue($node, qq{print("one") io.stderr:write("err\\n") emit{n = 1} for i = 1, 3e7 do end print("two") $busy}, timeout => "'2 min'");
read_until($id, 'stdout', "one\n");
kill_process($node, 'KILL', (runner_of($node, $id))[0]);
poll_until(sub { record($node, $id)->{attempt_count} == 2 }, 'the second attempt');
read_until($id, 'stdout', "two\n");
sql("SELECT sandbox_exec.cancel('$id')");
$record = wait_for_terminal($node, $id);
is($record->{stdout}, "one\ntwo\n", 'each line is logged once');
is($record->{stderr}, "err\n", 'on each stream');
my @retries = grep { /^retry/ } events_of($id);
is_deeply(\@retries, ['retry {"reason": "executor_error", "attempt": 2}'], 'and the log tells of the second attempt');
is(scalar(grep { /^custom/ } events_of($id)), 1, 'a value is logged once');

# What is compared, and how, in detail.  The first attempt is played by hand, as
# an executor outside would: it logs what it likes, and gives up.
set_config($node, 'sandbox_exec.workers' => 0);
poll_until(sub { !worker_pids($node) }, 'the workers to leave');

sub text { return { type => $_[0], data => { text => $_[1], $_[2] ? (truncated => JSON::PP::true) : () } } }
sub value { return { type => 'custom', data => $_[0] } }

# name, what the first attempt logged, the program, what comes after it, max_output_chars
my @cases = (
	[ 'in other pieces', [ text(stdout => 'on'), text(stdout => "e\ntw") ], q{print("one") print("two")}, ['stdout {"text": "o\n"}'] ],
	[ 'all of it', [ text(stdout => "one\n"), text(stderr => 'x'), value({ b => 1, a => [ 2 ] }) ],
		q{print("one") io.stderr:write("x") emit{a = {2}, b = 1}}, [] ],
	[ 'nothing', [], q{print("one")}, ['stdout {"text": "one\n"}'] ],
	[ 'a part', [ text(stdout => 'on') ], q{print("one") emit(1)}, [ 'stdout {"text": "e\n"}', 'custom 1' ] ],
	[ 'another text', [ text(stdout => "a\n"), text(stdout => "bX\n"), text(stdout => "c\n") ], q{print("a") print("bcd") print("c")},
		[ 'retry {"reason": "output_differs", "attempt": 2, "diverged_at": 3}', 'stdout {"text": "cd\nc\n"}' ] ],
	[ 'another stream', [ text(stderr => 'a') ], q{io.write("a")},
		[ 'retry {"reason": "output_differs", "attempt": 2, "diverged_at": 2}', 'stdout {"text": "a"}' ] ],
	[ 'another value', [ value({ n => 1 }) ], q{emit{n = 2} print("x")},
		[ 'retry {"reason": "output_differs", "attempt": 2, "diverged_at": 2}', 'custom {"n": 2}', 'stdout {"text": "x\n"}' ] ],
	[ 'a value instead of text', [ text(stdout => '1') ], q{emit(1)},
		[ 'retry {"reason": "output_differs", "attempt": 2, "diverged_at": 2}', 'custom 1' ] ],
	[ 'text instead of a value', [ value(1) ], q{io.write("1")},
		[ 'retry {"reason": "output_differs", "attempt": 2, "diverged_at": 2}', 'stdout {"text": "1"}' ] ],
	[ 'less than there was', [ text(stdout => 'ab'), value(1) ], q{io.write("ab")},
		[ 'retry {"reason": "output_differs", "attempt": 2, "diverged_at": 3}' ] ],
	[ 'less of the text', [ text(stdout => 'abc') ], q{io.write("ab")},
		[ 'retry {"reason": "output_differs", "attempt": 2, "diverged_at": 2}' ] ],
	[ 'none', [ text(stdout => 'abc') ], q{return 1}, [ 'retry {"reason": "output_differs", "attempt": 2, "diverged_at": 2}' ] ],
	[ 'half a character', [ text(stdout => "x\x{e4}") ], qq{io.write("x\x{e5}!")},
		[ 'retry {"reason": "output_differs", "attempt": 2, "diverged_at": 2}', qq{stdout {"text": "\x{e5}!"}} ] ],
	[ 'the same cut', [ text(stdout => '12345', 1) ], q{print("1234567") emit(1)}, ['custom 1'], 5 ],
	[ 'a cut that is new', [ text(stdout => '123') ], q{print("1234567")}, [ 'stdout {"text": "45"}', $cut ], 5 ],
	[ 'a cut just there', [ text(stdout => '12345') ], q{print("1234567")}, [$cut], 5 ],
	[ 'a cut that is gone', [ text(stdout => '123', 1) ], q{io.write("1234")},
		[ 'retry {"reason": "output_differs", "attempt": 2, "diverged_at": 2}', 'stdout {"text": "4"}' ], 5 ]);

for my $case (@cases)
{
	my ($name, $logged, $code, $expected, $max) = @$case;
	my $code_text = $code;
	utf8::encode($code_text);
	my $events = $json->encode($logged);
	utf8::encode($events);
	my $n = enqueue($node, $code_text, max_output_chars => $max // 1000, max_attempts => 3);
	my $token = sql("SELECT claim_token FROM sandbox_exec.claim('lua', id => '$n')");
	sql("SELECT sandbox_exec.append('$n', '$token', \$e\$$events\$e\$)");
	is(sql("SELECT sandbox_exec.finalize('$n', '$token', 'failed', error_code => 'executor_error')"), 't', "$name: the first attempt gave up");
	$case->[5] = $n;
}
set_config($node, 'sandbox_exec.workers' => 2);
for my $case (@cases)
{
	my ($name, $logged, $code, $expected, undef, $n) = @$case;
	$record = wait_for_terminal($node, $n);
	my @events = events_of($n);
	utf8::decode($_) for @events;
	splice @events, 0, scalar @$logged;
	# Guarantee: what is repeated is not logged again; the first difference is told, and all after it is logged.
	is_deeply(\@events, [ 'retry {"reason": "executor_error", "attempt": 2}', @$expected ], "$name: the second attempt");
	is("$record->{status} $record->{attempt_count}", 'succeeded 2', "$name: the outcome");
	is(sql("SELECT count(*) FROM (SELECT pos, row_number() OVER (ORDER BY pos) AS nth FROM sandbox_exec.tail('$n')) t WHERE pos <> nth"),
		0, "$name: no gap");
}

is_deeply([ worker_complaints($node) ], [], 'the log has no complaint of launcher or workers');
done_testing();
