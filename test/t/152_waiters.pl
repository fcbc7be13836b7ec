
# Hundreds of clients wait for executions at which nothing happens: they use no
# processor, hold up nobody, and each wakes for its own.
#
# The clients are sockets of this one process, which speaks as much of the
# protocol as they need: start up, send a query, read rows.

use strict;
use warnings FATAL => 'all';

use IO::Select;
use IO::Socket::UNIX;
use Test::More;
use Time::HiRes qw(sleep);
use SandboxExec;

my $CLIENTS = 500;
my $node = new_node('main', conf => "max_connections = 600\nsandbox_exec.max_wait = '1 h'");

sub sql
{
	return $node->safe_psql('postgres', $_[0]);
}

# ---------------------------------------------------------------- the clients

my $socket_path = $node->host . '/.s.PGSQL.' . $node->port;
my $user = sql('SELECT current_user');

sub connect_client
{
	my $socket = IO::Socket::UNIX->new(Peer => $socket_path) or die "$socket_path: $!";
	my $body = pack('N', 196608) . "user\0$user\0database\0postgres\0\0";
	$socket->syswrite(pack('N', 4 + length $body) . $body);
	return { socket => $socket, buffer => '', rows => [], ready => 0 };
}

sub ask
{
	my ($client, $query) = @_;
	$client->{ready} = 0;
	$client->{rows} = [];
	$client->{socket}->syswrite('Q' . pack('N', 5 + length $query) . "$query\0");
}

# the columns of a DataRow, joined
sub row_of
{
	my ($body) = @_;
	my ($columns, $rest) = unpack 'n a*', $body;
	my @values;
	for (1 .. $columns)
	{
		(my $length, $rest) = unpack 'N a*', $rest;
		push @values, $length == 0xffffffff ? '' : substr $rest, 0, $length, '';
	}
	return join '|', @values;
}

sub take
{
	my ($client) = @_;
	$client->{socket}->sysread($client->{buffer}, 65536, length $client->{buffer}) or die 'a connection ended';
	while (length $client->{buffer} >= 5)
	{
		my ($type, $length) = unpack 'a N', $client->{buffer};
		last if length $client->{buffer} < 1 + $length;
		my $body = substr substr($client->{buffer}, 0, 1 + $length, ''), 5;
		die "a client got an error: $body" if $type eq 'E';
		push @{ $client->{rows} }, row_of($body) if $type eq 'D';
		$client->{pid} = unpack 'N', $body if $type eq 'K';
		$client->{ready} = 1 if $type eq 'Z';
	}
}

# what has come by now
sub take_all
{
	my ($clients, $seconds) = @_;
	my %by = map { $_->{socket} => $_ } @$clients;
	take($by{$_}) for IO::Select->new(map { $_->{socket} } @$clients)->can_read($seconds);
}

sub all_ready
{
	my (@clients) = @_;
	poll_until(sub { take_all(\@clients, 0.1); !grep { !$_->{ready} } @clients }, 'the clients to be answered');
}

my @clients = map { connect_client() } 1 .. $CLIENTS;
all_ready(@clients);

# one half waits for outcomes, the other for events; each for its own
my @ids = split /\n/, sql(qq{
	SELECT sandbox_exec.enqueue_many((SELECT jsonb_agg(jsonb_build_object('code', 'x', 'runtime', 'test', 'thread_id', 'idle'))
	FROM generate_series(1, $CLIENTS) n))});
$clients[$_]{id} = $ids[$_] for 0 .. $#ids;
for my $nth (0 .. $#clients)
{
	ask($clients[$nth], $nth % 2
		? "SELECT status FROM sandbox_exec.wait('$ids[$nth]', '10 min')"
		: "SELECT pos, type FROM sandbox_exec.tail('$ids[$nth]', -1, '10 min')");
}

sub sleeping
{
	return sql(q{SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND state = 'active' AND wait_event = 'Extension'});
}
poll_until(sub { sleeping() == $CLIENTS }, "$CLIENTS clients to wait");

# -------------------------------------------------------------- nothing happens

# processor time of a process, in clock ticks
sub ticks
{
	my ($pid) = @_;
	open(my $fh, '<', "/proc/$pid/stat") or die "no process $pid: $!";
	my @field = split / /, <$fh> =~ s/.*\) //sr;
	return $field[11] + $field[12];
}

sub ticks_of_all
{
	my $sum = 0;
	$sum += ticks($_->{pid}) for @clients;
	return $sum;
}

# Guarantee: nobody who waits uses the processor.
my $before = ticks_of_all();
sleep(10);    # lint: slept on purpose
my $used = ticks_of_all() - $before;
note("$used ticks");
chomp(my $hz = `getconf CLK_TCK`);
cmp_ok($used, '<', 10 * $hz / 100, "$CLIENTS clients use less than 1 % of a core over 10 s");
is(scalar(grep { $_->{ready} } @clients), 0, 'all of them wait on');

