/*
 * latency.c
 *		How long an execution takes from commit to outcome, as a client sees it.
 *
 * usage: latency CONNINFO [ROUNDS]
 *
 * enqueue('return 1+1') in a transaction of its own, then wait().  The clock
 * starts when the client learns of the commit and stops when it has the
 * outcome: it includes the round trip of wait() and not that of enqueue().
 * Between rounds the workers have time to fall asleep.
 */
#include "clock.h"

#include <libpq-fe.h>
#include <stdio.h>
#include <string.h>

static PGconn *conn;

static void
fail(const char *what, const char *why)
{
	fprintf(stderr, "latency: %s: %s\n", what, why);
	exit(1);
}

static PGresult *
must(PGresult *result)
{
	if (PQresultStatus(result) != PGRES_TUPLES_OK || PQntuples(result) != 1)
		fail("query", PQerrorMessage(conn));
	return result;
}

/* in microseconds */
static double
one_round(void)
{
	PGresult   *enqueued = must(PQexec(conn, "SELECT sandbox_exec.enqueue('return 1+1')"));
	const char *id = PQgetvalue(enqueued, 0, 0);
	double		committed = now_us();
	PGresult   *ended = must(PQexecParams(conn, "SELECT status, result FROM sandbox_exec.wait($1::uuid)",
										  1, NULL, &id, NULL, NULL, 0));
	double		visible = now_us();

	if (strcmp(PQgetvalue(ended, 0, 0), "succeeded") != 0)
		fail("an execution ended as", PQgetvalue(ended, 0, 0));
	PQclear(ended);
	PQclear(enqueued);
	return visible - committed;
}

static void
let_settle(void)
{
	struct timespec pause = {0, 5 * 1000 * 1000};

	nanosleep(&pause, NULL);
}

int
main(int argc, char **argv)
{
	int			rounds = argc > 2 ? atoi(argv[2]) : 2000;
	double	   *times;

	if (argc < 2 || rounds < 1)
		fail("usage", "latency CONNINFO [ROUNDS]");
	conn = PQconnectdb(argv[1]);
	if (PQstatus(conn) != CONNECTION_OK)
		fail("connect", PQerrorMessage(conn));
	times = calloc((size_t) rounds, sizeof(*times));
	for (int i = -(rounds / 10 + 1); i < rounds; i++)
	{
		double		us;

		let_settle();
		us = one_round();
		if (i >= 0)
			times[i] = us;
	}
	sort_times(times, rounds);
	printf("p50 ms %.3f\np95 ms %.3f\np99 ms %.3f\n", percentile(times, rounds, 50) / 1e3,
		   percentile(times, rounds, 95) / 1e3, percentile(times, rounds, 99) / 1e3);
	free(times);
	PQfinish(conn);
	return 0;
}
