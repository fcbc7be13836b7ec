/*
 * arena.c
 *		Accounting, the image of the prepared state, and who serves which block.
 *
 * Sizes follow Lua's contract: it names a block's size when it frees or
 * resizes it, so small blocks need no header.
 *
 * Near the limit Lua must collect before it hits it, since hitting it is final.
 * Two watermarks keep that out of the way of ordinary allocations: only when
 * use leaves the range between them is anything decided.
 */
#include "arena.h"
#include "arena_large.h"
#include "arena_small.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

/* below 2^38, so that kernels with 39-bit addresses can map it, too */
#define ARENA_BASE UINT64_C(0x1000000000)
#define IMAGE_MAX ((size_t) 512 * 1024)
#define REGION_SLACK ((size_t) 1024 * 1024)

#define unlikely(x) __builtin_expect((x) != 0, 0)

typedef struct Arena
{
	ArenaHandlers handlers;
	uint8_t    *image;			/* the region; blocks in it end at image_end */
	uint8_t    *image_end;
	void	   *image_copy;
	bool		sealed;
	bool		pristine;		/* the image is as it was sealed: nothing ran yet */
	void	   *reuse[SMALL_CLASSES];	/* freed blocks while preparing */

	size_t		region_size;	/* of the small and of the large region */
	uint8_t    *small_base;
	uint8_t    *large_base;
	SmallHeap	small;
	LargeHeap	large;
	uint8_t    *large_high;		/* where the large top has been in this run */
	const uint8_t *small_limit; /* both together hold the touched memory to */
	const uint8_t *large_limit; /* the budget */
	size_t		budget;
	size_t		touched;		/* greatest use of both regions in any run */

	size_t		used;			/* bytes that Lua holds */
	size_t		baseline;		/* of these, the prepared state's */
	size_t		limit;			/* beyond the baseline */
	size_t		watch_high;		/* use above this: pressure or the end */
	size_t		watch_low;		/* use below this: pressure may end */
} Arena;

static Arena arena;

/*
 * MAP_FIXED_NOREPLACE: an address that is taken is a failure, never a mapping
 * lost.  MAP_NORESERVE: address space for the worst case costs nothing until
 * it is touched.
 */
