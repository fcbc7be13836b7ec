/*
 * spawn.h
 *		Starts runners.  The only place that starts processes.
 */
#ifndef SANDBOX_EXEC_SPAWN_H
#define SANDBOX_EXEC_SPAWN_H

#include <sys/types.h>

#include "../protocol/ahead.h"

/* what the parent holds of a runner it started */
typedef struct Spawned
{
	pid_t		pid;
	int			socket;			/* non-blocking, close-on-exec; frames go here */
	const void *outlog;			/* OUTLOG_SIZE bytes, mapped read-only */
	Ahead	   *ahead;
} Spawned;

/*
 * A new runner.  The program is sandbox_exec_runner from the server's library
 * directory, with an empty environment, in "/", with default signal handling and
 * an empty signal mask; the runner's socket and output area are its only open
 * descriptors.  Returns NULL, or else why there is none, and then holds nothing.
 */
extern const char *spawn_runner(Spawned *runner);

/*
 * Kill it (harmless when it is dead already), reap it, release what the parent
 * holds.  Returns its wait status.
 */
extern int	spawn_end(Spawned *runner);

/* what it means that a runner exited with that code */
extern const char *spawn_exit_reason(int code);

/* the next runner is of a program that is started with the settings of then */
extern void spawn_end_zygote(void);

#endif
