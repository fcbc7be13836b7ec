/*
 * lua.c
 *		How fast code runs: programs in a runner, and in the stock interpreter.
 *
 * usage: RUNNER=program lua INTERPRETER ROUNDS PROGRAM...
 *
 * In turn, ROUNDS times: the program in a new process of the interpreter, from
 * start to exit, and the same text in a runner, from request to outcome.
 * A program runs for long enough that starting a process doesn't matter.
 */
#include "clock.h"

#include "../test/unit/runner_client.h"

#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#define PROGRAM_MAX (64 * 1024)

static void
fail(const char *what, const char *program)
{
	fprintf(stderr, "lua: %s: %s\n", program, what);
	exit(1);
}

static double
interpreter_ms(char *interpreter, char *program)
{
	char	   *argv[] = {interpreter, program, NULL};
	char	   *environment[] = {NULL};
	double		start = now_us();
	int			status;
	pid_t		pid;

	if (posix_spawnp(&pid, interpreter, NULL, NULL, argv, environment) != 0)
		fail("cannot start the interpreter", program);
	waitpid(pid, &status, 0);
	if (status != 0)
		fail("failed in the interpreter", program);
	return (now_us() - start) / 1e3;
}

/* each in a runner of its own, which stands ready when the clock starts */
static double
runner_ms(const char *program, const char *code)
{
	RunMessage	request = runner_client_request(code);
	RunnerOptions options = runner_client_defaults();
	RunnerClient c;
	DoneMessage done;
	double		start;
	double		end;

	if (!runner_client_spawn(&c, &options) || !runner_client_await_ready(&c))
		fail("the runner doesn't start", program);
	start = now_us();
	if (!runner_client_send(&c, &request) || !runner_client_receive(&c, &done))
		fail("the runner broke off", program);
	end = now_us();
	if (!done.succeeded)
	{
		fprintf(stderr, "%.*s\n", (int) done.error.length, done.error.data);
		fail("failed in the runner", program);
	}
	runner_client_end(&c);
	return (end - start) / 1e3;
}

static void
read_program(const char *program, char *code)
{
	FILE	   *file = fopen(program, "r");
	size_t		length;

	if (file == NULL)
		fail("cannot be read", program);
	length = fread(code, 1, PROGRAM_MAX - 1, file);
	code[length] = '\0';
	fclose(file);
}

/* "dir/fib.lua" is fib */
static void
print_time(const char *program, const char *where, double ms)
{
	const char *slash = strrchr(program, '/');
	const char *name = slash ? slash + 1 : program;

	printf("%.*s.%s ms %.1f\n", (int) strcspn(name, "."), name, where, ms);
}

int
main(int argc, char **argv)
{
	static char code[PROGRAM_MAX];

	if (argc < 4)
		fail("INTERPRETER ROUNDS PROGRAM...", "usage");
	for (int round = 0; round < atoi(argv[2]); round++)
	{
		double		ours = 0;
		double		stock = 0;

		for (int i = 3; i < argc; i++)
		{
			double		ms = interpreter_ms(argv[1], argv[i]);

			print_time(argv[i], "lua54", ms);
			stock += ms;
			read_program(argv[i], code);
			ms = runner_ms(argv[i], code);
			print_time(argv[i], "ours", ms);
			ours += ms;
		}
		printf("all.lua54 ms %.1f\nall.ours ms %.1f\n", stock, ours);
	}
	return 0;
}
