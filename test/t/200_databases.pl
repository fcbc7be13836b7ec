
# One server, several databases: who is served, and what DDL on databases and
# on the extension meets.

use strict;
use warnings FATAL => 'all';

use Test::More;
use PostgreSQL::Test::Utils;
use SandboxExec;

my $forever = 'while true do end';

# Anything that would wait for a worker fails by this, long before the server
# itself gives up waiting for other sessions of a database (5 s).
my $promptly = "SET statement_timeout = '4s';";

my $node = new_node('main', conf => "sandbox_exec.workers = 4\nsandbox_exec.worker_idle_timeout = '10min'");

sub sql
{
	my ($dbname, $text) = @_;
	return $node->safe_psql($dbname, $text);
}

sub create_database
{
	my ($dbname, %opt) = @_;
	sql('postgres', "CREATE DATABASE $dbname");
	sql($dbname, 'CREATE EXTENSION sandbox_exec') if $opt{extension} // 1;
	return;
}

sub run_in
{
	my ($dbname, $code, %arg) = @_;
	return enqueue($node, $code, dbname => $dbname, %arg);
}

# runs something to its end, so that the database has a worker, and that idle
sub have_idle_worker
{
	my ($dbname) = @_;
	wait_for_terminal($node, run_in($dbname, 'return 1'), dbname => $dbname);
	wait_until_idle($node, $dbname);
	return;
}

sub have_running
{
	my ($dbname) = @_;
	my $id = run_in($dbname, $forever);
	wait_for_status($node, $id, 'running', dbname => $dbname);
	return $id;
}

sub succeeds_promptly
{
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my ($statement, $name) = @_;
	my ($status, undef, $err) = $node->psql('postgres', "$promptly\n$statement");
	is("$status $err", '0 ', $name);
	return;
}

# ---------------------------------------------------------- who is served

# Guarantee: every database with the extension is served, by itself.
create_database($_) for qw(one two);
create_database('bare', extension => 0);
expect_terminal($node, run_in($_, 'return args', args => qq('"$_"')), { status => 'succeeded', result => $_ },
	"database $_ is served", dbname => $_)
  for qw(one two);

# Guarantee: one without the extension is left in peace.  Once the probes of
# CREATE DATABASE are through, nothing is connected to it.
poll_until(sub { !worker_pids($node, 'bare') }, 'the probe of a database without the extension to leave');
expect_terminal($node, run_in('one', 'return 2'), { status => 'succeeded' }, 'the others are still served', dbname => 'one');
is(scalar(worker_pids($node, 'bare')), 0, 'a database without the extension has no worker');

# Guarantee: CREATE EXTENSION is noticed without a restart, even when work comes in its own transaction.
my $first = sql('bare', q{BEGIN; CREATE EXTENSION sandbox_exec; SELECT sandbox_exec.enqueue('return 3'); COMMIT;});
expect_terminal($node, $first, { status => 'succeeded', result => 3 }, 'a new extension is noticed', dbname => 'bare');

# ------------------------------------------------------ DDL on a database

# Guarantee: DROP DATABASE meets no resistance from an idle worker, which leaves.
have_idle_worker('one');
my ($worker) = worker_pids($node, 'one');
succeeds_promptly('DROP DATABASE one', 'DROP DATABASE with an idle worker');
process_gone($worker);
pass('the worker left');

# Guarantee: nor from a busy one, whose code is killed.
create_database('one');
have_running('one');
($worker) = worker_pids($node, 'one');
my ($runner) = runners_of($worker);
ok(defined $runner, 'code runs in a process of its own');
succeeds_promptly('DROP DATABASE one', 'DROP DATABASE while code runs there');
process_gone($_) for $worker, $runner;
is( sql('postgres', q{SELECT count(*) FROM sandbox_exec._processes() WHERE kind = 'worker' AND database IS NULL}),
	0, 'no worker is left on the books');

# Guarantee: a name that is used again is another database.
create_database('one');
expect_terminal($node, run_in('one', 'return 4'), { status => 'succeeded' }, 'the next database of that name is served',
	dbname => 'one');

