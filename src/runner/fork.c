/*
 * fork.c
 *		The zygote: one fork for each runner.
 *
 * Starting a program, building the Lua state and the filter take over a
 * millisecond; a fork of a process that has done so takes a tenth.  As it's
 * linked at fixed addresses, what a runner looks like is the same either way.
 */
#include "fork.h"
#include "../protocol/message.h"
#include "../protocol/zygote.h"

#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* as ps shows them */
#define ZYGOTE_NAME "sandbox_zygote"
#define RUNNER_NAME "sandbox_runner"

/*
 * The runner's parent is ours, the worker: it kills its runners and learns how
 * they ended, and they die with it.
 */
static pid_t
fork_sibling(void)
{
#ifdef __s390__
	return (pid_t) syscall(SYS_clone, NULL, CLONE_PARENT | SIGCHLD, NULL, NULL, 0);
#else
	return (pid_t) syscall(SYS_clone, CLONE_PARENT | SIGCHLD, NULL, NULL, NULL, 0);
#endif
}

/* the socket takes the place of the one to the worker */
static void
take_received(const int received[ZYGOTE_SENT])
{
	if (dup2(received[0], RUNNER_SOCKET_FD) < 0 || dup2(received[1], RUNNER_OUTLOG_FD) < 0)
		_exit(RUNNER_EXIT_SETUP);
	for (int i = 0; i < ZYGOTE_SENT; i++)
	{
		if (received[i] != RUNNER_SOCKET_FD && received[i] != RUNNER_OUTLOG_FD)
			(void) close(received[i]);
	}
}

void
fork_runners(void)
{
	int			received[ZYGOTE_SENT];

	(void) prctl(PR_SET_NAME, ZYGOTE_NAME);
	while (zygote_next(ZYGOTE_FD, received))
	{
		int32_t		answer = fork_sibling();

		if (answer == 0)
		{
			(void) prctl(PR_SET_NAME, RUNNER_NAME);
			take_received(received);
			return;
		}
		if (answer < 0)
			answer = -errno;
		for (int i = 0; i < ZYGOTE_SENT; i++)
			(void) close(received[i]);
		if (write(ZYGOTE_FD, &answer, sizeof(answer)) != sizeof(answer))
			break;
	}
	_exit(0);
}
