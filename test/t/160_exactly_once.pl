
# Effects happen exactly once: programs whose calls each write two rows, while
# workers, runners and the whole server are killed.  And the same against a
# library that was built without its journal, which must be found out.

use strict;
use warnings FATAL => 'all';

use Test::More;
use SandboxExec;

use constant CALLS => 50;

# SEED repeats the choices of a run, though not its timing
my $seed = srand($ENV{SEED} // time);
note("SEED=$seed");

# a lease that doesn't expire: whatever goes back does so because its holder died
my %conf = (conf => q{
sandbox_exec.workers = 3
sandbox_exec.lease = '1 h'
});

# Each call writes to two tables and gives back a number that no other call gets.
my $schema = q{
CREATE ROLE app;
SELECT sandbox_exec.grant_submitter('app');
CREATE SCHEMA app AUTHORIZATION app;
SET ROLE app;
CREATE SEQUENCE app.ticket;
CREATE TABLE app.first (execution uuid NOT NULL, n integer NOT NULL, ticket bigint NOT NULL);
CREATE TABLE app.second (LIKE app.first);
CREATE FUNCTION app.put(n integer) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	execution CONSTANT uuid := current_setting('sandbox_exec.execution_id');
	ticket CONSTANT bigint := nextval('app.ticket');
BEGIN
	INSERT INTO app.first VALUES (execution, n, ticket);
	INSERT INTO app.second VALUES (execution, n, ticket);
	RETURN ticket;
END $$;
RESET ROLE;
SELECT sandbox_exec.register_tool('app.put(integer)', 'app.put');
};

my $program = 'local tickets = {} for n = 1, ' . CALLS . q{ do
	tickets[n] = tools.app.put{n = n}
	print(n)
end return tickets};

sub enqueue_programs
{
	my ($node, $count) = @_;

	$node->safe_psql('postgres', qq{
		SET ROLE app;
		SELECT count(*) FROM sandbox_exec.enqueue_many((
			SELECT jsonb_agg(jsonb_build_object('code', \$lua\$$program\$lua\$, 'tools', '["app.*"]'::jsonb, 'max_attempts', 100))
			FROM generate_series(1, $count)))});
}

# -------------------------------------------------------------- what kills

sub random_worker
{
	my ($node) = @_;
	my @pids = split /\n/,
	  try_sql($node, q{SELECT pid FROM sandbox_exec.workers WHERE kind = 'worker' AND execution_id IS NOT NULL}) // '';
	return @pids ? $pids[ rand @pids ] : undef;
}

# PostgreSQL restarts everything when a worker dies like that
sub kill_worker
{
	my ($node) = @_;
	my $epoch = server_epoch($node);
	my $pid = random_worker($node) // return 0;

	kill_process($node, 'KILL', $pid) or return 0;
	wait_for_restart($node, $epoch);
	return 1;
}

sub kill_runner
{
	my ($node) = @_;
	my $worker = random_worker($node) // return 0;
	# now and then what they are forked from goes as well
	my @victims = rand() < 0.1 ? children_of($worker) : runners_of($worker);
	return @victims && kill_process($node, 'KILL', $victims[ rand @victims ]);
}

sub stop_server
{
	my ($node) = @_;
	$node->stop('immediate');
	$node->start;
	return 1;
}

sub kill_server
{
	my ($node) = @_;
	my $postmaster = $node->{_pid};
	my @orphans = children_of($postmaster);
	push @orphans, children_of(@orphans);

	$node->kill9;
	process_gone($_) for @orphans;
	no_such_process($postmaster);    # as a zombie it would still hold its lock file
	$node->start;
	return 1;
}

my %kill = (worker => \&kill_worker, runner => \&kill_runner, stop => \&stop_server, server => \&kill_server);
my @ways = qw(worker worker worker worker runner runner runner stop server);

# Kill something at random after every so many calls, until all has ended.
# Returns how often each way was taken.
sub run_under_fire
{
	my ($node, $step) = @_;
	my %kills = map { $_ => 0 } keys %kill;
	my $next = rand $step;

	while (1)
	{
		my ($made, $left);
		poll_until(
			sub {
				($made, $left) = split /\|/, try_sql($node, q{
					SELECT (SELECT count(*) FROM app.second),
						(SELECT count(*) FROM sandbox_exec.execution WHERE status IN ('queued', 'running'))}) // return 0;
				return $left == 0 || $made >= $next;
			},
			'the programs to go on');
		last if $left == 0;
		my $way = $ways[ rand @ways ];
		$kills{$way}++ if $kill{$way}->($node);
		$next = $made + rand $step;
	}
	note('killed: ' . join ', ', map { "$_ $kills{$_}" } sort keys %kills);
	return %kills;
}

# ------------------------------------------------------------ what is left

# executions by how many rows of theirs a table holds
sub rows_each
{
	my ($node, $table) = @_;
	return $node->safe_psql('postgres', qq{
		SELECT rows, count(*) FROM (
			SELECT e.id, count(t.execution) AS rows
			FROM sandbox_exec.execution e LEFT JOIN $table t ON t.execution = e.id GROUP BY e.id) x
		GROUP BY rows ORDER BY rows});
}

# ------------------------------------------------------- the library as it is

my $node = new_node('main', %conf);
$node->safe_psql('postgres', $schema);
enqueue_programs($node, 500);
my %kills = run_under_fire($node, 1100);

is($node->safe_psql('postgres', 'SELECT status, count(*) FROM sandbox_exec.execution GROUP BY 1'), 'succeeded|500', 'all succeeded')
  or diag($node->safe_psql('postgres', 'SELECT status, error_code, error, count(*) FROM sandbox_exec.execution GROUP BY 1, 2, 3'));
# guarantee: what a tool writes is there once, whatever dies in between
is(rows_each($node, 'app.first'), CALLS . '|500', 'the first table has 50 rows of each');
is(rows_each($node, 'app.second'), CALLS . '|500', 'and so has the second');
is( $node->safe_psql('postgres', q{
		SELECT count(*), count(*) FILTER (WHERE f = s) FROM (
			SELECT execution, array_agg((n, ticket) ORDER BY n) AS f FROM app.first GROUP BY 1) first
		JOIN (SELECT execution, array_agg((n, ticket) ORDER BY n) AS s FROM app.second GROUP BY 1) second USING (execution)}),
	'500|500', 'each call wrote both of its rows or none');
# guarantee: code is told what did happen, in whichever attempt that was
is( $node->safe_psql('postgres', q{
		SELECT count(*) FROM sandbox_exec.execution e
		WHERE result = (SELECT jsonb_agg(ticket ORDER BY n) FROM app.second WHERE execution = e.id)}),
	500, 'each program knows the numbers that its rows have');
is( $node->safe_psql('postgres', q{
		SELECT count(*) FROM (SELECT seq = row_number() OVER w AND delivered_no = seq AND outcome = 'ok' AND args = jsonb_build_object('n', seq) AS fits
			FROM sandbox_exec.call WINDOW w AS (PARTITION BY execution_id ORDER BY seq)) c WHERE fits}),
	500 * CALLS, 'the journal has them all, in order');
# guarantee: a reader of the log sees each line, and each call, once
$node->safe_psql('postgres', q{CREATE TABLE public.log AS
	SELECT e.id, v.* FROM sandbox_exec.execution e CROSS JOIN LATERAL sandbox_exec._log_after(e.id, 1, 100000) v WHERE v.pos <= e.log_pos});
is( $node->safe_psql('postgres', q{
		SELECT count(*) FROM sandbox_exec.executions
		WHERE stdout = (SELECT string_agg(n || E'\n', '' ORDER BY n) FROM generate_series(1, 50) n)}),
	500, 'each printed its lines once');
is( $node->safe_psql('postgres', q{SELECT type, count(*), count(DISTINCT (id, data -> 'seq')) FROM public.log
		WHERE type IN ('call', 'returned') GROUP BY 1 ORDER BY 1}),
	"call|25000|25000\nreturned|25000|25000", 'and the log tells of each call once');

# what no constraint says
is($node->safe_psql('postgres', q{
		SELECT (SELECT count(*) FROM sandbox_exec.call WHERE seq < 1 OR delivered_no < 1 OR kind NOT IN ('tool', 'module') OR outcome NOT IN ('ok', 'error')),
			(SELECT count(*) FROM public.log WHERE pos < 2 OR type NOT IN ('stdout', 'stderr', 'custom', 'call', 'returned', 'retry')),
			(SELECT count(*) FROM (SELECT log_pos - count(DISTINCT pos) - 1 AS missing, count(*) - count(DISTINCT pos) AS twice
				FROM sandbox_exec.execution JOIN public.log USING (id) GROUP BY execution.id) e WHERE missing <> 0 OR twice <> 0)}),
	'0|0|0', 'journal and log are sound, and have no gaps');

# or nothing here was put to the test
cmp_ok($kills{worker} + $kills{stop} + $kills{server}, '>=', 5, 'the server went down');
cmp_ok(
	$node->safe_psql('postgres', q{
		SELECT count(*) FROM (SELECT id, min(pos) FILTER (WHERE type = 'retry') AS retry,
			min(pos) FILTER (WHERE type = 'returned') AS first, max(pos) FILTER (WHERE type = 'returned') AS last
			FROM public.log GROUP BY id) e WHERE retry > first AND retry < last}),
	'>=', 10, 'programs lost their attempt between two calls');
$node->stop;

# --------------------------------------------- and without a journal: found out

$node = new_node('amnesiac', %conf, install_path => installation_with_library($ENV{SANDBOX_EXEC_NO_JOURNAL}));
$node->safe_psql('postgres', $schema);
enqueue_programs($node, 200);
run_under_fire($node, 700);
is($node->safe_psql('postgres', 'SELECT status, count(*) FROM sandbox_exec.execution GROUP BY 1'), 'succeeded|200',
	'without its journal all succeed, too');
isnt(rows_each($node, 'app.second'), CALLS . '|200', 'but not with 50 rows each');
cmp_ok(
	$node->safe_psql('postgres', q{SELECT count(*) FROM (SELECT FROM app.second GROUP BY execution, n HAVING count(*) > 1) x}),
	'>=', 10, 'calls were made more than once');
$node->stop;

done_testing();
