/*
 * test_utf8.c
 *		Strict UTF-8.
 */
#include "cmocka_all.h"

#include "../../src/protocol/utf8.h"

static void
characters_of_every_length(void **state)
{
	(void) state;
	assert_int_equal(utf8_char_length("a", 1), 1);
	assert_int_equal(utf8_char_length("\xC3\xA9", 2), 2);
	assert_int_equal(utf8_char_length("\xE2\x82\xAC", 3), 3);
	assert_int_equal(utf8_char_length("\xF0\x9F\x98\x80", 4), 4);
	assert_int_equal(utf8_char_length("\xF4\x8F\xBF\xBF", 4), 4);
	assert_int_equal(utf8_char_length("", 0), 0);
}

static void
what_is_not_utf8(void **state)
{
	static const char *const wrong[] = {
		"\x80", "\xBF", "\xC0\x80", "\xC1\xBF", "\xC3", "\xC3(", "\xE0\x80\x80", "\xE0\x9F\xBF",
		"\xED\xA0\x80", "\xED\xBF\xBF", "\xE2\x82", "\xF0\x80\x80\x80", "\xF0\x8F\xBF\xBF",
		"\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFE", "\xFF", "\xF0\x9F\x98"};

	(void) state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
	{
		assert_int_equal(utf8_char_length(wrong[i], strlen(wrong[i])), 0);
		assert_false(utf8_valid(wrong[i], strlen(wrong[i])));
	}
	assert_false(utf8_valid("a\0b", 3));
	assert_true(utf8_valid("", 0));
	assert_true(utf8_valid("a\xC3\xA9\xE2\x82\xAC", 6));
}

/* the decoder agrees with what the ranges of the standard say, for all code points */
static void
every_code_point(void **state)
{
	(void) state;
	for (uint32_t code = 0x80; code <= 0x110FFF; code++)
	{
		char		bytes[4];
		size_t		n = code < 0x800 ? 2 : code < 0x10000 ? 3 :
													   4;
		uint32_t	rest = code;
		bool		valid = code <= 0x10FFFF && !(code >= 0xD800 && code <= 0xDFFF);

		for (size_t i = n - 1; i > 0; i--)
		{
			bytes[i] = (char) (0x80 | (rest & 0x3F));
			rest >>= 6;
		}
		bytes[0] = (char) ((n == 2 ? 0xC0 : n == 3 ? 0xE0 :
													 0xF0) |
						   rest);
		assert_int_equal(utf8_char_length(bytes, n), valid ? n : 0);
		if (valid)
		{
			char		encoded[4];

			assert_int_equal(utf8_encode(code, encoded), n);
			assert_memory_equal(encoded, bytes, n);
		}
	}
}

static void
partial_characters_at_the_end(void **state)
{
	(void) state;
	assert_int_equal(utf8_partial_length("a", 1), 0);
	assert_int_equal(utf8_partial_length("a\xC3", 2), 1);
	assert_int_equal(utf8_partial_length("a\xE2\x82", 3), 2);
	assert_int_equal(utf8_partial_length("\xF0\x9F\x98", 3), 3);
	assert_int_equal(utf8_partial_length("\xF0\x9F\x98\x80", 4), 0);
	assert_int_equal(utf8_partial_length("\xE0\x80", 2), 0);	/* can't be completed */
	assert_int_equal(utf8_partial_length("\x80\x80\x80\x80", 4), 0);
	assert_int_equal(utf8_partial_length("\xFF", 1), 0);
	assert_int_equal(utf8_partial_length("", 0), 0);
}

static void
sanitize_replaces(void **state)
{
	char		out[64];
	size_t		consumed;
	size_t		chars;
	size_t		n;

	(void) state;
	n = utf8_sanitize("a\0\xFF\xC3\xA9", 5, out, sizeof(out), SIZE_MAX, &consumed, &chars);
	assert_int_equal(n, 9);
	assert_memory_equal(out, "a\xEF\xBF\xBD\xEF\xBF\xBD\xC3\xA9", 9);
	assert_int_equal(consumed, 5);
	assert_int_equal(chars, 4);
}

static void
sanitize_stops_at_bounds(void **state)
{
	char		out[8];
	size_t		consumed;
	size_t		chars;

	(void) state;
	/* the euro sign doesn't fit any more, and isn't cut */
	assert_int_equal(utf8_sanitize("ab\xE2\x82\xAC", 5, out, 4, SIZE_MAX, &consumed, &chars), 2);
	assert_int_equal(consumed, 2);
	assert_int_equal(utf8_sanitize("abcd", 4, out, sizeof(out), 3, &consumed, &chars), 3);
	assert_int_equal(chars, 3);
	assert_int_equal(utf8_sanitize("abcd", 4, out, sizeof(out), 0, &consumed, &chars), 0);
	assert_int_equal(utf8_sanitize("", 0, out, 0, 5, &consumed, &chars), 0);
}

static void
clip_keeps_characters_whole(void **state)
{
	const char *text = "a\xE2\x82\xAC\xF0\x9F\x98\x80";

	(void) state;
	assert_int_equal(utf8_clip(text, 8, 100), 8);
	assert_int_equal(utf8_clip(text, 8, 8), 8);
	assert_int_equal(utf8_clip(text, 8, 7), 4);
	assert_int_equal(utf8_clip(text, 8, 4), 4);
	assert_int_equal(utf8_clip(text, 8, 3), 1);
	assert_int_equal(utf8_clip(text, 8, 0), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(characters_of_every_length),
		cmocka_unit_test(what_is_not_utf8),
		cmocka_unit_test(every_code_point),
		cmocka_unit_test(partial_characters_at_the_end),
		cmocka_unit_test(sanitize_replaces),
		cmocka_unit_test(sanitize_stops_at_bounds),
		cmocka_unit_test(clip_keeps_characters_whole),
	};

	return cmocka_run_group_tests_name("utf8", tests, NULL, NULL);
}
