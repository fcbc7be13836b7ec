/*
 * test_arena.c
 *		The allocator: blocks that don't overlap, an image that comes back, and
 *		limits that are exact.
 */
#include "cmocka_all.h"

#include "../../src/runner/arena.h"

#define LIMIT ((size_t) 8 * 1024 * 1024)
#define BLOCKS 4000

static jmp_buf over;
static int	pressures;
static int	reliefs;
static void *prepared;

static void
exhausted(void)
{
	longjmp(over, 1);
}

static void
pressure(bool on)
{
	if (on)
		pressures++;
	else
		reliefs++;
}

static int
create(void **state)
{
	static const ArenaHandlers handlers = {exhausted, pressure};

	(void) state;
	if (!arena_create(LIMIT, &handlers))
		return -1;
	prepared = arena_alloc(NULL, NULL, 0, 1000);
	memset(prepared, 'p', 1000);
	/* freed blocks are used again while preparing */
	arena_alloc(NULL, arena_alloc(NULL, NULL, 0, 48), 48, 0);
	return arena_seal() ? 0 : -1;
}

static uint32_t
next_random(void)
{
	static uint32_t value = 12345;

	value = value * 1664525 + 1013904223;
	return value >> 8;
}

/* mostly small, sometimes large, as Lua's blocks are */
static size_t
random_size(void)
{
	uint32_t	kind = next_random() % 10;

	if (kind < 7)
		return 1 + next_random() % 200;
	if (kind < 9)
		return 1 + next_random() % 3000;
	return 1 + next_random() % 40000;
}

typedef struct Block
{
	uint8_t    *memory;
	size_t		size;
	uint8_t		mark;
} Block;

static void
check_block(const Block *b)
{
	for (size_t i = 0; i < b->size; i++)
	{
		if (b->memory[i] != b->mark)
			fail_msg("a block was overwritten");
	}
}

/* every block keeps what was written into it through all that others do */
static void
blocks_do_not_overlap(void **state)
{
	static Block blocks[BLOCKS];

	(void) state;
	arena_restore(LIMIT);
	assert_int_equal(setjmp(over), 0);
	for (int step = 0; step < 200000; step++)
	{
		Block	   *b = &blocks[next_random() % BLOCKS];
		size_t		size = next_random() % 3 == 0 ? 0 : random_size();
		size_t		kept = b->size < size ? b->size : size;

		if (size > 10000 && step % 8 != 0)
			size = kept = 0;
		check_block(b);
		b->memory = arena_alloc(NULL, b->memory, b->memory == NULL ? 5 : b->size, size);
		assert_int_equal((uintptr_t) b->memory % 16, 0);
		b->size = kept;
		check_block(b);
		b->size = size;
		b->mark = (uint8_t) next_random();
		if (size > 0)
			memset(b->memory, b->mark, size);
	}
	for (int i = 0; i < BLOCKS; i++)
	{
		check_block(&blocks[i]);
		arena_alloc(NULL, blocks[i].memory, blocks[i].size, 0);
	}
}

static void
the_image_comes_back(void **state)
{
	void	   *moved;

	(void) state;
	arena_restore(LIMIT);
	memset(prepared, 'x', 1000);
	moved = arena_alloc(NULL, prepared, 1000, 5000);
	assert_true(moved != prepared);
	assert_int_equal(((char *) moved)[999], 'x');
	arena_restore(LIMIT);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(((char *) prepared)[i], 'p');
}

static void
the_limit_is_exact(void **state)
{
	volatile size_t got = 0;

	(void) state;
	arena_restore(100000);
	if (setjmp(over) == 0)
	{
		for (;;)
		{
			arena_alloc(NULL, NULL, 0, 100);
			got += 100;
		}
	}
	assert_int_equal(got, 100000);

	arena_restore(100000);
	if (setjmp(over) == 0)
	{
		arena_alloc(NULL, NULL, 0, SIZE_MAX / 2);
		fail_msg("no limit");
	}
	arena_restore(100000);
	if (setjmp(over) == 0)
		assert_non_null(arena_alloc(NULL, NULL, 0, 100000));
	else
		fail_msg("refused a block of just the limit");
}

static void
pressure_comes_and_goes(void **state)
{
	void	   *blocks[100];

	(void) state;
	arena_restore(100000);
	pressures = reliefs = 0;
	assert_int_equal(setjmp(over), 0);
	for (int i = 0; i < 75; i++)
		blocks[i] = arena_alloc(NULL, NULL, 0, 1000);
	assert_int_equal(pressures, 0);
	for (int i = 75; i < 85; i++)
		blocks[i] = arena_alloc(NULL, NULL, 0, 1000);
	assert_true(pressures >= 2 && pressures <= 5);
	assert_int_equal(reliefs, 0);
	for (int i = 0; i < 85; i++)
		arena_alloc(NULL, blocks[i], 1000, 0);
	assert_int_equal(reliefs, 1);
}

/* phases that each use most of the limit, with blocks of different sizes */
static void
phases_reuse_memory(void **state)
{
	static void *blocks[70000];

	(void) state;
	arena_restore(LIMIT);
	assert_int_equal(setjmp(over), 0);
	for (size_t size = 100; size < 20000; size = size * 5 / 4)
	{
		size_t		n = LIMIT * 9 / 10 / size;

		for (size_t i = 0; i < n && i < 70000; i++)
			blocks[i] = arena_alloc(NULL, NULL, 0, size);
		for (size_t i = 0; i < n && i < 70000; i++)
			arena_alloc(NULL, blocks[i], size, 0);
	}
	assert_true(arena_touched() <= 2 * LIMIT + 1024 * 1024);
}

/* a table's array doubles: in place while nothing lies behind it */
static void
large_blocks_grow_in_place(void **state)
{
	uint8_t    *block;

	(void) state;
	arena_restore(LIMIT);
	assert_int_equal(setjmp(over), 0);
	block = arena_alloc(NULL, NULL, 0, 1024);
	for (size_t size = 1024; size < LIMIT / 2; size *= 2)
		assert_ptr_equal(arena_alloc(NULL, block, size, 2 * size), block);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_do_not_overlap),
		cmocka_unit_test(the_image_comes_back),
		cmocka_unit_test(the_limit_is_exact),
		cmocka_unit_test(pressure_comes_and_goes),
		cmocka_unit_test(phases_reuse_memory),
		cmocka_unit_test(large_blocks_grow_in_place),
	};

	return cmocka_run_group_tests_name("arena", tests, create, NULL);
}
