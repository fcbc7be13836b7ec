/*
 * lockdown.h
 *		Taking from this process everything that running Lua doesn't need.
 *
 * The zygote gives up what its runners inherit from it: lockdown_begin(), then
 * memory and state, then lockdown_limit().  A runner gives up the rest.  Each
 * function ends the process with the exit code of message.h when it fails.
 */
#ifndef SANDBOX_EXEC_LOCKDOWN_H
#define SANDBOX_EXEC_LOCKDOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Die with the parent (whose pid is given), forget inherited signals and
 * descriptors, be the first to go when memory is short; prepare the filter.
 */
extern void lockdown_begin(pid_t parent, int nice_increment, bool seccomp_required);

/* rlimits, not dumpable; mapped is the address space of the arena */
extern void lockdown_limit(size_t mapped);

/* a fork doesn't inherit it: die with the parent, who may be dead already */
extern void lockdown_die_with(pid_t parent);

/* map the shared output and close its descriptor */
extern void *lockdown_map_output(void);

/*
 * No more processes and descriptors, and the filter of system calls.  Returns
 * whether it is in force, which it always is where it's required.
 */
extern bool lockdown_finish(bool seccomp_required);

#endif
