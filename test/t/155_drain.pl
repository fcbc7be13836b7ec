
# The queue is drained, the server stops, reloads, fails over: logs go on
# without a gap, and whoever reads them goes on with the last position.  Old
# records go when retention says so.

use strict;
use warnings FATAL => 'all';

use Test::More;
use SandboxExec;

my $node = new_node(
	'main',
	init => { allows_streaming => 1 },
	conf => q{
sandbox_exec.workers = 3
sandbox_exec.flush_interval = '20 ms'
sandbox_exec.lease = '1 h'
hot_standby_feedback = on
});

sub sql
{
	return $node->safe_psql('postgres', $_[0]);
}

sub count_of
{
	my ($status) = @_;
	return sql("SELECT count(*) FROM sandbox_exec.execution WHERE status = '$status'");
}

# prints a line after every bit of work; never ends by itself
my $talker = 'local n = 0 while true do n = n + 1 print(n) for i = 1, 3e6 do end end';

# A reader: remembers its last position and what it read.
sub reader { return { id => $_[0], pos => 0, text => '', types => [] } }

sub read_more
{
	my ($reader, $from) = @_;
	my $page = query_json($from // $node, "SELECT json_agg(t ORDER BY t.pos) FROM sandbox_exec.tail('$reader->{id}', $reader->{pos}, '5 s') t") // [];
	for my $event (@$page)
	{
		$reader->{gap} = 1 if $event->{pos} != $reader->{pos} + 1;
		$reader->{pos} = $event->{pos};
		$reader->{text} .= $event->{data}{text} if $event->{type} eq 'stdout';
		push @{ $reader->{types} }, $event->{type} . ($event->{data}{reason} ? " $event->{data}{reason}" : '') if $event->{type} ne 'stdout';
	}
	return;
}

sub read_until
{
	my ($reader, $pattern, $from) = @_;
	poll_until(sub { read_more($reader, $from); $reader->{text} =~ $pattern }, "the log of $reader->{id} to hold $pattern");
}

sub read_to_end
{
	my ($reader) = @_;
	poll_until(sub { read_more($reader); ($reader->{types}[-1] // '') =~ /^(?:succeeded|failed|timed_out|cancelled)$/ }, "the log of $reader->{id} to end");
}

# lines 1 to any n, each once
sub counts_up
{
	my ($reader) = @_;
	my @lines = split /\n/, $reader->{text};
	return @lines && "@lines" eq "@{[ 1 .. @lines ]}" && !$reader->{gap};
}

sub check_log
{
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my ($reader, $types, $name) = @_;
	ok(counts_up($reader), "$name: every line once, no gap");
	is("@{ $reader->{types} }", $types, "$name: what else it told");
	is(record($node, $reader->{id})->{stdout}, $reader->{text}, "$name: what was read is the record");
}

# ------------------------------------------------------------------------- drain

# Guarantee: drain() waits for what runs, and takes nothing new.
my $turns = turns($node, 4000);
sql('SELECT sandbox_exec.pause_queue()');
my @running = map { enqueue($node, "for i = 1, $turns do end return 1", timeout => "'2 min'") } 1 .. 3;
my @queued = enqueue_batch($node, [ map { { code => 'return args', args => $_ } } 1 .. 50 ]);
sql("UPDATE sandbox_exec.execution SET ready = false, run_at = now() + '1 h' WHERE id IN ('" . join("', '", @queued) . "')");
sql('SELECT sandbox_exec.resume_queue()');
wait_for_status($node, $_, 'running') for $running[0];
poll_until(sub { sql(q{SELECT count(*) = 0 FROM sandbox_exec.execution WHERE status = 'queued' AND ready}) eq 't' }, 'all of them to be claimed');
my $drain = session($node);
$drain->start("SELECT sandbox_exec.drain('2 min')");
poll_until(sub { health($node, 'drain')->{ok} == 0 }, 'the drain to begin');
sql("UPDATE sandbox_exec.execution SET ready = true, run_at = now() WHERE id IN ('" . join("', '", @queued) . "')");
is($drain->result, 't', 'drain() returns when nothing runs');
is(sql("SELECT string_agg(DISTINCT status, ' ') FROM sandbox_exec.execution WHERE id IN ('" . join("', '", @running) . "')"),
	'succeeded', 'what ran has ended');
is(count_of('queued'), 50, 'and nothing else was claimed');
is(sql(q{SELECT count(*) FROM sandbox_exec.claim('lua', max_rows => 10)}), 0, 'nor is it by an executor outside');

# Guarantee: it is of this database only.
$node->safe_psql('postgres', 'CREATE DATABASE other');
$node->safe_psql('other', 'CREATE EXTENSION sandbox_exec');
expect_terminal($node, enqueue($node, 'return 1', dbname => 'other'), { status => 'succeeded' }, 'another database goes on', dbname => 'other');
is(count_of('queued'), 50, 'while this one stays drained');

# Guarantee: resume_queue() ends it.
sql('SELECT sandbox_exec.resume_queue()');
wait_for_terminal($node, $_) for @queued;
is(count_of('queued'), 0, 'after resume_queue() the queue goes on');

# Guarantee: what doesn't end in time is told, and runs on.
my $reader = reader(enqueue($node, $talker, timeout => "'20 min'"));
read_until($reader, qr/^2$/m);
is(sql("SELECT sandbox_exec.drain('300 ms')"), 'f', 'drain() gives up at its timeout');
my $seen = $reader->{text};
read_until($reader, qr/^\Q$seen\E./);
is(record($node, $reader->{id})->{status}, 'running', 'what runs is left alone');

# Guarantee: who waits for the drain holds up nobody, not even behind a pg_dump.
my $dump = session($node);
$dump->query('BEGIN; LOCK TABLE sandbox_exec.queue_pause IN ACCESS SHARE MODE');
$drain->start("SELECT sandbox_exec.drain('2 min')");
poll_until(sub { $drain->wait_event eq 'Extension/Extension' }, 'the drain to wait');
my ($status, $out, $err) = $node->psql('postgres', q{SET lock_timeout = '5s'; SELECT count(*) FROM sandbox_exec.claim('lua'); SELECT sandbox_exec.pause_queue(); SELECT sandbox_exec.resume_queue();});
is("$status $err", '0 ', 'claims, and the queue\'s other switches, are not held up');
sql('SELECT pg_cancel_backend(' . $drain->pid . ')');
like(($drain->result)[1], qr/57014/, 'a drain can be cancelled');
$_->close for $drain, $dump;

# Guarantee: it ends with the server.
sql('SELECT sandbox_exec.drain($$0$$)');

# ----------------------------------------------------------- shutdown and reload

# Guarantee: a fast shutdown gives the claim back at no cost; who reads goes on
# with the position that it had, and reads each line once.
read_more($reader);
my $before = $reader->{text} =~ tr/\n//;
$node->restart;    # fast
read_until($reader, qr/^(?:\d+\n){@{[ $before + 2 ]}}/);
ok(counts_up($reader), 'after a fast shutdown the log goes on where it was');
is(record($node, $reader->{id})->{attempt_count}, 1, 'at no cost');
is(health($node, 'drain')->{ok} ? 1 : 0, 1, 'and the drain has ended with the server');

# Guarantee: so does a smart one.
$before = $reader->{text} =~ tr/\n//;
$node->stop('smart');
$node->start;
read_until($reader, qr/^(?:\d+\n){@{[ $before + 2 ]}}/);
is(record($node, $reader->{id})->{attempt_count}, 1, 'after a smart shutdown, too');

# Guarantee: a reload disturbs nothing.
$before = $reader->{text} =~ tr/\n//;
set_config($node, 'sandbox_exec.flush_interval' => q{'100 ms'}, 'sandbox_exec.workers' => 2);
read_until($reader, qr/^(?:\d+\n){@{[ $before + 2 ]}}/);
sql("SELECT sandbox_exec.cancel('$reader->{id}')");
read_to_end($reader);
check_log($reader, 'started retry released retry released cancelled', 'across shutdowns and a reload');

# --------------------------------------------------------------------- retention

# Guarantee: what finished that long ago goes by itself, with its log; what lives stays.
sql("SELECT sandbox_exec.purge('0')");
my $old = enqueue($node, 'print(1) return 1');
wait_for_terminal($node, $old);
sql("UPDATE sandbox_exec.execution SET finished_at = finished_at - interval '2 h' WHERE id = '$old'");
my $young = enqueue($node, 'print(2) return 2');
wait_for_terminal($node, $young);
my $later = enqueue($node, 'return 3', run_at => "now() + interval '1 day'");
sql("UPDATE sandbox_exec.execution SET created_at = created_at - interval '2 h' WHERE id = '$later'");
set_config($node, 'sandbox_exec.retention' => q{'1 h'});
poll_until(sub { !record($node, $old) }, 'the old record to go');
is(sql('SELECT string_agg(stdout || status, $$, $$ ORDER BY id) FROM sandbox_exec.executions'), "2\nsucceeded, queued", 'what finished lately, and what has not, stays');
is(sql('SELECT count(*) FROM sandbox_exec.event'), 1, 'with its log');
is(sql('SELECT count(*) FROM sandbox_exec.execution_input'), 2, 'and its input');

# Guarantee: large backlogs go in batches, without an end of their own.
set_config($node, 'sandbox_exec.retention' => -1);
sql(q{SELECT count(sandbox_exec.cancel(id)) FROM sandbox_exec.enqueue_many((
	SELECT jsonb_agg(jsonb_build_object('code', 'x', 'runtime', 'none')) FROM generate_series(1, 3500))) id});
sql(q{UPDATE sandbox_exec.execution SET finished_at = finished_at - interval '2 h' WHERE runtime = 'none'});
set_config($node, 'sandbox_exec.retention' => q{'1 h'});
poll_until(sub { sql(q{SELECT count(*) FROM sandbox_exec.execution WHERE runtime = 'none'}) eq '0' }, 'more than one batch to go');
pass('all of a large backlog is gone');
set_config($node, 'sandbox_exec.retention' => -1);
sql("SELECT sandbox_exec.cancel('$later')");

# --------------------------------------------------------------------- promotion

# Guarantee: a standby can be tailed, and when it is promoted the execution, its
# log and its readers go on there.
my $standby = PostgreSQL::Test::Cluster->new('standby');
$node->backup('base');
$standby->init_from_backup($node, 'base', has_streaming => 1);
$standby->start;
$reader = reader(enqueue($node, $talker, timeout => "'20 min'"));
$node->wait_for_catchup($standby, 'write');
read_until($reader, qr/^3$/m, $standby);
pass('the log is read on the standby while it is written');
fails_with($standby, 'SELECT sandbox_exec.drain($$0$$)', '55000', qr/recovery/, 'drain() is not for a standby');
$node->stop('immediate');
$standby->promote;
$node = $standby;
read_until($reader, qr/^6$/m);
ok(counts_up($reader), 'after the promotion the log goes on where the reader was');
sql("SELECT sandbox_exec.cancel('$reader->{id}')");
read_to_end($reader);
check_log($reader, 'started retry worker_lost cancelled', 'across a promotion');

is_deeply([ worker_complaints($node) ], [], 'the log has no complaint of launcher or workers');
done_testing();
