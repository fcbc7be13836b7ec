
# Pauses are rows: they outlive the worker, the server and the database that they
# were dumped from.  First answer wins, and every effect happens once.

use strict;
use warnings FATAL => 'all';

use Test::More;
use SandboxExec;

my $node = new_node(
	'main',
	conf => q{
sandbox_exec.workers = 1
sandbox_exec.flush_interval = '20 ms'
sandbox_exec.lease = '1 h'
});

sub sql
{
	my ($sql, $dbname) = @_;
	return $node->safe_psql($dbname // 'postgres', $sql);
}

sql(q{
CREATE SCHEMA app;
CREATE TABLE app.note (execution uuid, text text);
CREATE FUNCTION app.note(text text) RETURNS void LANGUAGE sql AS $$
	INSERT INTO app.note VALUES (current_setting('sandbox_exec.execution_id')::uuid, text) $$;
CREATE FUNCTION app.pay(amount integer) RETURNS integer LANGUAGE sql AS $$
	INSERT INTO app.note VALUES (current_setting('sandbox_exec.execution_id')::uuid, 'paid ' || amount) RETURNING amount $$;
CREATE FUNCTION app.gate() RETURNS void LANGUAGE sql AS $$ SELECT pg_advisory_xact_lock(7) $$;
SELECT sandbox_exec.register_tool('app.note(text)', 'app.note');
SELECT sandbox_exec.register_tool('app.gate()', 'app.gate');
SELECT sandbox_exec.register_tool('app.pay(integer)', 'app.pay', requires_approval => true);
});
my @tools = (tools => q('{app.*,executions.*}'));

sub notes { return sql("SELECT coalesce(string_agg(text, ' ' ORDER BY text), '') FROM app.note WHERE execution = '$_[0]'", $_[1]) }

# the call of that message, or of that tool; it may still be on its way
sub call_id
{
	my ($id, $message, $dbname) = @_;
	my $call;
	poll_until(
		sub {
			$call = sql("SELECT call_id FROM sandbox_exec.pending WHERE execution_id = '$id' AND (message = '$message' OR name = '$message')", $dbname);
		},
		"the call '$message'");
	return $call;
}

sub answer
{
	my ($id, $message, $action, %opt) = @_;
	my $content = defined $opt{content} ? "'$opt{content}'" : 'NULL';
	return sql("SELECT outcome FROM sandbox_exec.resume('" . call_id($id, $message, $opt{dbname}) . "', '$action', $content, scope => '" . ($opt{scope} // 'call') . "')", $opt{dbname});
}

sub whole_log
{
	my ($id, $dbname) = @_;
	my $log = query_json($node, "SELECT json_agg(t ORDER BY pos) FROM sandbox_exec.tail('$id') t", dbname => $dbname // 'postgres');
	is(join(' ', map { $_->{pos} } @$log), join(' ', 1 .. @$log), 'the log has no gap');
	return $log;
}

# ------------------------------------------------- crashes, a dump, another home

# Guarantee: a program that pauses goes on where it was after crashes between the
# answers, and in a restored copy; effects and events once each.
my $id = enqueue($node, q{
for n = 1, 3 do
	tools.app.note{text = "before " .. n}
	local action, content = ask{message = "question " .. n}
	print(n, action, content and content.n)
	emit{n = n}
end
return "done"}, @tools);
for my $n (1 .. 2)
{
	wait_for_status($node, $id, 'paused');
	$node->stop('immediate');
	$node->start;
	is(answer($id, "question $n", 'accept', content => qq({"n": $n})), 'accept', "answer $n after a crash");
}
wait_for_status($node, $id, 'paused');
is_deeply([ worker_pids($node) ? runner_pids($node) : () ], [], 'what is paused holds no process');
my $dump = PostgreSQL::Test::Utils::tempdir() . '/dump';
$node->command_ok([ 'pg_dump', '-Fc', '-f', $dump, $node->connstr('postgres') ], 'dump of a paused execution');
sql('CREATE DATABASE copy TEMPLATE template0');
$node->command_ok([ 'pg_restore', '--exit-on-error', '-d', $node->connstr('copy'), $dump ], 'and restore');
sql('SELECT sandbox_exec.adopt()', 'copy');
for my $dbname ('copy', 'postgres')
{
	is(answer($id, 'question 3', 'decline', dbname => $dbname), 'decline', "$dbname: answer 3");
	expect_terminal($node, $id, { status => 'succeeded', result => 'done', attempt_count => 1,
			stdout => "1\taccept\t1\n2\taccept\t2\n3\tdecline\tnil\n" }, "$dbname: it completes", dbname => $dbname);
	is(notes($id, $dbname), 'before 1 before 2 before 3', "$dbname: each effect once");
	my $log = whole_log($id, $dbname);
	is(join(' ', map { $_->{type} } grep { $_->{type} !~ /^(call|returned|stdout|custom)$/ } @$log),
		'started paused resumed paused resumed paused resumed succeeded', "$dbname: its log");
	is(scalar(grep { $_->{type} eq 'custom' } @$log), 3, "$dbname: each event once");
}

# -------------------------------------------------------------- the first answer

# Guarantee: of ten that answer at once one wins, and all are told the same; also
# later, until the record is purged.
for my $round (1 .. 5)
{
	$id = enqueue($node, q{return pcall(tools.app.pay, {amount = 5})}, @tools);
	my $call = call_id($id, 'app.pay');
	my @out = parallel_psql($node, [ map { "SELECT outcome FROM sandbox_exec.resume('$call', '" . (qw(accept decline cancel))[ $_ % 3 ] . "')" } 0 .. 9 ]);
	my %told = map { $_->{stdout} => 1 } @out;
	is(scalar(keys %told), 1, 'ten are told the same: ' . join(' ', keys %told));
	my ($outcome) = keys %told;
	wait_for_terminal($node, $id);
	is(notes($id), $outcome eq 'accept' ? 'paid 5' : '', 'and that is what happened, once');
	is(sql("SELECT outcome FROM sandbox_exec.resume('$call', 'accept')"), $outcome, 'as a repeat is told after the end');
	if ($round == 5)
	{
		sql("SELECT sandbox_exec.purge('0')");
		fails_with($node, "SELECT sandbox_exec.resume('$call', 'accept')", 'P0002', qr/does not exist/, 'after the purge there is no such call');
	}
}

# ------------------------------------------------------------------- approvals

# Guarantee: a gated tool never runs unless it was approved; the code learns why;
# bad arguments ask nobody; approved for the execution is asked once.
my $gated = q{local done = {}
for n = 1, 3 do
	local ok, e = pcall(tools.app.pay, {amount = n})
	done[n] = ok and e or e.code
end
return done};
$id = enqueue($node, $gated, @tools);
answer($id, 'app.pay', 'decline');
wait_for_status($node, $id, 'paused');
answer($id, 'app.pay', 'cancel');
answer($id, 'app.pay', 'accept');
expect_terminal($node, $id, { status => 'succeeded', result => [ 'approval_declined', 'approval_cancelled', 3 ] }, 'declined, cancelled, approved');
is(notes($id), 'paid 3', 'what was not approved never ran');
$id = enqueue($node, $gated, @tools);
answer($id, 'app.pay', 'accept', scope => 'execution');
expect_terminal($node, $id, { status => 'succeeded', result => [ 1, 2, 3 ] }, 'approved for the execution');
is(notes($id), 'paid 1 paid 2 paid 3', 'each ran once');
expect_terminal($node, enqueue($node, q{local ok, e = pcall(tools.app.pay, {amount = "much"}) return e.code}, @tools),
	{ status => 'succeeded', result => 'invalid_tool_arguments' }, 'bad arguments ask nobody');
sql(q{SELECT sandbox_exec.set_policy('app.pay', 'block', owner => 'blocked')});
expect_terminal($node, enqueue($node, q{local ok, e = pcall(tools.app.pay, {amount = 1}) return e.code}, @tools, owner => q('blocked')),
	{ status => 'succeeded', result => 'tool_blocked' }, 'a block beats an approval');

# Guarantee: the time of waiting is not the execution's; here two waits that are
# each longer than its timeout.
$id = enqueue($node, q{local a = ask{message = "one"} local b = ask{message = "two"} return {a, b}}, @tools, timeout => q('1 s'));
for my $message ('one', 'two')
{
	my $call = call_id($id, $message);
	poll_until(sub { sql("SELECT clock_timestamp() > requested_at + interval '1100 ms' FROM sandbox_exec.pending WHERE call_id = '$call'") eq 't' }, 'the timeout to pass');
	answer($id, $message, 'accept');
}
expect_terminal($node, $id, { status => 'succeeded', result => [ 'accept', 'accept' ] }, 'waits are longer than the timeout');

# ----------------------------------------------------------------- in parallel

# Guarantee: answers in every order, one at a time or all at once, complete.
my $parallel = q{
local function branch(name)
	return function()
		tools.app.note{text = name .. " first"}
		local action = ask{message = name}
		tools.app.note{text = name .. " " .. action}
		return name .. " " .. action
	end
end
return {parallel(branch "a", branch "b", branch "c")}};
my $all = 'a accept a first b accept b first c accept c first';
for my $order ([qw(a b c)], [qw(a c b)], [qw(b a c)], [qw(b c a)], [qw(c a b)], [qw(c b a)])
{
	for my $mode ('one by one', 'at once')
	{
		$id = enqueue($node, $parallel, @tools);
		my %call = map { $_ => call_id($id, $_) } @$order;
		if ($mode eq 'at once')
		{
			sql("SELECT " . join(', ', map { "sandbox_exec.resume('$call{$_}')" } @$order));
		}
		else
		{
			for my $name (@$order)
			{
				sql("SELECT sandbox_exec.resume('$call{$name}')");
				poll_until(sub { notes($id) =~ /\b$name accept/ }, "branch $name to go on");
			}
		}
		expect_terminal($node, $id, { status => 'succeeded', result => [ 'a accept', 'b accept', 'c accept' ] }, "@$order $mode");
		is(notes($id), $all, 'each effect once');
	}
}

# Guarantee: an answer that comes in the middle of an attempt is for the next.
my $lock = session($node);
$lock->query('SELECT pg_advisory_lock(7)');
$id = enqueue($node, q{
return {parallel(
	function() local action = ask{message = "f"} tools.app.note{text = "A"} return action end,
	function() ask{message = "g"} tools.app.gate() tools.app.note{text = "C"} return "g" end)}}, @tools);
answer($id, 'g', 'accept', dbname => 'postgres') if call_id($id, 'f');
poll_until(sub { sql(q{SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted}) eq '1' }, 'the tool to wait');
answer($id, 'f', 'decline');
is(record($node, $id)->{status}, 'running', 'answered in the middle of an attempt');
$lock->query('SELECT pg_advisory_unlock(7)');
$lock->close;
expect_terminal($node, $id, { status => 'succeeded', result => [ 'decline', 'g' ] }, 'it completes');
is(notes($id), 'A C', 'each effect once');

# ------------------------------------------------------------------- children

# Guarantee: parents that wait hold no worker: one is enough for all.
my @parents = enqueue_batch($node, [ map { { tools => ['executions.*'], code => qq{
local a, b = executions.enqueue{code = "return args * 2", args = $_}, executions.enqueue{code = "error('no')"}
return {executions.wait(a).result, executions.wait(b).status}} } } 1 .. 20 ]);
expect_terminal($node, $parents[$_ - 1], { status => 'succeeded', result => [ 2 * $_, 'failed' ] }, "parent $_") for 1 .. 20;

# Guarantee: a parent that was held when its child ended, for longer than any
# worker stayed, goes on when it is let go.
set_config($node, 'sandbox_exec.worker_idle_timeout', '1 s');
my $gate = session($node);
$gate->query('SELECT pg_advisory_lock(7)');
my $parent = enqueue($node, q{local child = executions.enqueue{code = "tools.app.gate()", tools = {"app.gate"}}
return executions.wait(child).status}, @tools);
wait_for_status($node, $parent, 'paused');
my $holder = session($node);
$holder->query('BEGIN');
$holder->query("SELECT FROM sandbox_exec.execution WHERE id = '$parent' FOR UPDATE");
my ($worker) = worker_pids($node);
$gate->query('SELECT pg_advisory_unlock(7)');
$gate->close;
poll_until(sub { sql("SELECT status FROM sandbox_exec.executions WHERE parent_id = '$parent'") eq 'succeeded' }, 'the child to end');
process_gone($worker, 'the worker that told the parent in vain');
$holder->query('COMMIT');
$holder->close;
expect_terminal($node, $parent, { status => 'succeeded', result => 'succeeded' }, 'the parent goes on all the same');
set_config($node, 'sandbox_exec.worker_idle_timeout', '60 s');

# --------------------------------------------------------------- sleep and events

$id = enqueue($node, q{local pause = sleep pause(0.01) pause(0.3) local p = await_event("go", 600) local q, why = await_event("never", 0.25) return {p, q or why}});
poll_until(sub { sql(q{SELECT sandbox_exec.signal('go', '"went"')}) }, 'the event to be awaited');
expect_terminal($node, $id, { status => 'succeeded', result => [ 'went', 'timeout' ] }, 'slept, heard, and gave up');

# Guarantee: an expired question answers itself.
expect_terminal($node, enqueue($node, q{return (ask{message = "quick", expires = 0.2})}), { status => 'succeeded', result => 'cancel' }, 'it expires');

# Guarantee: a pause is cancelled at once, and its call answers as cancelled.
$id = enqueue($node, q{ask{message = "never"}});
my $call = call_id($id, 'never');
wait_for_status($node, $id, 'paused');
is(sql("SELECT sandbox_exec.cancel('$id')"), 't', 'a paused execution is cancelled');
is(record($node, $id)->{status}, 'cancelled', 'at once');
is(sql("SELECT outcome FROM sandbox_exec.resume('$call', 'accept')"), 'cancel', 'and its call says so');
is(sql("SELECT count(*) FROM sandbox_exec.pending"), 0, 'nothing waits any more');

is_deeply([ worker_complaints($node) ], [], 'the log has no complaint of launcher or workers');
done_testing();
