/*
 * bound.h
 *		Where a claim may begin to look, instead of at the start of the index.
 *
 * A claimed row leaves its entry in the claim index until vacuum, and vacuum
 * leaves it there as long as any session may still see the row as it was.  Every
 * claim would pass all of those.  So each database has a bound in shared memory:
 * no row before it is claimable.
 *
 * It is raised by a look: open it, then take a snapshot, find the first row that
 * is claimable from the bound on (locked by others or not), and close it.  It is
 * lowered by whatever makes a row claimable, after its commit.  A commit that
 * the look's snapshot didn't see lowers the bound after the look was opened, so
 * while a look is open the lowest of those is kept, and the bound is raised no
 * further.  What nobody announced is found by a look from the very start, which
 * comes each poll_interval, or a little less often where it takes long.
 *
 * For executions that workers claim (runtime lua); others are always looked for
 * from the start, and so is everything where there is no shared memory.
 */
#ifndef SANDBOX_EXEC_BOUND_H
#define SANDBOX_EXEC_BOUND_H

#include "fmgr.h"
#include "shmem.h"

/* before and after every row */
extern const ClaimKey bound_first;
extern const ClaimKey bound_last;

/* is there one for executions of that runtime? */
extern bool bound_covers(const text *runtime);

extern bool bound_precedes(const ClaimKey *a, const ClaimKey *b);

/* a row is claimable again, or newly so; the lock is held */
extern void bound_lower(DatabaseSlot *slot, const ClaimKey *key);

extern Datum look_v1(PG_FUNCTION_ARGS);
extern Datum looked_v1(PG_FUNCTION_ARGS);

#endif
