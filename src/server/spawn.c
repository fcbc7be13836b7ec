/*
 * spawn.c
 *		Starts the runner program, once for many runners.
 *
 * A server process has open table files, WAL segments, the log, and sockets,
 * and not all of them are close-on-exec in every version.  So the program is
 * started by posix_spawn (no copy of a large address space), which closes
 * everything above its own descriptor before exec, and the program does so again.
 * It stays as the zygote of this worker's runners (protocol/zygote.h).
 */
#include "postgres.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guc.h"
#include "miscadmin.h"
#include "spawn.h"
#include "../protocol/message.h"
#include "../protocol/outlog.h"
#include "../protocol/zygote.h"

/* above every descriptor that the child's own ones are moved to */
#define PARENT_FD_FLOOR 16

/* a zygote that takes longer to fork is given up */
#define ANSWER_TIMEOUT_S 30

#define SPAWN_FLAGS (POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID)

/* this worker's; pid 0: there is none */
static struct
{
	pid_t		pid;
	int			socket;
} zygote;

/* --------------------------------------------------------------- descriptors */

/* replace a descriptor by one that cannot collide with the child's numbers */
static int
move_up(int fd)
{
	int			moved = fcntl(fd, F_DUPFD_CLOEXEC, PARENT_FD_FLOOR);

	close(fd);
	return moved;
}

static void
unmap_output(Spawned *runner)
{
	munmap(unconstify(void *, runner->outlog), OUTLOG_SIZE);
	munmap(runner->ahead, sizeof(Ahead));
}

/* what the runner prints is for it to write alone */
static bool
map_output(Spawned *runner, int fd)
{
	void	   *outlog = mmap(NULL, OUTLOG_SIZE, PROT_READ, MAP_SHARED, fd, 0);
	void	   *ahead = mmap(NULL, sizeof(Ahead), PROT_READ | PROT_WRITE, MAP_SHARED,
							 fd, OUTLOG_SIZE);

	runner->outlog = outlog;
	runner->ahead = ahead;
	if (outlog != MAP_FAILED && ahead != MAP_FAILED)
		return true;
	if (outlog != MAP_FAILED)
		munmap(outlog, OUTLOG_SIZE);
	if (ahead != MAP_FAILED)
		munmap(ahead, sizeof(Ahead));
	return false;
}

/*
 * Memory for the output, sealed: whoever holds the descriptor can neither
 * shrink it under the reader (SIGBUS) nor grow it.
 */
static int
make_output(Spawned *runner)
{
	int			fd = memfd_create("sandbox_exec output", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		return -1;
	fd = move_up(fd);
	if (fd < 0)
		return -1;
	if (ftruncate(fd, OUTLOG_SIZE + sizeof(Ahead)) == 0 &&
		fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0 &&
		map_output(runner, fd))
		return fd;
	close(fd);
	return -1;
}

static bool
make_socket(int *ours, int *theirs)
{
	int			pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
		return false;
	*ours = pair[0];
	*theirs = move_up(pair[1]);
	if (*theirs >= 0)
		return true;
	close(*ours);
	return false;
}

/* --------------------------------------------------------------- the program */

/* the order matters: the numbers are taken before the rest is closed */
static int
add_file_actions(posix_spawn_file_actions_t *actions, int socket)
{
	int			rc = posix_spawn_file_actions_adddup2(actions, socket, ZYGOTE_FD);
	int			fd;

	for (fd = 0; fd < ZYGOTE_FD && rc == 0; fd++)
		rc = posix_spawn_file_actions_addclose(actions, fd);
	if (rc == 0)
		rc = posix_spawn_file_actions_addclosefrom_np(actions, ZYGOTE_FD + 1);
	if (rc == 0)
		rc = posix_spawn_file_actions_addchdir_np(actions, "/");
	return rc;
}

/* PostgreSQL blocks and ignores signals; both would survive exec */
static int
set_attributes(posix_spawnattr_t *attributes)
{
	sigset_t	none;
	sigset_t	all;
	int			rc;

	sigemptyset(&none);
	sigfillset(&all);
	rc = posix_spawnattr_setsigmask(attributes, &none);
	if (rc == 0)
		rc = posix_spawnattr_setsigdefault(attributes, &all);
	if (rc == 0)
		rc = posix_spawnattr_setflags(attributes, SPAWN_FLAGS);
	return rc;
}

static int
exec_program(pid_t *pid, posix_spawn_file_actions_t *actions, posix_spawnattr_t *attributes)
{
	char		path[MAXPGPATH];
	char		protocol[16];
	char		parent[16];
	char		nice[16];
	char		memory[16];
	char	   *argv[RUNNER_ARGC + 1];
	char	   *environment[1] = {NULL};

	snprintf(path, sizeof(path), "%s/sandbox_exec_runner", pkglib_path);
	snprintf(protocol, sizeof(protocol), "%d", PROTOCOL_VERSION);
	snprintf(parent, sizeof(parent), "%d", (int) getpid());
	snprintf(nice, sizeof(nice), "%d", guc_runner_nice);
	snprintf(memory, sizeof(memory), "%d", guc_memory_limit);
	argv[0] = "sandbox_exec_runner";
	argv[1] = protocol;
	argv[2] = SANDBOX_EXEC_VERSION;
	argv[3] = parent;
	argv[4] = nice;
	argv[5] = memory;
	argv[6] = guc_require_seccomp ? "1" : "0";
	argv[7] = NULL;
	return posix_spawn(pid, path, actions, attributes, argv, environment);
}

/* returns 0 or an errno */
static int
start_program(pid_t *pid, int socket)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int			rc = posix_spawn_file_actions_init(&actions);

	if (rc != 0)
		return rc;
	rc = posix_spawnattr_init(&attributes);
	if (rc == 0)
	{
		rc = add_file_actions(&actions, socket);
		if (rc == 0)
			rc = set_attributes(&attributes);
		if (rc == 0)
			rc = exec_program(pid, &actions, &attributes);
		posix_spawnattr_destroy(&attributes);
	}
	posix_spawn_file_actions_destroy(&actions);
	return rc;
}

