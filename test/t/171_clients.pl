
# The clients in demo/clients do what docs/pauses.md says: an approval from Python
# and from Node.js, with the drivers that applications use.

use strict;
use warnings FATAL => 'all';

use Test::More;
use SandboxExec;

my $node = new_node('main');
$node->safe_psql('postgres', q{
CREATE SCHEMA shop;
CREATE TABLE shop.payment (amount integer);
CREATE FUNCTION shop.pay(amount integer) RETURNS text LANGUAGE sql AS
	$$ INSERT INTO shop.payment VALUES (amount) RETURNING 'paid ' || amount $$;
SELECT sandbox_exec.register_tool('shop.pay(integer)', 'shop.pay', requires_approval => true);
});

my ($host, $port) = ($node->host, $node->port);
my %client = (
	'approve.py' => [ '/usr/bin/python3', "host=$host port=$port dbname=postgres user=" . getpwuid($<) ],
	'approve.js' => [ 'node', "postgresql://" . getpwuid($<) . '@/postgres?host=' . $host . "&port=$port" ]);

local $ENV{NODE_PATH} = '/usr/share/nodejs';
for my $name (sort keys %client)
{
	my ($program, $address) = @{ $client{$name} };
	my ($out, $err) = ('', '');
	my $ok = IPC::Run::run([ $program, test_file("../demo/clients/$name"), $address ], '<', \undef, '>', \$out, '2>', \$err);
	ok($ok, "$name ends well") or diag($err);
	is($out =~ s/": /":/gr, <<'END', "$name: asked twice, answered twice, done");
asked: How much? null
answered: accept
asked: shop.pay {"amount":25}
answered: accept
succeeded: "paid 25"
END
}
is($node->safe_psql('postgres', 'SELECT count(*), sum(amount) FROM shop.payment'), '2|50', 'both paid once');
done_testing();
