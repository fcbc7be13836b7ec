
# Every program in test/lua, run through SQL, comes to the outcome that its
# header names; and after each the next execution of somebody else runs.
#
#   -- expect: status=S             the terminal status
#   -- expect_result: JSON          the result
#   -- expect_stdout: "..."         the whole output, a JSON string
#   -- expect_stdout_contains: "..."
#   -- expect_error_contains: "..." part of the error, in any case
#   -- also_ok: status=S | result=JSON | any      another outcome as good
#   -- limits: timeout_ms=N memory_mb=N           else 10 s and the default
#   -- tools: {NAME,...}            what it is granted; else nothing
#   -- max_wall_ms: N               has ended by then

use strict;
use warnings FATAL => 'all';
no warnings 'recursion';    # results may nest deeper than perl finds normal
use utf8;

use Encode qw(decode FB_CROAK LEAVE_SRC);
use JSON::PP ();
use Scalar::Util qw(blessed);
use Test::More;
use PostgreSQL::Test::Utils;
use SandboxExec;

my $json = JSON::PP->new->allow_nonref->canonical->allow_bignum->allow_blessed->convert_blessed;

# grace for starting a process on a busy machine, on top of max_wall_ms
my $grace_ms = 1500;

sub headers
{
	my ($text) = @_;
	my %found;

	for my $line (split /\n/, $text)
	{
		if ($line =~ /^--\s*([a-z_]+):\s?(.*?)\s*$/) { push @{ $found{$1} }, $2 }
		elsif ($line ne '' && $line !~ /^--/) { last }
	}
	return \%found;
}

sub same
{
	my ($a, $b) = @_;

	return !defined $a && !defined $b if !defined $a || !defined $b;
	# a number beyond Perl's is an object
	$_ = blessed($_) && $_->can('numify') ? $_->numify : $_ for $a, $b;
	return 0 if ref $a ne ref $b;
	return @$a == @$b && !grep { !same($a->[$_], $b->[$_]) } 0 .. $#$a if ref $a eq 'ARRAY';
	return keys %$a == keys %$b && !grep { !exists $b->{$_} || !same($a->{$_}, $b->{$_}) } keys %$a
	  if ref $a eq 'HASH';
	return $a == $b if ref $a;
	return 1 if $json->encode($a) eq $json->encode($b);
	# numbers have more than one spelling; strings don't
	return 0 if grep { $json->encode($_) =~ /^"/ } $a, $b;
	return abs($a - $b) <= 1e-9 * (abs $a > abs $b ? abs $a : abs $b);
}

# undef when the outcome is as the header says, else what is wrong with it
sub complaint
{
	my ($head, $row, $ms) = @_;
	my ($want) = $head->{expect}[0] =~ /status=(\w+)/;
	my $text = sub { $json->decode($_[0]) =~ s/\0/\x{FFFD}/gr };

	return "ended as $row->{status}" if $row->{status} !~ /^(succeeded|failed|timed_out)$/;
	if ($head->{max_wall_ms})
	{
		my ($max) = $head->{max_wall_ms}[0] =~ /^(\d+)/;
		return "took $ms ms" if $ms > $max + $grace_ms;
	}
	for my $also (@{ $head->{also_ok} // [] })
	{
		return if $also eq 'any';
		return if $also eq "status=$row->{status}" && $row->{status} ne $want;
		return if $also =~ /^result=(.*)/ && $row->{status} eq 'succeeded' && same($json->decode($1), $row->{result});
		return if $also =~ /^error=/ && $row->{status} eq 'failed';
	}
	return "status is $row->{status}, not $want: " . substr($row->{error} // '', 0, 200) if $row->{status} ne $want;
	return 'result is ' . substr($json->encode($row->{result}), 0, 200)
	  if $head->{expect_result} && !same($json->decode($head->{expect_result}[0]), $row->{result});
	my $out = $row->{stdout} // '';
	for (@{ $head->{expect_stdout} // [] })
	{
		return 'stdout is ' . substr($out, 0, 200) if $out ne $text->($_);
	}
	for (@{ $head->{expect_stdout_contains} // [] })
	{
		return "stdout lacks $_" if index($out, $text->($_)) < 0;
	}
	for (@{ $head->{expect_error_contains} // [] })
	{
		return "error is " . ($row->{error} // 'null') if index(lc($row->{error} // ''), lc $text->($_)) < 0;
	}
	return;
}

my @files = sort glob test_file('lua/*.lua');
ok(scalar @files, 'there are programs to run') or BAIL_OUT('test/lua is empty');

# No more at once than there are processors, so that what ends by itself does so
# well within its time.
my $node = new_node('main', conf => "sandbox_exec.workers = 2\nsandbox_exec.runner_nice = 0\n");
my (%id, %head, %unstorable, %next);

$node->safe_psql('postgres', q{
SELECT sandbox_exec.register_module('test.counter', 'return {count = 0}'),
	sandbox_exec.register_module('test.nothing', 'local x = 1'),
	sandbox_exec.register_module('test.broken', 'error("no luck")'),
	sandbox_exec.register_module('test.invalid', 'return +')});

# all are enqueued at once, by one owner each, with one of the neighbour's after each
for my $file (@files)
{
	my ($name) = $file =~ m{([^/]+)\.lua$};
	my $code = slurp_file($file);
	my $decoded = eval { decode('UTF-8', $code, FB_CROAK | LEAVE_SRC) };

	$head{$name} = headers($decoded // $code);
	my %limit = map { split /=/ } split ' ', join ' ', @{ $head{$name}{limits} // [] };
	my $timeout = $limit{timeout_ms} // 10_000;
	# the limit is for what runs into it; what doesn't may take longer on a slow machine
	$timeout *= 6 if "@{ $head{$name}{expect} // [] } @{ $head{$name}{also_ok} // [] }" !~ /timed_out|any/;
	my %arg = (owner => "'$name'", timeout => "'$timeout ms'");
	$arg{memory_limit_kb} = $limit{memory_mb} * 1024 if $limit{memory_mb};
	$arg{tools} = "'$head{$name}{tools}[0]'" if $head{$name}{tools};

	if (defined $decoded && $code !~ /\0/) { $id{$name} = enqueue($node, $code, %arg) }
	else { $unstorable{$name} = 1 }
	$next{$name} = enqueue($node, 'return "next"', owner => q('neighbour'));
}

for my $name (map { m{([^/]+)\.lua$} } @files)
{
	my $head = $head{$name};

	if (!$head->{expect})
	{
		fail("$name: no expectation in the file");
		next;
	}
	if ($unstorable{$name})
	{
		# no value of type text, so no client can send it as one
		like($head->{expect}[0], qr/status=failed/, "$name: not storable as text");
		next;
	}
	wait_for_terminal($node, $id{$name});
	my $row = query_json($node, qq{
		SELECT to_json(r) FROM (
			SELECT status, result, stdout, error,
				1000 * extract(epoch FROM finished_at - started_at) AS ms
			FROM sandbox_exec.executions WHERE id = '$id{$name}') r});
	my $wrong = complaint($head, $row, $row->{ms});
	my $next = wait_for_terminal($node, $next{$name});
	$wrong //= 'the next execution ended as ' . $json->encode([ @$next{qw(status error)} ])
	  if $next->{status} ne 'succeeded' || $next->{result} ne 'next';
	ok(!defined $wrong, $name) or diag("$name: ", $wrong =~ s/([^ -~])/sprintf '\\x{%x}', ord $1/ger);
}

unlike(slurp_file($node->logfile), qr/terminated by signal|terminating any other active server processes/,
	'no server process died');

done_testing();