static const char *
why_not(int rc)
{
	errno = rc;
	return psprintf("could not start \"%s/sandbox_exec_runner\": %m", pkglib_path);
}

const char *
spawn_exit_reason(int code)
{
	switch (code)
	{
		case RUNNER_EXIT_USAGE:
			return "the installed sandbox_exec_runner is of another version than the library";
		case RUNNER_EXIT_SECCOMP:
			return "the runner could not install its seccomp filter";
		case RUNNER_EXIT_SETUP:
			return "the runner could not set up its memory and limits";
		default:
			return psprintf("the runner exited with code %d", code);
	}
}

/* ---------------------------------------------------------------- the zygote */

/* kill it (harmless when it is dead already) and reap it: its wait status */
static int
end_process(pid_t pid)
{
	int			status = 0;

	kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

void
spawn_end_zygote(void)
{
	if (zygote.pid == 0)
		return;
	close(zygote.socket);
	end_process(zygote.pid);
	zygote.pid = 0;
}

/* returns 0 or an errno */
static int
start_zygote(void)
{
	struct timeval timeout = {.tv_sec = ANSWER_TIMEOUT_S};
	int			theirs;
	int			rc;

	if (!make_socket(&zygote.socket, &theirs))
		return errno;
	rc = setsockopt(zygote.socket, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout)) == 0 ?
		start_program(&zygote.pid, theirs) :
		errno;
	close(theirs);
	if (rc != 0)
	{
		close(zygote.socket);
		zygote.pid = 0;
	}
	return rc;
}

/*
 * Ask for a runner.  Returns 0 or an errno, which is EPIPE when the zygote ended.
 */
static int
ask_zygote(pid_t *pid, const int sent[ZYGOTE_SENT])
{
	int32		answer;
	ssize_t		n;

	if (!zygote_ask(zygote.socket, sent))
		return errno;
	do
		n = recv(zygote.socket, &answer, sizeof(answer), MSG_WAITALL);
	while (n < 0 && errno == EINTR);
	if (n < 0 && errno != ECONNRESET)
		return errno == EAGAIN ? ETIMEDOUT : errno;
	if (n != sizeof(answer))
		return EPIPE;
	if (answer < 0)
		return -answer;
	*pid = answer;
	return 0;
}

/* why the zygote ended by itself, which it has: a palloc'd text */
static const char *
zygote_reason(void)
{
	int			status;
	pid_t		pid = zygote.pid;

	close(zygote.socket);
	zygote.pid = 0;
	while (waitpid(pid, &status, 0) < 0)
	{
		if (errno != EINTR)
			return "the runner program is gone";
	}
	if (WIFSIGNALED(status))
		return psprintf("the runner program was ended by signal %d", WTERMSIG(status));
	return spawn_exit_reason(WEXITSTATUS(status));
}

/* --------------------------------------------------------------- the runners */

/*
 * From the zygote that is there, or else from a new one: one that was there may
 * have been killed.  Returns NULL or the reason.
 */
static const char *
fork_runner(pid_t *pid, const int sent[ZYGOTE_SENT])
{
	for (;;)
	{
		bool		fresh = zygote.pid == 0;
		const char *reason = NULL;
		int			rc = fresh ? start_zygote() : 0;

		if (rc == 0)
			rc = ask_zygote(pid, sent);
		if (rc == 0)
			return NULL;
		if (rc == EPIPE && zygote.pid != 0)
			reason = zygote_reason();
		spawn_end_zygote();
		if (fresh)
			return reason != NULL ? reason : why_not(rc);
	}
}

const char *
spawn_runner(Spawned *runner)
{
	int			sent[ZYGOTE_SENT];
	const char *reason;

	if (!make_socket(&runner->socket, &sent[0]))
		return why_not(errno);
	sent[1] = make_output(runner);
	if (sent[1] < 0)
	{
		reason = why_not(errno);
		close(runner->socket);
		close(sent[0]);
		return reason;
	}
	reason = fcntl(runner->socket, F_SETFL, O_NONBLOCK) == 0 ?
		fork_runner(&runner->pid, sent) :
		why_not(errno);
	close(sent[0]);
	close(sent[1]);
	if (reason != NULL)
	{
		close(runner->socket);
		unmap_output(runner);
	}
	return reason;
}

int
spawn_end(Spawned *runner)
{
	int			status = end_process(runner->pid);

	close(runner->socket);
	unmap_output(runner);
	return status;
}
