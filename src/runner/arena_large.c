/*
 * arena_large.c
 *		Segregated fits with boundary tags.
 *
 * The block before the top is never free: it would have become part of it.
 */
#include "arena_large.h"

#include <string.h>

#define FLAG_FREE ((size_t) 1)
#define FLAG_BEFORE_FREE ((size_t) 2)	/* the block before this one is free */
#define FLAGS (FLAG_FREE | FLAG_BEFORE_FREE)

#define HEADER sizeof(size_t)
#define ALIGNMENT 16

/* a remainder smaller than this stays with its block */
#define MIN_BLOCK 64

struct LargeBlock
{
	size_t		head;			/* size with header, and flags */
	LargeBlock *next;			/* these two only while free */
	LargeBlock *previous;
};

/* sizes are multiples of 16, which leaves the low bits for flags */
static size_t
size_of(const LargeBlock *block)
{
	return block->head & ~FLAGS;
}

/* also right for the last block: then it is the top */
static LargeBlock *
after(const LargeBlock *block)
{
	return (LargeBlock *) ((uintptr_t) block + size_of(block));
}

/* only where FLAG_BEFORE_FREE is set: the size stands just before the block */
static LargeBlock *
before(const LargeBlock *block)
{
	return (LargeBlock *) ((uintptr_t) block - ((const size_t *) block)[-1]);
}

/* from the address that the caller knows */
static LargeBlock *
block_of(void *memory)
{
	return (LargeBlock *) ((uintptr_t) memory - HEADER);
}

/*
 * The row is the power of two, the column the next three bits: each list
 * holds sizes within an eighth of each other.
 */
static void
place(size_t size, unsigned *row, unsigned *column)
{
	*row = 63 - (unsigned) __builtin_clzll(size);
	*column = (size >> (*row - 3)) & (LARGE_COLUMNS - 1);
}

/*
 * A block without predecessor is the head of its list, and may have been its
 * only block.
 */
static void
unlink_block(LargeHeap *heap, LargeBlock *block)
{
	unsigned	row;
	unsigned	column;

	if (block->next != NULL)
		block->next->previous = block->previous;
	if (block->previous != NULL)
	{
		block->previous->next = block->next;
		return;
	}
	place(size_of(block), &row, &column);
	heap->list[row][column] = block->next;
	if (block->next == NULL)
	{
		heap->columns[row] &= (uint8_t) ~(1u << column);
		if (heap->columns[row] == 0)
			heap->rows &= ~(UINT64_C(1) << row);
	}
}

/* the lists' heads aren't cleared by a reset, so the bit decides */
static void
link_block(LargeHeap *heap, LargeBlock *block)
{
	unsigned	row;
	unsigned	column;
	LargeBlock *head;

	place(size_of(block), &row, &column);
	head = heap->columns[row] & (1u << column) ? heap->list[row][column] : NULL;
	block->previous = NULL;
	block->next = head;
	if (head != NULL)
		head->previous = block;
	heap->list[row][column] = block;
	heap->columns[row] |= (uint8_t) (1u << column);
	heap->rows |= UINT64_C(1) << row;
}

/*
 * A free block of at least that size.  The size is rounded up to the next
 * list's least, so that any block of the list found will do.
 */
static LargeBlock *
find_block(const LargeHeap *heap, size_t size)
{
	unsigned	row;
	unsigned	column;
	unsigned	columns;
	uint64_t	rows;

	place(size, &row, &column);
	size += ((size_t) 1 << (row - 3)) - 1;
	place(size, &row, &column);
	columns = heap->columns[row] & (0xFFu << column);
	if (columns == 0)
	{
		rows = row < 63 ? heap->rows & (~UINT64_C(0) << (row + 1)) : 0;
		if (rows == 0)
			return NULL;
		row = (unsigned) __builtin_ctzll(rows);
		columns = heap->columns[row];
	}
	return heap->list[row][__builtin_ctz(columns)];
}

/* give back a block, none of whose neighbours counts on it any more */
static void
release(LargeHeap *heap, LargeBlock *block)
{
	LargeBlock *next = after(block);

	if (block->head & FLAG_BEFORE_FREE)
	{
		LargeBlock *previous = before(block);

		unlink_block(heap, previous);
		previous->head += size_of(block);
		block = previous;
	}
	if (next != heap->top && (next->head & FLAG_FREE))
	{
		unlink_block(heap, next);
		block->head += size_of(next);
		next = after(block);
	}
	if (next == heap->top)
	{
		heap->top = block;
		return;
	}
	block->head |= FLAG_FREE;
	((size_t *) next)[-1] = size_of(block);
	next->head |= FLAG_BEFORE_FREE;
	link_block(heap, block);
}

/* a block in use gives up what it has beyond size */
static void
split(LargeHeap *heap, LargeBlock *block, size_t size)
{
	size_t		rest = size_of(block) - size;
	LargeBlock *tail;

	if (rest < MIN_BLOCK)
		return;
	block->head -= rest;
	tail = after(block);
	tail->head = rest;
	release(heap, tail);
}

/* bytes that a block for that many bytes takes, or 0 when it's beyond all */
static size_t
block_size(size_t size)
{
	if (size > (size_t) 1 << (LARGE_ROWS - 2))
		return 0;
	return (size + HEADER + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/*
 * Only the bits are cleared; 2.5 kB of list heads would add a tenth to the
 * work of putting back the whole state.
 */
void
large_reset(LargeHeap *heap, void *base)
{
	/* headers lie just before aligned memory */
	heap->top = (LargeBlock *) ((uintptr_t) base + ALIGNMENT - HEADER);
	heap->rows = 0;
	memset(heap->columns, 0, sizeof(heap->columns));
}

/*
 * A free block first, however far down: that keeps the touched memory small,
 * which decides whether the process can be kept.
 */
void *
large_alloc(LargeHeap *heap, size_t size, const uint8_t *limit)
{
	size_t		need = block_size(size);
	LargeBlock *block;

	if (need == 0)
		return NULL;
	block = find_block(heap, need);
	if (block != NULL)
	{
		unlink_block(heap, block);
		block->head &= ~FLAG_FREE;
		after(block)->head &= ~FLAG_BEFORE_FREE;
		split(heap, block, need);
	}
	else
	{
		block = heap->top;
		if ((uintptr_t) block + need > (uintptr_t) limit)
			return NULL;
		heap->top = (LargeBlock *) ((uintptr_t) block + need);
		block->head = need;
	}
	return (uint8_t *) block + HEADER;
}

/* merges at once, so no two free blocks ever lie side by side */
void
large_free(LargeHeap *heap, void *memory)
{
	release(heap, block_of(memory));
}

/*
 * A growing table's array is mostly the last block, and then only the top
 * moves.
 */
bool
large_resize(LargeHeap *heap, void *memory, size_t size, const uint8_t *limit)
{
	LargeBlock *block = block_of(memory);
	LargeBlock *next = after(block);
	size_t		need = block_size(size);
	size_t		have = size_of(block);

	if (need == 0)
		return false;
	if (need > have)
	{
		if (next == heap->top)
		{
			if ((uintptr_t) block + need > (uintptr_t) limit)
				return false;
			heap->top = (LargeBlock *) ((uintptr_t) block + need);
			block->head += need - have;
			return true;
		}
		if (!(next->head & FLAG_FREE) || have + size_of(next) < need)
			return false;
		unlink_block(heap, next);
		block->head += size_of(next);
		after(block)->head &= ~FLAG_BEFORE_FREE;
	}
	split(heap, block, need);
	return true;
}