# Guarantee: and holds no lock that others wait for.
is( sql(q{SELECT count(*) FROM pg_locks l JOIN pg_stat_activity a USING (pid) WHERE a.wait_event = 'Extension' AND a.backend_type = 'client backend' AND l.locktype <> 'virtualxid'}),
	0, 'they hold no lock');
for my $table (qw(execution execution_input event))
{
	my ($status, undef, $err) =
	  $node->psql('postgres', "SET lock_timeout = '5s'; ALTER TABLE sandbox_exec.$table ADD COLUMN more integer; ALTER TABLE sandbox_exec.$table DROP COLUMN more;");
	is("$status $err", '0 ', "ALTER TABLE $table is not held up");
}
# claims, appends and outcomes of other executions
is( $node->safe_psql('postgres', q{
		SET statement_timeout = '20s';
		SELECT count(*) FROM sandbox_exec.enqueue_many((SELECT jsonb_agg(jsonb_build_object('code', 'x', 'runtime', 'other')) FROM generate_series(1, 100)));
		SELECT jsonb_agg(jsonb_build_object('id', id, 'token', claim_token, 'status', 'succeeded', 'events', '[{"type": "custom", "data": 1}]'::jsonb)) AS outcomes
		FROM sandbox_exec.claim('other', max_rows => 100) \gset
		SELECT count(*) FROM sandbox_exec.finalize_many(:'outcomes') WHERE done = 'true';}),
	"100\n100", 'claims and outcomes of others are not held up');
is(record($node, wait_for_terminal($node, enqueue($node, 'return 1'))->{id})->{status}, 'succeeded', 'nor are those of workers');
take_all(\@clients, 0.1);
is(scalar(grep { $_->{ready} } @clients), 0, 'which woke nobody for long: all of them wait on');
poll_until(sub { sleeping() == $CLIENTS }, 'them to sleep again');

# ------------------------------------------------------------ something happens

# Guarantee: an event wakes whom it concerns, and no other.
my ($tailing, $waiting) = @clients[ 0, 1 ];
sub claim { return sql("SELECT claim_token FROM sandbox_exec.claim('test', id => '$_[0]{id}')") }
my %token = map { $_->{id} => claim($_) } $tailing, $waiting;
all_ready($tailing);
is("@{ $tailing->{rows} }", '1|started', 'a claim is an event: its reader gets it');
sql("SELECT sandbox_exec.append('$waiting->{id}', '$token{$waiting->{id}}', '[{\"type\": \"custom\", \"data\": 1}]')");
take_all(\@clients, 0.1);
is(scalar(grep { $_->{ready} } @clients), 1, 'nobody else is answered');
# two clients on one log, each at a place of its own
my $second = connect_client();
all_ready($second);
ask($tailing, "SELECT pos, type FROM sandbox_exec.tail('$tailing->{id}', 1, '10 min')");
ask($second, "SELECT pos, type FROM sandbox_exec.tail('$tailing->{id}', -1, '10 min', max_events => 1)");
poll_until(sub { sleeping() == $CLIENTS + 1 }, 'both to sleep');
sql("SELECT sandbox_exec.append('$tailing->{id}', '$token{$tailing->{id}}', '[{\"type\": \"custom\", \"data\": 1}, {\"type\": \"custom\", \"data\": 2}]')");
all_ready($tailing, $second);
is("@{ $tailing->{rows} }, @{ $second->{rows} }", '2|custom 3|custom, 2|custom', 'each of two gets its part');

# Guarantee: when all end at once, each gets the end of its own.
ask($tailing, "SELECT pos, type FROM sandbox_exec.tail('$tailing->{id}', 3, '10 min')");
$node->safe_psql('postgres', q{
	SELECT count(*) FROM sandbox_exec.claim('test', max_rows => 1000);
	SELECT jsonb_agg(jsonb_build_object('id', id, 'token', claim_token, 'status', 'failed', 'error', id)) AS outcomes
	FROM sandbox_exec.execution WHERE status = 'running' \gset
	SELECT count(*) FROM sandbox_exec.finalize_many(:'outcomes');});
all_ready(@clients);
my @tails = grep { $_ != $tailing } @clients[ grep { $_ % 2 == 0 } 0 .. $#clients ];
is(scalar(grep { "@{ $_->{rows} }" eq 'failed' } @clients), $CLIENTS / 2, 'who waited has an outcome');
is("@{ $tailing->{rows} }", '4|failed', 'who read has the end');
# woken by the claim or by the end; what is left is read with the next look
for my $client (@tails)
{
	ask($client, "SELECT pos, type, data->>'error' = '$client->{id}' FROM sandbox_exec.tail('$client->{id}', 1, '10 min')");
}
all_ready(@tails);
is(scalar(grep { "@{ $_->{rows} }" eq '2|failed|t' } @tails), scalar @tails, 'and so has everybody else');

close $_->{socket} for @clients, $second;
is_deeply([ worker_complaints($node) ], [], 'the log has no complaint of launcher or workers');
done_testing();
