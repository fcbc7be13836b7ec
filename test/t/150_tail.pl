
# Clients read logs as they are written, die at any moment and come back with
# the last position that they had, while workers are killed and the server with
# them.  What they have read in the end is the log: no gap, nothing twice.

use strict;
use warnings FATAL => 'all';

use IO::Select;
use IPC::Open2 qw(open2);
use JSON::PP ();
use Test::More;
use SandboxExec;

my $EXECUTIONS = 210;
my $CLIENTS = 10;

my $node = new_node(
	'main',
	conf => q{
sandbox_exec.workers = 4
sandbox_exec.flush_interval = '20 ms'
sandbox_exec.lease = '1 h'
});
my $json = JSON::PP->new->allow_nonref;
my $seed = srand;
note("seed $seed");

# Lines on both streams and values in between, with work between the lines.
my $program = q{
	for i = 1, args.lines do
		print("line", i)
		if i % 7 == 0 then io.stderr:write("warning ", i, "\n") end
		if i % 5 == 0 then emit{line = i} end
		local x = 0
		for j = 1, args.turns do x = x + j end
	end
	if args.ending == "error" then error("the end", 0) end
	if args.ending == "loop" then while true do end end
	return args.lines
};
my ($quick, $slow) = (turns($node, 1), turns($node, 10));    # what a line takes
my $terminal = qr/^(?:succeeded|failed|timed_out|cancelled)$/;
my %ends_as = (return => 'succeeded', error => 'failed', loop => 'timed_out');

sub printed
{
	my ($lines, $ending) = @_;
	my $error = $ending eq 'error' ? "the end\n" : '';
	return {
		stdout => join('', map { "line\t$_\n" } 1 .. $lines),
		stderr => join('', map { $_ % 7 ? () : "warning $_\n" } 1 .. $lines) . $error,
		custom => [ map { $_ % 5 ? () : { line => $_ } } 1 .. $lines ]
	};
}

# ---------------------------------------------------------------- the clients

# what each has read, and where it stands: all that outlives a client
my @logs;
my %victim;    # the executions whose workers are killed, by when they start
my $started = 0;
my $kills = 0;
my $psql = [ "$ENV{SANDBOX_EXEC_BINDIR}/psql", '-XAtq', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('postgres'), '-f', '-' ];
open(my $silence, '>', '/dev/null') or die $!;

sub server_answers
{
	poll_until(sub { try_sql($node, 'SELECT 1') }, 'the server to answer');
}

# enqueueing is repeated until it is known to have happened: it happens once
sub start_execution
{
	my ($lines, $ending) = @_;
	my $nth = $started++;
	my $turns = $victim{$nth} ? $slow : $quick;
	my $id;
	poll_until(
		sub {
			my $timeout = $ending eq 'loop' ? '1500 ms' : '5 min';
			$id = try_sql($node,
				qq{SELECT sandbox_exec.enqueue(\$lua\$$program\$lua\$, '{"lines": $lines, "ending": "$ending", "turns": $turns}',
					timeout => '$timeout', max_attempts => 5, idempotency_key => 'nth $nth')});
		},
		'an execution to be enqueued');
	push @logs, { id => $id, lines => $lines, ending => $ending, events => [], restarts => 0 };
	return $logs[-1];
}

sub open_client
{
	my ($client) = @_;
	# a client of a server that goes away says so: not of interest here
	open(my $stderr, '>&', \*STDERR) or die $!;
	open(STDERR, '>&', $silence) or die $!;
	$client->{pid} = open2(my $out, my $in, @$psql);
	open(STDERR, '>&', $stderr) or die $!;
	$in->autoflush(1);
	@$client{qw(in out buffer)} = ($in, $out, '');
	ask($client);
}

sub last_pos
{
	my ($log) = @_;
	return @{ $log->{events} } ? $log->{events}[-1]{pos} : 0;
}

# the next page; one request in three is never read to its end
sub ask
{
	my ($client) = @_;
	my $log = $client->{log};
	my $max = 1 + int(rand(50));
	$client->{dies_in} = rand() < 0.3 ? int(rand(4)) : undef;
	local $SIG{PIPE} = 'IGNORE';
	print { $client->{in} } "SELECT to_json(t) FROM sandbox_exec.tail('$log->{id}', @{[ last_pos($log) ]}, '10 s', $max) t;\n\\echo page\n";
}

sub restart_client
{
	my ($client) = @_;
	kill 'KILL', $client->{pid};
	close $client->{$_} for qw(in out);
	waitpid $client->{pid}, 0;
	$client->{log}{restarts}++;
	open_client($client);
}

sub ended
{
	my ($log) = @_;
	return @{ $log->{events} } && $log->{events}[-1]{type} =~ $terminal;
}

