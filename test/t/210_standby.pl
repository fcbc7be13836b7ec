
# A standby shows the queue and runs nothing; promoted, it goes on where the
# primary was.

use strict;
use warnings FATAL => 'all';

use Test::More;
use PostgreSQL::Test::Cluster;
use SandboxExec;

my $primary = new_node('primary', init => { allows_streaming => 1 }, conf => 'max_connections = 30');
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

# Guarantee: what the primary's worker was running when it vanished is run again
# by the promoted server, without waiting for its lease (90 s): that worker is of
# another server start.
$primary->safe_psql('postgres', 'SELECT sandbox_exec.pause_queue()');
$primary->safe_psql('postgres', 'ALTER SYSTEM SET sandbox_exec.enabled = on');
$primary->safe_psql('postgres', 'UPDATE sandbox_exec.execution SET ready = false, run_at = $$2100-01-01$$ WHERE id = $$' . $queued . '$$');
$primary->reload;
my $running = enqueue($primary, 'while true do end', priority => 1, timeout => "'10 min'");
$primary->safe_psql('postgres', 'SELECT sandbox_exec.resume_queue()');
wait_for_status($primary, $running, 'running');
my $epoch = $primary->safe_psql('postgres', 'SELECT sandbox_exec._server_epoch()');
$primary->safe_psql('postgres', 'UPDATE sandbox_exec.execution SET ready = true, run_at = created_at WHERE id = $$' . $queued . '$$')
  if 0;
$primary->wait_for_catchup($standby);
is(record($standby, $running)->{status}, 'running', 'the standby sees it running');
$waiter->start("SELECT status, result FROM sandbox_exec.wait('$queued', $forever)");
poll_until(sub { $waiter->wait_event eq 'Extension/Extension' }, 'a session to sleep in wait()');
$primary->stop('immediate');
$standby->promote;

done_testing();
