/*
 * fork.h
 *		From the program as it was started to a runner of its own.
 */
#ifndef SANDBOX_EXEC_FORK_H
#define SANDBOX_EXEC_FORK_H

/*
 * Fork a runner for each request of the worker; returns in every new runner,
 * whose descriptors are then RUNNER_SOCKET_FD and RUNNER_OUTLOG_FD.  The zygote
 * itself stays inside until the worker's end of the socket is closed.
 */
extern void fork_runners(void);

#endif
