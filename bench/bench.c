/*
 * bench.c
 *		How long an execution takes on an idle system, how fast a queue drains, and
 *		what a call of a tool costs.
 *
 *		bench CONNINFO [ROUNDS] [QUEUED]
 *
 * Latency: enqueue('return 1+1') in a transaction of its own, then wait().  The
 * clock starts when the client learns of the commit and stops when it has the
 * outcome, so that it includes the round trip of wait() and not that of enqueue.
 * Each round begins when no worker has anything left to do.
 *
 * Drain: QUEUED executions stand in a paused queue; the clock starts at the
 * commit that resumes it and stops with the last outcome's finished_at, both by
 * the server's clock.  Three times, each on an emptied table.
 *
 * Tools: a function that reads a row, and one that writes one, by a prepared
 * statement on this connection and by code, in turn.  The time of a call is that
 * between its line in the journal and the one before; so it begins and ends with
 * the outcome, and has both ways to the runner in it.
 *
 * Prints one JSON object.
 */
#include <libpq-fe.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DRAINS 3
#define TURNS 5
#define CALLS 500

static PGconn *conn;

static void
fail(const char *what, const char *why)
{
	fprintf(stderr, "bench: %s: %s\n", what, why);
	exit(1);
}

/* the first column of the first row, or NULL; the caller frees it */
static char *
query(const char *sql, const char *parameter)
{
	PGresult   *result = PQexecParams(conn, sql, parameter ? 1 : 0, NULL, &parameter, NULL, NULL, 0);
	char	   *value = NULL;

	if (PQresultStatus(result) != PGRES_TUPLES_OK && PQresultStatus(result) != PGRES_COMMAND_OK)
		fail(sql, PQerrorMessage(conn));
	if (PQntuples(result) > 0 && PQnfields(result) > 0)
		value = strdup(PQgetvalue(result, 0, 0));
	PQclear(result);
	return value;
}

static void
command(const char *sql)
{
	free(query(sql, NULL));
}

static double
query_number(const char *sql)
{
	char	   *text = query(sql, NULL);
	double		value = text ? atof(text) : 0;

	free(text);
	return value;
}

static double
now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

static int
compare(const void *a, const void *b)
{
	double		x = *(const double *) a;
	double		y = *(const double *) b;

	return (x > y) - (x < y);
}

/* of sorted values */
static double
percentile(const double *values, int count, double p)
{
	int			at = (int) ceil(p / 100 * count) - 1;

	return values[at < 0 ? 0 : at];
}

static double
one_latency(void)
{
	char	   *id = query("SELECT sandbox_exec.enqueue('return 1+1')", NULL);
	double		committed = now_ms();
	char	   *status = query("SELECT status FROM sandbox_exec.wait($1::uuid)", id);
	double		visible = now_ms();

	if (status == NULL || strcmp(status, "succeeded") != 0)
		fail("execution ended as", status ? status : "nothing");
	free(status);
	free(id);
	return visible - committed;
}

static void
let_settle(void)
{
	struct timespec pause = {0, 5 * 1000 * 1000};

	nanosleep(&pause, NULL);
}

static void
measure_latency(int rounds)
{
	double	   *ms = malloc(sizeof(double) * rounds);
	int			i;

	for (i = 0; i < rounds / 10; i++)
		one_latency();
	for (i = 0; i < rounds; i++)
	{
		let_settle();
		ms[i] = one_latency();
	}
	qsort(ms, rounds, sizeof(double), compare);
	printf("  \"latency_ms\": {\"rounds\": %d, \"min\": %.3f, \"p50\": %.3f, \"p95\": %.3f, \"p99\": %.3f, \"max\": %.3f},\n",
		   rounds, ms[0], percentile(ms, rounds, 50), percentile(ms, rounds, 95),
		   percentile(ms, rounds, 99), ms[rounds - 1]);
	free(ms);
}

/* executions a second */
static double
one_drain(int queued)
{
	char		sql[300];
	char	   *began;
	char	   *taken;
	int			left = queued;
	double		seconds;

	command("SELECT sandbox_exec.pause_queue()");
	while (left > 0)
	{
		int			batch = left < 10000 ? left : 10000;

		snprintf(sql, sizeof(sql),
				 "SELECT count(*) FROM sandbox_exec.enqueue_many((SELECT jsonb_agg(jsonb_build_object("
				 "'code', 'return 1+1', 'thread_id', 'drain')) FROM generate_series(1, %d)))",
				 batch);
		command(sql);
		left -= batch;
	}
	command("SELECT sandbox_exec.resume_queue()");
	began = query("SELECT clock_timestamp()", NULL);
	while (query_number("SELECT count(*) FROM sandbox_exec.executions WHERE status IN ('queued', 'running')") > 0)
		let_settle();
	taken = query("SELECT extract(epoch FROM max(finished_at) - $1::timestamptz) "
				  "FROM sandbox_exec.executions WHERE thread_id = 'drain'",
				  began);
	seconds = atof(taken);
	free(taken);
	free(began);
	if (query_number("SELECT count(*) FROM sandbox_exec.executions "
					 "WHERE thread_id = 'drain' AND status = 'succeeded'") != queued)
		fail("drain", "not every execution succeeded");
	command("TRUNCATE sandbox_exec.execution, sandbox_exec.execution_input CASCADE");
	return queued / seconds;
}

