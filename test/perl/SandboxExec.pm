
=head1 NAME

SandboxExec - servers with the extension, and what tests ask of them

=head1 SYNOPSIS

  use SandboxExec;

  my $node = new_node('main');
  my $id = enqueue($node, 'return 1 + 1');
  expect_terminal($node, $id, { status => 'succeeded', result => 2 }, 'adds');

=head1 DESCRIPTION

Built on PostgreSQL::Test::Cluster; a node is one of its objects.  Tests wait
for a state (wait_for_status, poll_until) and never for a time; every wait is
bounded by $timeout_default and dies, saying what it waited for, when it is
not met.  Signals go only to processes that descend from a node's postmaster.

=cut

package SandboxExec;

use strict;
use warnings FATAL => 'all';

use Carp;
use Exporter 'import';
use IPC::Run ();
use JSON::PP ();
use Test::More;
use Time::HiRes qw(time usleep);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

our @EXPORT = qw(
  new_node query_json enqueue turns record expect_terminal
  wait_for_status wait_for_terminal wait_for_output poll_until
  worker_pids runner_pids runners_of launcher_pid children_of is_alive process_gone
  kill_process parallel_psql test_file installation_with installation_with_library
  enqueue_batch health wait_for_health set_config install_runner server_epoch
  wait_for_restart try_sql runner_of process_status no_such_process
  session fails_with wait_until_idle worker_complaints
);

my $json = JSON::PP->new->utf8->allow_nonref->canonical->allow_bignum;

my %terminal = map { $_ => 1 } qw(succeeded failed timed_out cancelled);

=head1 SERVERS

=over

=item new_node(NAME, [init => {...}, conf => TEXT, start => 1, extension => 1, install_path => DIR])

A UTF8 cluster with the library preloaded, started, and with the extension in
database postgres.  init goes to PostgreSQL::Test::Cluster's init(), conf is
appended to postgresql.conf.

=cut

