/*
 * arena_large.h
 *		Blocks of more than SMALL_MAX bytes: segregated fits with immediate
 *		coalescing, and a top that blocks grow into.
 *
 * Every block starts with a word that holds its size and two flags; a free
 * block also ends with its size, so that both neighbours can be merged in
 * constant time.  Free blocks hang in lists by size, eight for each doubling.
 */
#ifndef SANDBOX_EXEC_ARENA_LARGE_H
#define SANDBOX_EXEC_ARENA_LARGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LARGE_ROWS 40			/* doublings */
#define LARGE_COLUMNS 8			/* lists in each */

typedef struct LargeBlock LargeBlock;

typedef struct LargeHeap
{
	LargeBlock *top;			/* never used, or given back, from here on */
	uint64_t	rows;			/* bit: some list of the row isn't empty */
	uint8_t		columns[LARGE_ROWS];	/* bit: the list isn't empty */
	LargeBlock *list[LARGE_ROWS][LARGE_COLUMNS];	/* valid where its bit is set */
} LargeHeap;

/* start over, at base (aligned to 16) */
extern void large_reset(LargeHeap *heap, void *base);

/* a block of that many bytes, aligned to 16, or NULL at limit */
extern void *large_alloc(LargeHeap *heap, size_t size, const uint8_t *limit);
extern void large_free(LargeHeap *heap, void *memory);

/* resize in place; false when there is no room for that */
extern bool large_resize(LargeHeap *heap, void *memory, size_t size, const uint8_t *limit);

#endif
