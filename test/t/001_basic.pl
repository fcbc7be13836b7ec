
# One execution of each kind, from enqueue to its record.

use strict;
use warnings FATAL => 'all';

use Test::More;
use SandboxExec;

my $node = new_node('main');

my $id = enqueue($node, 'print("hello"); return 6 * 7');
like($id, qr/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/, 'enqueue returns a UUIDv7');

my $row = expect_terminal(
	$node, $id,
	{
		status => 'succeeded',
		result => 42,
		stdout => "hello\n",
		stderr => '',
		error => undef,
		error_code => undef,
		exit_code => 0,
		attempt_count => 1,
		owner => $node->safe_psql('postgres', 'SELECT current_user'),
		runtime => 'lua',
	},
	'a result and output');
ok(defined $row->{$_}, "$_ is set") for qw(created_at started_at finished_at runtime_version executor);
ok(!exists $row->{claim_token}, 'the claim token is not shown');

expect_terminal(
	$node,
	enqueue($node, 'return args.a + #args.list', args => q('{"a": 40, "list": [1, 2]}')),
	{ status => 'succeeded', result => 42 },
	'arguments reach the code');

expect_terminal($node, enqueue($node, 'local x = 1'), { status => 'succeeded', result => undef }, 'no result is null');

expect_terminal($node, enqueue($node, 'return 1, "two", {three = 3}'),
	{ status => 'succeeded', result => [ 1, 'two', { three => 3 } ] },
	'several results become an array');

expect_terminal(
	$node,
	enqueue($node, qq{print("before"); error("no luck")}),
	{
		status => 'failed',
		error => qr/no luck/,
		error_code => 'runtime_error',
		stdout => "before\n",
		stderr => qr/traceback/,
		result => undef,
	},
	'a failing program');

expect_terminal(
	$node,
	enqueue($node, 'error({code = "out_of_stock", message = "none left"})'),
	{ status => 'failed', error => 'none left', error_code => 'out_of_stock' },
	'the code names its own error');

expect_terminal($node, enqueue($node, 'return ('), { status => 'failed', error_code => 'syntax_error' }, 'a syntax error');

expect_terminal(
	$node,
	enqueue($node, 'print("on its way"); os.exit(3)'),
	{ status => 'failed', exit_code => 3, error_code => 'exit', stdout => "on its way\n" },
	'an exit code');

expect_terminal($node, enqueue($node, 'os.exit(0)'), { status => 'succeeded', exit_code => 0 }, 'exit 0 is success');

expect_terminal(
	$node,
	enqueue($node, 'print("so far"); while true do end', timeout => q('300 ms')),
	{ status => 'timed_out', error_code => 'timeout', stdout => "so far\n" },
	'a loop ends at its timeout and keeps its output');

expect_terminal(
	$node,
	enqueue($node, 'local s = "x"; while true do s = s .. s end', memory_limit_kb => 8192),
	{ status => 'failed', error_code => 'memory_limit' },
	'too much memory');

expect_terminal(
	$node,
	enqueue($node, 'return function() end'),
	{ status => 'failed', error_code => 'result_invalid' },
	'a result that is no JSON');

# cancelled while queued, and while running

$node->safe_psql('postgres', 'SELECT sandbox_exec.pause_queue()');
$id = enqueue($node, 'return 1');
is($node->safe_psql('postgres', "SELECT sandbox_exec.cancel('$id', 'changed my mind')"), 't', 'cancel of a queued one');
expect_terminal($node, $id, { status => 'cancelled', error => 'changed my mind', error_code => 'cancelled' },
	'a queued one ends at once');
$node->safe_psql('postgres', 'SELECT sandbox_exec.resume_queue()');

$id = enqueue($node, 'print("started"); while true do end');
wait_for_status($node, $id, 'running');
is($node->safe_psql('postgres', "SELECT sandbox_exec.cancel('$id')"), 't', 'cancel of a running one');
expect_terminal($node, $id, { status => 'cancelled', error_code => 'cancelled' }, 'a running one ends soon');
is($node->safe_psql('postgres', "SELECT sandbox_exec.cancel('$id')"), 'f', 'cancel of an ended one does nothing');

# many at once

is( $node->safe_psql(
		'postgres', q{
		SELECT count(DISTINCT id) FROM sandbox_exec.enqueue_many((
			SELECT jsonb_agg(jsonb_build_object('code', 'return args * 2', 'args', i, 'thread_id', 'many'))
			FROM generate_series(1, 500) i)) id}),
	500,
	'enqueue_many returns an id for each');
my $many = q{FROM sandbox_exec.executions WHERE thread_id = 'many'};
$node->poll_query_until('postgres', "SELECT bool_and(status NOT IN ('queued', 'running')) $many")
  or die 'the queue did not drain';
is($node->safe_psql('postgres', "SELECT count(*), sum(result::int) $many AND status = 'succeeded'"),
	'500|250500', 'all of them succeeded, each with its own result');

done_testing();
