/*
 * spawn.h
 *		Starts the runner program.  The only place that starts processes.
 */
#ifndef SANDBOX_EXEC_SPAWN_H
#define SANDBOX_EXEC_SPAWN_H

#include <sys/types.h>

/* what the parent holds of a runner it started */
typedef struct Spawned
{
	pid_t		pid;
	int			socket;			/* non-blocking, close-on-exec; frames go here */
	const void *outlog;			/* OUTLOG_SIZE bytes, mapped read-only */
} Spawned;

/*
 * Start sandbox_exec_runner from the server's library directory with an empty
 * environment, in "/", with its socket and its output area as the only open
 * descriptors, default signal handling and an empty signal mask.  Returns false
 * with errno set when it could not be started, and then holds nothing.
 */
extern bool spawn_runner(Spawned *runner);

/*
 * Kill it (harmless when it is dead already), reap it, release what the parent
 * holds.  Returns its wait status.
 */
extern int	spawn_end(Spawned *runner);

#endif
