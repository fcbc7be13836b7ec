
# Ten thousand executions of every kind, four workers, and somebody who kills a
# runner every 100 ms.

use strict;
use warnings FATAL => 'all';

use List::Util qw(shuffle);
use Test::More;
use Time::HiRes qw(time usleep);
use SandboxExec;

my $node = new_node(
	'main',
	conf => q{
sandbox_exec.workers = 4
sandbox_exec.lease = '1 h'
autovacuum_naptime = 5
});

# kind => how many, the request, and the outcome that fits its program
my %kind = (
	quick => {
		count => 8600,
		request => { code => 'print("number " .. args); return args * 2' },
		fits => q{status = 'succeeded' AND result = to_jsonb(2 * n) AND stdout = format(E'number %s\n', n)},
	},
	failing => {
		count => 500,
		request => { code => 'print("number " .. args); error({code = "no_" .. args, message = "failed"})' },
		fits => q{status = 'failed' AND error_code = 'no_' || n AND error = 'failed' AND stdout = format(E'number %s\n', n)},
	},
	printing => {
		count => 300,
		request => { code => 'for _ = 1, 1024 do print(string.rep("x", 1023)) end return args' },
		fits => q{status = 'succeeded' AND result = to_jsonb(n) AND stdout_truncated AND length(stdout) = 50000},
	},
	allocating => {
		count => 300,
		request => {
			code => 'local t = {} for i = 1, 1e9 do t[i] = string.rep(tostring(i), 100) end',
			memory_limit_kb => 8192
		},
		fits => q{status = 'failed' AND error_code = 'memory_limit'},
	},
	looping => {
		count => 150,
		request => { code => 'print("number " .. args) while true do end', timeout => '200 ms' },
		fits => q{status = 'timed_out' AND error_code = 'timeout' AND stdout = format(E'number %s\n', n)},
	},
	matching => {
		count => 150,
		request => {
			code => 'return string.find(string.rep("a", 60), string.rep("a?", 60) .. string.rep("a", 60) .. "b")',
			timeout => '200 ms'
		},
		fits => q{status = 'timed_out' AND error_code = 'timeout'},
	},
);

# What becomes of each claim, as the rows themselves went through it.
$node->safe_psql(
	'postgres', q{
CREATE TABLE public.history (
	step bigint GENERATED ALWAYS AS IDENTITY, id uuid,
	was text, became text, old_token uuid, new_token uuid, worker_no integer);
CREATE FUNCTION public.note() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	INSERT INTO public.history (id, was, became, old_token, new_token, worker_no)
	VALUES (new.id, old.status, new.status, old.claim_token, new.claim_token, new.worker_no);
	RETURN NULL;
END $$;
CREATE TRIGGER note AFTER UPDATE ON sandbox_exec.execution FOR EACH ROW
	WHEN (old.status <> new.status OR old.claim_token IS DISTINCT FROM new.claim_token)
	EXECUTE FUNCTION public.note();
});

# ------------------------------------------------------------------- the load

my ($n, @requests) = (0);
for my $name (sort keys %kind)
{
	push @requests, { %{ $kind{$name}{request} }, thread_id => $name, args => ++$n, owner => 'owner ' . $n % 3 }
	  for 1 .. $kind{$name}{count};
}
is(scalar @requests, 10_000, 'ten thousand executions');
my @ids = enqueue_batch($node, [ shuffle @requests ]);
is(scalar @ids, 10_000, 'all of them are enqueued');

# ------------------------------------------------------------ and the killer

my $watcher = $node->background_psql('postgres', timeout => 240);

# Whether any is left; the workers; and pairs of workers that run the same
# execution, as one look at shared memory shows it.
my $look = q{
	WITH worker AS MATERIALIZED (SELECT pid, execution_id FROM sandbox_exec.workers WHERE kind = 'worker' AND pid IS NOT NULL)
	SELECT EXISTS (SELECT FROM sandbox_exec.execution WHERE status IN ('queued', 'running')),
		(SELECT string_agg(pid::text, ' ') FROM worker),
		(SELECT string_agg(execution_id || ' ' || pids, ', ')
		 FROM (SELECT execution_id, string_agg(pid::text, '+' ORDER BY pid) AS pids
			FROM worker WHERE execution_id IS NOT NULL GROUP BY execution_id HAVING count(*) > 1) twice)};
my ($kills, $looks, $overlap, @overlaps) = (0, 0, '');
my $deadline = time + 200;
my $next_kill = time;

