/*
 * seccomp_filter.h
 *		The allow-list of system calls.
 */
#ifndef SANDBOX_EXEC_SECCOMP_FILTER_H
#define SANDBOX_EXEC_SECCOMP_FILTER_H

#include <stdbool.h>

/* make it, for all runners; false where libseccomp can't */
extern bool seccomp_filter_prepare(void);

/*
 * From now on: read and write on the runner's socket, and exit_group.  Anything
 * else kills the process.  False where the kernel doesn't take the filter.
 */
extern bool seccomp_filter_install(void);

#endif