static void
measure_drain(int queued)
{
	double		rate[DRAINS];
	int			i;

	for (i = 0; i < DRAINS; i++)
		rate[i] = one_drain(queued);
	qsort(rate, DRAINS, sizeof(double), compare);
	printf("  \"drain_per_s\": {\"queued\": %d, \"rounds\": %d, \"min\": %.0f, \"median\": %.0f, \"max\": %.0f},\n",
		   queued, DRAINS, rate[0], rate[DRAINS / 2], rate[DRAINS - 1]);
}

static double
median(double *values, int count)
{
	qsort(values, count, sizeof(double), compare);
	return percentile(values, count, 50);
}

/* microseconds that one of CALLS takes, the median of them */
static double
statement_us(const char *name)
{
	double		us[CALLS];
	int			i;

	for (i = 0; i < CALLS; i++)
	{
		char		number[12];
		const char *values[1] = {number};
		double		began;
		PGresult   *result;

		snprintf(number, sizeof(number), "%d", i + 1);
		began = now_ms();
		result = PQexecPrepared(conn, name, 1, values, NULL, NULL, 0);
		us[i] = (now_ms() - began) * 1e3;
		if (PQresultStatus(result) != PGRES_TUPLES_OK)
			fail(name, PQerrorMessage(conn));
		PQclear(result);
	}
	return median(us, CALLS);
}

static double
tool_us(const char *name)
{
	char		sql[300];
	char	   *id;
	char	   *status;
	char	   *us;
	double		value;

	snprintf(sql, sizeof(sql), "SELECT sandbox_exec.enqueue('for i = 1, %d do tools.bench.%s{id = i} end', tools => '{bench.*}')",
			 CALLS, name);
	id = query(sql, NULL);
	status = query("SELECT status FROM sandbox_exec.wait($1::uuid)", id);
	if (status == NULL || strcmp(status, "succeeded") != 0)
		fail("execution ended as", status ? status : "nothing");
	us = query("SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY 1e6 * extract(epoch FROM c.took)) "
			   "FROM (SELECT created_at - lag(created_at) OVER (ORDER BY seq) AS took "
			   "FROM sandbox_exec.call WHERE execution_id = $1::uuid) c",
			   id);
	value = atof(us);
	free(us);
	free(status);
	free(id);
	return value;
}

/* by a statement, by code, by a statement, ...; the first turn warms up */
static void
measure_tool(const char *name, const char *comma)
{
	char		sql[200];
	double		statement[TURNS];
	double		tool[TURNS];
	int			i;

	snprintf(sql, sizeof(sql), "SELECT sandbox_exec.register_tool('bench.%s(integer)', 'bench.%s')", name, name);
	command(sql);
	snprintf(sql, sizeof(sql), "SELECT bench.%s($1)", name);
	PQclear(PQprepare(conn, name, sql, 1, NULL));
	statement_us(name);
	tool_us(name);
	for (i = 0; i < TURNS; i++)
	{
		statement[i] = statement_us(name);
		tool[i] = tool_us(name);
	}
	printf("\"%s\": {\"statement\": %.0f, \"tool\": %.0f, \"ratio\": %.2f}%s", name, median(statement, TURNS),
		   median(tool, TURNS), median(tool, TURNS) / median(statement, TURNS), comma);
}

static void
measure_tools(void)
{
	command("CREATE SCHEMA bench");
	command("CREATE TABLE bench.item (id integer PRIMARY KEY, name text)");
	command("INSERT INTO bench.item SELECT i, 'item ' || i FROM generate_series(1, 1000) i");
	command("CREATE TABLE bench.note (id integer, at timestamptz DEFAULT now())");
	command("CREATE FUNCTION bench.reading(id integer) RETURNS text LANGUAGE plpgsql STABLE AS "
			"'BEGIN RETURN (SELECT i.name FROM bench.item i WHERE i.id = reading.id); END'");
	command("CREATE FUNCTION bench.writing(id integer) RETURNS integer LANGUAGE plpgsql AS "
			"'BEGIN INSERT INTO bench.note VALUES (id); RETURN id; END'");
	command("ANALYZE");
	printf("  \"tool_us\": {\"calls\": %d, \"turns\": %d, ", CALLS, TURNS);
	measure_tool("reading", ", ");
	measure_tool("writing", "},\n");
	command("TRUNCATE sandbox_exec.execution, sandbox_exec.execution_input, sandbox_exec.call, sandbox_exec.event CASCADE");
	command("SELECT sandbox_exec.drop_tool('bench.reading'), sandbox_exec.drop_tool('bench.writing')");
	command("DROP SCHEMA bench CASCADE");
}

int
main(int argc, char **argv)
{
	int			rounds = argc > 2 ? atoi(argv[2]) : 2000;
	int			queued = argc > 3 ? atoi(argv[3]) : 10000;
	char	   *version;

	if (argc < 2 || rounds < 10 || queued < 1)
		fail("usage", "bench CONNINFO [ROUNDS >= 10] [QUEUED]");
	conn = PQconnectdb(argv[1]);
	if (PQstatus(conn) != CONNECTION_OK)
		fail("connect", PQerrorMessage(conn));

	version = query("SHOW server_version", NULL);
	printf("{\n");
	measure_latency(rounds);
	measure_tools();
	measure_drain(queued);
	printf("  \"workers\": %.0f, \"fsync\": \"on\", \"postgresql\": \"%s\"\n}\n",
		   query_number("SHOW sandbox_exec.workers"), version);
	free(version);
	PQfinish(conn);
	return 0;
}
