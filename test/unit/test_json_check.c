/*
 * test_json_check.c
 *		Which texts are JSON that jsonb takes.
 */
#include "cmocka_all.h"

#include "../../src/protocol/json_check.h"

static bool
check(const char *text)
{
	return json_check(text, strlen(text));
}

static void
sound_texts(void **state)
{
	static const char *const sound[] = {
		"1", "-0", "0.5", "-1.25e+10", "1E5", "1e-300", "true", "false", "null", "\"\"", "\"a\"",
		" [ ] ", "{}", "[1,2,[3,{\"a\":null}]]", "{\"a\":1,\"b\":[{},[]],\"\":\"x\"}",
		"\"\\u20ac \\ud83d\\ude00 \\\" \\\\ \\/ \\b\\f\\n\\r\\t\"", "\"\xE2\x82\xAC\x7F\"",
		"\t\n\r [\n1\t,\r2 ]\n", "123456789012345678901234567890"};

	(void) state;
	for (size_t i = 0; i < sizeof(sound) / sizeof(sound[0]); i++)
	{
		if (!check(sound[i]))
			fail_msg("refused: %s", sound[i]);
	}
}

static void
unsound_texts(void **state)
{
	static const char *const unsound[] = {
		"", " ", "nul", "nulll", "True", "+1", "01", "1.", ".5", "-", "1e", "1e+", "1e1000", "0x10",
		"NaN", "Infinity", "'a'", "\"", "\"a", "\"\\\"", "\"\\x\"", "\"\\u12\"", "\"\\u12g4\"",
		"\"\\u0000\"", "\"\\ud800\"", "\"\\ud800x\"", "\"\\ud800\\u0041\"", "\"\\udc00\"", "\"\t\"",
		"\"\xC3\"", "\"\xED\xA0\x80\"", "[", "]", "[1", "[1,", "[1,]", "[,1]", "[1 2]", "{", "}",
		"{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}", "{1:1}", "{\"a\" 1}", "{\"a\":1 \"b\":2}", "[}",
		"{]", "{\"a\":[}", "1 2", "1,2", "[1]]", "{}{}", "// x\n1", "\f1"};

	(void) state;
	for (size_t i = 0; i < sizeof(unsound) / sizeof(unsound[0]); i++)
	{
		if (check(unsound[i]))
			fail_msg("taken: %s", unsound[i]);
	}
	assert_false(json_check("1\0", 2));
	assert_false(json_check("\"\0\"", 3));
}

static void
depth_is_bounded(void **state)
{
	char		text[2 * (JSON_MAX_DEPTH + 1)];

	(void) state;
	memset(text, '[', JSON_MAX_DEPTH);
	memset(text + JSON_MAX_DEPTH, ']', JSON_MAX_DEPTH);
	assert_true(json_check(text, 2 * JSON_MAX_DEPTH));
	memset(text, '[', JSON_MAX_DEPTH + 1);
	memset(text + JSON_MAX_DEPTH + 1, ']', JSON_MAX_DEPTH + 1);
	assert_false(json_check(text, sizeof(text)));
}

static void
numbers_are_bounded(void **state)
{
	char		text[500];

	(void) state;
	memset(text, '9', sizeof(text));
	assert_true(json_check(text, 400));
	assert_false(json_check(text, 401));
	assert_true(check("1e999"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sound_texts),
		cmocka_unit_test(unsound_texts),
		cmocka_unit_test(depth_is_bounded),
		cmocka_unit_test(numbers_are_bounded),
	};

	return cmocka_run_group_tests_name("json_check", tests, NULL, NULL);
}
