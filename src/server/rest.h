/*
 * rest.h
 *		What of a claimed batch has not begun.
 */
#ifndef SANDBOX_EXEC_REST_H
#define SANDBOX_EXEC_REST_H

#include "store.h"

/* the batch as it shrinks from the front */
typedef struct Rest
{
	Claim	   *claims;
	int			next;			/* first that has not begun */
	int			count;
	bool		more;			/* the queue may hold more, and nobody was told */
	bool		shed;			/* some were given back before a call */
	bool		attention;		/* somebody cancelled one of them: which, a renewal tells */
} Rest;

/*
 * Give back a claim whose execution did not begin, or is interrupted by no fault
 * of its own.  What cannot be given back goes back when this worker is gone.
 */
extern void rest_give_back(const Claim *claim);

/* give back what has not begun, but for the first so many */
extern void rest_release(Rest *rest, int keep);

#endif
