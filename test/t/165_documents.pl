
# Every block of SQL in the documents runs, in the order in which it stands
# there, and prints what the block after it says.

use strict;
use warnings FATAL => 'all';

use Test::More;
use PostgreSQL::Test::Utils;
use SandboxExec;

my $node = new_node('main', extension => 0);

# [language, text] of each fenced block
sub blocks
{
	my ($text) = @_;
	my @found;
	push @found, [ $1, $2 ] while $text =~ /^```(\w*)\n(.*?)^```$/gms;
	return @found;
}

# what psql aligns is compared without its blanks
sub words { return join "\n", grep { length } map { s/[ \t-]*[-+|][-+ \t]*\|?/ | /gr =~ s/\s+/ /gr =~ s/^ | $//gr } split /\n/, $_[0] }

my ($docs) = test_file('../docs');
for my $document ('README.md', map { s{.*/}{docs/}r } sort glob "$docs/*.md")
{
	my $text = slurp_file(test_file("../$document"));
	my $dbname = 'doc_' . lc(($document =~ /(\w+)\.md$/)[0]);
	my @blocks = blocks($text);
	my $count = grep { $_->[0] eq 'sql' } @blocks;

	next if !$count;
	$node->safe_psql('postgres', "CREATE DATABASE $dbname");
	$node->safe_psql($dbname, $document eq 'README.md' ? 'SELECT 1' : 'CREATE EXTENSION sandbox_exec');
	# what an example needs that stands in no block: roles, and work that nobody else does
	$node->safe_psql($dbname, 'CREATE ROLE app') if $document eq 'docs/reference.md';

	# and what an application keeps: an execution, and the position that it has read
	my $script = "\\pset footer off\n\\set id 00000000-0000-0000-0000-000000000000\n\\set pos 0\n";
	my $n = 0;
	$script .= "\\echo -- block @{[ $n++ ]}\n$_->[1]\n" for grep { $_->[0] eq 'sql' } @blocks;
	my ($status, $out, $err) = $node->psql($dbname, $script, extra_params => [ '-X', '-P', 'format=aligned', '-P', 'tuples_only=off' ], on_error_stop => 0);
	is($err, '', "$document: no example fails");
	my @out = split /^-- block \d+\n/m, $out;
	shift @out;
	$n = 0;
	for my $i (0 .. $#blocks)
	{
		next if $blocks[$i][0] ne 'sql';
		my $printed = $out[ $n++ ] // '';
		next if $i == $#blocks || $blocks[ $i + 1 ][0] ne '';
		my ($first) = $blocks[$i][1] =~ /^(.*)$/m;
		my $want = $blocks[ $i + 1 ][1];
		like(words($printed), qr/\Q@{[ words($want) ]}\E\s*$/, "$document: prints what it says: $first");
	}
}

$node->stop;
done_testing();
