/*
 * arena.h
 *		The memory of the Lua state: one mapping at a fixed address.
 *
 * Why an arena: after lock-down no system call for memory is allowed; a fixed
 * address makes everything that depends on addresses (the order of tables as
 * keys) repeat; and a prepared state can be put back by copying its image.
 *
 *		[ image: the prepared state ][ small blocks ][ large blocks ]
 *
 * While preparing, blocks come one after another from the image region; then
 * arena_seal() keeps a copy of it.  Later blocks come from the other two
 * regions (arena_small.h, arena_large.h); a block of the image that is freed is
 * just forgotten, until arena_restore() brings everything back.
 *
 * The allocator never returns NULL to Lua: where a limit is reached it calls
 * the handler given to arena_create(), which doesn't return.  That removes the
 * class of VM defects around failing allocations.
 */
#ifndef SANDBOX_EXEC_ARENA_H
#define SANDBOX_EXEC_ARENA_H

#include <stdbool.h>
#include <stddef.h>

typedef struct ArenaHandlers
{
	void (*exhausted)(void);	/* the limit is reached; doesn't return */
	void (*pressure)(bool on);	/* memory gets scarce, or no longer is */
} ArenaHandlers;

/* map regions for limits of up to max_limit bytes; false: errno says why */
extern bool arena_create(size_t max_limit, const ArenaHandlers *handlers);

/* address space that the arena takes, for RLIMIT_AS */
extern size_t arena_mapped(void);

/* a lua_Alloc; exact to the byte in what it accounts */
extern void *arena_alloc(void *unused, void *block, size_t old_size, size_t new_size);

/* end of preparing: take the image; false when it doesn't fit */
extern bool arena_seal(void);

/* the prepared state again, with limit bytes beyond it */
extern void arena_restore(size_t limit);

/* bytes of small and large regions that were touched since arena_create() */
extern size_t arena_touched(void);

#endif
