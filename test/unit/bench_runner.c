/*
 * bench_runner.c
 *		What a runner costs: cold start, and the round trip of a warm one.
 *
 * usage: RUNNER=program bench_runner [ROUNDS]
 */
#include "runner_client.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double
now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

static int
by_value(const void *a, const void *b)
{
	double		x = *(const double *) a;
	double		y = *(const double *) b;

	return (x > y) - (x < y);
}

static void
print_times(const char *what, double *times, int n)
{
	qsort(times, (size_t) n, sizeof(*times), by_value);
	printf("%-44s p50 %7.1f us   p99 %7.1f us\n", what, times[n / 2], times[n * 99 / 100]);
}

static void
must(bool done)
{
	if (!done)
	{
		fputs("bench_runner: the runner failed\n", stderr);
		exit(1);
	}
}

static void
cold_starts(int n)
{
	double	   *times = calloc((size_t) n, sizeof(*times));
	RunnerOptions options = runner_client_defaults();

	for (int i = 0; i < n; i++)
	{
		RunnerClient c;
		double		start = now_us();

		must(runner_client_spawn(&c, &options) && runner_client_await_ready(&c));
		times[i] = now_us() - start;
		runner_client_end(&c);
	}
	print_times("cold start, spawn to READY", times, n);
	free(times);
}

static void
round_trips(const char *what, const char *code, int n)
{
	double	   *times = calloc((size_t) n, sizeof(*times));
	RunnerOptions options = runner_client_defaults();
	RunMessage	request = runner_client_request(code);
	RunnerClient c;
	DoneMessage done;

	must(runner_client_spawn(&c, &options) && runner_client_await_ready(&c));
	for (int i = 0; i < n; i++)
	{
		double		start = now_us();

		must(runner_client_send(&c, &request) && runner_client_receive(&c, &done));
		times[i] = now_us() - start;
		must(done.succeeded && done.reusable);
	}
	runner_client_end(&c);
	print_times(what, times, n);
	free(times);
}

int
main(int argc, char **argv)
{
	int			rounds = argc > 1 ? atoi(argv[1]) : 20000;

	cold_starts(rounds / 40 + 1);
	round_trips("warm round trip, return 1 + 1", "return 1 + 1", rounds);
	round_trips("warm round trip, print and a small table",
				"print('hello') local t = {} for i = 1, 20 do t[i] = i * i end return t", rounds);
	return 0;
}
