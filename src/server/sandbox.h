/*
 * sandbox.h
 *		One runner at work: acquire, run, wait, give back or end.
 *
 * A runner serves one trust domain (submitter, owner) for its whole life.  One
 * that is given back whole is kept for the next execution of the same domain,
 * a few of different domains beside one another; one that was killed, misbehaved or
 * grew large is not.
 */
#ifndef SANDBOX_EXEC_SANDBOX_H
#define SANDBOX_EXEC_SANDBOX_H

#include "burst.h"
#include "../protocol/outlog.h"

typedef struct Sandbox Sandbox;

typedef enum SandboxResult
{
	SANDBOX_WOKEN,				/* the latch was set, or the time is over */
	SANDBOX_CALL,				/* the code waits for the answer to a call */
	SANDBOX_SUSPEND,			/* the code waits for answers that will come to a later attempt */
	SANDBOX_DONE,				/* the code ended */
	SANDBOX_DROPPED,			/* the code, sent ahead, did not begin: send it again */
	SANDBOX_DEAD				/* the runner is gone or cannot be trusted */
} SandboxResult;

/* what the runner said; texts are valid until the next wait */
typedef struct SandboxMessage
{
	CallMessage call;			/* at SANDBOX_CALL */
	DoneMessage done;			/* at SANDBOX_DONE */
	bool		quiet;			/* and it printed nothing; another one may be at work */
} SandboxMessage;

/* why a runner is gone */
typedef struct SandboxDeath
{
	bool		never_started;	/* it did not get as far as to run code */
	const char *error_code;		/* design, section 4: runner_crash, ... */
	char		message[256];
} SandboxDeath;

/*
 * The runner of that domain, kept or new.  NULL with a reason (static or
 * pallocated) when it could not be started.
 */
extern Sandbox *sandbox_acquire(Oid submitter, const char *owner, const char **reason);

/*
 * Hand it an execution, and more of the same domain to go on with when that is
 * done.  Each that ended without a word from here, and was not the last, makes
 * the next one the current.
 */
extern void sandbox_run(Sandbox *sandbox, const RunMessage *runs, int count);

/* those that it holds */
extern Burst *sandbox_burst(Sandbox *sandbox);

/*
 * Wait until it calls, is done, is dead, the latch is set, or timeout_ms have
 * passed; a timeout of 0 only looks.  The latch is left set.
 */
extern SandboxResult sandbox_wait(Sandbox *sandbox, long timeout_ms, SandboxMessage *message);

/* answer its call */
extern void sandbox_answer(Sandbox *sandbox, const ReturnMessage *answer);

/* the shared output area of the current execution */
extern const void *sandbox_output(const Sandbox *sandbox);

/* "Lua 5.4.9", as the runner said; empty before it is ready */
extern const char *sandbox_runtime_version(const Sandbox *sandbox);

/* keep it for the next execution of its domain, which it may hold already */
extern void sandbox_keep(Sandbox *sandbox);

/* kill it and say what it died of, if it had died before */
extern void sandbox_end(Sandbox *sandbox, SandboxDeath *death);

/* kill the one that holds executions still, if there is one: they are somebody else's */
extern void sandbox_take_back(void);

/* kill those that are kept, but for the last used ones */
extern void sandbox_keep_at_most(int count);

/* settings changed: nothing that was started with the old ones is used again */
extern void sandbox_start_afresh(void);

#endif
