
# Who is who: the submitter that is recorded, what other roles see, and what a
# role can't do to the owner of the extension or to the workers.

use strict;
use warnings FATAL => 'all';

use Test::More;
use PostgreSQL::Test::Utils;
use SandboxExec;

my $node = new_node('main');

sub sql
{
	my ($text, %opt) = @_;
	return $node->safe_psql($opt{dbname} // 'postgres', $text);
}

sub as
{
	my ($role, $text) = @_;
	return sql("SET SESSION AUTHORIZATION $role;\n$text");
}

sub submitter
{
	return sql("SELECT submitter FROM sandbox_exec.executions WHERE id = '$_[0]'");
}

my $at_once = q{SET statement_timeout = '10s';};

sql(q{
	CREATE ROLE alice LOGIN;
	CREATE ROLE bob LOGIN;
	CREATE ROLE agent LOGIN;                    -- an outside executor
	CREATE ROLE outsider LOGIN;                 -- nothing was granted
	CREATE ROLE boss LOGIN IN ROLE alice;
	CREATE ROLE clerk LOGIN NOINHERIT IN ROLE alice;
	CREATE ROLE pooler LOGIN NOINHERIT IN ROLE alice, bob;
	SELECT sandbox_exec.grant_submitter(r::regrole) FROM unnest('{alice,bob,boss,clerk}'::text[]) r;
	SELECT sandbox_exec.grant_executor('agent');
	CREATE SCHEMA app;
	GRANT USAGE, CREATE ON SCHEMA app TO alice, bob, boss;
});

# --------------------------------------------------- the submitter recorded

# Guarantee: it is the effective user, however the session came to be that.
is(submitter(sql(q{SET ROLE alice; SELECT sandbox_exec.enqueue('return 1')})), 'alice', 'SET ROLE');
is(submitter(sql(q{SET SESSION AUTHORIZATION bob; SELECT sandbox_exec.enqueue('return 1')})), 'bob', 'SET SESSION AUTHORIZATION');
is(submitter(sql(q{SET SESSION AUTHORIZATION boss; SET ROLE alice; SELECT sandbox_exec.enqueue('return 1')})), 'alice', 'both');
is( submitter(sql(q{SET ROLE alice; SELECT * FROM sandbox_exec.enqueue_many('[{"code": "return 1"}]')})), 'alice', 'enqueue_many()');
my $body = q{RETURNS uuid LANGUAGE sql %s AS $$ SELECT sandbox_exec.enqueue('return 1') $$};
as('alice', sprintf("CREATE FUNCTION app.by_owner() $body", 'SECURITY DEFINER')
	  . '; ' . sprintf("CREATE FUNCTION app.by_caller() $body", 'SECURITY INVOKER'));
my $id = as('bob', 'SELECT app.by_owner()');
is(submitter($id), 'alice', 'a SECURITY DEFINER wrapper submits as its owner');
is(sql("SELECT owner FROM sandbox_exec.executions WHERE id = '$id'"), 'alice', 'and the owner is that, too, by default');
is(submitter(as('bob', 'SELECT app.by_caller()')), 'bob', 'a SECURITY INVOKER wrapper as its caller');
as('bob', 'CREATE FUNCTION app.nested() RETURNS uuid LANGUAGE sql SECURITY DEFINER AS $$ SELECT app.by_caller() $$');
is(submitter(as('alice', 'SELECT app.nested()')), 'bob', 'nested: the innermost definer');
sql('DROP FUNCTION app.nested(), app.by_owner(), app.by_caller()');

# Guarantee: one connection that serves several roles mixes nothing up, with whatever plans it has kept.
my $pooled = session($node);
$pooled->query('SET SESSION AUTHORIZATION pooler');
my %own;
for my $round (1, 2)
{
	for my $role (qw(alice bob))
	{
		$pooled->query("SET ROLE $role");
		$id = $pooled->query(qq{SELECT sandbox_exec.enqueue('return "$role"', thread_id => 'pool')});
		push @{ $own{$role} }, $id;
		is(submitter($id), $role, "a pooled connection, round $round: submitter");
		is($pooled->query(q{SELECT string_agg(id::text, ' ' ORDER BY id) FROM sandbox_exec.list() WHERE thread_id = 'pool'}),
			"@{ $own{$role} }", 'list() shows its own');
		is($pooled->query(q{SELECT string_agg(id::text, ' ' ORDER BY id) FROM sandbox_exec.executions WHERE thread_id = 'pool'}),
			"@{ $own{$role} }", 'so does the view');
		is($pooled->query("$at_once SELECT status, result FROM sandbox_exec.wait('$id')"), qq{succeeded|"$role"}, 'wait() gets it');
		$pooled->query('RESET ROLE');
	}
}
like(($pooled->query(q{SELECT sandbox_exec.enqueue('return 1')}))[1], qr/ERROR:  42501: /, 'between them it can do nothing');
$pooled->close;

# ------------------------------------------------------------- who sees what

# Guarantee: another role sees nothing, by any way, and can't tell foreign from unknown.
$node->safe_psql('postgres', 'SELECT sandbox_exec.pause_queue()');
my $hers = as('alice', q{SELECT sandbox_exec.enqueue('return "secret"', runtime => 'hers', idempotency_key => 'k')});
my $unknown = sql('SELECT gen_random_uuid()');
for my $target ($hers, $unknown)
{
	my $which = $target eq $hers ? 'foreign' : 'unknown';
	is(as('bob', "SELECT count(*) FROM sandbox_exec.get('$target')"), 0, "get() of a $which id");
	is(as('bob', "$at_once SELECT count(*) FROM sandbox_exec.wait('$target', '60 s')"), 0, "wait() for it");
	is(as('bob', "SELECT sandbox_exec.cancel('$target')"), 'f', 'cancel() of it');
}
is(as('bob', qq{SELECT count(*) FROM sandbox_exec.list() WHERE submitter = 'alice'::regrole}), 0, 'list()');
is(as('bob', qq{SELECT count(*) FROM sandbox_exec.list(before => '$unknown')  WHERE submitter <> 'bob'::regrole}), 0, 'a later page');
is(as('bob', "SELECT count(*) FROM sandbox_exec.$_ WHERE id = '$hers'"), 0, "view $_") for qw(executions due);
is(as('bob', q{SELECT count(*) FROM sandbox_exec.queue_stats WHERE runtime = 'hers'}), 0, 'view queue_stats');
isnt(as('bob', q{SELECT sandbox_exec.enqueue('return 1', owner => 'alice', idempotency_key => 'k')}),
	$hers, 'an idempotency key of hers is not his');
fails_with($node, "SET ROLE bob; SELECT * FROM sandbox_exec.$_", '42501', qr/permission denied/, "$_ is not his to read")
  for qw(execution execution_input event home queue_pause _record workers);
is(as('bob', "SELECT count(*) FROM sandbox_exec.health WHERE detail ~ 'hers'"), 0, 'health names nothing of hers');
is(as('alice', "SELECT status FROM sandbox_exec.get('$hers')"), 'queued', 'she sees it');

# Guarantee: a condition of his own is no window onto her rows (security_barrier).
as('bob', q{CREATE FUNCTION app.peep(text) RETURNS boolean LANGUAGE plpgsql COST 0.0001
	AS $$ BEGIN RAISE NOTICE 'seen: %', $1; RETURN true; END $$});
for my $view (qw(executions due))
{
	my ($status, undef, $err) =
	  $node->psql('postgres', "SET ROLE bob; SELECT * FROM sandbox_exec.$view WHERE app.peep(submitter::text)");
	is($status, 0, "$view with a condition of his own");
	unlike($err, qr/seen: alice/, 'which is not called with her rows');
}

# Guarantee: membership decides, that is USAGE and not mere MEMBER; owner narrows.
is(as('boss', "SELECT count(*) FROM sandbox_exec.get('$hers')"), 1, 'a member that inherits sees it');
is(as('boss', "SELECT count(*) FROM sandbox_exec.executions WHERE id = '$hers'"), 1, 'in the view, too');
is(as('boss', "SELECT count(*) FROM sandbox_exec.get('$hers', 'somebody')"), 0, 'not for another owner');
is(as('clerk', "SELECT count(*) FROM sandbox_exec.get('$hers')"), 0, 'a NOINHERIT member does not');
is(as('clerk', "SELECT count(*) FROM sandbox_exec.executions WHERE id = '$hers'"), 0, 'nor in the view');
is(as('clerk', "SELECT sandbox_exec.cancel('$hers')"), 'f', 'nor can it cancel');
is(as('clerk', "SET ROLE alice; SELECT count(*) FROM sandbox_exec.get('$hers')"), 1, 'until it becomes her');
is(as('boss', "SELECT sandbox_exec.cancel('$hers', owner => 'somebody')"), 'f', 'cancel() heeds owner');
is(as('boss', "SELECT sandbox_exec.cancel('$hers')"), 't', 'a member may cancel');

# ----------------------------------------------------------------- grants

# Guarantee: without a grant nothing, with a grant that and no more.
my %call = (
	submitter => [
		q{enqueue('x')}, q{enqueue_many('[]')}, "get('$unknown')", 'list()', "wait('$unknown')", "cancel('$unknown')"
	],
	executor => [
		'claim()', "renew('$unknown', '$unknown', '1 s')", "release('$unknown', '$unknown')",
		"finalize('$unknown', '$unknown', 'succeeded')", q{finalize_many('[]')}, 'reap()', 'promote()'
	],
	admin => [ 'pause_queue()', 'resume_queue()', 'adopt()', q{grant_submitter('outsider')}, q{grant_executor('outsider')} ]);
my %may = (alice => 'submitter', agent => 'executor', outsider => '');
for my $role (sort keys %may)
{
	for my $kind (sort keys %call)
	{
		next if $kind eq $may{$role};
		fails_with($node, "SET ROLE $role; SELECT sandbox_exec.$_", '42501', qr/permission denied/, "$role: $_")
		  for @{ $call{$kind} };
	}
	fails_with($node, "SET ROLE $role; $_", '42501', qr/permission denied/, "$role: $_")
	  for 'DELETE FROM sandbox_exec.execution',
	  'INSERT INTO sandbox_exec.event VALUES (gen_random_uuid(), 2, now(), $$stdout$$, $$1$$)',
	  'CREATE TABLE sandbox_exec.mine ()', 'SELECT claim_token FROM sandbox_exec.execution';
}

# Guarantee: no internal function can be called by who was granted the API; those
# that the granted views and tools need are known: the views' show nothing that
# these don't, and sql.* do what the role can do anyway.
is( sql(q{SELECT string_agg(DISTINCT r || ':' || p.proname, ' ' ORDER BY r || ':' || p.proname)
		FROM pg_proc p CROSS JOIN unnest('{alice,agent,outsider}'::text[]) r
		WHERE p.pronamespace = 'sandbox_exec'::regnamespace AND p.proname ~ '^_' AND has_function_privilege(r, p.oid, 'EXECUTE')}),
	'agent:_checks agent:_workers alice:_checks alice:_sql_execute alice:_sql_query alice:_tools',
	'internal functions are out of reach');

# Guarantee: an executor sees what waits, not what came of it.
sql('SELECT sandbox_exec.resume_queue()');
fails_with($node, 'SET ROLE agent; SELECT * FROM sandbox_exec.executions', '42501', qr/permission denied/, 'an executor has no view of results');
$id = as('alice', q{SELECT sandbox_exec.enqueue('return 1', runtime => 'outside')});
is(as('agent', "SELECT count(*) FROM sandbox_exec.due WHERE id = '$id'"), 1, 'it sees what is due');
is(as('agent', q{SELECT ready FROM sandbox_exec.queue_stats WHERE runtime = 'outside'}), 1, 'and how much');
my $token = as('agent', q{SELECT claim_token FROM sandbox_exec.claim('outside')});
is(as('agent', "SELECT sandbox_exec.finalize('$id', '$token', 'succeeded', '1')"), 't', 'it does its work');
sql('GRANT SELECT ON sandbox_exec.executions TO agent');
is(as('agent', 'SELECT count(*) FROM sandbox_exec.executions'), 0, 'even with the view, nothing of others');

# --------------------------------------------------------- transaction blocks

# Guarantee: what an executor was told is committed; where that can't be, it is refused.
for my $call (@{ $call{executor} })
{
	fails_with($node, "SET ROLE agent; BEGIN; SELECT sandbox_exec.$call", '25001', qr/transaction block/, "in a transaction block: $call");
	fails_with($node, "SET ROLE agent; SELECT 1\\; SELECT sandbox_exec.$call", '25001', qr/transaction block/, "behind another statement: $call");
	fails_with($node, "SET ROLE agent; SELECT sandbox_exec.$call\\; SELECT 1", '25001', qr/transaction block/, "before another statement: $call");
}

# ------------------------------------------------------------------- hijacking

# Guarantee: nothing of a submitter's own is run by the extension's owner, though
# the submitter's search_path puts operators, functions and temporary objects
# with the names that our statements use first.  Each such function tells the log
# who it runs as, which no rollback undoes; and the API still works.
sql(q{
	CREATE ROLE mallory LOGIN;
	SELECT sandbox_exec.grant_submitter('mallory');
	SELECT sandbox_exec.grant_executor('mallory');
	CREATE SCHEMA evil AUTHORIZATION mallory;
});
my $evil = '';
my @operators = map { my $t = $_; map { [ $_, $t, $t ] } '=', '<>', '<', '>', '<=', '>=' } qw(text uuid boolean timestamptz regrole oid integer bigint jsonb interval);
push @operators, [ '->', 'jsonb', 'text' ], [ '->>', 'jsonb', 'text' ], [ '~', 'text', 'text' ], [ '!~', 'text', 'text' ];
for my $operator (@operators)
{
	my ($symbol, $left, $right) = @$operator;
	my $name = join '_', 'op', $left, unpack('H*', $symbol);
	my $result = $symbol =~ /^->>$/ ? 'text' : $symbol eq '->' ? 'jsonb' : 'boolean';
	$evil .= qq{
		CREATE FUNCTION evil.$name($left, $right) RETURNS $result LANGUAGE plpgsql AS
			\$\$ BEGIN RAISE WARNING 'evil $left $symbol $right as %', current_user; RETURN NULL; END \$\$;
		CREATE OPERATOR evil.$symbol (FUNCTION = evil.$name, LEFTARG = $left, RIGHTARG = $right);};
}
for my $function (
	[ 'pg_has_role', 'regrole, regrole, text', 'boolean' ],
	[ 'pg_has_role', 'oid, text', 'boolean' ],
	[ 'pg_has_role', 'regrole, text', 'boolean' ],
	[ 'clock_timestamp', '', 'timestamptz' ],
	[ 'gen_random_uuid', '', 'uuid' ],
	[ 'length', 'text', 'integer' ],
	[ 'octet_length', 'text', 'integer' ],
	[ 'format', 'text', 'text' ],
	[ 'pg_get_userbyid', 'regrole', 'name' ],
	[ 'jsonb_typeof', 'jsonb', 'text' ],
	[ 'unnest', 'uuid[]', 'uuid' ],
	[ 'count', '', 'bigint' ],
	[ 'regrole', 'oid', 'regrole' ])
{
	my ($name, $arguments, $result) = @$function;
	$evil .= qq{
		CREATE FUNCTION evil.$name($arguments) RETURNS $result LANGUAGE plpgsql AS
			\$\$ BEGIN RAISE WARNING 'evil $name as %', current_user; RETURN NULL; END \$\$;};
}
as('mallory', $evil);
my $path = q{
	SET search_path = pg_temp, evil, pg_catalog;
	CREATE TEMP TABLE execution (id pg_catalog.uuid, status pg_catalog.text);
	CREATE TEMP TABLE execution_input (id pg_catalog.uuid);
	CREATE TEMP TABLE event (id pg_catalog.uuid);
	CREATE TEMP TABLE home (home pg_catalog.text);
	CREATE TEMP TABLE pg_extension (oid pg_catalog.oid, extname pg_catalog.name, extowner pg_catalog.oid);
	CREATE TEMP TABLE pg_proc (oid pg_catalog.oid);
};
# both ways round: with plans made in a safe path, and made in the evil one
for my $first (0, 1)
{
	my $s = session($node);
	$s->query('SET SESSION AUTHORIZATION mallory');
	my @api = (
		sub { $s->query(q{SELECT sandbox_exec.enqueue('return args', '{"a": 1}', tools => '{}', idempotency_key => pg_catalog.txid_current()::pg_catalog.text)}) },
		sub { $s->query(q{SELECT * FROM sandbox_exec.enqueue_many('[{"code": "return 1", "runtime": "his"}]')}) },
		sub { $s->query("SELECT status FROM sandbox_exec.wait('$_[0]')") },
		sub { $s->query("SELECT status FROM sandbox_exec.get('$_[0]')") },
		sub { $s->query(q{SELECT status FROM sandbox_exec.list(max_rows => 1)}) },
		sub { $s->query("SELECT sandbox_exec.cancel('$_[0]')") },
		sub { $s->query('SELECT status FROM sandbox_exec.executions LIMIT 1') },
		sub { $s->query('SELECT runtime FROM sandbox_exec.due LIMIT 1') },
		sub { $s->query('SELECT runtime FROM sandbox_exec.queue_stats LIMIT 1') },
		sub { $s->query('SELECT ok FROM sandbox_exec.health LIMIT 1') },
		sub { $s->query(q{SELECT attempt FROM sandbox_exec.claim('his')}) },
		sub { $s->query("SELECT sandbox_exec.renew('$_[0]', '$_[0]', '1 s')") },
		sub { $s->query("SELECT sandbox_exec.release('$_[0]', '$_[0]')") },
		sub { $s->query("SELECT sandbox_exec.finalize('$_[0]', '$_[0]', 'succeeded')") },
		sub { $s->query(qq{SELECT done FROM sandbox_exec.finalize_many('[{"id": "$_[0]", "token": "$_[0]", "status": "failed"}]')}) },
		sub { $s->query('SELECT action FROM sandbox_exec.reap()') },
		sub { $s->query('SELECT sandbox_exec.promote()') },
		sub { $s->query('SELECT sandbox_exec.version()') });
	my @expected = (qr/^[0-9a-f-]{36}$/, qr/^[0-9a-f-]{36}$/, qr/^succeeded$/, qr/^succeeded$/, qr/./, qr/^f$/, qr/./, qr/^his$/, qr/^his$/,
		qr/^t$/, qr/^1$/, qr/^lost$/, qr/^f$/, qr/^f$/, qr/^false$/, qr/^$/, qr/^0$/, qr/./);
	for my $hostile ($first ? (0, 1) : (1))
	{
		my (undef, $trouble) = $s->query($hostile ? $path : 'SELECT 1');
		is($trouble, '', 'the stage is set') if $hostile;
		my $own;
		for my $i (0 .. $#api)
		{
			my ($out, $err) = $api[$i]->($own // '');
			$own //= $out;
			ok($err eq '' && $out =~ $expected[$i], ($hostile ? 'a hostile' : 'a usual') . " search_path: call $i works")
			  or diag("out: $out\nerr: $err");
		}
	}
	$s->close;
}
$node->psql('postgres', q{SET SESSION AUTHORIZATION mallory; SELECT 'a'::text OPERATOR(evil.=) 'b'::text});
like(slurp_file($node->logfile), qr/WARNING:  evil text = text as mallory/, 'the log has what he himself called');

# Guarantee: row security that somebody put on a table, or a session's wish to do
# without, changes nothing for submitters and workers.
sql('ALTER TABLE sandbox_exec.execution ENABLE ROW LEVEL SECURITY');
$id = as('alice', q{SET row_security = off; SELECT sandbox_exec.enqueue('return 2')});
is(as('alice', "SELECT result FROM sandbox_exec.wait('$id')"), 2, 'row security on our table is no obstacle');
sql('ALTER TABLE sandbox_exec.execution DISABLE ROW LEVEL SECURITY');
fails_with($node, 'SET ROLE alice; ALTER TABLE sandbox_exec.execution ENABLE ROW LEVEL SECURITY', '42501', qr/must be owner/, 'and not hers to set');

# Guarantee: default privileges of the database don't open the extension's objects.
sql('CREATE DATABASE lax');
sql(q{
	ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO PUBLIC;
	ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO alice;
	ALTER DEFAULT PRIVILEGES GRANT EXECUTE ON FUNCTIONS TO alice;
	ALTER DEFAULT PRIVILEGES GRANT ALL ON SCHEMAS TO alice;
	CREATE EXTENSION sandbox_exec;
	SELECT sandbox_exec.grant_submitter('bob');
}, dbname => 'lax');
for my $role (qw(alice bob outsider))
{
	is( sql(qq{SELECT string_agg(relname, ' ') FROM pg_class WHERE relnamespace = 'sandbox_exec'::regnamespace AND relkind IN ('r', 'v')
			AND has_table_privilege('$role', oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE, TRIGGER')
			AND NOT ('$role' = 'bob' AND relname IN ('executions', 'due', 'queue_stats', 'health', 'tools', 'modules'))}, dbname => 'lax'),
		'', "default privileges: no table for $role");
}
is( sql(q{SELECT string_agg(proname, ' ') FROM pg_proc WHERE pronamespace = 'sandbox_exec'::regnamespace AND has_function_privilege('alice', oid, 'EXECUTE')},
		dbname => 'lax'),
	'', 'nor any function');
is(sql(q{SELECT has_schema_privilege('alice', 'sandbox_exec', 'CREATE')}, dbname => 'lax'), 'f', 'nor the schema');

# --------------------------------------------------------------- dropped roles

# Guarantee: the rows of a role that is gone harm nobody; they fail with a reason.
sql(q{CREATE ROLE gone; SELECT sandbox_exec.grant_submitter('gone'); SELECT sandbox_exec.pause_queue()});
my @gone = map { sql(q{SET ROLE gone; SELECT sandbox_exec.enqueue('return 1', thread_id => 'gone')}) } 1 .. 3;
my $others = as('alice', q{SELECT sandbox_exec.enqueue('return 3')});
sql('DROP OWNED BY gone; DROP ROLE gone');
sql('SELECT sandbox_exec.resume_queue()');
is(as('alice', "SELECT result FROM sandbox_exec.wait('$others')"), 3, 'others run');
expect_terminal($node, $_, { status => 'failed', error_code => 'submitter_dropped', error => qr/dropped/ }, 'a dropped submitter\'s fails')
  for @gone;
is(as('alice', "SELECT count(*) FROM sandbox_exec.list() WHERE thread_id = 'gone'"), 0, 'they are nobody\'s');
is(sql(q{SELECT count(*) FROM sandbox_exec.list() WHERE thread_id = 'gone'}), 3, 'but the superuser\'s');
is(sql('SELECT count(*) > 0 FROM sandbox_exec.health'), 't', 'health can be read');

# ------------------------------------------------- settings of database and role

# Guarantee: no default of the database or of the bootstrap superuser bends a worker.
my @settings = (
	q{default_transaction_read_only = on}, q{default_transaction_isolation = 'serializable'}, q{default_transaction_deferrable = on},
	q{search_path = 'evil'}, q{statement_timeout = '1ms'}, q{lock_timeout = '1ms'}, q{idle_in_transaction_session_timeout = '1ms'},
	q{DateStyle = 'German'}, q{IntervalStyle = 'iso_8601'}, q{TimeZone = 'Asia/Kathmandu'}, q{bytea_output = 'escape'},
	q{extra_float_digits = -15}, q{standard_conforming_strings = off}, q{transform_null_equals = on}, q{array_nulls = off},
	q{quote_all_identifiers = on}, q{session_replication_role = 'replica'}, q{row_security = off}, q{enable_indexscan = off},
	q{enable_indexonlyscan = off}, q{enable_bitmapscan = off}, q{client_min_messages = 'error'}, q{plpgsql.extra_errors = 'all'},
	q{plpgsql.variable_conflict = 'use_variable'}, q{role = 'outsider'}, q{check_function_bodies = off}, q{work_mem = '64kB'},
	q{client_encoding = 'LATIN1'}, q{default_toast_compression = 'pglz'}, q{plan_cache_mode = 'force_generic_plan'});
my $superuser = sql('SELECT current_user');
sql(join('', (map { "ALTER DATABASE postgres SET $_;\n" } @settings), map { "ALTER ROLE $superuser SET $_;\n" } grep { !/^role/ } @settings),
	dbname => 'lax');
{
	# the client's own session, which this is not about
	local $ENV{PGOPTIONS} = "-c default_transaction_read_only=off -c default_transaction_isolation=read\\ committed"
	  . " -c statement_timeout=0 -c lock_timeout=0 -c idle_in_transaction_session_timeout=0 -c role=none -c search_path=public"
	  . ' -c transform_null_equals=off -c plpgsql.extra_errors=none -c DateStyle=ISO -c IntervalStyle=postgres -c client_encoding=UTF8'
	  . ' -c session_replication_role=origin -c row_security=on';
	my $offset = -s $node->logfile;
	$node->restart;
	expect_terminal($node, enqueue($node, 'print("\u{e9}"); return {1, "\u{fc}"}'), { status => 'succeeded', result => [ 1, "\x{fc}" ], stdout => "\x{e9}\n" },
		'bent settings: an execution runs');
	expect_terminal($node, enqueue($node, 'return 1', run_at => "now() + '300 ms'"), { status => 'succeeded' }, 'bent settings: a deferred one');
	expect_terminal($node, enqueue($node, 'error("no")'), { status => 'failed', error => qr/no/ }, 'bent settings: a failing one');
	expect_terminal($node, enqueue($node, 'while true do end', timeout => "'200 ms'"), { status => 'timed_out' }, 'bent settings: a timeout');
	$id = enqueue($node, 'while true do end');
	wait_for_status($node, $id, 'running');
	sql("SELECT sandbox_exec.cancel('$id')");
	expect_terminal($node, $id, { status => 'cancelled' }, 'bent settings: a cancel');
	is_deeply([ worker_complaints($node, $offset) ], [], 'and no worker complains');
}
unlike(slurp_file($node->logfile), qr/WARNING:  evil .* as (?!mallory)/, 'nothing of mallory\'s ever ran as somebody else');

done_testing();
