/*
 * runner.c
 *		What a runner costs: cold start, and the round trip of a warm one.
 *
 * usage: RUNNER=program runner [ROUNDS]
 *
 * For comparison, what it costs to start the stock interpreter for the same
 * code, if there is one.
 */
#include "clock.h"

#include "../test/unit/runner_client.h"

#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>

static void
must(bool done)
{
	if (!done)
	{
		fputs("runner: the runner failed\n", stderr);
		exit(1);
	}
}

static void
print_times(const char *what, double *times, int n)
{
	sort_times(times, n);
	printf("%s.p50 us %.2f\n%s.p99 us %.2f\n", what, percentile(times, n, 50), what, percentile(times, n, 99));
	free(times);
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
	print_times("cold", times, n);
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
}

/* an interpreter for each piece of code, without any sandbox */
static void
stock_starts(int n)
{
	static char *argv[] = {"lua5.4", "-e", "return 1 + 1", NULL};
	static char *environment[] = {NULL};
	double	   *times = calloc((size_t) n, sizeof(*times));

	for (int i = 0; i < n; i++)
	{
		double		start = now_us();
		pid_t		pid;

		if (posix_spawnp(&pid, argv[0], NULL, NULL, argv, environment) != 0)
		{
			free(times);
			return;
		}
		waitpid(pid, NULL, 0);
		times[i] = now_us() - start;
	}
	print_times("lua54", times, n);
}

int
main(int argc, char **argv)
{
	int			rounds = argc > 1 ? atoi(argv[1]) : 20000;

	cold_starts(rounds / 40 + 1);
	stock_starts(rounds / 40 + 1);
	round_trips("warm", "return 1 + 1", rounds);
	round_trips("warm_print", "print('hello') local t = {} for i = 1, 20 do t[i] = i * i end return t", rounds);
	return 0;
}
