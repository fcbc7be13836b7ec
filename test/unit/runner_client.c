/*
 * runner_client.c
 *		Starting a runner and talking to it.
 */
#include "runner_client.h"
#include "../../src/protocol/zygote.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define FD_FLOOR 16
#define INBOX_SIZE (FRAME_HEADER_SIZE + MAX_RUNNER_PAYLOAD)

#define TEXT_OF(number) TEXT_OF_(number)
#define TEXT_OF_(number) #number

RunnerOptions
runner_client_defaults(void)
{
	RunnerOptions options = {
		.program = getenv("RUNNER"),
		.protocol = TEXT_OF(PROTOCOL_VERSION),
		.version = SANDBOX_EXEC_VERSION,
		.memory_kb = "65536",
		.seccomp = "1"};

	return options;
}

/* descriptors above those that the child will have */
static int
move_up(int fd)
{
	int			moved = fcntl(fd, F_DUPFD_CLOEXEC, FD_FLOOR);

	close(fd);
	return moved;
}

/* one for all runners of the same options */
static struct
{
	pid_t		pid;
	int			socket;
	RunnerOptions options;
} zygote;

static void
end_zygote(void)
{
	if (zygote.pid > 0)
	{
		close(zygote.socket);
		waitpid(zygote.pid, NULL, 0);
	}
	zygote.pid = 0;
}

static int
start_program(const RunnerOptions *options, int socket)
{
	posix_spawn_file_actions_t actions;
	char		parent[16];
	char	   *environment[] = {NULL};
	char	   *argv[RUNNER_ARGC + 1] = {"sandbox_exec_runner"};
	int			rc;

	snprintf(parent, sizeof(parent), "%d", (int) getpid());
	argv[1] = (char *) options->protocol;
	argv[2] = (char *) options->version;
	argv[3] = options->parent != NULL ? (char *) options->parent : parent;
	argv[4] = "0";
	argv[5] = (char *) options->memory_kb;
	argv[6] = (char *) options->seccomp;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, socket, ZYGOTE_FD);
	rc = posix_spawn(&zygote.pid, options->program, &actions, NULL, argv, environment);
	posix_spawn_file_actions_destroy(&actions);
	return rc;
}

static bool
have_zygote(const RunnerOptions *options)
{
	int			pair[2];
	int			rc;

	if (zygote.pid > 0 && memcmp(&zygote.options, options, sizeof(*options)) == 0)
		return true;
	end_zygote();
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
		return false;
	pair[1] = move_up(pair[1]);
	zygote.socket = pair[0];
	zygote.options = *options;
	rc = start_program(options, pair[1]);
	close(pair[1]);
	return rc == 0;
}

/* where the program ended at once, its end stands for the runner's */
static bool
fork_runner(RunnerClient *c, const RunnerOptions *options, const int sent[ZYGOTE_SENT])
{
	int32_t		answer;

	if (!have_zygote(options))
		return false;
	if (zygote_ask(zygote.socket, sent) && read(zygote.socket, &answer, sizeof(answer)) == sizeof(answer))
		c->pid = answer;
	else
	{
		c->pid = zygote.pid;
		close(zygote.socket);
		zygote.pid = 0;
	}
	return c->pid > 0;
}