# takes what has come; false: the connection is gone
sub take_lines
{
	my ($client) = @_;
	return 0 if !sysread($client->{out}, $client->{buffer}, 65536, length $client->{buffer});
	while ($client->{buffer} =~ s/^(.*)\n//)
	{
		my $line = $1;
		if (defined $client->{dies_in} && $client->{dies_in}-- == 0)
		{
			$kills++;
			restart_client($client);
			return 1;
		}
		if ($line eq 'page') { $client->{page_ended} = 1; next }
		push @{ $client->{log}{events} }, $json->decode($line);
	}
	return 1;
}

my @clients = map { { log => undef } } 1 .. $CLIENTS;

sub next_log
{
	return if $started >= $EXECUTIONS;
	my $nth = $started;
	return start_execution(400, 'return') if $victim{$nth};
	return start_execution(10 + int(rand(40)), (qw(return return return error loop))[ $nth % 5 ]);
}

# kill -9 of the worker of an execution of which something has been read
sub kill_worker_of
{
	my ($log) = @_;
	my $epoch = server_epoch($node);
	my $worker = $node->safe_psql('postgres', "SELECT pid FROM sandbox_exec.workers WHERE execution_id = '$log->{id}'");
	return if $worker eq '';
	kill_process($node, 'KILL', $worker);
	wait_for_restart($node, $epoch);
	$log->{crashed} = 1;
}

# one of these may end before its worker can be killed: there are more than two
%victim = map { $_ => 1 } map { 20 * $_ } 2 .. 9;
for my $client (@clients)
{
	$client->{log} = next_log();
	open_client($client);
}

my $deadline = time + 2 * $PostgreSQL::Test::Utils::timeout_default;
while (my @busy = grep { $_->{log} } @clients)
{
	die 'the logs do not end: ' . join ' ', map { "$_->{log}{id}/" . last_pos($_->{log}) } @busy if time > $deadline;
	for my $out (IO::Select->new(map { $_->{out} } @busy)->can_read(1))
	{
		my ($client) = grep { $_->{out} == $out } @busy;
		if (!take_lines($client))
		{
			server_answers();
			restart_client($client);
			next;
		}
		next if !delete $client->{page_ended};
		$client->{log} = next_log() if ended($client->{log});
		ask($client) if $client->{log};
	}
	for my $log (grep { $_->{lines} == 400 && !$_->{crashed} && !ended($_) } @logs)
	{
		last if 2 == grep { $_->{crashed} } @logs;
		kill_worker_of($log) if grep { $_->{type} eq 'stdout' } @{ $log->{events} };
	}
}
for my $client (@clients)
{
	close $client->{$_} for qw(in out);
	waitpid $client->{pid}, 0;
}

# ----------------------------------------------------------- what they have read

is(scalar(@logs), $EXECUTIONS, "$EXECUTIONS logs were read");
cmp_ok($kills, '>=', 20, 'clients were killed in the middle of it');
is(scalar(grep { $_->{crashed} } @logs), 2, 'two workers were killed in the middle of their work');

# all of a log at once, page after page, now that it is closed
sub final_log
{
	my ($id) = @_;
	my @events;
	while (1)
	{
		my $after = @events ? $events[-1]{pos} : 0;
		my $page = query_json($node, "SELECT json_agg(t ORDER BY t.pos) FROM sandbox_exec.tail('$id', $after) t");
		return \@events if !$page;
		push @events, @$page;
	}
}

sub of_type
{
	my ($events, $type) = @_;
	return map { $_->{data} } grep { $_->{type} eq $type } @$events;
}

sub without_trace
{
	return $_[0] =~ s/^stack traceback:\n.*//smr;
}

my (%differs, $retried);
for my $log (@logs)
{
	my ($events, $wanted) = ($log->{events}, printed($log->{lines}, $log->{ending}));
	my $final = final_log($log->{id});
	my $record = record($node, $log->{id});
	my @checks = (
		gap => "@{[ map { $_->{pos} } @$events ]}" eq "@{[ 1 .. @$events ]}",
		final => $json->canonical->encode($events) eq $json->canonical->encode($final),
		start => $events->[0]{type} eq 'started',
		end => $events->[-1]{type} eq $ends_as{ $log->{ending} } && $record->{status} eq $ends_as{ $log->{ending} },
		one_end => 1 == scalar(grep { $_->{type} =~ $terminal } @$events),
		stdout => join('', map { $_->{text} } of_type($events, 'stdout')) eq $wanted->{stdout},
		stderr => without_trace(join '', map { $_->{text} } of_type($events, 'stderr')) eq $wanted->{stderr},
		custom => $json->encode([ of_type($events, 'custom') ]) eq $json->encode($wanted->{custom}),
		record => $record->{stdout} eq $wanted->{stdout} && without_trace($record->{stderr}) eq $wanted->{stderr},
		differs => !grep { $_->{diverged_at} } of_type($events, 'retry'));
	while (my ($check, $ok) = splice @checks, 0, 2)
	{
		push @{ $differs{$check} }, $log->{id} if !$ok;
	}
	$retried++ if of_type($events, 'retry');
	ok(scalar(of_type($events, 'retry')), 'the crash is told in the log of whom it hit') if $log->{crashed};
}
my @guarantees = (
	gap => 'positions run from 1 without a gap, and none came twice',
	final => 'what was read in pieces is the final log',
	start => 'it begins with the start',
	end => 'and ends with the event that the record tells of',
	one_end => 'the only one of its kind',
	stdout => 'what was printed before a crash was logged once',
	stderr => 'on standard error, too',
	custom => 'and so were the values that were emitted',
	record => 'the record has the same output',
	differs => 'what is repeated after a crash is what was there');
while (my ($check, $name) = splice @guarantees, 0, 2)
{
	is_deeply($differs{$check} // [], [], $name);
}
note("$kills clients killed, $retried executions retried");
is($node->safe_psql('postgres', q{SELECT count(*) FROM sandbox_exec.execution WHERE status IN ('queued', 'running')}), 0, 'nothing is stuck');

done_testing();
