
# What later attempts replay: the same program goes the same way, and one that
# doesn't ends, with both calls named.

use strict;
use warnings FATAL => 'all';

use JSON::PP ();
use Test::More;
use SandboxExec;

# an hour's lease: nothing here is repaired because one expired
my $node = new_node(
	'main',
	conf => q{
sandbox_exec.workers = 1
sandbox_exec.lease = '1 h'
});

# A gate keeps its call until a test opens it.  What a call was given is kept,
# and what it gave is never the same twice.
$node->safe_psql('postgres', q{
CREATE SCHEMA app;
CREATE TABLE app.open (execution uuid, n integer);
CREATE TABLE app.effect (execution uuid DEFAULT current_setting('sandbox_exec.execution_id')::uuid, given jsonb);
CREATE FUNCTION app.gate(n integer, given jsonb DEFAULT NULL) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO app.effect (given) VALUES (given);
	WHILE NOT EXISTS (SELECT FROM app.open o
			WHERE o.execution = current_setting('sandbox_exec.execution_id')::uuid AND o.n = gate.n) LOOP
		PERFORM pg_sleep(0.01);    -- lint: slept on purpose: a gate
	END LOOP;
END $$;
CREATE FUNCTION app.step(given jsonb DEFAULT NULL) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO app.effect (given) VALUES (given);
	RETURN jsonb_build_object('given', given, 'number', random() * 1e9, 'time', clock_timestamp(), 'a list', '[1, 2.50, 1e300, "\u00e4", {}, []]'::jsonb);
END $$;
CREATE FUNCTION app.refuse(x integer) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	RAISE EXCEPTION 'refused % at %', x, clock_timestamp() USING ERRCODE = 'XY001', DETAIL = random(), HINT = random();
END $$;
SELECT sandbox_exec.register_tool('app.gate(integer, jsonb)', 'app.gate'),
	sandbox_exec.register_tool('app.step(jsonb)', 'app.step'),
	sandbox_exec.register_tool('app.refuse(integer)', 'app.refuse'),
	sandbox_exec.register_module('shapes', 'return {name = function(t) local s = "" for k in pairs(t) do s = s .. k .. "," end return s end}');
});

# until it is in the call of that number, that is, the others are in the journal
sub at_call
{
	my ($id, $seq) = @_;
	poll_until(
		sub {
			return $node->safe_psql('postgres', qq{
				SELECT call_count = $seq - 1 AND EXISTS (SELECT FROM pg_stat_activity a JOIN sandbox_exec.workers w USING (pid)
					WHERE w.execution_id = e.id AND a.wait_event = 'PgSleep')
				FROM sandbox_exec.execution e WHERE id = '$id' AND status = 'running'}) eq 't';
		},
		"execution $id to be in its call $seq");
}

sub open_gate
{
	my ($id, $n) = @_;
	$node->safe_psql('postgres', "INSERT INTO app.open VALUES ('$id', $n)");
}

sub kill_worker_of
{
	my ($id) = @_;
	my $epoch = server_epoch($node);
	my $pid = $node->safe_psql('postgres', "SELECT pid FROM sandbox_exec.workers WHERE execution_id = '$id'");

	kill_process($node, 'KILL', $pid) or die 'no such worker';
	wait_for_restart($node, $epoch);
}

# --------------------------------- whatever may differ from one run to the next

