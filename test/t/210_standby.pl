
# A standby shows the queue and runs nothing; promoted, it goes on where the
# primary was.

use strict;
use warnings FATAL => 'all';

use Test::More;
use PostgreSQL::Test::Cluster;
use SandboxExec;

my $primary = new_node('primary', init => { allows_streaming => 1 },
	conf => "max_connections = 30\nsandbox_exec.lease = '1h'");
expect_terminal($primary, enqueue($primary, 'return 1'), { status => 'succeeded' }, 'the primary runs');
$primary->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
$standby->start;

sub ours
{
	return $standby->safe_psql('postgres', q{SELECT count(*) FROM pg_stat_activity WHERE backend_type ~ '^sandbox_exec'});
}

my $at_once = q{SET statement_timeout = '10s';};
my $forever = q{'60 s'};

# ------------------------------------------------------------------- standby

# Guarantee: what the primary did can be read on a standby, by all three ways.
my $done = enqueue($primary, 'print("out"); return 2');
wait_for_terminal($primary, $done);
$primary->wait_for_catchup($standby);
is($standby->safe_psql('postgres', "SELECT status, result, stdout FROM sandbox_exec.get('$done')"), "succeeded|2|out\n", 'get()');
is($standby->safe_psql('postgres', 'SELECT id FROM sandbox_exec.list(max_rows => 1)'), $done, 'list()');
is($standby->safe_psql('postgres', "$at_once SELECT result FROM sandbox_exec.wait('$done', $forever)"), 2, 'wait() for what has ended');
is(record($standby, $done)->{result}, 2, 'the view');

# Guarantee: the primary's switch keeps it from running what the standby is to find.
$primary->safe_psql('postgres', 'ALTER SYSTEM SET sandbox_exec.enabled = off');
$primary->reload;
poll_until(sub { !worker_pids($primary) }, 'the workers of the primary to leave');
my $queued = enqueue($primary, 'return 3');
my $cancelled = enqueue($primary, 'return 4');
my $deferred = enqueue($primary, 'return 5', run_at => "now() + '2 s'");
$primary->wait_for_catchup($standby);

# Guarantee: a standby runs nothing: neither launcher nor worker is there, the row stays, and health says why.
is(ours(), 0, 'a standby has neither launcher nor workers');
is($standby->safe_psql('postgres', "SELECT status FROM sandbox_exec.wait('$queued', '300 ms')"), 'queued', 'wait() ends at its timeout');
is($standby->safe_psql('postgres', "SELECT status FROM sandbox_exec.executions WHERE id = '$queued'"), 'queued', 'nothing ran it');
like($standby->safe_psql('postgres', q{SELECT detail FROM sandbox_exec.health WHERE check_name = 'launcher' AND NOT ok}),
	qr/standby/, 'health tells why');
fails_with($standby, $_, '25006', qr/read-only/, "refused: $_")
  for q{SELECT sandbox_exec.enqueue('return 1')}, "SELECT sandbox_exec.cancel('$queued')", 'SELECT * FROM sandbox_exec.claim()';

# Guarantee: wait() on a standby notices, by looking again, what came from the primary.
my $waiter = session($standby);
$waiter->start("SELECT status FROM sandbox_exec.wait('$cancelled', $forever)");
poll_until(sub { $waiter->wait_event eq 'Extension/Extension' }, 'a session to sleep in wait()');
$primary->safe_psql('postgres', "SELECT sandbox_exec.cancel('$cancelled')");
is($waiter->result, 'cancelled', 'wait() on a standby hears of the end');

# ----------------------------------------------------------------- promotion

# The primary's only worker takes the most urgent one, which keeps it busy; the
# others stay queued until the primary vanishes.
sub primary_sql
{
	return $primary->safe_psql('postgres', $_[0]);
}
primary_sql('SELECT sandbox_exec.pause_queue()');
primary_sql('ALTER SYSTEM SET sandbox_exec.workers = 1');
primary_sql('ALTER SYSTEM RESET sandbox_exec.enabled');
$primary->reload;
my $running = enqueue($primary, 'while true do end', priority => 10, timeout => "'10 min'");
primary_sql('SELECT sandbox_exec.resume_queue()');
wait_for_status($primary, $running, 'running');
my $far = enqueue($primary, 'return 6', run_at => "now() + '1 day'");
$primary->wait_for_catchup($standby);
is(record($standby, $running)->{status}, 'running', 'the standby sees what the primary runs');
is(record($standby, $queued)->{status}, 'queued', 'and what waits there');

$waiter->start("SELECT status, result FROM sandbox_exec.wait('$queued', $forever)");
poll_until(sub { $waiter->wait_event eq 'Extension/Extension' }, 'a session to sleep in wait()');
$primary->stop('immediate');
$standby->promote;

# Guarantee: a promoted standby starts to work by itself: on what was queued, on
# what is due at its time, and on what is new.
expect_terminal($standby, $queued, { status => 'succeeded', result => 3, attempt_count => 1 }, 'what was queued on the primary runs');
is($waiter->result, 'succeeded|3', 'who waited since before the promotion hears of it');
expect_terminal($standby, $deferred, { status => 'succeeded', result => 5 }, 'so does what was deferred');
expect_terminal($standby, enqueue($standby, 'return 7'), { status => 'succeeded', result => 7 }, 'and what is new');
is(record($standby, $far)->{status}, 'queued', 'what is not due is not');

# Guarantee: what the primary's worker was running is run again at once, without
# waiting for its lease: that worker is of another server start.
poll_until(
	sub {
		return $standby->safe_psql('postgres', "SELECT count(*) FROM sandbox_exec.workers WHERE execution_id = '$running'");
	},
	'the promoted server to run what the primary ran');
is(record($standby, $running)->{attempt_count}, 2, 'what ran on the primary runs again');
$standby->safe_psql('postgres', "SELECT sandbox_exec.cancel('$running')");
expect_terminal($standby, $running, { status => 'cancelled', attempt_count => 2 }, 'and is under control');
is($standby->safe_psql('postgres', q{SELECT string_agg(check_name, ' ') FROM sandbox_exec.health WHERE NOT ok}), '', 'health is content');
$waiter->close;

is_deeply([ map { worker_complaints($_) } $primary, $standby ], [], 'the logs have no complaint of launcher or workers');
done_testing();