# Guarantee: RENAME works with an idle and with a busy worker, and what ran goes on as if never claimed.
have_idle_worker('one');
succeeds_promptly('ALTER DATABASE one RENAME TO uno', 'RENAME with an idle worker');
my $long = have_running('uno');
succeeds_promptly('ALTER DATABASE uno RENAME TO one', 'RENAME while code runs');
is(wait_for_status($node, $long, 'running', dbname => 'one')->{attempt_count}, 1, 'what ran runs again, at no cost of attempts');

# Guarantee: so does SET TABLESPACE.
my $location = PostgreSQL::Test::Utils::tempdir;
sql('postgres', "CREATE TABLESPACE elsewhere LOCATION '$location'");
succeeds_promptly('ALTER DATABASE one SET TABLESPACE elsewhere', 'SET TABLESPACE while code runs');
wait_for_status($node, $long, 'running', dbname => 'one');
sql('one', "SELECT sandbox_exec.cancel('$long')");
expect_terminal($node, $long, { status => 'cancelled' }, 'and is still under control', dbname => 'one');

# ------------------------------------------------------------------ copies

# Guarantee: a copy of a database takes the rows along, and runs none of them
# until somebody adopts it; CREATE DATABASE finds the template free.
$long = have_running('two');
my $done = sql('two', q{SELECT id FROM sandbox_exec.executions WHERE status = 'succeeded'});
succeeds_promptly('CREATE DATABASE copy TEMPLATE two', 'TEMPLATE of a database where code runs');
is(wait_for_status($node, $long, 'running', dbname => 'two')->{attempt_count}, 1, 'the original goes on');

my $new = run_in('copy', 'return "adopted"');
wait_until_idle($node, 'copy');
is( sql('copy', "SELECT string_agg(status, ',' ORDER BY id) FROM sandbox_exec.executions WHERE id IN ('$long', '$new')"),
	'queued,queued', 'a worker came to the copy, and ran nothing');
is(sql('copy', 'SELECT count(*) FROM sandbox_exec.claim()'), 0, 'nor does the copy give anything to other executors');
is(sql('copy', q{SELECT ok FROM sandbox_exec.health WHERE check_name = 'home'}), 'f', 'health tells');
like(sql('copy', q{SELECT detail FROM sandbox_exec.health WHERE check_name = 'home'}), qr/adopt\(\)/, 'and knows the way out');

sql('copy', 'SELECT sandbox_exec.adopt()');
wait_for_status($node, $long, 'running', dbname => 'copy');
sql($_, "SELECT sandbox_exec.cancel('$long')") for qw(copy two);
expect_terminal($node, $new, { status => 'succeeded', result => 'adopted' }, 'adopt() lets it run', dbname => 'copy');
is(record($node, $done, dbname => 'copy')->{result}, 'two', 'finished executions came along');
is(sql('copy', q{SELECT ok FROM sandbox_exec.health WHERE check_name = 'home'}), 't', 'health agrees');

have_idle_worker('two');
succeeds_promptly('CREATE DATABASE copy2 TEMPLATE two', 'TEMPLATE of a database with an idle worker');
succeeds_promptly('DROP DATABASE copy2', 'DROP of a copy that never was adopted');

# Guarantee: with the extension in template1 every new database is such a copy.
sql('template1', 'CREATE EXTENSION sandbox_exec');
have_idle_worker('template1');
succeeds_promptly('CREATE DATABASE child', 'a worker in template1 is in nobody\'s way');
$new = run_in('child', 'return 5');
wait_until_idle($node, 'child');
is(record($node, $new, dbname => 'child')->{status}, 'queued', 'it waits to be adopted');
sql('child', 'SELECT sandbox_exec.adopt()');
expect_terminal($node, $new, { status => 'succeeded', result => 5 }, 'and then runs', dbname => 'child');
sql('template1', 'DROP EXTENSION sandbox_exec');
poll_until(sub { !worker_pids($node, 'template1') }, 'the worker of template1 to leave');
pass('DROP EXTENSION sends the worker away');

