
# wait(): when it returns, what it shows, and that it is in nobody's way.

use strict;
use warnings FATAL => 'all';

use Test::More;
use SandboxExec;

my $node = new_node('main', conf => 'max_connections = 150');

sub sql
{
	return $node->safe_psql('postgres', $_[0]);
}

# until that session sleeps inside wait()
sub until_waiting
{
	my ($session) = @_;
	return poll_until(sub { $session->wait_event eq 'Extension/Extension' }, 'a session to sleep in wait()');
}

# Fails, instead of waiting on, where an answer has to come without waiting.
my $at_once = q{SET statement_timeout = '10s';};
my $forever = q{'60 s'};

# --------------------------------------------------------------- when it ends

# Guarantee: wait() returns when the execution ends, with its record.
sql('SELECT sandbox_exec.pause_queue()');
my $id = enqueue($node, 'print("out"); return 1');
my $waiter = session($node);
$waiter->start("SELECT status, result, stdout FROM sandbox_exec.wait('$id', $forever)");
until_waiting($waiter);
ok(!$waiter->done, 'wait() waits for a queued execution');
sql('SELECT sandbox_exec.resume_queue()');
is($waiter->result, "succeeded|1|out\n", 'it returns the outcome when it comes');
is($waiter->query("$at_once SELECT status FROM sandbox_exec.wait('$id', $forever)"),
	'succeeded', 'and returns at once when that is there already');

# Guarantee: any end is an end.
$id = enqueue($node, 'while true do end');
wait_for_status($node, $id, 'running');
$waiter->start("SELECT status FROM sandbox_exec.wait('$id', $forever)");
until_waiting($waiter);
sql("SELECT sandbox_exec.cancel('$id')");
is($waiter->result, 'cancelled', 'a cancel ends the wait');

# Guarantee: at its timeout it returns what there is then; the timeout is capped, also for who asks for none.
sql('SELECT sandbox_exec.pause_queue()');
$id = enqueue($node, 'return 2');
is($waiter->query("$at_once SELECT status FROM sandbox_exec.wait('$id', $_)"), 'queued', "timeout $_")
  for "'0'", "'100 ms'";
is($waiter->query("$at_once SET sandbox_exec.max_wait = '200ms'; SELECT status FROM sandbox_exec.wait('$id', $_)"),
	'queued', "max_wait caps timeout $_")
  for $forever, 'NULL';
$waiter->query('RESET ALL');
fails_with($node, "SELECT sandbox_exec.wait('$id', '-1 s')", '22023', qr/must not be negative/, 'a negative timeout');
fails_with($node, 'SELECT sandbox_exec.wait(NULL)', '22004', qr/id must not be null/, 'no id');
sql('CREATE ROLE plain LOGIN; SELECT sandbox_exec.grant_submitter($$plain$$)');
fails_with($node, q{SET ROLE plain; SET sandbox_exec.max_wait = '1h'}, '42501', qr/permission denied/, 'the cap is the superuser\'s');

# Guarantee: an unknown id and somebody else's are alike, and nothing to wait for.
is($waiter->query("$at_once SELECT count(*) FROM sandbox_exec.wait(gen_random_uuid(), $forever)"), 0, 'an unknown id');
is($waiter->query("$at_once SET ROLE plain; SELECT count(*) FROM sandbox_exec.wait('$id', $forever)"), 0, 'a foreign one');
is($waiter->query("$at_once RESET ROLE; SELECT count(*) FROM sandbox_exec.wait('$id', $forever, 'nobody')"), 0, 'another owner\'s');
$waiter->query('RESET ALL');

# ------------------------------------------------------------- transactions

# Guarantee: who waits for what nobody can see is told so, and doesn't wait.
fails_with(
	$node,
	q{SET statement_timeout = '10s'; BEGIN; SELECT sandbox_exec.enqueue('return 1') AS id \gset
	SELECT sandbox_exec.wait(:'id');},
	'25001', qr/HINT:  Commit first/, 'waiting for what this transaction enqueued');
fails_with(
	$node,
	q{SET statement_timeout = '10s'; BEGIN; SAVEPOINT s; SELECT sandbox_exec.enqueue('return 1') AS id \gset
	RELEASE s; SELECT sandbox_exec.wait(:'id');},
	'25001', qr/HINT:  Commit first/, 'or a part of it');
fails_with($node,
	q{SET statement_timeout = '10s'; SELECT sandbox_exec.wait(sandbox_exec.enqueue('return 1'))},
	'25001', qr/HINT:  Commit first/, 'or the same statement');

# Guarantee: a transaction with an old snapshot still hears of the end, and its own view stays as it was.
for my $level ('READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE')
{
	sql('SELECT sandbox_exec.pause_queue()');
	$id = enqueue($node, 'return 3');
	is($waiter->query("BEGIN ISOLATION LEVEL $level; SELECT status FROM sandbox_exec.executions WHERE id = '$id'"),
		'queued', "$level: the snapshot is taken");
	$waiter->start("SELECT status, result FROM sandbox_exec.wait('$id', '20 s')");
	until_waiting($waiter);
	sql('SELECT sandbox_exec.resume_queue()');
	is($waiter->result, 'succeeded|3', "$level: wait() sees the end");
	is($waiter->query("SELECT status FROM sandbox_exec.executions WHERE id = '$id'"),
		$level eq 'READ COMMITTED' ? 'succeeded' : 'queued', "$level: what the transaction sees is as before");
	is(($waiter->query('COMMIT'))[1], '', "$level: it commits");
}

