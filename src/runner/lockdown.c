/*
 * lockdown.c
 *		What the process gives up, and in which order.
 */
#include "lockdown.h"
#include "../protocol/ahead.h"
#include "../protocol/message.h"
#include "../protocol/outlog.h"
#include "../protocol/zygote.h"
#include "seccomp_filter.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* address space for the program, its buffers, the C stack and the output */
#define OTHER_MAPPINGS ((size_t) 48 * 1024 * 1024)

/* what the code prints, and what came of those that were sent ahead */
#define OUTPUT_BYTES (OUTLOG_SIZE + sizeof(Ahead))

/* Lua's C recursion needs under half a megabyte (measured) */
#define STACK_BYTES ((size_t) 4 * 1024 * 1024)

/* There is nobody to tell but the parent, and it only sees the exit code. */
static void
require(bool done)
{
	if (!done)
		_exit(RUNNER_EXIT_SETUP);
}

/* handlers and masks survive exec; a backend's would surprise this program */
static void
reset_signals(void)
{
	sigset_t	none;

	for (int signo = 1; signo <= SIGSYS; signo++)
	{
		/* fails for SIGKILL and SIGSTOP, which is fine */
		(void) signal(signo, SIG_DFL);
	}
	sigemptyset(&none);
	require(sigprocmask(SIG_SETMASK, &none, NULL) == 0);
}

/* everything but the way to the worker; who started it did so, too */
static void
close_descriptors(void)
{
	long		most;

	for (int fd = 0; fd < ZYGOTE_FD; fd++)
		(void) close(fd);
	if (syscall(SYS_close_range, ZYGOTE_FD + 1, ~0U, 0) == 0)
		return;

	/* kernels before 5.9 */
	most = sysconf(_SC_OPEN_MAX);
	for (int fd = ZYGOTE_FD + 1; fd < most; fd++)
		(void) close(fd);
}

/* be the first to go when memory is short; best effort, /proc may be missing */
static void
offer_to_oom_killer(void)
{
	int			fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	(void) !write(fd, "1000", 4);
	(void) close(fd);
}

/* in this order: a parent that dies in between is seen by getppid() */
void
lockdown_die_with(pid_t parent)
{
	require(prctl(PR_SET_PDEATHSIG, SIGKILL) == 0);
	require(getppid() == parent);
}

/* no_new_privs also lets an unprivileged process install its filter */
void
lockdown_begin(pid_t parent, int nice_increment, bool seccomp_required)
{
	lockdown_die_with(parent);
	require(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	reset_signals();
	close_descriptors();
	offer_to_oom_killer();
	(void) !nice(nice_increment);
	if (!seccomp_filter_prepare() && seccomp_required)
		_exit(RUNNER_EXIT_SECCOMP);
}

/* The descriptor goes once it's mapped: no call is left that could use it. */
void *
lockdown_map_output(void)
{
	struct stat st;
	void	   *area;

	/* a shorter file would be SIGBUS later */
	require(fstat(RUNNER_OUTLOG_FD, &st) == 0 && (size_t) st.st_size >= OUTPUT_BYTES);
	area = mmap(NULL, OUTPUT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, RUNNER_OUTLOG_FD, 0);
	require(area != MAP_FAILED);
	require(close(RUNNER_OUTLOG_FD) == 0);
	return area;
}

/* lower soft and hard limit; one that is lower already stays */
static void
limit(int resource, rlim_t value)
{
	struct rlimit lim;

	require(getrlimit((__rlimit_resource_t) resource, &lim) == 0);
	if (lim.rlim_max < value)
		value = lim.rlim_max;
	lim.rlim_cur = value;
	lim.rlim_max = value;
	require(setrlimit((__rlimit_resource_t) resource, &lim) == 0);
}

/* behind the filter these are a second line, and the first without it */
void
lockdown_limit(size_t mapped)
{
	limit(RLIMIT_AS, mapped + OTHER_MAPPINGS);
	limit(RLIMIT_STACK, STACK_BYTES);
	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_FSIZE, 0);
	limit(RLIMIT_MEMLOCK, 0);
	limit(RLIMIT_MSGQUEUE, 0);
	limit(RLIMIT_SIGPENDING, 0);
#ifndef RUNNER_PROBE
	require(prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0);
#endif
}

/*
 * The time stamp counter stays on (PR_SET_TSC): only native code could read it,
 * and where the machine is virtual, switching it with each change of process
 * made a warm round trip 30 us instead of 13.
 */
bool
lockdown_finish(bool seccomp_required)
{
	/* what the zygote needs to make runners */
	limit(RLIMIT_NPROC, 0);
	limit(RLIMIT_NOFILE, 0);
	if (seccomp_filter_install())
		return true;
	if (seccomp_required)
		_exit(RUNNER_EXIT_SECCOMP);
	return false;
}
