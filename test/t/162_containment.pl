
# Tools that do what they can to the session that runs them, and to its time.
# The code gets a clear error, or what it asked for; and whatever it was, the
# next execution of somebody else finds the same worker as new.

use strict;
use warnings FATAL => 'all';

use JSON::PP ();
use Test::More;
use SandboxExec;

my $json = JSON::PP->new->allow_nonref->canonical;

my $node = new_node(
	'main',
	conf => q{
sandbox_exec.workers = 1
sandbox_exec.worker_idle_timeout = '1 h'
sandbox_exec.lease = '1 h'
sandbox_exec.tool_timeout = '1 min'
});

# alice's tools belong to her: she is who attacks; trace is bob's
$node->safe_psql('postgres', q{
CREATE ROLE friend;
CREATE ROLE alice IN ROLE friend;
CREATE ROLE bob;
SELECT sandbox_exec.grant_submitter('alice'), sandbox_exec.grant_submitter('bob');
CREATE SCHEMA app;
GRANT USAGE ON SCHEMA app TO alice, bob;
GRANT CREATE ON SCHEMA app TO alice;
CREATE SCHEMA evil AUTHORIZATION alice;
CREATE SEQUENCE app.numbers;
GRANT USAGE ON SEQUENCE app.numbers TO alice, bob;
CREATE TABLE app.effect (what text);
GRANT SELECT, INSERT ON app.effect TO alice;

-- all that can be seen of a session
CREATE FUNCTION app.trace() RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
	last text;
BEGIN
	BEGIN
		last := lastval();
	EXCEPTION WHEN object_not_in_prerequisite_state THEN
		last := 'none';
	END;
	RETURN jsonb_build_object(
		'users', concat_ws(' ', current_user, session_user, current_setting('role')),
		'settings', (SELECT jsonb_object_agg(name, setting) FROM pg_settings WHERE name <> 'sandbox_exec.execution_id'),
		'own settings', current_setting('evil.setting', true),
		'lastval', last,
		'locks', (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()),
		'statements', (SELECT count(*) FROM pg_prepared_statements),
		'cursors', (SELECT count(*) FROM pg_cursors),
		'channels', (SELECT count(*) FROM pg_listening_channels()),
		'temporary', (SELECT count(*) FROM pg_class WHERE relnamespace = pg_my_temp_schema()),
		'temporary functions', (SELECT count(*) FROM pg_proc WHERE pronamespace = pg_my_temp_schema()),
		'temporary types', (SELECT count(*) FROM pg_type WHERE typnamespace = pg_my_temp_schema()),
		'seed of 0.5', random() = 0.9851677175347999,
		'worker', pg_backend_pid());
END $$;
SELECT sandbox_exec.register_tool('app.trace()', 'trace');
});

sub define
{
	my ($name, $body, %opt) = @_;
	my $language = $opt{language} // 'plpgsql';
	my $result = $opt{returns} // ($body =~ /\bRETURN\b/i ? 'text' : 'void');

	$body = "BEGIN $body END" if $language eq 'plpgsql' && $body !~ /^\s*(DECLARE|BEGIN)/;
	$node->safe_psql('postgres', qq{
		SET ROLE alice;
		CREATE FUNCTION app.$name() RETURNS $result LANGUAGE $language AS \$def\$ $body \$def\$;
		RESET ROLE;
		SELECT sandbox_exec.register_tool('app.$name()', 'app.$name')});
}

my $call = 'local ok, value = pcall(tools.app.%s) return {ok = ok, value = value}';

sub start { return enqueue($node, sprintf($call, $_[0]), role => 'alice', tools => "'{app.*}'", max_attempts => 1) }

# what the code of alice gets from that tool
sub outcome_of
{
	my ($name) = @_;
	my $row = wait_for_terminal($node, start($name));
	die "$name ended as $row->{status}: $row->{error}" if $row->{status} ne 'succeeded';
	return $row->{result};
}

sub trace
{
	my $row = wait_for_terminal($node, enqueue($node, 'return tools.trace()', role => 'bob', tools => "'{trace}'"));
	die "trace ended as $row->{status}: $row->{error}" if $row->{status} ne 'succeeded';
	return $row->{result};
}

