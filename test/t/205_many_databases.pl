
# Databases of one server that have little to do with each other: what one of
# them is, has or does is not said of the others, and costs them nothing.

use strict;
use warnings FATAL => 'all';

use Test::More;
use PostgreSQL::Test::Utils;
use SandboxExec;

my $node = new_node(
	'main',
	conf => q{
sandbox_exec.workers = 4
sandbox_exec.worker_idle_timeout = '10min'
max_prepared_transactions = 5
autovacuum = off
});

sub sql
{
	my ($dbname, $text) = @_;
	return $node->safe_psql($dbname, $text);
}

sub runs_in
{
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my ($dbname, $name) = @_;
	return expect_terminal($node, enqueue($node, 'return 1', dbname => $dbname), { status => 'succeeded' }, $name, dbname => $dbname);
}

sql('postgres', "CREATE DATABASE $_") for qw(fine plain half);
sql('fine', 'CREATE EXTENSION sandbox_exec');
runs_in('fine', 'a second database is served');

# ---------------------------------------------------- a version that is not ours

# Guarantee: health of a database speaks of its own extension, whatever workers of
# other databases find.
my $version = sql('postgres', 'SELECT sandbox_exec.version()');
sql('postgres', q{UPDATE pg_extension SET extversion = '99.0' WHERE extname = 'sandbox_exec'});
my $id = enqueue($node, 'return "after"');
wait_for_health($node, 'extension version', qr/ALTER EXTENSION sandbox_exec UPDATE/);
poll_until(sub { !worker_pids($node, 'postgres') }, 'its worker to leave');
for (1 .. 3)
{
	runs_in('fine', "another database goes on, $_");
	ok(!health($node, 'extension version')->{ok}, 'and this one still says why nothing runs');
}
ok(health($node, 'extension version', dbname => 'fine')->{ok}, 'the other one does not');
sql('postgres', qq{
	UPDATE pg_extension SET extversion = '$version' WHERE extname = 'sandbox_exec';
	ALTER EXTENSION sandbox_exec UPDATE;
});
expect_terminal($node, $id, { status => 'succeeded', result => 'after' }, 'after ALTER EXTENSION it runs');
wait_for_health($node, 'extension version', undef);

# ------------------------------------------------------------ COMMIT PREPARED

# Guarantee: it wakes nobody where there is no extension.  Workers are counted by
# their numbers, which are never used twice.
sub next_worker_no
{
	sql('fine', q{SELECT pg_terminate_backend(pid) FROM sandbox_exec.workers WHERE kind = 'worker'});
	poll_until(sub { !worker_pids($node, 'fine') }, 'the worker to leave');
	wait_for_terminal($node, enqueue($node, 'return 1', dbname => 'fine'), dbname => 'fine');
	wait_until_idle($node, 'fine');
	return sql('fine', q{SELECT max(worker_no) FROM sandbox_exec.workers});
}

poll_until(sub { !worker_pids($node, 'plain') }, 'the first look at a database without the extension to be over');
my $before = next_worker_no();
sql('plain', 'CREATE TABLE t (n integer)');
sql('plain', "BEGIN; INSERT INTO t VALUES ($_); PREPARE TRANSACTION 'p'; COMMIT PREPARED 'p'") for 1 .. 10;
is(next_worker_no(), $before + 1, 'COMMIT PREPARED in a database without the extension starts no worker');
sql('plain', q{BEGIN; CREATE EXTENSION sandbox_exec; SELECT sandbox_exec.enqueue('return 2'); PREPARE TRANSACTION 'p'; COMMIT PREPARED 'p'});
$node->poll_query_until('plain', q{SELECT bool_and(status = 'succeeded') FROM sandbox_exec.executions}) or die 'nothing ran';
pass('one that brings the extension, and work, does');

# ------------------------------------------------------------ pg_stat_activity

# Guarantee: a worker is seen at work while it is in a transaction, and not after.
sql('fine', q{
CREATE TABLE public.gate (closed boolean);
CREATE FUNCTION public.wait_at_gate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	WHILE EXISTS (SELECT FROM public.gate WHERE closed) LOOP
		PERFORM pg_sleep(0.01);    -- lint: slept on purpose: a gate
	END LOOP;
	RETURN new;
END $$;
CREATE TRIGGER wait_at_gate BEFORE UPDATE ON sandbox_exec.execution FOR EACH ROW
	WHEN (new.status = 'running') EXECUTE FUNCTION public.wait_at_gate();
INSERT INTO public.gate VALUES (true);
});
my $activity = q{FROM pg_stat_activity WHERE datname = 'fine' AND backend_type = 'sandbox_exec worker'};
wait_until_idle($node, 'fine');
is(sql('fine', "SELECT DISTINCT state $activity"), 'idle', 'a worker that sleeps is idle');
$id = enqueue($node, 'return 3', dbname => 'fine');
poll_until(sub { sql('fine', "SELECT count(*) $activity AND wait_event = 'PgSleep' AND state = 'active' AND query ~ 'sandbox_exec'") }, 'an active worker');
sql('fine', 'UPDATE public.gate SET closed = false');
expect_terminal($node, $id, { status => 'succeeded' }, 'one in a transaction is active', dbname => 'fine');
wait_until_idle($node, 'fine');
is(sql('fine', "SELECT DISTINCT state $activity"), 'idle', 'then idle again');

# ----------------------------------------------------- half a DROP DATABASE

# Guarantee: nobody knocks at a database whose DROP DATABASE was interrupted.
sql('postgres', q{UPDATE pg_database SET datconnlimit = -2 WHERE datname = 'half'});
my $from = -s $node->logfile;
$node->restart;
runs_in($_, "$_ is served beside a database that is half dropped") for qw(postgres fine plain);

# -------------------------------------------- more databases than can be watched

# Guarantee: where there is no place for another database, the queue can be paused
# and resumed.  Rows of pg_database stand for databases, which nobody enters
# while workers are off.
set_config($node, 'sandbox_exec.enabled' => 'off');
poll_until(sub { !worker_pids($node) }, 'all workers to leave');
sql('postgres', q{
	INSERT INTO pg_database
	SELECT (jsonb_populate_record(d, jsonb_build_object('oid', 4000000000 + n, 'datname', 'fake' || n))).*
	FROM pg_database d, generate_series(1, 300) n WHERE d.datname = 'template1'});
sql('postgres', 'ALTER DATABASE postgres CONNECTION LIMIT -1');
wait_for_health($node, 'databases', qr/more databases/);
sql('postgres', 'CREATE DATABASE late');
sql('late', 'CREATE EXTENSION sandbox_exec');
fails_with($node, q{SELECT sandbox_exec.drain('0')}, '53400', qr/more databases.*pause_queue/s, 'drain() has no place for its flag', dbname => 'late');
sql('late', 'SELECT sandbox_exec.pause_queue()');
sql('late', 'SELECT sandbox_exec.resume_queue()');
is(sql('late', q{SELECT ok FROM sandbox_exec.health WHERE check_name IN ('queue', 'drain') AND NOT ok}), '', 'pause_queue() and resume_queue() work');
sql('postgres', q{DELETE FROM pg_database WHERE datname LIKE 'fake%'});
sql('postgres', 'ALTER DATABASE postgres CONNECTION LIMIT -1');
set_config($node, 'sandbox_exec.enabled' => 'on');
runs_in('late', 'it is served when there is a place');
wait_for_health($node, 'databases', undef);

is_deeply([ worker_complaints($node, $from) ], [], 'since the restart launcher and workers had nothing to complain of');
done_testing();