# Guarantee: who may not do it can't send workers away by trying.
sql('postgres', 'CREATE ROLE stranger LOGIN');
$long = have_running('two');
my $before = record($node, $long, dbname => 'two');
for my $attempt ('DROP DATABASE two', 'ALTER DATABASE two RENAME TO mine', 'CREATE DATABASE mine TEMPLATE two')
{
	fails_with($node, "SET ROLE stranger; $attempt", '42501', qr/permission denied|must be owner/, "a stranger's $attempt");
}
fails_with($node, 'BEGIN; DROP DATABASE two', '25001', qr/transaction block/, 'DROP DATABASE in a transaction block');
is(record($node, $long, dbname => 'two')->{updated_at}, $before->{updated_at}, 'what runs there was not disturbed');
sql('two', "SELECT sandbox_exec.cancel('$long')");

# ------------------------------------------- databases that refuse connections

# Guarantee: no worker knocks at a database with datallowconn = false; it is
# served when it opens again.
create_database('closed');
sql('closed', 'SELECT sandbox_exec.pause_queue()');
$new = run_in('closed', 'return 6');
sql('postgres', 'ALTER DATABASE closed ALLOW_CONNECTIONS false');
my $offset = -s $node->logfile;
$node->restart;
expect_terminal($node, run_in($_, 'return 7'), { status => 'succeeded' }, "$_ is served after a restart", dbname => $_)
  for qw(one two bare copy child);
is(scalar(worker_pids($node, 'closed')), 0, 'a closed database has no worker');
is_deeply([ worker_complaints($node, $offset) ], [], 'nobody tried to connect to it');
sql('postgres', 'ALTER DATABASE closed ALLOW_CONNECTIONS true');
poll_until(sub { worker_pids($node, 'closed') }, 'a worker to look at the database that opened');
sql('closed', 'SELECT sandbox_exec.resume_queue()');
expect_terminal($node, $new, { status => 'succeeded', result => 6 }, 'it is served when it opens', dbname => 'closed');

# -------------------------------------------- DROP EXTENSION in an open transaction

sub set_workers
{
	my ($workers) = @_;
	sql('postgres', "ALTER SYSTEM SET sandbox_exec.workers = $workers");
	$node->reload;
	poll_until(sub { worker_pids($node) <= $workers }, "no more than $workers workers");
	return;
}

# Guarantee: it waits for nobody, stalls its own database only, and rolled back it leaves all as it was.
set_workers(4);
$long = have_running('one');
my $dropper = session($node, dbname => 'one');
is(($dropper->query('BEGIN; DROP EXTENSION sandbox_exec'))[1], '', 'DROP EXTENSION does not wait for what runs');
expect_terminal($node, run_in($_, 'return 8'), { status => 'succeeded' }, "$_ goes on meanwhile", dbname => $_)
  for qw(two copy);
$dropper->query('ROLLBACK');
expect_terminal($node, run_in('one', 'return 9'), { status => 'succeeded' }, 'so does its own, after ROLLBACK', dbname => 'one');
sql('one', "SELECT sandbox_exec.cancel('$long')");
expect_terminal($node, $long, { status => 'cancelled' }, 'what ran is still under control', dbname => 'one');

# Guarantee: so it is when the only worker of all comes there and meets the lock;
# it doesn't stay, and what it could not look at is not forgotten.
set_workers(1);
my $slow = 'local n = 0; for i = 1, args do n = n + 1 end; return n';
my $blocker = run_in('two', $slow, args => "'200000000'");
wait_for_status($node, $blocker, 'running', dbname => 'two');
my $waiting = run_in('one', 'return 10');
is(($dropper->query('BEGIN; DROP EXTENSION sandbox_exec'))[1], '', 'DROP EXTENSION with work waiting');
poll_until(sub { worker_pids($node, 'one') }, 'the worker to come');
expect_terminal($node, run_in($_, 'return 11'), { status => 'succeeded' }, "$_ gets the only worker meanwhile", dbname => $_)
  for qw(copy two);
