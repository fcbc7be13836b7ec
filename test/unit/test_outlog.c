/*
 * test_outlog.c
 *		The shared output: what was printed is read, and hostile areas are not.
 */
#include "cmocka_all.h"

#include "../../src/protocol/outlog.h"

static uint8_t *area;
static OutlogWriter writer;

/* what a reader made of the area; end tells why it stopped */
typedef struct Reading
{
	char		text[OUTLOG_STREAMS][65536];
	size_t		length[OUTLOG_STREAMS];
	bool		truncated[OUTLOG_STREAMS];
	int			end;
} Reading;

static Reading reading;

static void
read_on(OutlogCursor *cursor, size_t capacity)
{
	char		buffer[4096];
	OutlogPiece piece;

	assert_true(capacity <= sizeof(buffer));
	while ((reading.end = outlog_read(area, cursor, buffer, capacity, &piece)) > 0)
	{
		char	   *into = reading.text[piece.stream] + reading.length[piece.stream];

		assert_true(piece.length <= capacity);
		assert_true(reading.length[piece.stream] + piece.length < sizeof(reading.text[0]));
		memcpy(into, buffer, piece.length);
		into[piece.length] = '\0';
		reading.length[piece.stream] += piece.length;
		reading.truncated[piece.stream] |= piece.truncated;
	}
}

static void
read_all(size_t capacity)
{
	OutlogCursor cursor = {0};

	memset(&reading, 0, sizeof(reading));
	read_on(&cursor, capacity);
}

static void
put(OutlogStream stream, const char *text)
{
	outlog_write(&writer, stream, text, strlen(text));
}

static int
fresh(void **state)
{
	(void) state;
	area = calloc(1, OUTLOG_SIZE);
	outlog_reset(&writer, area, 50000);
	memset(&reading, 0, sizeof(reading));
	return area == NULL;
}

static int
drop(void **state)
{
	(void) state;
	free(area);
	return 0;
}

static void
two_streams_in_order(void **state)
{
	OutlogCursor cursor = {0};
	OutlogPiece piece;
	char		buffer[64];

	(void) state;
	put(OUTLOG_STDOUT, "one ");
	put(OUTLOG_STDOUT, "two");
	put(OUTLOG_STDERR, "oops");
	put(OUTLOG_STDOUT, "three");
	assert_int_equal(outlog_read(area, &cursor, buffer, sizeof(buffer), &piece), 1);
	assert_int_equal(piece.stream, OUTLOG_STDOUT);
	assert_int_equal(piece.length, 7);
	assert_memory_equal(buffer, "one two", 7);
	assert_int_equal(outlog_read(area, &cursor, buffer, sizeof(buffer), &piece), 1);
	assert_int_equal(piece.stream, OUTLOG_STDERR);
	assert_int_equal(outlog_read(area, &cursor, buffer, sizeof(buffer), &piece), 1);
	assert_int_equal(outlog_read(area, &cursor, buffer, sizeof(buffer), &piece), 0);
}

static void
a_growing_record_is_read_on(void **state)
{
	OutlogCursor cursor = {0};

	(void) state;
	read_on(&cursor, 100);
	put(OUTLOG_STDOUT, "a");
	read_on(&cursor, 100);
	put(OUTLOG_STDOUT, "b");
	read_on(&cursor, 100);
	read_on(&cursor, 100);
	put(OUTLOG_STDERR, "x");
	put(OUTLOG_STDOUT, "c");
	read_on(&cursor, 100);
	assert_string_equal(reading.text[OUTLOG_STDOUT], "abc");
	assert_string_equal(reading.text[OUTLOG_STDERR], "x");
}

static void
the_count_of_characters_is_capped(void **state)
{
	(void) state;
	outlog_reset(&writer, area, 5);
	put(OUTLOG_STDOUT, "ab\xE2\x82\xAC");
	put(OUTLOG_STDOUT, "d\xC3\xA9xyz");
	put(OUTLOG_STDOUT, "more");
	put(OUTLOG_STDERR, "12345");
	read_all(100);
	assert_string_equal(reading.text[OUTLOG_STDOUT], "ab\xE2\x82\xAC"
													 "d\xC3\xA9");
	assert_true(reading.truncated[OUTLOG_STDOUT]);
	assert_string_equal(reading.text[OUTLOG_STDERR], "12345");
	assert_false(reading.truncated[OUTLOG_STDERR]);
}

/* what is read is the same however the bytes came in and the buffer is */
static void
characters_join_across_writes(void **state)
{
	const char *bytes = "a\xE2\x82\xAC\xF0\x9F\x98\x80\xFF\xE2\x82z\xC3";
	const char *expected = "a\xE2\x82\xAC\xF0\x9F\x98\x80\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBDz\xEF\xBF\xBD";

	(void) state;
	for (size_t step = 1; step <= strlen(bytes); step++)
	{
		outlog_reset(&writer, area, 50000);
		for (size_t at = 0; at < strlen(bytes); at += step)
		{
			size_t		left = strlen(bytes) - at;

			outlog_write(&writer, OUTLOG_STDOUT, bytes + at, left < step ? left : step);
		}
		outlog_finish(&writer);
		for (size_t capacity = 16; capacity < 40; capacity++)
		{
			read_all(capacity);
			assert_string_equal(reading.text[OUTLOG_STDOUT], expected);
		}
	}
}

