/*
 * lockdown.h
 *		Taking from this process everything that running Lua doesn't need.
 *
 * Two steps, since preparing memory needs a few system calls more:
 * lockdown_begin(), then maps and state, then lockdown_finish().  Each function
 * ends the process with the exit code of message.h when it fails.
 */
#ifndef SANDBOX_EXEC_LOCKDOWN_H
#define SANDBOX_EXEC_LOCKDOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Die with the parent (whose pid is given, in case it's dead already), forget
 * inherited signals and descriptors, be the first to go when memory is short.
 */
extern void lockdown_begin(pid_t parent, int nice_increment);

/* map the shared output and close its descriptor */
extern void *lockdown_map_output(void);

/*
 * rlimits, not dumpable, and the filter of system calls.
 * mapped is the address space of the arena.  Returns whether the filter is in
 * force, which it always is where it's required.
 */
extern bool lockdown_finish(size_t mapped, bool seccomp_required);

#endif