sub new_node
{
	my ($name, %opt) = @_;
	my %new = $opt{install_path} ? (install_path => $opt{install_path}) : ();
	my $node = PostgreSQL::Test::Cluster->new($name, %new);
	my %init = %{ $opt{init} // {} };

	$init{extra} = [ '--encoding=UTF8', '--locale=C', @{ $init{extra} // [] } ];
	$node->init(%init);
	$node->append_conf('postgresql.conf', $opt{conf}) if defined $opt{conf};
	if ($opt{start} // 1)
	{
		$node->start;
		$node->safe_psql('postgres', 'CREATE EXTENSION sandbox_exec')
		  if $opt{extension} // 1;
	}
	return $node;
}

=item installation_with(RUNNER), installation_with_library(FILE)

A copy of the private PostgreSQL tree whose sandbox_exec_runner is that file
(undef: is missing), or whose sandbox_exec.so is.  For
new_node(install_path => ...).

=cut

sub installation_with         { return _installation('sandbox_exec_runner', $_[0]) }
sub installation_with_library { return _installation('sandbox_exec.so', $_[0]) }

sub _installation
{
	my ($name, $file) = @_;
	my $copy = PostgreSQL::Test::Utils::tempdir_short();
	my $bindir = $ENV{SANDBOX_EXEC_BINDIR};
	my $pkglibdir = $ENV{SANDBOX_EXEC_PKGLIBDIR};
	my $stage = $ENV{SANDBOX_EXEC_STAGE};

	# Hard links: a symbolic link to postgres would lead back to the original.
	system_or_bail('cp', '-al', "$stage/usr", "$copy/usr");
	s/^\Q$stage\E/$copy/ for ($bindir, $pkglibdir);
	unlink("$pkglibdir/$name") or croak "no $name in $pkglibdir: $!";
	system_or_bail('install', '-m', '755', $file, "$pkglibdir/$name") if defined $file;
	$bindir =~ s{/bin$}{} or croak "unexpected bindir $bindir";
	return $bindir;
}

=item test_file(PATH)

The absolute name of a file below test/.

=back

=cut

sub test_file
{
	return "$ENV{SANDBOX_EXEC_TEST}/$_[0]";
}

=head1 EXECUTIONS

=over

=item query_json(NODE, SQL, [dbname => 'postgres'])

What a query that yields one JSON value yields, decoded; undef without a row.

=cut

sub query_json
{
	my ($node, $sql, %opt) = @_;
	my $out = $node->safe_psql($opt{dbname} // 'postgres', $sql);
	return $out eq '' ? undef : $json->decode($out);
}

=item enqueue(NODE, CODE, [dbname => 'postgres', role => ROLE, PARAMETER => SQL-EXPRESSION, ...])

The id.  Parameters are those of sandbox_exec.enqueue, as SQL:
C<< enqueue($node, $code, timeout => "'200 ms'") >>.

=cut

sub enqueue
{
	my ($node, $code, %arg) = @_;
	my $dbname = delete $arg{dbname} // 'postgres';
	my $role = delete $arg{role};
	my $tag = 'lua';

	$tag .= 'x' while index($code, "\$$tag\$") >= 0;
	my $list = join ', ', "code => \$$tag\$$code\$$tag\$", map { "$_ => $arg{$_}" } sort keys %arg;
	my $sql = "SELECT sandbox_exec.enqueue($list);";
	$sql = "SET ROLE $role; $sql" if defined $role;
	return $node->safe_psql($dbname, $sql);
}

=item turns(NODE, MS)

How many turns of "for i = 1, N do end" take at least so many milliseconds here:
processors differ by more than what a test may assume.

=cut

my $turns_a_ms;

sub turns
{
	my ($node, $ms) = @_;

	while (!defined $turns_a_ms)
	{
		my $n = 3e7;
		my $row = wait_for_terminal($node, enqueue($node, "for i = 1, $n do end"));
		my $took = $node->safe_psql('postgres',
			"SELECT 1000 * extract(epoch FROM finished_at - started_at) FROM sandbox_exec.executions WHERE id = '$row->{id}'");
		$turns_a_ms = $n / $took if $took > 0;
	}
	return int($ms * $turns_a_ms);
}

=item record(NODE, ID, [dbname => ...])

The row of the view executions as a hash; undef when there is none.

=cut

sub record
{
	my ($node, $id, %opt) = @_;
	return query_json($node, "SELECT to_json(e) FROM sandbox_exec.executions e WHERE id = '$id'", %opt);
}

=item wait_for_status(NODE, ID, STATUS, [dbname => ...])

Until the execution has that status; dies when it ends with another one.
Returns the record.

=cut

sub wait_for_status
{
	my ($node, $id, $status, %opt) = @_;
	my $row;
	poll_until(
		sub {
			$row = record($node, $id, %opt) // croak "no execution $id";
			return 1 if $row->{status} eq $status;
			croak "execution $id is $row->{status}, waited for $status: " . ($row->{error} // '')
			  if $terminal{ $row->{status} };
			return 0;
		},
		"execution $id to be $status");
	return $row;
}

=item wait_for_terminal(NODE, ID, [dbname => ...])

Until the execution has ended, by sandbox_exec.wait; returns the record.

=cut

sub wait_for_terminal
{
	my ($node, $id, %opt) = @_;
	my $row;
	poll_until(
		sub {
			$row = query_json($node, "SELECT to_json(w) FROM sandbox_exec.wait('$id', '10 s') w", %opt)
			  // croak "no execution $id";
			return $terminal{ $row->{status} };
		},
		"execution $id to end");
	return $row;
}

=item wait_for_output(NODE, ID, TEXT)

Until the record has that in its stdout, while it runs or afterwards.

=cut

sub wait_for_output
{
	my ($node, $id, $text) = @_;
	return poll_until(sub { record($node, $id)->{stdout} eq $text }, "execution $id to print");
}

=item expect_terminal(NODE, ID, EXPECTED, NAME, [dbname => ...])

One test: the execution ends, and its record has the expected members.  An
expected value is compared as JSON; a regular expression is matched.  Returns
the record.

=cut

sub expect_terminal
{
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my ($node, $id, $expected, $name, %opt) = @_;
	my $row = wait_for_terminal($node, $id, %opt);
	my @differs;

	for my $key (sort keys %$expected)
	{
		my ($want, $got) = ($expected->{$key}, $row->{$key});
		my $same =
		  ref $want eq 'Regexp'
		  ? defined $got && !ref $got && $got =~ $want
		  : $json->encode($got) eq $json->encode($want) || !ref $got && !ref $want && defined $got && defined $want && $got eq $want;
		push @differs, "$key is " . $json->encode($got) . ", expected " . (ref $want eq 'Regexp' ? $want : $json->encode($want))
		  if !$same;
	}
	ok(!@differs, $name) or diag(join("\n", @differs, 'record: ' . $json->encode($row)));
	return $row;
}

=item poll_until(CODE, WHAT, [seconds => N])

Calls CODE until it returns true, and returns that; dies after N seconds
(the default is that of PostgreSQL's own tests) naming WHAT.

=cut

sub poll_until
{
	my ($code, $what, %opt) = @_;
	my $deadline = time + ($opt{seconds} // $PostgreSQL::Test::Utils::timeout_default);

	while (1)
	{
		my $value = $code->();
		return $value if $value;
		croak "timed out waiting for $what" if time > $deadline;
		usleep(20_000);
	}
}

=item parallel_psql(NODE, [SQL, ...], [dbname => ...])

Runs each SQL text in a psql of its own, all at the same time.  Returns a list
of hashes with status (of psql), stdout, stderr, in the order given.

=cut

sub parallel_psql
{
	my ($node, $texts, %opt) = @_;
	my @command = (
		"$ENV{SANDBOX_EXEC_BINDIR}/psql", '-XAtq', '-v', 'ON_ERROR_STOP=1',
		'-d', $node->connstr($opt{dbname} // 'postgres'));
	my @runs;

	for my $text (@$texts)
	{
		my %run = (stdin => $text, stdout => '', stderr => '');
		$run{harness} = IPC::Run::start(
			\@command, '<', \$run{stdin}, '>', \$run{stdout}, '2>', \$run{stderr},
			IPC::Run::timeout($PostgreSQL::Test::Utils::timeout_default));
		push @runs, \%run;
	}
	for my $run (@runs)
	{
		$run->{harness}->finish;
		$run->{status} = $run->{harness}->full_result(0) >> 8;
		delete $run->{harness};
		chomp $run->{stdout};
	}
	return @runs;
}

=item session(NODE, [dbname => 'postgres'])

A psql that stays connected.  Methods: query(SQL) returns what it printed (and
in list context also its errors, with SQLSTATE); start(SQL) returns at once,
and result() later gives what query() would have; done() says whether the
started SQL has ended; pid() is that of the backend, wait_event() what it
waits for in pg_stat_activity; close().

=item fails_with(NODE, SQL, SQLSTATE, PATTERN, NAME, [dbname => 'postgres'])

One test: SQL ends in an error with that SQLSTATE whose text, with DETAIL and
HINT, matches PATTERN.

=back

=cut

sub session
{
	my ($node, %opt) = @_;
	return SandboxExec::Session->new($node, $opt{dbname} // 'postgres');
}

sub fails_with
{
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my ($node, $sql, $sqlstate, $pattern, $name, %opt) = @_;
	my ($status, $out, $err) =
	  $node->psql($opt{dbname} // 'postgres', $sql, extra_params => [ '-v', 'VERBOSITY=verbose' ]);
	ok($status == 3 && $err =~ /ERROR:  \Q$sqlstate\E: / && $err =~ $pattern, $name)
	  or diag("expected $sqlstate and $pattern; psql ended with $status\nstdout: $out\nstderr: $err");
	return;
}

=head1 PROCESSES

=over

=item wait_until_idle(NODE, DBNAME)

Until a worker of that database has looked at the queue since the last commit
and found nothing to do.  A commit that makes a row ready marks the worker as
busy before it returns, so "idle" seen after it is worth something.

=item worker_complaints(NODE, [OFFSET])

Lines of the server's log, from OFFSET on, in which launcher or workers report
more than information.

=cut

sub wait_until_idle
{
	my ($node, $dbname) = @_;
	return poll_until(
		sub {
			return $node->safe_psql($dbname,
				q{SELECT count(*) > 0 AND bool_and(state = 'idle') FROM sandbox_exec.workers WHERE kind = 'worker'}) eq
			  't';
		},
		"an idle worker in database $dbname");
}

sub worker_complaints
{
	my ($node, $offset) = @_;
	my $log = PostgreSQL::Test::Utils::slurp_file($node->logfile, $offset // 0);
	return grep { /sandbox_exec (?:launcher|worker).* (?:WARNING|ERROR|FATAL|PANIC):  / } split /\n/, $log;
}

=item worker_pids(NODE, [DBNAME])

The in-server workers that are alive, of one database or of all.

=cut

sub worker_pids
{
	my ($node, $dbname) = @_;
	my $where = defined $dbname ? "AND datname = '$dbname'" : '';
	return split /\n/,
	  $node->safe_psql('postgres',
		"SELECT pid FROM pg_stat_activity WHERE backend_type = 'sandbox_exec worker' $where ORDER BY pid");
}

=item launcher_pid(NODE)

=cut

sub launcher_pid
{
	my ($node) = @_;
	return $node->safe_psql('postgres',
		"SELECT pid FROM pg_stat_activity WHERE backend_type = 'sandbox_exec launcher'");
}

=item children_of(PID...)

Live processes whose parent is one of those, from /proc.

=cut

sub children_of
{
	my %parent = map { $_ => 1 } @_;
	my @found;

	for my $stat (glob '/proc/[0-9]*/stat')
	{
		my ($pid, $state, $ppid) = _stat($stat);
		push @found, $pid if defined $pid && $parent{$ppid} && $state ne 'Z';
	}
	return sort { $a <=> $b } @found;
}

=item runners_of(PID...)

The live runners of those workers.  A worker's other child is its zygote.

=cut

sub runners_of
{
	return grep { _name($_) eq 'sandbox_runner' } children_of(@_);
}

=item runner_pids(NODE)

The runners that are alive.

=cut

sub runner_pids
{
	my ($node) = @_;
	return runners_of(worker_pids($node));
}

=item is_alive(PID)

A process that was killed and isn't reaped yet is not alive.

=cut

sub is_alive
{
	my ($pid) = @_;
	my (undef, $state) = _stat("/proc/$pid/stat");
	return defined $state && $state ne 'Z' && $state ne 'X';
}

=item process_gone(PID)

Waits until it isn't.

=cut

sub process_gone
{
	my ($pid) = @_;
	return poll_until(sub { !is_alive($pid) }, "process $pid to be gone");
}

=item kill_process(NODE, SIGNAL, PID)

Sends the signal if the process is the node's postmaster or descends from it;
true when it was delivered, false when the process was gone already.

=back

=cut

sub kill_process
{
	my ($node, $signal, $pid) = @_;
	my $postmaster = $node->{_pid};
	my $ancestor = $pid;

	while ($ancestor && $ancestor != $postmaster)
	{
		(undef, undef, $ancestor) = _stat("/proc/$ancestor/stat");
		return 0 if !defined $ancestor;    # ended meanwhile
		croak "process $pid is not one of this node's" if $ancestor <= 1;
	}
	return kill $signal, $pid;
}

=head1 FAULTS

=over

=item enqueue_batch(NODE, [{code => TEXT, PARAMETER => VALUE, ...}, ...], [dbname => ...])

Enqueues all of them in one transaction; the ids, in that order.

=cut

sub enqueue_batch
{
	my ($node, $requests, %opt) = @_;
	my $text = $json->encode($requests);
	my $tag = 'j';

	$tag .= 'x' while index($text, "\$$tag\$") >= 0;
	return split /\n/,
	  $node->safe_psql($opt{dbname} // 'postgres', "SELECT sandbox_exec.enqueue_many(\$$tag\$$text\$$tag\$)");
}

=item health(NODE, CHECK, [dbname => ...])

That line of the view, as a hash with ok and detail.

=cut

sub health
{
	my ($node, $check, %opt) = @_;
	return query_json($node,
		"SELECT json_build_object('ok', ok, 'detail', detail) FROM sandbox_exec.health WHERE check_name = '$check'",
		%opt) // croak "no health check '$check'";
}

=item wait_for_health(NODE, CHECK, REGEXP, [dbname => ...])

Until the check is not in order and its detail matches; with undef, until it is
in order.  Returns the detail.

=cut

sub wait_for_health
{
	my ($node, $check, $regexp, %opt) = @_;
	my $line;
	poll_until(
		sub {
			$line = health($node, $check, %opt);
			return $line->{ok} if !defined $regexp;
			return !$line->{ok} && $line->{detail} =~ $regexp;
		},
		"health check '$check' to " . (defined $regexp ? "say $regexp" : 'be in order'));
	return $line->{detail};
}

=item set_config(NODE, NAME => VALUE, ...)

Changes postgresql.conf and reloads.  Values are as they stand there, quotes and
all.

=cut

sub set_config
{
	my ($node, %setting) = @_;

	# of several lines the last one counts
	$node->append_conf('postgresql.conf', "$_ = $setting{$_}") for sort keys %setting;
	$node->reload;
}

=item install_runner(NODE, FILE, [MODE])

Replaces the runner of a node with an installation of its own (see
installation_with) in one step; undef removes it.

=cut

sub install_runner
{
	my ($node, $file, $mode) = @_;
	my $place = $node->config_data('--pkglibdir') . '/sandbox_exec_runner';

	croak "$place belongs to every node" if $place =~ m{^\Q$ENV{SANDBOX_EXEC_PKGLIBDIR}\E/};
	if (!defined $file)
	{
		unlink($place) || !-e $place or croak "could not remove $place: $!";
		return;
	}
	system_or_bail('install', '-m', $mode // '755', $file, "$place.new");
	rename("$place.new", $place) or croak "could not replace $place: $!";
}

=item try_sql(NODE, SQL)

What a statement prints, on a server that may be down at this moment; undef when
it is, or the statement fails.  The text is an argument of psql: one that finds
no server does not read its input.

=cut

sub try_sql
{
	my ($node, $sql) = @_;
	my ($out, $err) = ('', '');
	my $ok = IPC::Run::run([ "$ENV{SANDBOX_EXEC_BINDIR}/psql", '-XAtq', '-d', $node->connstr('postgres'), '-c', $sql ],
		'<', \undef, '>', \$out, '2>', \$err);
	chomp $out;
	return $ok ? $out : undef;
}

=item server_epoch(NODE), wait_for_restart(NODE, EPOCH)

What tells one start of the server from another; waits until the server answers
and is another start than that one.

=cut

sub server_epoch
{
	my ($node) = @_;
	return $node->safe_psql('postgres', 'SELECT sandbox_exec._server_epoch()');
}

sub wait_for_restart
{
	my ($node, $epoch) = @_;
	poll_until(
		sub {
			my $now = try_sql($node, 'SELECT sandbox_exec._server_epoch()') // '';
			return $now ne '' && $now ne $epoch;
		},
		'the server to restart');
}

=item runner_of(NODE, ID, [dbname => ...])

Waits until code of that execution is at work for certain, that is, uses
processor time; returns the pids of its runner and of its worker.

=cut

sub runner_of
{
	my ($node, $id, %opt) = @_;
	my (%first, @found);
	poll_until(
		sub {
			my $worker = $node->safe_psql($opt{dbname} // 'postgres',
				"SELECT pid FROM sandbox_exec.workers WHERE execution_id = '$id'");
			return 0 if $worker eq '';
			for my $runner (children_of($worker))
			{
				my $used = _ticks($runner) // next;
				$first{$runner} //= $used;
				@found = ($runner, $worker) if $used >= $first{$runner} + 2;
			}
			return @found;
		},
		"execution $id to be at work");
	return @found;
}

# processor time in clock ticks
sub _ticks
{
	my ($pid) = @_;
	open(my $fh, '<', "/proc/$pid/stat") or return;
	my $line = <$fh> // return;
	my @field = split / /, $line =~ s/.*\) //sr;
	return $field[11] + $field[12];
}

=item process_status(PID)

/proc/PID/status as a hash; undef when there is no such process.

=cut

sub process_status
{
	my ($pid) = @_;
	open(my $fh, '<', "/proc/$pid/status") or return;
	return { map { /^(\w+):\s*(.*)/ ? ($1, $2) : () } <$fh> };
}

=item no_such_process(PID)

Waits until not even a zombie is left of it.

=back

=cut

sub no_such_process
{
	my ($pid) = @_;
	return poll_until(sub { !-e "/proc/$pid" }, "process $pid to be gone without a trace");
}

# as ps shows it; empty when there is no such process
sub _name
{
	my ($pid) = @_;
	open(my $fh, '<', "/proc/$pid/comm") or return '';
	chomp(my $name = <$fh> // '');
	close $fh;
	return $name;
}

# pid, state, parent; empty when there is no such process
sub _stat
{
	my ($file) = @_;
	open(my $fh, '<', $file) or return;
	my $line = <$fh>;
	close $fh;
	# the name is in parentheses and may hold anything
	return defined $line && $line =~ /^(\d+) \(.*\) (\S) (\d+) /s ? ($1, $2, $3) : ();
}

package SandboxExec::Session;

use Carp;
use IPC::Run ();
use PostgreSQL::Test::Utils;

sub new
{
	my ($class, $node, $dbname) = @_;
	my $self = bless { node => $node, in => '', out => '', err => '', count => 0 }, $class;
	$self->{psql} = IPC::Run::start(
		[
			"$ENV{SANDBOX_EXEC_BINDIR}/psql", '-XAtq', '-v', 'VERBOSITY=verbose',
			'-d', $node->connstr($dbname), '-f', '-'
		],
		'<', \$self->{in}, '>', \$self->{out}, '2>', \$self->{err},
		IPC::Run::timeout(10 * $PostgreSQL::Test::Utils::timeout_default));
	$self->{pid} = $self->query('SELECT pg_backend_pid()');
	croak "no connection to $dbname: $self->{err}" if $self->{pid} !~ /^\d+$/;
	return $self;
}

# a line after each text says that psql has come so far, on both streams
sub start
{
	my ($self, $sql) = @_;
	my $mark = '-- end ' . ++$self->{count};
	$self->{mark} = qr/^\Q$mark\E\n/m;
	$self->{$_} = '' for qw(out err);
	$self->{in} .= "$sql\n;\n\\echo $mark\n\\warn $mark\n";
	$self->{psql}->pump_nb;
	return;
}

sub done
{
	my ($self) = @_;
	$self->{psql}->pump_nb;
	return $self->{out} =~ $self->{mark} && $self->{err} =~ $self->{mark};
}

sub result
{
	my ($self) = @_;
	$self->{psql}->pump until $self->done;
	my ($out, $err) = map { s/$self->{mark}//r } @$self{qw(out err)};
	chomp($out, $err);
	return wantarray ? ($out, $err) : $out;
}

sub query
{
	my ($self, $sql) = @_;
	$self->start($sql);
	return $self->result;
}

sub pid
{
	my ($self) = @_;
	return $self->{pid};
}

sub wait_event
{
	my ($self) = @_;
	return $self->{node}->safe_psql('postgres',
		"SELECT wait_event_type || '/' || wait_event FROM pg_stat_activity WHERE pid = $self->{pid} AND state = 'active'");
}

sub close
{
	my ($self) = @_;
	$self->{in} .= "\\q\n";
	$self->{psql}->finish;
	return;
}

1;