bool
runner_client_spawn(RunnerClient *c, const RunnerOptions *options)
{
	int			pair[2];
	int			output = memfd_create("output", MFD_CLOEXEC);
	bool		done;

	memset(c, 0, sizeof(*c));
	if (output < 0 || ftruncate(output, OUTLOG_SIZE + sizeof(Ahead)) != 0 ||
		socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
		return false;
	c->socket = pair[0];
	c->inbox = malloc(INBOX_SIZE);
	c->area = mmap(NULL, OUTLOG_SIZE + sizeof(Ahead), PROT_READ | PROT_WRITE, MAP_SHARED, output, 0);
	done = fork_runner(c, options, (int[ZYGOTE_SENT]){pair[1], output});
	close(output);
	close(pair[1]);
	return done && c->inbox != NULL && c->area != MAP_FAILED;
}

/* the next whole frame, which stays in the inbox until the next call */
static bool
next_frame(RunnerClient *c, uint8_t *type, FrameReader *payload)
{
	c->inbox_used -= c->inbox_taken;
	memmove(c->inbox, c->inbox + c->inbox_taken, c->inbox_used);
	c->inbox_taken = 0;
	for (;;)
	{
		ssize_t		n;
		int			found = frame_peek(c->inbox, c->inbox_used, MAX_RUNNER_PAYLOAD,
									   type, payload, &c->inbox_taken);

		if (found != 0)
			return found > 0;
		n = read(c->socket, c->inbox + c->inbox_used, INBOX_SIZE - c->inbox_used);
		if (n <= 0)
			return false;
		c->inbox_used += (size_t) n;
	}
}

bool
runner_client_await_ready(RunnerClient *c)
{
	uint8_t		type;
	FrameReader payload;

	if (!next_frame(c, &type, &payload) || type != MESSAGE_READY)
		return false;
	return message_get_ready(&payload, &c->ready);
}

RunMessage
runner_client_request(const char *code)
{
	RunMessage	request = {
		.id = {1, 2, 3},
		.clock_ms = INT64_C(1700000000000),
		.memory_limit = 64 * 1024 * 1024,
		.max_output_chars = 50000,
		.execution = {"{}", 2},
		.code = {code, (uint32_t) strlen(code)}};

	return request;
}

static bool
send_all(RunnerClient *c, const uint8_t *data, size_t size)
{
	size_t		sent = 0;

	while (sent < size)
	{
		ssize_t		n = send(c->socket, data + sent, size - sent, MSG_NOSIGNAL);

		if (n <= 0)
			return false;
		sent += (size_t) n;
	}
	return size > 0;
}

bool
runner_client_send(RunnerClient *c, const RunMessage *request)
{
	size_t		capacity = (size_t) request->code.length + request->args.length + request->execution.length + 256;
	uint8_t    *buffer = malloc(capacity);
	bool		sent = send_all(c, buffer, message_put_run(buffer, capacity, request));

	free(buffer);
	return sent;
}

Ahead *
runner_client_ahead(RunnerClient *c)
{
	return (Ahead *) ((uint8_t *) c->area + OUTLOG_SIZE);
}

bool
runner_client_send_burst(RunnerClient *c, const RunMessage *requests, int count)
{
	uint8_t    *buffer = malloc(AHEAD_BURST_BYTES);
	bool		sent = send_all(c, buffer, message_put_burst(buffer, AHEAD_BURST_BYTES, requests, count));

	free(buffer);
	return sent;
}

bool
runner_client_answer(RunnerClient *c, const ReturnMessage *answer)
{
	size_t		capacity = (size_t) answer->value.length + 256;
	uint8_t    *buffer = malloc(capacity);
	bool		sent = send_all(c, buffer, message_put_return(buffer, capacity, answer));

	free(buffer);
	return sent;
}

RunnerSays
runner_client_listen(RunnerClient *c)
{
	RunnerSays	says = {0};
	FrameReader payload;
	uint8_t		type;

	if (next_frame(c, &type, &payload) &&
		((type == MESSAGE_CALL && message_get_call(&payload, &says.call)) ||
		 (type == MESSAGE_SUSPEND && message_get_suspend(&payload)) ||
		 (type == MESSAGE_DROPPED && message_get_dropped(&payload)) ||
		 (type == MESSAGE_DONE && message_get_done(&payload, &says.done))))
		says.type = type;
	return says;
}

bool
runner_client_receive(RunnerClient *c, DoneMessage *done)
{
	uint8_t		type;
	FrameReader payload;

	if (!next_frame(c, &type, &payload) || type != MESSAGE_DONE)
		return false;
	return message_get_done(&payload, done);
}

bool
runner_client_receive_call(RunnerClient *c, CallMessage *call)
{
	uint8_t		type;
	FrameReader payload;

	if (!next_frame(c, &type, &payload) || type != MESSAGE_CALL)
		return false;
	return message_get_call(&payload, call);
}

char *
runner_client_output(RunnerClient *c, OutlogStream stream, bool *truncated)
{
	OutlogCursor cursor = {0};
	OutlogPiece piece;
	char		buffer[4096];
	char	   *text = calloc(1, 1);
	size_t		length = 0;

	*truncated = false;
	while (outlog_read(c->area, &cursor, buffer, sizeof(buffer), &piece) > 0)
	{
		if (piece.stream != stream)
			continue;
		text = realloc(text, length + piece.length + 1);
		memcpy(text + length, buffer, piece.length);
		length += piece.length;
		text[length] = '\0';
		*truncated |= piece.truncated;
	}
	return text;
}

int
runner_client_end(RunnerClient *c)
{
	int			status = -1;

	if (c->pid > 0)
	{
		kill(c->pid, SIGKILL);
		waitpid(c->pid, &status, 0);
	}
	if (c->socket > 0)
		close(c->socket);
	if (c->area != NULL)
		munmap(c->area, OUTLOG_SIZE + sizeof(Ahead));
	free(c->inbox);
	memset(c, 0, sizeof(*c));
	return status;
}