# Guarantee: wait() holds no lock between looks.  Who alters the table isn't
# kept waiting, and so does not keep others waiting behind it.
sql('SELECT sandbox_exec.pause_queue()');
$id = enqueue($node, 'return 4');
$waiter->query('BEGIN');
$waiter->start("SELECT status FROM sandbox_exec.wait('$id', $forever)");
until_waiting($waiter);
is( sql(q{SELECT string_agg(locktype || ' ' || coalesce(relation::regclass::text, ''), ', ') FROM pg_locks WHERE locktype <> 'virtualxid' AND pid = }
		  . $waiter->pid),
	'', 'a waiter holds no lock');
my ($status, undef, $err) = $node->psql('postgres',
	q{SET lock_timeout = '5s'; BEGIN; ALTER TABLE sandbox_exec.execution ADD COLUMN more integer; ROLLBACK;});
is("$status $err", '0 ', 'ALTER TABLE is not held up by a waiter');
ok(!$waiter->done, 'which waits on');
sql('SELECT sandbox_exec.resume_queue()');
is($waiter->result, 'succeeded', 'and gets its answer');
$waiter->query('COMMIT');

# Guarantee: it gives way to a cancel of the statement, and to the end of the session.
sql('SELECT sandbox_exec.pause_queue()');
$id = enqueue($node, 'return 5');
$waiter->start("SELECT status FROM sandbox_exec.wait('$id', $forever)");
until_waiting($waiter);
is(sql('SELECT pg_cancel_backend(' . $waiter->pid . ')'), 't', 'a statement that waits is cancelled');
like(($waiter->result)[1], qr/ERROR:  57014: /, 'it ends');
is($waiter->query('SELECT 1'), 1, 'the session lives');

# Guarantee: a wait from a function that handles its errors leaves things in order.
is( $waiter->query(
		q{DO $$ BEGIN PERFORM sandbox_exec.wait(sandbox_exec.enqueue('return 1')); EXCEPTION WHEN active_sql_transaction THEN NULL; END $$;
		SELECT count(*) FROM sandbox_exec.wait(gen_random_uuid(), '0')}),
	0, 'an error of wait() can be handled');

# ---------------------------------------------------------------- many at once

# Guarantee: each of many waiters hears of its own execution, also where several share a wait slot.
my @ids = map { enqueue($node, 'return args', args => "'$_'") } 1 .. 100;
my @waiters = map { session($node) } @ids;
$waiters[$_]->start("SELECT status, result FROM sandbox_exec.wait('$ids[$_]', $forever)") for 0 .. $#ids;
$node->poll_query_until('postgres',
	q{SELECT count(*) = 100 FROM pg_stat_activity WHERE state = 'active' AND wait_event = 'Extension' AND backend_type = 'client backend'})
  or die 'not all are waiting';
sql("SELECT sandbox_exec.cancel('$ids[0]')");
is($waiters[0]->result, 'cancelled|', 'one is woken alone');
is(scalar(grep { $_->done } @waiters), 1, 'and no other returns');
sql('SELECT sandbox_exec.resume_queue()');
is_deeply([ map { scalar $_->result } @waiters[ 1 .. $#waiters ] ], [ map { "succeeded|$_" } 2 .. 100 ], 'each of 100 gets its own');
$_->close for @waiters, $waiter;

is_deeply([ worker_complaints($node) ], [], 'the log has no complaint of launcher or workers');
$node->stop;

# ------------------------------------------------------------- without preload

# Guarantee: a server that doesn't preload the library says so, keeps what is
# enqueued, serves outside executors, and its waiters poll.
my $plain = new_node('plain', conf => "shared_preload_libraries = ''", extension => 0);
(undef, undef, $err) = $plain->psql('postgres', 'CREATE EXTENSION sandbox_exec');
like($err, qr/WARNING:  sandbox_exec is not preloaded.*\nHINT:  .*shared_preload_libraries/, 'CREATE EXTENSION warns');
is($plain->safe_psql('postgres', q{SELECT ok, detail ~ 'shared_preload_libraries' FROM sandbox_exec.health WHERE check_name = 'preload'}),
	'f|t', 'health tells');

$id = enqueue($plain, 'return 6', args => q{'{"a": 1}'});
is($plain->safe_psql('postgres', "SELECT status FROM sandbox_exec.wait('$id', '300 ms')"), 'queued', 'it stays queued');
my $client = session($plain);
$client->start("SELECT status, result, executor FROM sandbox_exec.wait('$id', $forever)");
until_waiting($client);
my ($token, $code, $args) = split /\|/,
  $plain->safe_psql('postgres', q{SELECT claim_token, code, args FROM sandbox_exec.claim('lua', executor => 'hand')});
is("$code $args", 'return 6 {"a": 1}', 'an outside executor claims it');
is($plain->safe_psql('postgres', "SELECT sandbox_exec.finalize('$id', '$token', 'succeeded', '36')"), 't', 'and finalizes it');
is($client->result, 'succeeded|36|hand', 'who waits learns it');
$client->close;

done_testing();