my $clean = trace();
is($clean->{users}, 'bob bob none', 'a tool runs as the role that submitted the execution');
is($clean->{settings}{search_path}, '"$user", public', 'with the search_path of a new session');

# bob finds the worker as it was
sub expect_clean
{
	local $Test::Builder::Level = $Test::Builder::Level + 1;
	my ($what) = @_;
	my $now = trace();
	my @differs = grep { $json->encode([ $now->{$_} ]) ne $json->encode([ $clean->{$_} ]) } sort keys %$clean;

	push @differs, map { "$_ is $now->{settings}{$_}" } grep { ($now->{settings}{$_} // '') ne ($clean->{settings}{$_} // '') }
	  sort keys %{ $clean->{settings} };
	is("@differs", '', "$what: the next one finds the worker clean");
}

# the call fails, the code is told how, and nothing of it stays
sub fails
{
	my ($name, $body, $want, %opt) = @_;

	define($name, $body, %opt);
	my $got = outcome_of($name);
	my $error = ref $got->{value} eq 'HASH' ? $got->{value} : {};
	my @wrong = grep {
		my ($has, $wants) = ($error->{$_} // 'null', $want->{$_});
		ref $wants eq 'Regexp' ? $has !~ $wants : $has ne $wants;
	} sort keys %$want;
	# guarantee: the code gets a table that says what went wrong
	ok(!$got->{ok} && !@wrong && ($error->{tool} // '') eq "app.$name", "$name: the code gets a clear error")
	  or diag("wrong: @wrong; got " . substr($json->encode($got), 0, 1000));
	is($node->safe_psql('postgres', "SELECT count(*) FROM app.effect WHERE what = '$name'"), 0, "$name: what it wrote is undone");
	expect_clean($name);
}

# the call succeeds, which is nobody else's business
sub works
{
	my ($name, $body, $want, %opt) = @_;

	define($name, $body, %opt);
	my $got = outcome_of($name);
	ok($got->{ok} && ($got->{value} // 'null') eq $want, "$name: works") or diag(substr($json->encode($got), 0, 1000));
	expect_clean($name);
}

# the setting is seen in the trace, and when it is, the worker has it
sub tool_timeout
{
	my ($time) = @_;
	set_config($node, 'sandbox_exec.tool_timeout' => "'$time'");
	my $ms = $node->safe_psql('postgres', "SELECT (1000 * extract(epoch FROM interval '$time'))::integer");
	poll_until(sub { $clean = trace(); return $clean->{settings}{'sandbox_exec.tool_timeout'} eq $ms }, 'the worker to have a new setting');
}

# ------------------------------------------------------------------- it raises

fails('raises', q{INSERT INTO app.effect VALUES ('raises');
	RAISE EXCEPTION 'no %', 'stock' USING ERRCODE = 'XS001', DETAIL = 'the detail', HINT = 'the hint';},
	{ code => 'tool_failed', message => 'no stock', sqlstate => 'XS001', detail => 'the detail', hint => 'the hint' });
fails('divides', 'RETURN 1 / 0;', { code => 'tool_failed', message => 'division by zero', sqlstate => '22012' });
fails('recurses', 'RETURN app.recurses();', { code => 'tool_failed', sqlstate => '54001', message => qr/stack depth/ });
fails('asserts', 'ASSERT false;', { code => 'tool_failed', sqlstate => 'P0004' });
# an internal fault may tell of things that are the administrator's business
define('internal', q{RAISE EXCEPTION '%', 'secret cause' || repeat('.', 9000) USING ERRCODE = 'XX000', DETAIL = repeat('.', 9000);});
my $fault = outcome_of('internal')->{value};
like($fault->{message}, qr/^internal fault [0-9a-f]{8}$/, 'internal: an internal fault shows a number only');
my ($number) = $fault->{message} =~ /(\w+)$/;
like(PostgreSQL::Test::Utils::slurp_file($node->logfile), qr/internal fault $number in tool "app\.internal": secret cause/,
	'internal: under which the server log has the cause');
unlike(PostgreSQL::Test::Utils::slurp_file($node->logfile), qr/\.{5000}/, 'internal: but not without end');

# ------------------------------------------------------------ it is much or long

fails('big', q{INSERT INTO app.effect VALUES ('big'); RETURN repeat('x', 100 * 1024 * 1024 + (0 * random())::integer);},
	{ code => 'result_too_large', detail => qr/1048576/ });
fails('endless', q{SELECT repeat('x', 100 + 0 * generate_series(1, 1000000000))},
	{ code => 'result_too_large' }, language => 'sql', returns => 'SETOF text');

# more than jsonb can hold, long before it is measured
fails('huge', q{RETURN repeat('x', 270 * 1024 * 1024 + (0 * random())::integer);},
	{ code => 'result_too_large', detail => qr/jsonb string/ });

tool_timeout('150 ms');
fails('sleeps', q{INSERT INTO app.effect VALUES ('sleeps'); PERFORM pg_sleep(600);},
	{ code => 'tool_timeout', message => qr/150 ms/ });
fails('spins', 'LOOP END LOOP;', { code => 'tool_timeout' });
fails('catches', q{
	INSERT INTO app.effect VALUES ('catches');
	BEGIN PERFORM pg_sleep(600); EXCEPTION WHEN query_canceled THEN RETURN 'caught'; END;},
	{ code => 'tool_timeout' });
fails('sets_timeout', q{PERFORM set_config('sandbox_exec.tool_timeout', '1 h', false); PERFORM pg_sleep(600);},
	{ code => 'tool_failed', sqlstate => '55P02' });

# one that waits for somebody's lock
my $holder = session($node);
$holder->query('BEGIN; LOCK app.effect');
define('waits', q{INSERT INTO app.effect VALUES ('waits');});
is(outcome_of('waits')->{value}{code}, 'tool_timeout', 'waits: a lock is waited for as long as the tool may take');
$holder->query('ROLLBACK');
expect_clean('waits');

# one that never stops catching, nor between two catches: only the end of its
# process ends it
my $stubborn_body = 'PERFORM pg_sleep(600);';
$stubborn_body = "LOOP BEGIN $stubborn_body EXCEPTION WHEN query_canceled THEN NULL; END; END LOOP;" for 1 .. 6;
define('stubborn', $stubborn_body);
my $stubborn = enqueue($node, sprintf($call, 'stubborn'), role => 'alice', tools => "'{app.*}'", max_attempts => 3);
# guarantee: the record says so, and no other worker has to end for it
expect_terminal($node, $stubborn, { status => 'failed', error_code => 'tool_timeout', attempt_count => 1,
		error => 'tool "app.stubborn" went on after its timeout, and its worker had to end' },
	'stubborn: it ends with its worker');
my $before = $clean->{worker};
tool_timeout('1 min');
isnt($clean->{worker}, $before, 'stubborn: another worker takes over');

# ------------------------------------------------------ it is cancelled meanwhile

my %blocks = (sleeping => 'PERFORM pg_sleep(600);', spinning => 'LOOP END LOOP;',
	catching => q{BEGIN PERFORM pg_sleep(600); EXCEPTION WHEN query_canceled THEN NULL; END;});

for my $name (sort keys %blocks)
{
	define($name, "PERFORM pg_advisory_lock(9); INSERT INTO app.effect VALUES ('$name'); $blocks{$name}");
	my $id = start($name);
	$node->poll_query_until('postgres', q{SELECT count(*) > 0 FROM pg_locks WHERE locktype = 'advisory' AND granted}) or die 'the tool does not run';
	$node->safe_psql('postgres', "SELECT sandbox_exec.cancel('$id', 'enough')");
	# guarantee: a cancel doesn't wait for the tool, and the tool has not happened
	expect_terminal($node, $id, { status => 'cancelled', error_code => 'cancelled', error => 'enough', result => undef },
		"$name: the execution is cancelled while its tool runs");
	is($node->safe_psql('postgres', "SELECT finished_at - cancel_requested_at < '10 s' FROM sandbox_exec.executions WHERE id = '$id'"),
		't', "$name: soon");
	is($node->safe_psql('postgres', "SELECT count(*) FROM app.effect WHERE what = '$name'"), 0, "$name: what it wrote is undone");
	is($node->safe_psql('postgres', "SELECT count(*) FROM sandbox_exec.call WHERE execution_id = '$id'"), 0, "$name: nor is there a call");
	expect_clean($name);
}

# ------------------------------------------------------ it changes the session

works('sets_search_path', q{PERFORM set_config('search_path', 'evil', false); SET search_path = evil, public; RETURN current_setting('search_path');}, 'evil, public');
works('sets_settings', q{
	SET work_mem = '64kB'; SET statement_timeout = '1ms'; SET lock_timeout = '1ms'; SET DateStyle = 'German';
	SET TimeZone = 'Asia/Tokyo'; SET default_transaction_read_only = on; SET default_transaction_isolation = serializable;
	SET row_security = off; SET synchronous_commit = off; SET enable_seqscan = off;
	SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY; SET bytea_output = 'escape'; SET client_min_messages = debug5;
	SET application_name = 'evil'; SET idle_in_transaction_session_timeout = '1ms';
	RETURN 'set';}, 'set');
works('resets', q{RESET ALL; RETURN current_user;}, 'alice');
works('reads_only', q{SET TRANSACTION READ ONLY; RETURN 'read only';}, 'read only');
fails('isolates', 'SET TRANSACTION ISOLATION LEVEL SERIALIZABLE;', { code => 'tool_failed', sqlstate => '25001' });
fails('sets_role', 'SET ROLE friend;', { code => 'tool_failed', sqlstate => '42501' });
fails('configures_role', q{PERFORM set_config('role', 'friend', false);}, { code => 'tool_failed', sqlstate => '42501' });
fails('authorizes', 'SET SESSION AUTHORIZATION DEFAULT;', { code => 'tool_failed', sqlstate => '42501' });
fails('replicates', q{SET session_replication_role = replica;}, { code => 'tool_failed', sqlstate => '42501' });
fails('creates_table', q{CREATE TEMP TABLE t (x integer);}, { code => 'tool_failed', sqlstate => '42501', message => qr/temporary/ });
fails('creates_view', q{CREATE TEMP VIEW v AS SELECT 1;}, { code => 'tool_failed', sqlstate => '42501' });
fails('creates_function', q{CREATE FUNCTION pg_temp.f() RETURNS integer LANGUAGE sql AS 'SELECT 1';}, { code => 'tool_failed', sqlstate => '42501' });
fails('creates_type', q{CREATE TYPE pg_temp.text AS ENUM ('evil');}, { code => 'tool_failed', sqlstate => '42501' });
works('locks', q{PERFORM pg_advisory_lock(1), pg_advisory_lock_shared(2), pg_try_advisory_lock(3, 4); RETURN 'locked';}, 'locked');
works('seeds', q{PERFORM setseed(0.5); RETURN 'seeded';}, 'seeded');
works('counts', q{RETURN nextval('app.numbers') > 0;}, 'true');
fails('prepares', q{EXECUTE 'PREPARE p AS SELECT 1';}, { code => 'tool_failed', sqlstate => '42501' });
fails('listens', 'LISTEN here;', { code => 'tool_failed', sqlstate => '42501' });
works('notifies', q{NOTIFY here; RETURN 'notified';}, 'notified');
fails('holds', q{EXECUTE 'DECLARE c CURSOR WITH HOLD FOR SELECT 1';}, { code => 'tool_failed', sqlstate => '42501' });
works('declares', q{EXECUTE 'DECLARE c CURSOR FOR SELECT 1'; RETURN 'declared';}, 'declared');
fails('commits', 'COMMIT;', { code => 'tool_failed', sqlstate => '2D000' });
fails('discards', q{EXECUTE 'DISCARD ALL';}, { code => 'tool_failed', sqlstate => '42501' });
fails('loads', q{LOAD 'plpgsql';}, { code => 'tool_failed', sqlstate => '42501' });
fails('terminates', 'PERFORM pg_terminate_backend(pg_backend_pid());', { code => 'tool_failed', sqlstate => '42501' });
fails('cancels', 'PERFORM pg_cancel_backend(pg_backend_pid());', { code => 'tool_failed', sqlstate => '42501' });
works('defines', q{CREATE TABLE evil.kept (x integer); RETURN 'created';}, 'created');
is($node->safe_psql('postgres', q{SELECT relowner::regrole FROM pg_class WHERE oid = 'evil.kept'::regclass}), 'alice', 'defines: what it makes is its submitter\'s');

# ----------------------------------------------------------- deferred triggers

$node->safe_psql('postgres', q{
CREATE TABLE app.fired (users text);
GRANT SELECT, INSERT ON app.fired TO alice;
SET ROLE alice;
CREATE TABLE evil.deferring (x integer);
CREATE FUNCTION evil.fire() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO app.fired VALUES (concat_ws(' ', current_user, session_user, new.x));
	IF new.x = 2 THEN
		RAISE EXCEPTION 'two is too many';
	ELSIF new.x = 3 THEN
		SET CONSTRAINTS ALL DEFERRED;
	ELSIF new.x BETWEEN 4 AND 5 THEN
		INSERT INTO evil.deferring VALUES (new.x + 1);
	END IF;
	RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER fire AFTER INSERT ON evil.deferring DEFERRABLE INITIALLY DEFERRED
	FOR EACH ROW EXECUTE FUNCTION evil.fire();
});
works('defers', q{INSERT INTO evil.deferring VALUES (1); RETURN (SELECT count(*) FROM app.fired);}, 1);
fails('defers_failure', q{INSERT INTO app.effect VALUES ('defers_failure'); INSERT INTO evil.deferring VALUES (2);},
	{ code => 'tool_failed', message => 'two is too many' });
fails('defers_again', q{INSERT INTO evil.deferring VALUES (3); INSERT INTO evil.deferring VALUES (1);},
	{ code => 'tool_failed', sqlstate => '42501', message => qr/cannot fire deferred trigger/ });
works('defers_chain', q{INSERT INTO evil.deferring VALUES (4); RETURN 'inserted';}, 'inserted');
# guarantee: nothing of a tool runs as anybody but its submitter
is($node->safe_psql('postgres', 'SELECT users FROM app.fired ORDER BY 1'),
	join("\n", map { "alice alice $_" } 1, 4, 5, 6), 'deferred triggers run at once, as the submitter');

# --------------------------------------------------- its own queue, and languages

# she may do all of this, but not by code
$node->safe_psql('postgres', q{
SELECT sandbox_exec.grant_executor('alice');
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA sandbox_exec TO alice});
my $nobody = q{'00000000-0000-0000-0000-000000000000'};
for my $act ('claim()', "renew($nobody, $nobody, '1 s')", "append($nobody, $nobody, '[]')", "call($nobody, $nobody, 1, 'tool', 'x')",
	"release($nobody, $nobody)", "finalize($nobody, $nobody, 'failed')", q{finalize_many('[]')}, 'reap()', 'promote()',
	"wait($nobody)", "cancel($nobody)", q{register_tool('now()', 'x')}, q{drop_tool('trace')}, q{set_policy('trace', 'block')},
	q{register_module('x', 'return 1')}, q{drop_module('x')}, q{purge('1 day')}, 'pause_queue()', 'resume_queue()',
	q{drain('0 s')}, 'adopt()', q{grant_submitter('friend')}, q{grant_executor('friend')})
{
	my ($name) = $act =~ /^(\w+)/;
	# guarantee: code doesn't operate the queue that runs it
	fails("queue_$name", "PERFORM sandbox_exec.$act;", { code => 'tool_failed', sqlstate => '55000', message => "$name() cannot be called by a tool" });
}
works('enqueues', q{PERFORM sandbox_exec.enqueue('return 1'); RETURN 'enqueued';}, 'enqueued');

# What keeps data for the whole process: languages with globals, connections of
# dblink.  Three executions wait, hers between bob's, and one worker claims them.
my %keep = (
	plperl => q{$_SHARED{secret}++; return 'kept';},
	plpython3u => q{GD['secret'] = 1; return 'kept'},
	pltcl => q{set GD(secret) 1; return kept},
	dblink => q{RETURN coalesce(array_length(public.dblink_get_connections(), 1)::text, 'kept');});

for my $keeper (sort keys %keep)
{
  SKIP:
	{
		my ($status) = $node->psql('postgres', "CREATE EXTENSION $keeper");
		skip "$keeper is not installed", 10 if $status != 0;
		$node->safe_psql('postgres', "UPDATE pg_language SET lanpltrusted = true WHERE lanname = '$keeper'; GRANT USAGE ON SCHEMA public TO alice");
		define("in_$keeper", $keep{$keeper}, $keeper eq 'dblink' ? () : (language => $keeper, returns => 'text'));
		$node->safe_psql('postgres', 'SELECT sandbox_exec.pause_queue()');
		my @ids = map { enqueue($node, 'return {tools.trace().worker}', role => 'bob', tools => "'{trace}'", priority => $_) } 3, 1;
		push @ids, enqueue($node, "return {tools.trace().worker, tools.app.in_$keeper()}", role => 'alice', tools => "'{*}'", priority => 2);
		$node->safe_psql('postgres', 'SELECT sandbox_exec.resume_queue()');
		my @rows = map { expect_terminal($node, $_, { status => 'succeeded', attempt_count => 1 }, "$keeper: it works, and for the others, too") } @ids;
		my ($first, $last, $hers) = map { $_->{result}[0] } @rows;
		is($rows[2]{result}[1], 'kept', "$keeper: the tool did run");
		is($hers, $first, "$keeper: the same worker may serve her after him");
		# guarantee: what such a thing keeps is seen by nobody else
		isnt($last, $hers, "$keeper: but then it serves nobody else");
		$clean->{worker} = trace()->{worker};
		expect_clean($keeper);

		# guarantee: nor by what the same role runs for another owner
		$node->safe_psql('postgres', 'SELECT sandbox_exec.pause_queue()');
		@ids = (
			enqueue($node, "return {tools.trace().worker, tools.app.in_$keeper()}", role => 'alice', tools => "'{*}'", owner => "'ada'", priority => 2),
			enqueue($node, 'return {tools.trace().worker}', role => 'alice', tools => "'{trace}'", owner => "'eve'", priority => 1));
		$node->safe_psql('postgres', 'SELECT sandbox_exec.resume_queue()');
		@rows = map { expect_terminal($node, $_, { status => 'succeeded', attempt_count => 1 }, "$keeper: one role, two owners") } @ids;
		isnt($rows[1]{result}[0], $rows[0]{result}[0], "$keeper: another owner has another worker");
		$clean->{worker} = trace()->{worker};
	}
}

# The name of a setting stays in a process when its value has gone, and so does the
# shape of each row that code selects.
sub serves_next
{
	my ($what, @code) = @_;
	$node->safe_psql('postgres', 'SELECT sandbox_exec.pause_queue()');
	my @ids = map { enqueue($node, $_, role => 'alice', tools => "'{*}'") } @code;
	push @ids, enqueue($node, 'return tools.trace()', role => 'bob', tools => "'{trace}'");
	$node->safe_psql('postgres', 'SELECT sandbox_exec.resume_queue()');
	my @rows = map { expect_terminal($node, $_, { status => 'succeeded', attempt_count => 1 }, $what) } @ids;
	return map { $_->{result} } @rows;
}
my $worker = 'return tools.trace().worker';
$clean->{worker} = trace()->{worker};
my ($hers, $again, $his) = serves_next('a setting of her own', q{tools.sql.query{query = "SELECT set_config('evil.setting', 'here', false)"} } . $worker, $worker);
is($again, $hers, 'a setting of her own: the same worker may serve her');
# guarantee: not even the name of a setting is seen by somebody else
isnt($his->{worker}, $hers, 'a setting of her own: but nobody else');
is($his->{'own settings'}, undef, 'a setting of her own: who does not see that there was one');
$clean->{worker} = $his->{worker};
expect_clean('a setting of her own');

my $shapes = q{
	for i = 1, 100 do
		local columns = {}
		for c = 1, 1500 do columns[c] = ("1 AS c%s_%d_%d"):format(args, i, c) end
		tools.sql.query{query = "SELECT " .. table.concat(columns, ",") .. " WHERE false"}
	end
	return tools.trace().worker};
my %served;
for (my $n = 1; keys %served < 2 && $n <= 20; $n++)
{
	$served{ wait_for_terminal($node, enqueue($node, $shapes, args => "'$n'", role => 'alice', tools => "'{*}'"))->{result} } = $n;
}
# guarantee: a process doesn't grow for ever by what code selects
is(scalar(keys %served), 2, 'shapes of rows: a worker that has grown by them leaves');

is(scalar(grep { !/internal fault|must leave|terminating/ } worker_complaints($node)), 0, 'no worker had anything to complain about')
  or diag(join "\n", worker_complaints($node));
$node->stop;

done_testing();
