
# Claims begin to look at a bound.  Whatever becomes claimable before it, in
# whatever way, is claimed all the same, without a look from the start by chance;
# and what was claimed doesn't make the next claim dearer.

use strict;
use warnings FATAL => 'all';

use Test::More;
use SandboxExec;

# The first claim looks from the start, and no other one while this test runs.
my $node = new_node(
	'main',
	conf => q{
	sandbox_exec.workers = 0
	sandbox_exec.poll_interval = '1h'
	max_prepared_transactions = 5
	autovacuum = off
	});

sub sql
{
	return $node->safe_psql('postgres', $_[0]);
}

# what a claim takes, by its code
sub claimed
{
	my ($rows) = @_;
	my $codes = sql("SELECT code FROM sandbox_exec.claim('lua', " . ($rows // 1) . ", '1 h')");
	return $codes =~ s/\n/ /gr;
}

# so that the bound is where these are
sub claim_fillers
{
	enqueue($node, 'filler') for 1 .. 2;
	is(claimed(2), 'filler filler', 'others are claimed');
	is(claimed(), '', 'nothing is left');
	return;
}

my ($one, $two) = (session($node), session($node));
my $id;
claim_fillers();

# Guarantee: a transaction whose row has an older key, and that commits late.
$one->query(q{BEGIN; SELECT sandbox_exec.enqueue('late')});
claim_fillers();
$one->query('COMMIT');
is(claimed(), 'late', 'a late commit');

$one->query(q{BEGIN; SELECT sandbox_exec.enqueue_many('[{"code": "late, 2", "priority": -1}, {"code": "late, 1"}]')});
claim_fillers();
$one->query('COMMIT');
is(claimed(2), 'late, 1 late, 2', 'a late commit of several');
sql(q{SELECT sandbox_exec.enqueue_many('[{"code": "more"}]')});
is(claimed(), 'more', 'and of one');

# Guarantee: so when it commits while a claim looks that began before.
$one->query(q{BEGIN; SELECT sandbox_exec.enqueue('meanwhile')});
enqueue($node, 'first');
my $look = sql(q{SELECT (sandbox_exec._look('lua')).look});
my $first = sql(q{SELECT rank, run_at, id FROM sandbox_exec.execution WHERE status = 'queued'});
$one->query('COMMIT');
sql("SELECT sandbox_exec._looked($look, '" . join("', '", split /\|/, $first) . "')");
is(claimed(2), 'meanwhile first', 'a commit while a claim looks');

# Guarantee: of two claims that look at once, the one that saw less doesn't win.
$look = sql(q{SELECT (sandbox_exec._look('lua')).look});
enqueue($node, 'unseen');
sql(q{SELECT sandbox_exec._look('lua')});
sql("SELECT sandbox_exec._looked($look, NULL, NULL, NULL)");
is(claimed(), 'unseen', 'a look that another one overtook');

# Guarantee: a snapshot that is older than the look raises nothing.
is( $one->query(q{BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT (sandbox_exec._look('lua')).look; COMMIT}),
	0, 'no look under REPEATABLE READ');
sql(q{ALTER ROLE CURRENT_USER SET default_transaction_isolation = 'serializable'});
enqueue($node, 'serializable');
is(claimed(), 'serializable', 'but claims work');
sql(q{ALTER ROLE CURRENT_USER RESET default_transaction_isolation});

# Guarantee: rows that others held while a claim passed them.
$id = enqueue($node, 'held');
$one->query("BEGIN; SELECT id FROM sandbox_exec.execution WHERE id = '$id' FOR UPDATE");
claim_fillers();
$one->query('ROLLBACK');
is(claimed(), 'held', 'a row that was locked');
$id = enqueue($node, 'cancelled in vain');
$one->query("BEGIN; SELECT sandbox_exec.cancel('$id')");
claim_fillers();
$one->query('ROLLBACK');
is(claimed(), 'cancelled in vain', 'a row whose cancel was rolled back');

# Guarantee: higher priority, and what was deferred.
enqueue($node, 'low', priority => -1);
claim_fillers_before_low();
enqueue($node, 'high', priority => 1);
is(claimed(2), 'high low', 'a higher priority');
$id = enqueue($node, 'deferred', run_at => "now() + '30 min'");
enqueue($node, 'later', run_at => "now() + '1 day'", priority => -1000000);
sql("UPDATE sandbox_exec.execution SET run_at = now() WHERE run_at > now() + '1 h'");
sql('SELECT sandbox_exec.promote(10)');
is(claimed(), 'later', 'the last possible one');
sql("UPDATE sandbox_exec.execution SET run_at = now() WHERE id = '$id'");
is(sql('SELECT sandbox_exec.promote(10)'), 1, 'a deferred row falls due');
is(claimed(), 'deferred', 'it is claimed');

sub claim_fillers_before_low
{
	enqueue($node, 'filler') for 1 .. 2;
	is(claimed(2), 'filler filler', 'others are claimed');
	return;
}

# Guarantee: what comes back, from an executor or from a lost one.
enqueue($node, 'released');
my ($held, $token) =
  split /\|/, sql(q{SELECT id, claim_token FROM sandbox_exec.claim('lua', 1, '1 h')});
claim_fillers();
is(sql("SELECT sandbox_exec.release('$held', '$token')"), 't', 'a claim is released');
is(claimed(), 'released', 'and claimed again');
enqueue($node, 'lost');
$held = sql(q{SELECT id FROM sandbox_exec.claim('lua', 1, '1 h')});
claim_fillers();
sql("UPDATE sandbox_exec.execution SET lease_expires_at = now() - interval '1 s' WHERE id = '$held'");
is(sql('SELECT count(*) FROM sandbox_exec.reap()'), 1, 'a claim is lost');
is(claimed(), 'lost', 'and claimed again');
enqueue($node, 'failed');
($held, $token) = split /\|/, sql(q{SELECT id, claim_token FROM sandbox_exec.claim('lua', 1, '1 h')});
claim_fillers();
sql("SELECT sandbox_exec.finalize('$held', '$token', 'failed', NULL, NULL, 'no', 'executor_error')");
is(claimed(), 'failed', 'so is what its executor failed to run');

# Guarantee: what waited for an answer.
enqueue($node, 'asks');
($held, $token) = split /\|/, sql(q{SELECT id, claim_token FROM sandbox_exec.claim('lua', 1, '1 h')});
sql(qq{SELECT sandbox_exec.call('$held', '$token', 1, 'ask', 'ask', '{"message": "?"}')});
sql("SELECT sandbox_exec.suspend('$held', '$token')");
claim_fillers();
sql('SELECT sandbox_exec.resume(call_id) FROM sandbox_exec.pending');
is(claimed(), 'asks', 'an answer');

# Guarantee: transactions that other sessions end.
$one->query(q{BEGIN; SELECT sandbox_exec.enqueue('prepared'); PREPARE TRANSACTION 'prepared'});
claim_fillers();
sql(q{COMMIT PREPARED 'prepared'});
is(claimed(), 'prepared', 'COMMIT PREPARED');

# Guarantee: under a snapshot that somebody holds the claims of a full queue cost
# what the first one cost.
sub buffers_of_a_claim
{
	my $plan = sql(
		q{EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT count(*) FROM sandbox_exec.claim('lua', 50, '1 h')});
	my ($hit) = $plan =~ /"Shared Hit Blocks": (\d+)/ or die $plan;
	return $hit;
}
sql(q{SELECT count(*) FROM sandbox_exec.enqueue_many((SELECT jsonb_agg('{"code": "x"}'::jsonb) FROM generate_series(1, 5000)))});
$two->query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM sandbox_exec.execution');
buffers_of_a_claim();
my $before = buffers_of_a_claim();
sql(q{SELECT count(*) FROM sandbox_exec.claim('lua', 1000, '1 h')}) for 1 .. 4;
buffers_of_a_claim();
cmp_ok(buffers_of_a_claim(), '<', $before + 1000, 'claims pass no entries of what was claimed before');
$two->query('COMMIT');
sql('SELECT count(*) FROM sandbox_exec.claim(max_rows => 1000)');

# Guarantee: what nobody announced waits for a look from the start, and that comes.
enqueue($node, 'by hand');
$id = sql(q{SELECT id FROM sandbox_exec.claim('lua', 1, '1 h')});
claim_fillers();
sql("UPDATE sandbox_exec.execution SET status = 'queued', claim_token = NULL, lease_expires_at = NULL WHERE id = '$id'");
is(claimed(), '', 'a change by hand is not seen at once');
sql(q{ALTER SYSTEM SET sandbox_exec.poll_interval = '10 ms'});
$node->reload;
ok(poll_until(sub { claimed() eq 'by hand' }, 'a look from the start'), 'it is by a look from the start');
sql(q{ALTER SYSTEM RESET sandbox_exec.poll_interval});
$node->reload;
ok(poll_until(sub { sql('SHOW sandbox_exec.poll_interval') eq '1h' }, 'the setting'), 'no more of them');

# Guarantee: whatever happens at once, workers find all of it.
my $work = q{
	DO $$
	BEGIN
		FOR i IN 1 .. 100 LOOP
			FOR j IN 1 .. 1 + random() * 3 LOOP
				PERFORM sandbox_exec.enqueue('return 1', thread_id => 'many', priority => (random() * 4)::integer,
					run_at => clock_timestamp() + CASE WHEN random() < 0.1 THEN interval '50 ms' ELSE '0' END);
			END LOOP;
			PERFORM pg_sleep(random() * 0.02);
			IF random() < 0.2 THEN ROLLBACK; ELSE COMMIT; END IF;
		END LOOP;
	END $$;
};
sql(q{ALTER SYSTEM SET sandbox_exec.workers = 4});
$node->reload;
my @runs = parallel_psql($node, [ ($work) x 4 ]);
is(scalar(grep { $_->{status} } @runs), 0, 'four sessions enqueue at once') or diag(explain(\@runs));
ok( $node->poll_query_until('postgres',
		q{SELECT count(*) = 0 FROM sandbox_exec.execution WHERE thread_id = 'many' AND status <> 'succeeded'}),
	'all of it is run');

$_->close for $one, $two;
done_testing();
