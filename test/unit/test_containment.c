/*
 * test_containment.c
 *		The sandbox holds: the probe build really tries, and dies of it.
 */
#include "cmocka_all.h"
#include "runner_client.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static RunnerClient client;

static int
start_probe(void **state)
{
	RunnerOptions options = runner_client_defaults();

	(void) state;
	options.program = getenv("RUNNER_PROBE");
	return runner_client_spawn(&client, &options) && runner_client_await_ready(&client) ? 0 : -1;
}

static int
end_probe(void **state)
{
	(void) state;
	runner_client_end(&client);
	return 0;
}

/* each attempt kills the process on the spot, by SIGSYS */
static void
forbidden_calls_kill(void **state)
{
	static const char *const attempts[] = {
		"open", "socket", "fork", "kill", "ptrace", "execve", "mmap_exec"};

	for (size_t i = 0; i < sizeof(attempts) / sizeof(attempts[0]); i++)
	{
		char		code[80];
		RunMessage	request;
		DoneMessage done;
		int			status;

		snprintf(code, sizeof(code), "print('tried') return probe('%s')", attempts[i]);
		request = runner_client_request(code);
		assert_int_equal(start_probe(state), 0);
		assert_true(runner_client_send(&client, &request));
		if (runner_client_receive(&client, &done))
			fail_msg("%s: %.*s", attempts[i], (int) done.result.length, done.result.data);
		assert_int_equal(waitpid(client.pid, &status, 0), client.pid);
		client.pid = 0;
		assert_true(WIFSIGNALED(status));
		assert_int_equal(WTERMSIG(status), SIGSYS);
		end_probe(state);
	}
}

/* a file of the process in /proc, as a string */
static void
read_proc(const char *name, char *text, size_t capacity)
{
	char		path[64];
	ssize_t		n;
	int			fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int) client.pid, name);
	fd = open(path, O_RDONLY);
	assert_true(fd >= 0);
	n = read(fd, text, capacity - 1);
	assert_true(n >= 0);
	text[n] = '\0';
	close(fd);
}

static void
only_the_socket_is_open(void **state)
{
	char		path[64];
	DIR		   *directory;
	struct dirent *entry;

	(void) state;
	snprintf(path, sizeof(path), "/proc/%d/fd", (int) client.pid);
	directory = opendir(path);
	assert_non_null(directory);
	while ((entry = readdir(directory)) != NULL)
	{
		if (entry->d_name[0] != '.')
			assert_string_equal(entry->d_name, "3");
	}
	closedir(directory);
}

static void
status_is_locked_down(void **state)
{
	char		text[8192];

	(void) state;
	read_proc("status", text, sizeof(text));
	assert_non_null(strstr(text, "NoNewPrivs:\t1"));
	assert_non_null(strstr(text, "Seccomp:\t2"));
	assert_non_null(strstr(text, "SigBlk:\t0000000000000000"));
	read_proc("environ", text, sizeof(text));
	assert_string_equal(text, "");
	read_proc("oom_score_adj", text, sizeof(text));
	assert_string_equal(text, "1000\n");
}

static void
limits_are_tight(void **state)
{
	static const char *const lines[] = {
		"Max file size             0                    0 ",
		"Max core file size        0                    0 ",
		"Max processes             0                    0 ",
		"Max open files            0                    0 ",
		"Max locked memory         0                    0 "};
	char		text[8192];

	(void) state;
	read_proc("limits", text, sizeof(text));
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
	{
		if (strstr(text, lines[i]) == NULL)
			fail_msg("no \"%s\" in\n%s", lines[i], text);
	}
	assert_null(strstr(text, "Max address space         unlimited"));
}

#define probe_test(function) cmocka_unit_test_setup_teardown(function, start_probe, end_probe)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forbidden_calls_kill),
		probe_test(only_the_socket_is_open),
		probe_test(status_is_locked_down),
		probe_test(limits_are_tight),
	};

	alarm(120);					/* a runner that never answers must not stop the suite */
	return cmocka_run_group_tests_name("containment", tests, NULL, NULL);
}