$dropper->query('ROLLBACK');
$dropper->close;
expect_terminal($node, $waiting, { status => 'succeeded', result => 10 }, 'what waited runs after ROLLBACK', dbname => 'one');

# ----------------------------------------------- more databases than workers

# Guarantee: with one worker for all, every database makes progress, also with
# executions that take longer than a database's turn.
is(sql('postgres', 'SHOW sandbox_exec.workers'), 1, 'one worker for all');
my @all = qw(one two bare copy child);
my %ids = map {
	my $dbname = $_;
	$dbname => [ run_in($dbname, $slow, args => "'400000000'"), map { run_in($dbname, "return $_") } 1 .. 5 ]
} @all;
for my $dbname (@all)
{
	my @ended = map { wait_for_terminal($node, $_, dbname => $dbname) } @{ $ids{$dbname} };
	is_deeply([ map { $_->{result} } @ended ], [ 400000000, 1 .. 5 ], "$dbname had its turn");
	is($ended[0]{attempt_count}, 1, "and its long execution was not begun in vain");
}
set_workers(4);

# ------------------------------- DROP and CREATE EXTENSION again, under load

# Guarantee: no deadlock, no worker that chokes on the old objects, and the last
# extension works.  The sessions go on whatever becomes of their objects; they
# note a deadlock, which is the one thing that must not happen to them.
sql('one', 'CREATE TABLE stop (); CREATE TABLE trouble (what text); CREATE TABLE enqueued (id uuid)');
my @loads = map { session($node, dbname => 'one') } 1 .. 3;
$_->start(
	q{
	DO $$
	DECLARE given uuid;
	BEGIN
		LOOP
			given := NULL;
			BEGIN
				given := sandbox_exec.enqueue('for i = 1, 100000 do end; print("x"); return 1');
				INSERT INTO enqueued VALUES (given);
			EXCEPTION
				WHEN deadlock_detected THEN INSERT INTO trouble VALUES (SQLERRM);
				WHEN OTHERS THEN NULL;
			END;
			COMMIT;
			BEGIN
				PERFORM FROM sandbox_exec.wait(given, '50 ms') WHERE given IS NOT NULL;
			EXCEPTION
				WHEN deadlock_detected THEN INSERT INTO trouble VALUES (SQLERRM);
				WHEN OTHERS THEN NULL;
			END;
			COMMIT;
			EXIT WHEN EXISTS (SELECT FROM pg_class WHERE relname = 'stopped');
		END LOOP;
	END $$}) for @loads;
$offset = -s $node->logfile;
my $cycles = 0;
for (1 .. 20)
{
	# work has come and some of it has been done
	$node->poll_query_until('one', q{SELECT count(*) > 3 FROM sandbox_exec.execution WHERE status = 'succeeded'})
	  or die 'no execution ended';
	my ($status, undef, $err) = $node->psql('one', 'DROP EXTENSION sandbox_exec; CREATE EXTENSION sandbox_exec;');
	$cycles++ if $status == 0;
	diag($err) if $status != 0;
}
is($cycles, 20, 'DROP and CREATE EXTENSION 20 times under load');
sql('one', 'CREATE TABLE stopped ()');
my @errors = grep { $_ ne '' } map { ($_->result)[1] } @loads;
$_->close for @loads;
is_deeply(\@errors, [], 'the sessions lived through it');
is(sql('one', 'SELECT count(*) FROM trouble'), 0, 'none of them saw a deadlock');
is_deeply([ worker_complaints($node, $offset) ], [], 'no worker complained');
$node->poll_query_until('one', q{SELECT bool_and(status = 'succeeded') FROM sandbox_exec.executions})
  or die 'the queue did not drain';
expect_terminal($node, run_in('one', 'return 10'), { status => 'succeeded', result => 10 }, 'the last extension works',
	dbname => 'one');

# Guarantee: nothing of all this was an error in launcher or workers.
is_deeply([ worker_complaints($node) ], [], 'the log has no complaint of launcher or workers');

done_testing();
