/*
 * main.c
 *		sandbox_exec_runner: the program that holds the Lua VM.
 *
 * It is started by a worker, locks itself down, says READY, and then answers
 * each RUN with a DONE until the socket ends or a DONE was its last word.  It
 * has no configuration, no files, no database, and never logs.
 */
#include "arena.h"
#include "execution.h"
#include "lockdown.h"
#include "../protocol/message.h"
#include "run.h"
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

/*
 * Beyond so much touched memory the process isn't kept: what was touched can't
 * be given back after lock-down, and idle runners are to stay small.
 */
#define REUSE_MAX_TOUCHED ((size_t) 768 * 1024)

#define NICE_MAX 39
#define MEMORY_MAX_KB (16L * 1024 * 1024)

typedef struct Options
{
	pid_t		parent;
	int			nice_increment;
	size_t		memory_max;		/* bytes */
	bool		seccomp_required;
} Options;

/* requests arrive here; bytes beyond the first frame belong to the next */
static uint8_t inbox[FRAME_HEADER_SIZE + MAX_RUN_PAYLOAD];
static size_t inbox_used;
static size_t inbox_touched;

static uint8_t outbox[FRAME_HEADER_SIZE + MAX_DONE_PAYLOAD];

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

/*
 * A frame that doesn't fit its buffer is a defect of this program.  A worker
 * that is gone wants no answer, so that end is an ordinary one.
 */
static void
send_frame(size_t size)
{
	size_t		sent = 0;

	if (size == 0)
		_exit(RUNNER_EXIT_SETUP);
	while (sent < size)
	{
		ssize_t		n = write(RUNNER_SOCKET_FD, outbox + sent, size - sent);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			_exit(0);
		sent += (size_t) n;
	}
}

/* the outbox is free: nothing has been answered yet */
static void
send_ready(bool seccomp)
{
	ReadyMessage ready = {
		.protocol_version = PROTOCOL_VERSION,
		.seccomp = seccomp,
		.runtime_version = {LUA_RELEASE, sizeof(LUA_RELEASE) - 1}};

	send_frame(message_put_ready(outbox, sizeof(outbox), &ready));
}

/*
 * Wait for the next request; its texts lie in the inbox.  Returns the size of
 * its frame.  The end of the socket is the ordinary end of this process.
 */
static size_t
receive_request(RunMessage *request)
{
	for (;;)
	{
		uint8_t		type;
		FrameReader payload;
		size_t		size;
		ssize_t		n;
		int			found = frame_peek(inbox, inbox_used, MAX_RUN_PAYLOAD,
									   &type, &payload, &size);

		if (found > 0)
		{
			if (type != MESSAGE_RUN || !message_get_run(&payload, request))
				_exit(RUNNER_EXIT_USAGE);
			return size;
		}
		if (found < 0)
			_exit(RUNNER_EXIT_USAGE);
		n = read(RUNNER_SOCKET_FD, inbox + inbox_used, sizeof(inbox) - inbox_used);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			_exit(0);
		inbox_used += (size_t) n;
		if (inbox_used > inbox_touched)
			inbox_touched = inbox_used;
	}
}

/* mostly nothing is left, and this only sets the count */
static void
drop_request(size_t size)
{
	inbox_used -= size;
	memmove(inbox, inbox + size, inbox_used);
}

/* small enough to be kept for another execution of the same submitter */
static bool
is_reusable(const DoneMessage *done)
{
	/* a result stands once as text and once in the frame */
	size_t		touched = arena_touched() + inbox_touched + 2 * (size_t) done->result.length;

	return touched <= REUSE_MAX_TOUCHED;
}

/*
 * Seccomp comes last before READY: from then on this process can only read,
 * write and exit, and no byte of a user has been seen yet.
 */
int
main(int argc, char **argv)
{
	static const ArenaHandlers handlers = {
		.exhausted = execution_out_of_memory,
		.pressure = state_memory_pressure};
	Options		options = parse_arguments(argc, argv);
	bool		reusable = true;
	void	   *output;

	lockdown_begin(options.parent, options.nice_increment);
	output = lockdown_map_output();
	if (!arena_create(options.memory_max, &handlers) || !state_prepare())
		_exit(RUNNER_EXIT_SETUP);
	send_ready(lockdown_finish(arena_mapped(), options.seccomp_required));

	while (reusable)
	{
		RunMessage	request;
		size_t		size = receive_request(&request);
		DoneMessage done = *run_request(&request, output);

		reusable = is_reusable(&done);
		done.reusable = reusable;
		send_frame(message_put_done(outbox, sizeof(outbox), &done));
		drop_request(size);
	}
	_exit(0);
}
