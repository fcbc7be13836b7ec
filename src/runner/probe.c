/*
 * probe.c
 *		A global probe(name) that really tries what the sandbox forbids.
 *
 * Only in the runner of the tests.  Where the sandbox holds, the process dies
 * and probe() never returns; else it returns what the call came to.
 */
#include "libraries.h"

#include "lauxlib.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* read a file */
static long
try_open(void)
{
	return syscall(SYS_openat, AT_FDCWD, "/etc/passwd", O_RDONLY, 0);
}

/* reach the network */
static long
try_socket(void)
{
	return syscall(SYS_socket, AF_INET, SOCK_STREAM, 0);
}

/* as fork() would; a child that should come to be ends at once */
static long
try_fork(void)
{
	long		pid = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

	if (pid == 0)
		_exit(0);
	return pid;
}

/* signal the worker (with 0, which does nothing even where it succeeds) */
static long
try_kill(void)
{
	return syscall(SYS_kill, getppid(), 0);
}

/* have to do with other processes */
static long
try_ptrace(void)
{
	return syscall(SYS_ptrace, PTRACE_TRACEME, 0, 0, 0);
}

/* become another program */
static long
try_execve(void)
{
	static char *const arguments[] = {"/bin/true", NULL};

	return syscall(SYS_execve, arguments[0], arguments, NULL);
}

/* get memory for machine code */
static long
try_mmap_exec(void)
{
	return syscall(SYS_mmap, 0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static const struct
{
	const char *name;
	long (*attempt)(void);
} attempts[] = {
	{"open", try_open},
	{"socket", try_socket},
	{"fork", try_fork},
	{"kill", try_kill},
	{"ptrace", try_ptrace},
	{"execve", try_execve},
	{"mmap_exec", try_mmap_exec},
};

/* By raw system calls: libc might refuse for reasons of its own. */
static int
probe(lua_State *L)
{
	const char *name = luaL_checkstring(L, 1);

	for (size_t i = 0; i < sizeof(attempts) / sizeof(attempts[0]); i++)
	{
		long		came_to;

		if (strcmp(attempts[i].name, name) != 0)
			continue;
		errno = 0;
		came_to = attempts[i].attempt();
		lua_pushfstring(L, "%I (errno %d)", (lua_Integer) came_to, errno);
		return 1;
	}
	return luaL_argerror(L, 1, "unknown attempt");
}

/* into the globals, which are on top */
void
probe_library(lua_State *L)
{
	lua_pushcfunction(L, probe);
	lua_setfield(L, -2, "probe");
}
