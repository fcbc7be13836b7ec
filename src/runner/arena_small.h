/*
 * arena_small.h
 *		Blocks of up to SMALL_MAX bytes, in slabs of one size class each.
 *
 * A slab without live blocks can serve another class, so a program that works
 * in phases doesn't pile up one region for each.  Slabs are carved as they are
 * used: what no block needed was never touched.
 */
#ifndef SANDBOX_EXEC_ARENA_SMALL_H
#define SANDBOX_EXEC_ARENA_SMALL_H

#include <stddef.h>
#include <stdint.h>

#define SMALL_UNIT 16
#define SMALL_MAX 512
#define SMALL_CLASSES (SMALL_MAX / SMALL_UNIT + 1)
#define SLAB_SIZE 8192

typedef struct Slab
{
	struct Slab *next;			/* in the list of its class, or of empty slabs */
	struct Slab *previous;
	void	   *free;			/* freed blocks, each pointing to the next */
	uint32_t	carved;			/* offset of the first block never given out */
	uint16_t	live;			/* blocks in use */
	uint16_t	size;			/* bytes of each block */
} Slab;

typedef struct SmallHeap
{
	uint8_t    *base;			/* aligned to SLAB_SIZE */
	uint8_t    *top;			/* slabs from here on were never used */
	Slab	   *empty;
	Slab	   *partial[SMALL_CLASSES]; /* slabs with room, by class */
} SmallHeap;

/* size classes by size in bytes */
static inline unsigned
small_class(size_t size)
{
	return (unsigned) ((size + SMALL_UNIT - 1) / SMALL_UNIT);
}

/* start over, at base */
extern void small_reset(SmallHeap *heap, void *base);

/* a block of that class (1 to SMALL_CLASSES - 1), or NULL at limit */
extern void *small_alloc(SmallHeap *heap, unsigned class, const uint8_t *limit);
extern void small_free(SmallHeap *heap, void *block);

#endif