bool
arena_create(size_t max_limit, const ArenaHandlers *handlers)
{
	void	   *base;

	arena.handlers = *handlers;
	arena.region_size = (2 * max_limit + REGION_SLACK + SLAB_SIZE - 1) / SLAB_SIZE * SLAB_SIZE;
	base = mmap((void *) ARENA_BASE, arena_mapped(), PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
	if (base != (void *) ARENA_BASE)
		return false;
	/* huge pages would make every idle runner hold megabytes; best effort */
	(void) madvise(base, arena_mapped(), MADV_NOHUGEPAGE);

	arena.image = base;
	arena.image_end = base;
	arena.small_base = arena.image + IMAGE_MAX;
	arena.large_base = arena.small_base + arena.region_size;
	arena.watch_high = SIZE_MAX;
	return true;
}

/* small and large region are equally large: each could be all of a program */
size_t
arena_mapped(void)
{
	return IMAGE_MAX + 2 * arena.region_size;
}

/* ------------------------------------------------------------------------
 * Accounting
 * ------------------------------------------------------------------------ */

/* where pressure begins: three quarters of the limit */
static size_t
pressure_mark(void)
{
	return arena.baseline + arena.limit / 4 * 3;
}

/* use beyond this is over the limit */
static size_t
hard_mark(void)
{
	return arena.baseline + arena.limit;
}

/* pressure again after some more growth beyond low, in steps of 1/32 */
static void
watch_from(size_t low)
{
	size_t		high = low + arena.limit / 32;

	if (high < pressure_mark())
		high = pressure_mark();
	arena.watch_high = high < hard_mark() ? high : hard_mark();
	arena.watch_low = low;
}

/* use grows beyond the high watermark, by delta */
static void
grown_high(size_t delta)
{
	if (delta > hard_mark() - arena.used)
		arena.handlers.exhausted();
	watch_from(arena.used + delta);
	arena.handlers.pressure(true);
}

/* use fell below the low watermark, which is 0 without pressure */
static void
fallen_low(void)
{
	if (arena.used < arena.baseline + arena.limit / 8 * 3)
	{
		arena.watch_high = pressure_mark();
		arena.watch_low = 0;
		arena.handlers.pressure(false);
	}
	else
		watch_from(arena.used);
}

/*
 * The one place where use changes.  Both comparisons are false in all but a
 * few of a million calls.
 */
static inline void
account(size_t old_size, size_t new_size)
{
	if (new_size > old_size)
	{
		size_t		delta = new_size - old_size;

		if (unlikely(delta > arena.watch_high - arena.used))
			grown_high(delta);
		arena.used += delta;
	}
	else
	{
		arena.used -= old_size - new_size;
		if (unlikely(arena.used < arena.watch_low))
			fallen_low();
	}
}

/* ------------------------------------------------------------------------
 * Blocks of the image
 * ------------------------------------------------------------------------ */

/* the image lies below both other regions, so one comparison tells */
static bool
in_image(const void *block)
{
	return (const uint8_t *) block < arena.small_base;
}

/* while preparing: reuse what was freed, else take the next bytes */
static void *
image_alloc(size_t size)
{
	unsigned	class = small_class(size);
	void	   *block;

	if (class < SMALL_CLASSES && arena.reuse[class] != NULL)
	{
		block = arena.reuse[class];
		arena.reuse[class] = *(void **) block;
		return block;
	}
	if (arena.image_end + class * SMALL_UNIT > arena.image + IMAGE_MAX)
		return NULL;
	block = arena.image_end;
	arena.image_end += class * SMALL_UNIT;
	return block;
}

/* once sealed, a freed block of the image is forgotten until the restore */
static void
image_free(void *block, size_t size)
{
	unsigned	class = small_class(size);

	if (arena.sealed || class >= SMALL_CLASSES)
		return;
	*(void **) block = arena.reuse[class];
	arena.reuse[class] = block;
}

/* ------------------------------------------------------------------------
 * Blocks of the two heaps
 * ------------------------------------------------------------------------ */

static size_t
least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* after one heap's top moved: what it took from the budget the other lacks */
static void
share_budget(void)
{
	size_t		small = arena.small.top - arena.small_base;
	size_t		large;

	if ((uint8_t *) arena.large.top > arena.large_high)
		arena.large_high = (uint8_t *) arena.large.top;
	large = arena.large_high - arena.large_base;
	if (small + large > arena.touched)
		arena.touched = small + large;
	arena.small_limit = arena.small_base + least(arena.budget - large, arena.region_size);
	arena.large_limit = arena.large_base + least(arena.budget - small, arena.region_size);
}

/* the budget is divided anew only when a heap reached memory it never had */
static void *
heap_alloc(size_t size)
{
	void	   *block;

	if (size <= SMALL_MAX)
	{
		const uint8_t *top = arena.small.top;

		block = small_alloc(&arena.small, small_class(size), arena.small_limit);
		if (unlikely(arena.small.top != top))
			share_budget();
	}
	else
	{
		block = large_alloc(&arena.large, size, arena.large_limit);
		if (unlikely((uint8_t *) arena.large.top > arena.large_high))
			share_budget();
	}
	return block;
}

/*
 * Anything but NULL, whatever it takes: Lua would react to NULL with an
 * emergency collection, which has been the way into several defects of the
 * VM.
 */
static void *
new_block(size_t size)
{
	void	   *block = arena.sealed ? heap_alloc(size) : image_alloc(size);

	/* fragmentation ate the budget: as final as the limit itself */
	if (unlikely(block == NULL) && arena.sealed)
		arena.handlers.exhausted();
	return block;
}

/* the block's address and size tell whose it is */
static void
free_block(void *block, size_t size)
{
	if (unlikely(in_image(block)))
		image_free(block, size);
	else if (size <= SMALL_MAX)
		small_free(&arena.small, block);
	else
		large_free(&arena.large, block);
}

/* true when the block serves the new size where it lies */
static bool
fits_in_place(void *block, size_t old_size, size_t new_size)
{
	bool		done;

	if (small_class(old_size) == small_class(new_size) &&
		(new_size <= SMALL_MAX || in_image(block)))
		return true;
	if (old_size <= SMALL_MAX || new_size <= SMALL_MAX || in_image(block))
		return false;
	done = large_resize(&arena.large, block, new_size, arena.large_limit);
	if ((uint8_t *) arena.large.top > arena.large_high)
		share_budget();
	return done;
}

/* Growing moves a block only where it can't grow in place. */
static void *
resize_block(void *block, size_t old_size, size_t new_size)
{
	void	   *moved;

	if (fits_in_place(block, old_size, new_size))
		return block;
	moved = new_block(new_size);
	memcpy(moved, block, least(old_size, new_size));
	free_block(block, old_size);
	return moved;
}

/*
 * Accounted before anything is touched: a block over the limit is never made.
 */
void *
arena_alloc(void *unused, void *block, size_t old_size, size_t new_size)
{
	(void) unused;
	if (block == NULL)
	{
		/* old_size is the type of what is allocated, not a size */
		if (new_size == 0)
			return NULL;
		account(0, new_size);
		return new_block(new_size);
	}
	account(old_size, new_size);
	if (new_size == 0)
	{
		free_block(block, old_size);
		return NULL;
	}
	return resize_block(block, old_size, new_size);
}

/* ------------------------------------------------------------------------
 * The image as a whole
 * ------------------------------------------------------------------------ */

/*
 * The copy is read-only from now on: a runner that was taken over could
 * otherwise prepare the ground for the next execution.
 */
bool
arena_seal(void)
{
	size_t		size = arena.image_end - arena.image;

	arena.image_copy = mmap(NULL, size, PROT_READ | PROT_WRITE,
							MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (arena.image_copy == MAP_FAILED)
		return false;
	memcpy(arena.image_copy, arena.image, size);
	arena.baseline = arena.used;
	arena.sealed = true;
	arena.pristine = true;
	return mprotect(arena.image_copy, size, PROT_READ) == 0;
}

/*
 * Memory beyond the image isn't cleared: nothing reads a block before writing
 * it, and the next execution is the same submitter's and owner's.
 */
void
arena_restore(size_t limit)
{
	size_t		most = arena.region_size / 2;

	/* of a runner's first execution the memory is still shared with the zygote */
	if (!arena.pristine)
		memcpy(arena.image, arena.image_copy, arena.image_end - arena.image);
	arena.pristine = false;
	arena.limit = limit < most ? limit : most;
	arena.budget = 2 * arena.limit + REGION_SLACK;
	arena.used = arena.baseline;
	arena.watch_high = pressure_mark();
	arena.watch_low = 0;
	small_reset(&arena.small, arena.small_base);
	large_reset(&arena.large, arena.large_base);
	arena.large_high = (uint8_t *) arena.large.top;
	share_budget();
}

size_t
arena_touched(void)
{
	return arena.touched;
}
