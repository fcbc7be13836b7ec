/*
 * main.c
 *		sandbox_exec_runner: the program that holds the Lua VM.
 *
 * It is started by a worker, prepares a Lua state, and forks into runners.  Each
 * of them locks itself down, says READY, and then answers each RUN with a DONE
 * until the socket ends or a DONE was its last word.  It has no configuration,
 * no files, no database, and never logs.
 */
#include "arena.h"
#include "execution.h"
#include "fork.h"
#include "lockdown.h"
#include "peer.h"
#include "../protocol/message.h"
#include "serve.h"
#include "state.h"

#include "lua.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef SANDBOX_EXEC_VERSION
#error "SANDBOX_EXEC_VERSION must be set by the build"
#endif

#define NICE_MAX 39
#define MEMORY_MAX_KB (16L * 1024 * 1024)

typedef struct Options
{
	pid_t		parent;
	int			nice_increment;
	size_t		memory_max;		/* bytes */
	bool		seccomp_required;
} Options;

/* ------------------------------------------------------------------------
 * Command line
 * ------------------------------------------------------------------------ */

/* a whole decimal number within bounds, or the process ends */
static long
number_argument(const char *text, long least, long most)
{
	char	   *end;
	long		value;

	errno = 0;
	value = strtol(text, &end, 10);
	if (errno != 0 || end == text || *end != '\0' || value < least || value > most)
		_exit(RUNNER_EXIT_USAGE);
	return value;
}

/* Everything is checked before anything is done: a mistake ends here. */
static Options
parse_arguments(int argc, char **argv)
{
	Options		options;

	if (argc != RUNNER_ARGC)
		_exit(RUNNER_EXIT_USAGE);
	/* a library of another version must not get as far as a wrong frame */
	(void) number_argument(argv[1], PROTOCOL_VERSION, PROTOCOL_VERSION);
	if (strcmp(argv[2], SANDBOX_EXEC_VERSION) != 0)
		_exit(RUNNER_EXIT_USAGE);
	options.parent = (pid_t) number_argument(argv[3], 1, INT_MAX);
	options.nice_increment = (int) number_argument(argv[4], 0, NICE_MAX);
	options.memory_max = (size_t) number_argument(argv[5], 1, MEMORY_MAX_KB) * 1024;
	options.seccomp_required = number_argument(argv[6], 0, 1) == 1;
	return options;
}

/* ------------------------------------------------------------------------
 * Messages
 * ------------------------------------------------------------------------ */

static void
send_ready(bool seccomp)
{
	ReadyMessage ready = {
		.protocol_version = PROTOCOL_VERSION,
		.seccomp = seccomp,
		.runtime_version = {LUA_RELEASE, sizeof(LUA_RELEASE) - 1}};

	peer_send(message_put_ready(peer_outbox, PEER_OUTBOX_SIZE, &ready));
}

/* what all runners have in common: memory, Lua, the filter, the first locks */
static void
prepare(const Options *options)
{
	static const ArenaHandlers handlers = {
		.exhausted = execution_out_of_memory,
		.pressure = state_memory_pressure};

	lockdown_begin(options->parent, options->nice_increment, options->seccomp_required);
	if (!arena_create(options->memory_max, &handlers) || !state_prepare())
		_exit(RUNNER_EXIT_SETUP);
	lockdown_limit(arena_mapped());
}

/*
 * Seccomp comes last before READY: from then on this process can only read,
 * write and exit, and no byte of a user has been seen yet.
 */
int
main(int argc, char **argv)
{
	Options		options = parse_arguments(argc, argv);
	void	   *area;

	prepare(&options);
	fork_runners();
	lockdown_die_with(options.parent);
	area = lockdown_map_output();
	send_ready(lockdown_finish(options.seccomp_required));
	serve(area);
	_exit(0);
}