my $id = enqueue($node, q{
	local shapes = require "shapes"
	local seen = {}
	local function look()
		local t = {}
		for i = 1, 40 do t["key " .. math.random(1, 1e9)] = i end
		seen[#seen + 1] = {
			time = os.time(), clock = os.clock(), date = os.date("!%c"), difference = os.difftime(os.time(), 0),
			random = math.random(), shape = shapes.name(t), kilobytes = collectgarbage("count"),
			name = tostring(t) .. tostring(print) .. tostring(coroutine.create(print)), id = execution.id,
		}
		print(seen[#seen].kilobytes)
		return seen[#seen]
	end
	for n = 1, 4 do
		for i = 1, 3 do
			local given = look()
			local got = tools.app.step{given = given}
			local _, missing = pcall(tools.app.missing, {n = n})
			local _, invalid = pcall(tools.app.step, {wrong = n, also = i})
			local _, refused = pcall(tools.app.refuse, {x = i})
			for _, e in ipairs{got, missing, invalid, refused} do seen[#seen + 1] = shapes.name(e) .. json.encode(e) end
			collectgarbage("step")
		end
		tools.app.gate{n = n, given = look()}
		workspace.set("n", n)
		seen[#seen + 1] = workspace.get("n")
	end
	return {collectgarbage("count"), #seen, tools.app.step{given = seen}}
}, tools => "'{app.*, workspace.*}'", max_attempts => 10);

# a module first, then twelve calls before each gate and two after it
for my $n (1 .. 4)
{
	my $gate = 14 + 15 * ($n - 1);
	at_call($id, $gate);
	kill_worker_of($id);
	at_call($id, $gate);
	open_gate($id, $n);
}
# guarantee: clocks, random numbers, the order of tables and the state of the
# collector are the same again, or one of these calls would differ
my $row = expect_terminal($node, $id, { status => 'succeeded', attempt_count => 5 },
	'four workers are killed, and the program goes on where it was');
is($node->safe_psql('postgres', "SELECT count(*) FROM app.effect WHERE execution = '$id'"), 3 * 4 + 4 + 1, 'each effect is there once');
# guarantee: what it printed was the same each time
is($node->safe_psql('postgres', "SELECT count(*), count(*) FILTER (WHERE data ? 'diverged_at') FROM sandbox_exec.event
		WHERE execution_id = '$id' AND type = 'retry'"), '4|0', 'what it printed before was printed again');
my @lines = split /\n/, $row->{stdout};
is(scalar @lines, 16, 'and is in the log once');

# or being the same again would mean nothing
my %seen = map { $_ => 1 } split /\n/, $node->safe_psql('postgres', "SELECT given ->> 'random' FROM app.effect WHERE execution = '$id' AND given ? 'random'");
is(scalar keys %seen, 16, 'random numbers differ within an execution');

# --------------------------------------------------------------- divergence

my $program = q{
	print("begin")
	local a = tools.app.step{given = {n = 1, why = "first"}}
	local b = tools.app.step{given = {n = 2, big = string.rep("x", 1000)}}
	tools.app.gate{n = 1}
	return "never"
};

# runs the program until its gate, changes the journal, and lets it go on
sub diverge
{
	my ($what, $change, $error, %arg) = @_;
	my $other = $arg{other} // $program;
	my $id = enqueue($node, $other, tools => "'{app.*}'", max_attempts => 10);

	at_call($id, 3);
	$node->safe_psql('postgres', 'SELECT sandbox_exec.pause_queue()');
	$node->safe_psql('postgres', "SELECT pg_terminate_backend(pid) FROM sandbox_exec.workers WHERE execution_id = '$id'");
	wait_for_status($node, $id, 'queued');
	is($node->safe_psql('postgres', "WITH changed AS (UPDATE sandbox_exec.call SET $change AND execution_id = '$id' RETURNING 1) SELECT count(*) FROM changed"),
		1, "$what: a row of the journal is altered");
	open_gate($id, 1);
	my $next = enqueue($node, 'return tools.app.step{given = 1} ~= nil', tools => "'{app.*}'");
	$node->safe_psql('postgres', 'SELECT sandbox_exec.resume_queue()');
	# guarantee: it ends there; nothing that follows is done on a wrong footing
	expect_terminal($node, $id, { status => 'failed', error_code => 'nondeterministic', error => $error, result => undef, stdout => "begin\n" },
		"$what: it ends, and both calls are named");
	is($node->safe_psql('postgres', "SELECT count(*) FROM app.effect WHERE execution = '$id'"), 2, "$what: nothing is done any more");
	expect_terminal($node, $next, { status => 'succeeded', result => JSON::PP::true() }, "$what: the next one runs");
}

diverge('an argument', q{args = '{"given": {"n": 5}}' WHERE seq = 1},
	qr/call 1 .*: tool app\.step \{"given": \{"n": 5\}\} then, tool app\.step \{"given": \{"n": 1, "why": "first"\}\} now$/);
diverge('a long argument', q{args = jsonb_set(args, '{given,n}', '5') WHERE seq = 2},
	qr/call 2 .*: tool app\.step \{"given": \{"n": 5, .{100,200}\.\.\. then, tool app\.step \{"given": \{"n": 2, .{100,200}\.\.\. now$/);
diverge('no argument', q{args = NULL WHERE seq = 1},
	qr/call 1 .*: tool app\.step then, tool app\.step \{.*\} now$/);
diverge('a name', q{name = 'app.other' WHERE seq = 2},
	qr/call 2 .*: tool app\.other \{.* then, tool app\.step \{.* now$/);
diverge('a kind', q{kind = 'module', args = NULL WHERE seq = 1},
	qr/call 1 .*: module app\.step then, tool app\.step \{.*\} now$/);
diverge('a result', q{value = '{"number": 17}' WHERE seq = 1},
	qr/call 2 .*: tool app\.step \{"given": \d[\d.]*\} then, tool app\.step \{"given": 17\} now$/,
	other => q{
		print("begin")
		local a = tools.app.step{}
		local b = tools.app.step{given = a.number}
		tools.app.gate{n = 1}
	});
diverge('an outcome', q{outcome = 'error', value = '{"code": "x", "message": "m"}' WHERE seq = 1},
	qr/call 2 .*: tool app\.step \{"given": true\} then, tool app\.step \{"given": false\} now$/,
	other => q{
		print("begin")
		local a = pcall(tools.app.step)
		local b = tools.app.step{given = a}
		tools.app.gate{n = 1}
	});

# ---------------------------------------------------- the version of a module

$node->safe_psql('postgres', q{SELECT sandbox_exec.register_module('rules', 'return {tax = 0.19}')});
my $old = enqueue($node, q{
	local tax = require("rules").tax
	tools.app.gate{n = 1}
	return tax}, tools => "'{app.*}'");
at_call($old, 2);
$node->safe_psql('postgres', q{SELECT sandbox_exec.register_module('rules', 'return {tax = 0.25}')});
kill_worker_of($old);
open_gate($old, 1);
# guarantee: a new version is for those who have not required the old one
expect_terminal($node, $old, { status => 'succeeded', result => 0.19, attempt_count => 2 }, 'a new version of a module: who had the old one keeps it');
expect_terminal($node, enqueue($node, 'return require("rules").tax'), { status => 'succeeded', result => 0.25 }, 'who comes later gets the new one');

# ------------------------------------------- a server that crashes while it writes

# guarantee: an outcome that code was given is in the journal; one that it was
# not given never was
$node->stop('immediate');
$node->start;
is($node->safe_psql('postgres', "SELECT call_count, (SELECT count(*) FROM sandbox_exec.call WHERE execution_id = e.id) FROM sandbox_exec.execution e WHERE id = '$id'"),
	'62|62', 'the journal is as it was');
$node->stop;

done_testing();
