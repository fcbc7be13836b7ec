/*
 * spawn.c
 *		Starts the runner program.
 *
 * A server process has open table files, WAL segments, the log, and sockets,
 * and not all of them are close-on-exec in every version.  So the child is made
 * by posix_spawn (no copy of a large address space), closes everything above
 * its own descriptors before exec, and the program does so again.
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

/* above every descriptor that the child's own ones are moved to */
#define PARENT_FD_FLOOR 16

#define SPAWN_FLAGS (POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID)

/* replace a descriptor by one that cannot collide with the child's numbers */
static int
move_up(int fd)
{
	int			moved = fcntl(fd, F_DUPFD_CLOEXEC, PARENT_FD_FLOOR);

	close(fd);
	return moved;
}

/*
 * Memory for the output, sealed: whoever holds the descriptor can neither
 * shrink it under the reader (SIGBUS) nor grow it.
 */
static int
make_outlog(const void **mapped)
{
	int			fd = memfd_create("sandbox_exec output", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	void	   *area;

	if (fd < 0)
		return -1;
	fd = move_up(fd);
	if (fd < 0)
		return -1;
	if (ftruncate(fd, OUTLOG_SIZE) == 0 &&
		fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
	{
		area = mmap(NULL, OUTLOG_SIZE, PROT_READ, MAP_SHARED, fd, 0);
		if (area != MAP_FAILED)
		{
			*mapped = area;
			return fd;
		}
	}
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
	if (*theirs >= 0 && fcntl(*ours, F_SETFL, O_NONBLOCK) == 0)
		return true;
	close(*ours);
	if (*theirs >= 0)
		close(*theirs);
	return false;
}

/* the order matters: the numbers are taken before the rest is closed */
static int
add_file_actions(posix_spawn_file_actions_t *actions, int socket, int outlog)
{
	int			rc = posix_spawn_file_actions_adddup2(actions, socket, RUNNER_SOCKET_FD);
	int			fd;

	if (rc == 0)
		rc = posix_spawn_file_actions_adddup2(actions, outlog, RUNNER_OUTLOG_FD);
	for (fd = 0; fd < RUNNER_SOCKET_FD && rc == 0; fd++)
		rc = posix_spawn_file_actions_addclose(actions, fd);
	if (rc == 0)
		rc = posix_spawn_file_actions_addclosefrom_np(actions, RUNNER_OUTLOG_FD + 1);
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
exec_runner(pid_t *pid, posix_spawn_file_actions_t *actions, posix_spawnattr_t *attributes)
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
start_program(pid_t *pid, int socket, int outlog)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int			rc = posix_spawn_file_actions_init(&actions);

	if (rc != 0)
		return rc;
	rc = posix_spawnattr_init(&attributes);
	if (rc == 0)
	{
		rc = add_file_actions(&actions, socket, outlog);
		if (rc == 0)
			rc = set_attributes(&attributes);
		if (rc == 0)
			rc = exec_runner(pid, &actions, &attributes);
		posix_spawnattr_destroy(&attributes);
	}
	posix_spawn_file_actions_destroy(&actions);
	return rc;
}

bool
spawn_runner(Spawned *runner)
{
	int			theirs;
	int			outlog;
	int			rc;

	if (!make_socket(&runner->socket, &theirs))
		return false;
	outlog = make_outlog(&runner->outlog);
	if (outlog < 0)
	{
		rc = errno;
		close(runner->socket);
		close(theirs);
		errno = rc;
		return false;
	}
	rc = start_program(&runner->pid, theirs, outlog);
	close(theirs);
	close(outlog);
	if (rc == 0)
		return true;
	close(runner->socket);
	munmap(unconstify(void *, runner->outlog), OUTLOG_SIZE);
	errno = rc;
	return false;
}

int
spawn_end(Spawned *runner)
{
	int			status = 0;

	kill(runner->pid, SIGKILL);
	while (waitpid(runner->pid, &status, 0) < 0 && errno == EINTR)
		;
	close(runner->socket);
	munmap(unconstify(void *, runner->outlog), OUTLOG_SIZE);
	return status;
}