static void
a_partial_character_waits(void **state)
{
	(void) state;
	put(OUTLOG_STDOUT, "x\xE2\x82");
	read_all(100);
	assert_string_equal(reading.text[OUTLOG_STDOUT], "x");
	put(OUTLOG_STDERR, "e");
	put(OUTLOG_STDOUT, "\xAC");
	read_all(100);
	assert_string_equal(reading.text[OUTLOG_STDOUT], "x\xE2\x82\xAC");
}

static void
a_full_area_truncates_both(void **state)
{
	static char chunk[10001];
	OutlogCursor cursor = {0};
	OutlogPiece piece;
	static char buffer[65536];
	size_t		total = 0;
	int			cut = 0;
	int			end;

	(void) state;
	memset(chunk, 'x', sizeof(chunk) - 1);
	outlog_reset(&writer, area, UINT32_MAX);
	for (int i = 0; i < 300; i++)
	{
		put(OUTLOG_STDOUT, chunk);
		put(OUTLOG_STDERR, chunk);
	}
	while ((end = outlog_read(area, &cursor, buffer, sizeof(buffer), &piece)) > 0)
	{
		total += piece.length;
		cut += piece.truncated;
	}
	assert_int_equal(end, 0);
	assert_int_equal(cut, 2);
	assert_true(total > OUTLOG_SIZE - 20000 && total < OUTLOG_SIZE);
}

static void
an_earlier_execution_is_not_read(void **state)
{
	OutlogCursor cursor = {0};

	(void) state;
	put(OUTLOG_STDOUT, "old");
	cursor.previous = outlog_generation(area);
	read_on(&cursor, 100);
	assert_int_equal(reading.length[OUTLOG_STDOUT], 0);
	outlog_reset(&writer, area, 100);
	put(OUTLOG_STDOUT, "new");
	read_on(&cursor, 100);
	assert_string_equal(reading.text[OUTLOG_STDOUT], "new");
}

static void
never_written(void **state)
{
	(void) state;
	memset(area, 0, 64);
	read_all(100);
	assert_int_equal(reading.end, 0);
}

/* words of the area as a hostile writer would set them */
static void
forge(uint32_t at, uint32_t value)
{
	memcpy(area + at, &value, sizeof(value));
}

static void
forged_words_are_refused(void **state)
{
	static const struct
	{
		uint32_t	used;
		uint32_t	length;
		uint32_t	kind;
	} forged[] = {
		{OUTLOG_SIZE + 4, 4, OUTLOG_STDOUT},
		{UINT32_MAX, 4, OUTLOG_STDOUT},
		{4, 4, OUTLOG_STDOUT},
		{100, OUTLOG_SIZE, OUTLOG_STDOUT},
		{100, UINT32_MAX, OUTLOG_STDOUT},
		{100, UINT32_MAX - 12, OUTLOG_STDOUT},
		{100, 4, 0},
		{100, 4, 3},
		{100, 4, 0x1001},
	};

	(void) state;
	for (size_t i = 0; i < sizeof(forged) / sizeof(forged[0]); i++)
	{
		OutlogCursor cursor = {0};

		forge(0, forged[i].used);
		forge(8, forged[i].length);
		forge(12, forged[i].kind);
		read_on(&cursor, 100);
		assert_int_equal(reading.end, -1);
		read_on(&cursor, 100);	/* and stays so */
		assert_int_equal(reading.end, -1);
	}
}

static void
a_record_that_shrinks_is_refused(void **state)
{
	OutlogCursor cursor = {0};

	(void) state;
	put(OUTLOG_STDOUT, "abcdef");
	read_on(&cursor, 100);
	forge(8, 2);
	read_on(&cursor, 100);
	assert_int_equal(reading.end, -1);
}

static void
unsound_bytes_are_replaced(void **state)
{
	(void) state;
	put(OUTLOG_STDOUT, "abc");
	area[17] = 0xFF;
	area[18] = 0;
	read_all(100);
	assert_string_equal(reading.text[OUTLOG_STDOUT], "a\xEF\xBF\xBD\xEF\xBF\xBD");
}

#define outlog_test(function) cmocka_unit_test_setup_teardown(function, fresh, drop)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		outlog_test(two_streams_in_order),
		outlog_test(a_growing_record_is_read_on),
		outlog_test(the_count_of_characters_is_capped),
		outlog_test(characters_join_across_writes),
		outlog_test(a_partial_character_waits),
		outlog_test(a_full_area_truncates_both),
		outlog_test(an_earlier_execution_is_not_read),
		outlog_test(never_written),
		outlog_test(forged_words_are_refused),
		outlog_test(a_record_that_shrinks_is_refused),
		outlog_test(unsound_bytes_are_replaced),
	};

	return cmocka_run_group_tests_name("outlog", tests, NULL, NULL);
}
