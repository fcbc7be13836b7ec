/*
 * arena_small.c
 *		Slabs.
 *
 * A slab is in its class's list exactly while it has room.  Its header is found
 * from a block's address, since slabs are aligned.
 */
#include "arena_small.h"

#include <string.h>

/* slabs are aligned to their size, which is a power of two */
static Slab *
slab_of(void *block)
{
	return (Slab *) ((uintptr_t) block & ~(uintptr_t) (SLAB_SIZE - 1));
}

/* a freed block, or one that was never given out */
static int
has_room(const Slab *slab)
{
	return slab->free != NULL || slab->carved + slab->size <= SLAB_SIZE;
}

/* at the front: what was used last is in the cache */
static void
link_slab(SmallHeap *heap, Slab *slab)
{
	Slab	  **head = &heap->partial[slab->size / SMALL_UNIT];

	slab->previous = NULL;
	slab->next = *head;
	if (*head != NULL)
		(*head)->previous = slab;
	*head = slab;
}

/* when it's full, or when it's given back */
static void
unlink_slab(SmallHeap *heap, Slab *slab)
{
	if (slab->previous != NULL)
		slab->previous->next = slab->next;
	else
		heap->partial[slab->size / SMALL_UNIT] = slab->next;
	if (slab->next != NULL)
		slab->next->previous = slab->previous;
}

/* slabs of the last run are simply forgotten */
void
small_reset(SmallHeap *heap, void *base)
{
	memset(heap, 0, sizeof(*heap));
	heap->base = base;
	heap->top = base;
}

/* a slab for that class: an empty one, else the next never used */
static Slab *
new_slab(SmallHeap *heap, unsigned class, const uint8_t *limit)
{
	Slab	   *slab = heap->empty;

	if (slab != NULL)
		heap->empty = slab->next;
	else
	{
		if (heap->top + SLAB_SIZE > limit)
			return NULL;
		slab = (Slab *) heap->top;
		heap->top += SLAB_SIZE;
	}
	slab->free = NULL;
	slab->carved = (sizeof(Slab) + SMALL_UNIT - 1) / SMALL_UNIT * SMALL_UNIT;
	slab->live = 0;
	slab->size = (uint16_t) (class * SMALL_UNIT);
	link_slab(heap, slab);
	return slab;
}

/* A freed block before a fresh one, for the same reason. */
void *
small_alloc(SmallHeap *heap, unsigned class, const uint8_t *limit)
{
	Slab	   *slab = heap->partial[class];
	void	   *block;

	if (slab == NULL)
	{
		slab = new_slab(heap, class, limit);
		if (slab == NULL)
			return NULL;
	}
	block = slab->free;
	if (block != NULL)
		slab->free = *(void **) block;
	else
	{
		block = (uint8_t *) slab + slab->carved;
		slab->carved += slab->size;
	}
	slab->live++;
	if (!has_room(slab))
		unlink_slab(heap, slab);
	return block;
}

/*
 * A slab that was full isn't in any list: the first block that comes back
 * puts it there.
 */
void
small_free(SmallHeap *heap, void *block)
{
	Slab	   *slab = slab_of(block);

	if (!has_room(slab))
		link_slab(heap, slab);
	*(void **) block = slab->free;
	slab->free = block;

	/* the last slab of a class stays: else one block could toss it to and fro */
	if (--slab->live == 0 && (slab->next != NULL || slab->previous != NULL))
	{
		unlink_slab(heap, slab);
		slab->next = heap->empty;
		heap->empty = slab;
	}
}