while (1)
{
	my ($left, $workers, $now) = split /\|/, $watcher->query_safe($look), -1;
	last if $left eq 'f';
	die "did not end in time\n" if time > $deadline;

	# A worker that gave an execution back names it for a moment more.  One that
	# is still named by the same two at the next look is run by both.
	push @overlaps, $now if $now ne '' && $now eq $overlap;
	$overlap = $now;
	$looks++;

	if (time >= $next_kill)
	{
		my @runners = children_of(split / /, $workers);
		$kills += kill_process($node, 'KILL', $runners[ rand @runners ]) if @runners;
		$next_kill += 0.1;
		$next_kill = time if $next_kill < time - 1;
	}
	usleep(10_000);    # lint: slept on purpose: it paces the looks
}
$watcher->quit;
note("$kills runners killed, $looks looks at the workers");

# ------------------------------------------------------------------ outcomes

# an execution, its number, and whether its last attempt was killed
my $view = q{
	WITH e AS (
		SELECT e.*, (i.args)::integer AS n,
			e.status = 'failed' AND e.error_code = 'executor_error' AND e.attempt_count = e.max_attempts
			AND e.error LIKE '%signal 9%' AS killed
		FROM sandbox_exec.executions e JOIN sandbox_exec.execution_input i USING (id))};

for my $name (sort keys %kind)
{
	# guarantee: a terminal state that fits the program, with the output and the
	# result of this execution and of no other; or executor_error when the last
	# attempt was killed
	is( $node->safe_psql('postgres', qq{
			$view SELECT count(*), count(*) FILTER (WHERE killed IS NOT TRUE AND ($kind{$name}{fits}) IS NOT TRUE)
			FROM e WHERE thread_id = '$name'}),
		"$kind{$name}{count}|0",
		"$name: each ended as its program does")
	  or diag($node->safe_psql('postgres', qq{
			$view SELECT status, error_code, error, attempt_count, result, left(stdout, 40), count(*), min(id::text)
			FROM e WHERE thread_id = '$name' AND killed IS NOT TRUE AND ($kind{$name}{fits}) IS NOT TRUE
			GROUP BY 1, 2, 3, 4, 5, 6 LIMIT 10}));
}
is($node->safe_psql('postgres', 'SELECT count(*) FROM sandbox_exec.execution WHERE finished_at IS NULL'), 0, 'none is stuck');

# the killer did hit code at work, or nothing here was put to the test
cmp_ok($kills, '>=', 50, 'runners were killed');
cmp_ok(
	$node->safe_psql('postgres', q{SELECT count(*) FROM public.history WHERE was = 'running' AND became = 'queued'}),
	'>=', 10, 'executions were given back');
cmp_ok($node->safe_psql('postgres', 'SELECT count(*) FROM sandbox_exec.execution WHERE attempt_count > 1'),
	'>=', 10, 'attempts were used up');

# --------------------------------------------------------- by one at a time

# guarantee: no execution is run by two at once
is(scalar @overlaps, 0, 'no two workers ran the same execution') or diag(join "\n", @overlaps);

# guarantee: a claim is taken from the queue only, never from another executor,
# and ends before the next one begins; what ended stays ended
is( $node->safe_psql('postgres', q{
		SELECT count(*) FROM public.history
		WHERE NOT (was = 'queued' AND became = 'running' AND old_token IS NULL AND new_token IS NOT NULL
			OR was = 'running' AND became IN ('queued', 'succeeded', 'failed', 'timed_out')
				AND old_token IS NOT NULL AND new_token IS NULL)}),
	0, 'each step leads from the queue to a claim, or from a claim to its end');
is( $node->safe_psql('postgres', q{
		SELECT count(*) FROM (
			SELECT became, new_token, lead(was) OVER w AS next_was, lead(old_token) OVER w AS next_token
			FROM public.history WINDOW w AS (PARTITION BY id ORDER BY step)) h
		WHERE next_was IS NOT NULL AND (next_was <> became OR next_token IS DISTINCT FROM new_token)}),
	0, 'the steps of each execution follow each other');
is($node->safe_psql('postgres', q{SELECT count(*) - count(DISTINCT new_token) FROM public.history WHERE became = 'running'}),
	0, 'no two claims have the same token');
is( $node->safe_psql('postgres', q{
		SELECT count(*)
		FROM sandbox_exec.execution e LEFT JOIN (
			SELECT id, count(*) FILTER (WHERE became = 'running') AS claims,
				count(*) FILTER (WHERE became NOT IN ('queued', 'running')) AS ends
			FROM public.history GROUP BY id) h USING (id)
		WHERE (attempt_count <= claims AND ends = 1) IS NOT TRUE}),
	0, 'no attempt is counted that was not made, and each execution ended once');

unlike(PostgreSQL::Test::Utils::slurp_file($node->logfile), qr/terminated by signal|PANIC/, 'no server process died');

done_testing();
