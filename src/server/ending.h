/*
 * ending.h
 *		How one execution ends: what the runner said, or died of, becomes the
 *		outcome, and the runner is kept or killed.
 */
#ifndef SANDBOX_EXEC_ENDING_H
#define SANDBOX_EXEC_ENDING_H

#include "output.h"
#include "sandbox.h"
#include "store.h"

/* one execution at work */
typedef struct Run
{
	const Claim *claim;
	Sandbox    *sandbox;		/* gone after any of the functions below */
	Output		output;
	bool		waits;			/* it was told that a call is pending */
} Run;

/* the runner said DONE; quiet: the code printed nothing */
extern void ending_done(Run *run, const DoneMessage *done, bool quiet);

/* the runner said SUSPEND: all that the code waits for is pending */
extern void ending_suspend(Run *run);

/* its time was over */
extern void ending_timeout(Run *run);

/* somebody cancelled it */
extern void ending_cancel(Run *run);

/*
 * The runner is dead.  False when it had not got as far as to run code: then
 * nothing is recorded, health says why, and the claim is still held.
 */
extern bool ending_death(Run *run);

/* this attempt could not go on, by no fault of the code; another one may */
extern void ending_failed(Run *run, const char *reason);

/* it made another call than an earlier attempt; the reason names both */
extern void ending_diverged(Run *run, const char *reason);

/* the runner did what the code cannot make it do */
extern void ending_forged(Run *run);

/* it cannot be run at all */
extern void ending_reject(const Claim *claim, const char *code, const char *message);

#endif
