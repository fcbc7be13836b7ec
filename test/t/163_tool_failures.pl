
# What happens around a tool: rights, functions, roles and policies that go away
# while code runs, functions that change between two attempts, a server that
# stops, conflicts between transactions.  The code, or the record, says what it
# was, and nobody else notices.

use strict;
use warnings FATAL => 'all';

use JSON::PP ();
use Test::More;
use SandboxExec;

my $node = new_node(
	'main',
	conf => q{
sandbox_exec.workers = 2
sandbox_exec.lease = '1 h'
});

# gate() keeps its call until the test opens it
$node->safe_psql('postgres', q{
CREATE ROLE app;
CREATE ROLE other;
SELECT sandbox_exec.grant_submitter('app'), sandbox_exec.grant_submitter('other');
CREATE SCHEMA app;
GRANT USAGE ON SCHEMA app TO PUBLIC;
CREATE TABLE app.open (gate text);
CREATE TABLE app.effect (what text, by name DEFAULT current_user);
GRANT SELECT ON app.open TO PUBLIC;
GRANT SELECT, INSERT ON app.effect TO PUBLIC;
CREATE FUNCTION app.gate(name text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO app.effect VALUES (name);
	WHILE NOT EXISTS (SELECT FROM app.open o WHERE o.gate = name) LOOP
		PERFORM pg_sleep(0.01);    -- lint: slept on purpose: a gate
	END LOOP;
	RETURN current_user;
END $$;
CREATE FUNCTION app.step(n integer) RETURNS text LANGUAGE sql AS $$
	INSERT INTO app.effect VALUES ('step ' || n); SELECT 'first version' $$;
SELECT sandbox_exec.register_tool('app.gate(text)', 'app.gate'), sandbox_exec.register_tool('app.step(integer)', 'app.step');
});

my ($gates, @neighbours) = (0);

# until the worker of that execution is in the gate
sub at_gate
{
	my ($id) = @_;
	$node->poll_query_until('postgres', qq{
		SELECT count(*) > 0 FROM sandbox_exec.workers w JOIN pg_stat_activity a USING (pid)
		WHERE w.execution_id = '$id' AND a.wait_event = 'PgSleep'}) or die "execution $id did not come to its gate";
}

# Code that stands in a gate while change happens; somebody else's runs meanwhile.
# Returns the id; $open opens the gate.
sub stands
{
	my ($code, %arg) = @_;
	my $gate = 'gate ' . ++$gates;
	my $id = enqueue($node, $code, role => 'app', tools => "'{app.*}'", args => qq{'"$gate"'}, %arg);

	at_gate($id);
	return ($id, sub { $node->safe_psql('postgres', "INSERT INTO app.open VALUES ('$gate')") });
}

sub change { $node->safe_psql('postgres', $_[0]) }

# while something is missing, others have what they need
sub neighbour
{
	my ($what) = @_;
	my $id = enqueue($node, 'return workspace.get("x")', role => 'other', tools => "'{workspace.*}'");
	expect_terminal($node, $id, { status => 'succeeded', attempt_count => 1 }, "$what: the neighbour's runs");
}

my $twice = q{
	local first = tools.app.step{n = 1}
	tools.app.gate{name = args}
	local ok, second = pcall(tools.app.step, {n = 2})
	return {first, ok, second}};

sub expect_error
{
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my ($what, $id, $code, $message, $sqlstate) = @_;
	my $row = wait_for_terminal($node, $id);
	my ($first, $ok, $error) = @{ $row->{result} // [] };

	is($row->{status}, 'succeeded', "$what: the code goes on") or diag($row->{error});
	is($first, 'first version', "$what: it got what it got before");
	ok(!$ok, "$what: its next call fails");
	is($error->{code}, $code, "$what: with a code");
	like($error->{message}, $message, "$what: and a message");
	is($error->{sqlstate}, $sqlstate, "$what: and the SQLSTATE");
	is($error->{tool}, 'app.step', "$what: and which tool it was");
}

# ----------------------------------------------------------------- it goes away

my ($id, $open) = stands($twice);
change('REVOKE EXECUTE ON FUNCTION app.step FROM PUBLIC');
$open->();
# guarantee: what counts is the right at the time of the call
expect_error('EXECUTE is revoked', $id, 'tool_failed', qr/^permission denied for function step$/, '42501');
neighbour('EXECUTE is revoked');

# one that never had it, and doesn't catch the error
$id = enqueue($node, 'tools.app.step{n = 1}', role => 'other', tools => "'{app.*}'");
expect_terminal($node, $id,
	{ status => 'failed', error_code => 'tool_failed', error => qr/permission denied for function step/, stderr => qr/traceback/, attempt_count => 1 },
	'without EXECUTE: an error that is not caught is that of the execution');
change('GRANT EXECUTE ON FUNCTION app.step TO PUBLIC');

($id, $open) = stands($twice);
change('DROP FUNCTION app.step');
$open->();
expect_error('the function is dropped', $id, 'tool_not_found', qr/function of tool "app\.step" no longer exists/, undef);
neighbour('the function is dropped');
change(q{CREATE FUNCTION app.step(n integer) RETURNS text LANGUAGE sql AS $$ SELECT 'first version' $$});
$id = enqueue($node, 'return tools.app.step{n = 1}', role => 'app', tools => "'{app.*}'");
expect_terminal($node, $id, { status => 'succeeded', result => 'first version' }, 'the function is back: so is the tool');

($id, $open) = stands($twice);
change(q{SELECT sandbox_exec.set_policy('app.step', 'block')});
$open->();
expect_error('a policy blocks it', $id, 'tool_blocked', qr/tool "app\.step" is blocked/, undef);
neighbour('a policy blocks it');
change(q{SELECT sandbox_exec.set_policy('app.step', NULL)});

($id, $open) = stands($twice);
change(q{SELECT sandbox_exec.drop_tool('app.step')});
$open->();
expect_error('the tool is dropped', $id, 'tool_not_found', qr/tool "app\.step" does not exist/, undef);
neighbour('the tool is dropped');
change(q{SELECT sandbox_exec.register_tool('app.step(integer)', 'app.step')});

# --------------------------------------------------- it changes between attempts

# the attempt ends with its worker, which is killed; returns after the restart
sub lose_attempt
{
	my ($id) = @_;
	my $epoch = server_epoch($node);
	kill_process($node, 'KILL', $node->safe_psql('postgres', "SELECT pid FROM sandbox_exec.workers WHERE execution_id = '$id'"))
	  or die 'no such worker';
	wait_for_restart($node, $epoch);
}

($id, $open) = stands($twice, max_attempts => 5);
change(q{CREATE OR REPLACE FUNCTION app.step(n integer) RETURNS text LANGUAGE sql AS $$ SELECT 'second version' $$});
lose_attempt($id);
$open->();
# guarantee: what was called is not called again, whatever the function is now
expect_terminal($node, $id, { status => 'succeeded', result => [ 'first version', JSON::PP::true(), 'second version' ], attempt_count => 2 },
	'the function is replaced: what was called stays, what is called is new');
is($node->safe_psql('postgres', q{SELECT what, count(*) FROM app.effect WHERE what = 'gate 5' GROUP BY 1}), 'gate 5|1', 'each effect is there once');

change(q{CREATE OR REPLACE FUNCTION app.step(n integer) RETURNS text LANGUAGE sql AS $$ SELECT 'first version' $$});
($id, $open) = stands($twice, max_attempts => 5);
change(q{DROP FUNCTION app.step(integer); CREATE FUNCTION app.step(n integer, m integer) RETURNS text LANGUAGE sql AS $$ SELECT 'other arguments' $$});
lose_attempt($id);
$open->();
expect_error('the function has other arguments', $id, 'tool_not_found', qr/no longer exists/, undef);
change(q{SELECT sandbox_exec.drop_tool('app.step'), sandbox_exec.register_tool('app.step(integer, integer)', 'app.step')});
$id = enqueue($node, 'local _, e = pcall(tools.app.step, {n = 1}) return e', role => 'app', tools => "'{app.*}'");
like(wait_for_terminal($node, $id)->{result}{detail}, qr/m: /, 'registered anew: the code is told which argument it lacks');
change(q{DROP FUNCTION app.step(integer, integer);
	CREATE FUNCTION app.step(n integer) RETURNS text LANGUAGE sql AS $$ SELECT 'first version' $$;
	SELECT sandbox_exec.drop_tool('app.step'), sandbox_exec.register_tool('app.step(integer)', 'app.step')});

# ------------------------------------------------------------ the role is dropped

change(q{CREATE ROLE passing; SELECT sandbox_exec.grant_submitter('passing'); GRANT EXECUTE ON FUNCTION app.step TO passing});
($id, $open) = stands($twice, role => 'passing');
change('DROP OWNED BY passing; DROP ROLE passing');
neighbour('the role is dropped');
$open->();
# guarantee: nothing runs for a role that isn't there
expect_error('the role is dropped', $id, 'submitter_dropped', qr/role that submitted this execution no longer exists/, undef);

change(q{CREATE ROLE passing; SELECT sandbox_exec.grant_submitter('passing')});
($id, $open) = stands($twice, role => 'passing', max_attempts => 5);
change('DROP OWNED BY passing; DROP ROLE passing');
lose_attempt($id);
expect_terminal($node, $id, { status => 'failed', error_code => 'submitter_dropped', error => qr/role that enqueued this execution was dropped/ },
	'the role is dropped between attempts: the record says so');
neighbour('the role is dropped between attempts');

# ------------------------------------------------------------ the server stops

my $stays = q{
	local first = tools.app.step{n = 1}
	print("before")
	local by = tools.app.gate{name = args}
	print("after")
	return {first, by, tools.app.step{n = 2}}};

for my $mode ('fast', 'immediate')
{
	($id, $open) = stands($stays);
	my $calls = $node->safe_psql('postgres', "SELECT call_count FROM sandbox_exec.execution WHERE id = '$id'");
	is($calls, 1, "a $mode stop: it comes in the second call");
	$node->stop($mode);
	$node->start;
	at_gate($id);
	is($node->safe_psql('postgres', "SELECT count(*) FROM app.effect WHERE what = 'gate $gates'"), 0, "a $mode stop: the call had no effect yet");
	$open->();
	# guarantee: what was called is kept, what was not is called; an orderly stop costs no attempt
	expect_terminal($node, $id,
		{ status => 'succeeded', result => [ 'first version', 'app', 'first version' ], stdout => "before\nafter\n", attempt_count => $mode eq 'fast' ? 1 : 2 },
		"a $mode stop: it goes on where it was");
	is($node->safe_psql('postgres', "SELECT count(*) FROM app.effect WHERE what = 'gate $gates'"), 1, "a $mode stop: each effect is there once");
	is($node->safe_psql('postgres', "SELECT count(*) FROM sandbox_exec.call WHERE execution_id = '$id'"), 3, "a $mode stop: as is each call");
}

# a worker that is told to go
($id, $open) = stands($stays);
my ($pid) = $node->safe_psql('postgres', "SELECT pid FROM sandbox_exec.workers WHERE execution_id = '$id'");
change("SELECT pg_terminate_backend($pid)");
no_such_process($pid);
at_gate($id);
$open->();
expect_terminal($node, $id, { status => 'succeeded', result => [ 'first version', 'app', 'first version' ], attempt_count => 1 },
	'a worker is terminated in a tool: the next one makes the call, at no cost');
is($node->safe_psql('postgres', "SELECT count(*) FROM app.effect WHERE what = 'gate $gates'"), 1, 'once');

# a runner that is killed
($id, $open) = stands($stays);
kill_process($node, 'KILL', runners_of($node->safe_psql('postgres', "SELECT pid FROM sandbox_exec.workers WHERE execution_id = '$id'")));
$open->();
# guarantee: a call that was made is in the journal, also when nobody waits for its answer
expect_terminal($node, $id, { status => 'succeeded', result => [ 'first version', 'app', 'first version' ], attempt_count => 2 },
	'a runner is killed while its call is made: the next attempt has the answer');
is($node->safe_psql('postgres', "SELECT count(*) FROM app.effect WHERE what = 'gate $gates'"), 1, 'of a call that was made once');

# ---------------------------------------------------- conflicts of transactions

change(q{
CREATE SEQUENCE app.tries;
GRANT USAGE ON SEQUENCE app.tries TO PUBLIC;
CREATE FUNCTION app.conflict(state text, times integer) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	try CONSTANT bigint := nextval('app.tries');
BEGIN
	INSERT INTO app.effect VALUES ('conflict ' || state);
	IF try <= times THEN
		RAISE EXCEPTION 'try %', try USING ERRCODE = state;
	END IF;
	RETURN try;
END $$;
SELECT sandbox_exec.register_tool('app.conflict(text, integer)', 'app.conflict')});

sub conflict
{
	my ($state, $times) = @_;
	change('ALTER SEQUENCE app.tries RESTART; TRUNCATE app.effect');
	$id = enqueue($node, "local ok, r = pcall(tools.app.conflict, {state = '$state', times = $times}) return {ok, ok and r or r.sqlstate}",
		role => 'app', tools => "'{app.*}'");
}

for my $state ('40001', '40P01')
{
	conflict($state, 3);
	# guarantee: a conflict that another try resolves is none of the code's business
	expect_terminal($node, $id, { status => 'succeeded', result => [ JSON::PP::true(), 4 ], attempt_count => 1 }, "$state: it is tried again, three times");
	is($node->safe_psql('postgres', 'SELECT count(*) FROM app.effect'), 1, "$state: and happens once");
	is($node->safe_psql('postgres', "SELECT count(*) FROM sandbox_exec.call WHERE execution_id = '$id'"), 1, "$state: as one call");

	conflict($state, 100);
	expect_terminal($node, $id, { status => 'succeeded', result => [ JSON::PP::false(), $state ], attempt_count => 1 }, "$state: then the code is told");
	is($node->safe_psql('postgres', 'SELECT last_value FROM app.tries'), 4, "$state: after the last try");
	is($node->safe_psql('postgres', 'SELECT count(*) FROM app.effect'), 0, "$state: and nothing has happened");
}
conflict('23505', 1);
expect_terminal($node, $id, { status => 'succeeded', result => [ JSON::PP::false(), '23505' ] }, 'what another try would not change is not tried again');
is($node->safe_psql('postgres', 'SELECT last_value FROM app.tries'), 1, 'at all');

# ------------------------------------------- what is not the tool's doing

# An error of the server's resources ends the attempt: another one makes the call.
conflict('53100', 1);
expect_terminal($node, $id, { status => 'succeeded', result => [ JSON::PP::true(), 2 ], attempt_count => 2 },
	'a full disk: the next attempt makes the call');
conflict('53100', 100);
expect_terminal($node, $id, { status => 'failed', error_code => 'executor_error', error => qr/try 2/, attempt_count => 2 },
	'a disk that stays full: it fails, and says why');
neighbour('a disk that stays full');
is($node->safe_psql('postgres', "SELECT count(*) FROM sandbox_exec.call WHERE execution_id = '$id'"), 0, 'such an error is in no journal');

# the execution's row is held by somebody's open transaction
($id, $open) = stands($stays);
my $holder = session($node);
$holder->query("BEGIN; SELECT FROM sandbox_exec.execution WHERE id = '$id' FOR UPDATE");
$open->();
neighbour('the row is held');
$holder->query('ROLLBACK');
expect_terminal($node, $id, { status => 'succeeded', attempt_count => 1 }, 'the row is held: the call is made when it is free');
is($node->safe_psql('postgres', "SELECT count(*) FROM app.effect WHERE what = 'gate $gates'"), 1, 'once');

# guarantee: who holds a row keeps nobody waiting for longer than a while
set_config($node, 'sandbox_exec.workers' => 1);
poll_until(sub { worker_pids($node) == 1 }, 'one worker to be left');
($id, $open) = stands($stays);
$holder->query("BEGIN; SELECT sandbox_exec.cancel('$id')");
$open->();
neighbour('the only worker came to a held row');
is(record($node, $id)->{status}, 'running', 'which is held still');
$holder->query('ROLLBACK');
expect_terminal($node, $id, { status => 'succeeded' }, 'the call is made by a later attempt');
is($node->safe_psql('postgres', "SELECT count(*) FROM app.effect WHERE what = 'gate $gates'"), 1, 'once');
$holder->close;

# -------------------------------------------------------- an executor outside

# guarantee: that a lease ends is not what a tool came to: it is in no journal
$node->safe_psql('postgres', q{
	CREATE FUNCTION app.nap() RETURNS text LANGUAGE sql AS $$ SELECT pg_sleep(0.7); SELECT 'rested' $$;    -- lint: slept on purpose
	SELECT sandbox_exec.register_tool('app.nap()', 'app.nap')});
$id = enqueue($node, 'outside', role => 'app', tools => "'{app.*}'", runtime => q('outside'));
my $outside = session($node);
my $token = $outside->query(q{SELECT claim_token FROM sandbox_exec.claim('outside', lease => '1 s')});
my $call = "SELECT outcome, value FROM sandbox_exec.call('$id', '$token', 1, 'tool', 'app.nap', '{}')";
like(($outside->query($call))[1], qr/55000.*the lease is too short for tool "app.nap"/, 'a tool that outlasts the lease');
is($outside->query("SELECT sandbox_exec.renew('$id', '$token', '1 h')"), 'held', 'the lease is renewed');
is($outside->query($call), 'ok|"rested"', 'then it has its time');

# guarantee: nor does a worker that could not renew take it for the tool's error
($id, $open) = stands('tools.app.gate{name = args} return tools.app.nap()');
$node->safe_psql('postgres', "UPDATE sandbox_exec.execution SET lease_expires_at = clock_timestamp() + '1 s' WHERE id = '$id'");
$open->();
expect_terminal($node, $id, { status => 'succeeded', result => 'rested', attempt_count => 2 }, 'a lease that could not be renewed');

# guarantee: nor is an open transaction waited for without end; the effect is undone
set_config($node, 'sandbox_exec.lease' => "'3 s'");
change('TRUNCATE app.effect');
$call =~ s/1, 'tool', 'app.nap', '\{}'/2, 'tool', 'app.conflict', '{"state": "40001", "times": 0}'/;
$id = ($call =~ /call\('([^']+)/)[0];
$holder = session($node);
$holder->query("BEGIN; SELECT sandbox_exec.cancel('$id')");
like(($outside->query($call))[1], qr/55P03.*another transaction holds the execution/, 'an executor outside comes to a held row');
is($node->safe_psql('postgres', 'SELECT count(*) FROM app.effect'), 0, 'and nothing has happened');
is($outside->query('SHOW lock_timeout'), '0', 'to its settings neither');
$holder->query('ROLLBACK');
$holder->close;
like($outside->query($call), qr/^ok\|/, 'then the call is made');
is($node->safe_psql('postgres', 'SELECT count(*) FROM app.effect'), 1, 'once');
$outside->close;

$node->stop;
done_testing();
