/*
 * rest.c
 *		Claims that are given back.
 */
#include "postgres.h"

#include "rest.h"
#include "slot.h"

static void
give_back(const Claim *const *claims, int count)
{
	if (!store_release(claims, count))
		slot_leave();
}

void
rest_give_back(const Claim *claim)
{
	give_back(&claim, 1);
}

void
rest_release(Rest *rest, int keep)
{
	int			first = rest->next + keep;
	int			count = rest->count - first;
	const Claim **claims;
	int			i;

	if (count <= 0)
		return;
	claims = palloc(sizeof(Claim *) * count);
	for (i = 0; i < count; i++)
		claims[i] = &rest->claims[first + i];
	give_back(claims, count);
	rest->count = first;
	pfree(claims);
}
