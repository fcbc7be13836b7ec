/*
 * test_frame.c
 *		Frames: what was written is read, and nothing else.
 */
#include "cmocka_all.h"

#include "../../src/protocol/frame.h"

static const FrameText absent = {NULL, 0};

static size_t
write_sample(uint8_t *buffer, size_t capacity)
{
	FrameWriter w;
	FrameText	text = {"abc", 3};

	frame_begin(&w, buffer, capacity, 7);
	frame_put_u8(&w, 200);
	frame_put_u32(&w, 0xDEADBEEF);
	frame_put_i64(&w, INT64_MIN + 5);
	frame_put_bytes(&w, "xy", 2);
	frame_put_text(&w, text);
	frame_put_text(&w, absent);
	return frame_end(&w);
}

static void
fields_come_back(void **state)
{
	uint8_t		buffer[64];
	uint8_t		type;
	FrameReader r;
	size_t		size = write_sample(buffer, sizeof(buffer));
	size_t		found;
	char		bytes[2];
	FrameText	text;

	(void) state;
	assert_int_equal(frame_peek(buffer, size, 100, &type, &r, &found), 1);
	assert_int_equal(type, 7);
	assert_int_equal(found, size);
	assert_int_equal(frame_get_u8(&r), 200);
	assert_int_equal(frame_get_u32(&r), 0xDEADBEEF);
	assert_true(frame_get_i64(&r) == INT64_MIN + 5);
	frame_get_bytes(&r, bytes, 2);
	assert_memory_equal(bytes, "xy", 2);
	text = frame_get_text(&r);
	assert_int_equal(text.length, 3);
	assert_memory_equal(text.data, "abc", 3);
	assert_false(frame_complete(&r));
	assert_null(frame_get_text(&r).data);
	assert_true(frame_complete(&r));
}

static void
overflow_is_remembered(void **state)
{
	uint8_t		buffer[64];
	size_t		size = write_sample(buffer, sizeof(buffer));

	(void) state;
	for (size_t capacity = 0; capacity < size; capacity++)
	{
		uint8_t		guarded[64];

		memset(guarded, 0xA5, sizeof(guarded));
		assert_int_equal(write_sample(guarded, capacity), 0);
		for (size_t i = capacity; i < sizeof(guarded); i++)
			assert_int_equal(guarded[i], 0xA5);
	}
}

static void
more_bytes_are_awaited(void **state)
{
	uint8_t		buffer[64];
	uint8_t		type;
	FrameReader r;
	size_t		size = write_sample(buffer, sizeof(buffer));
	size_t		found;

	(void) state;
	for (size_t length = 0; length < size; length++)
		assert_int_equal(frame_peek(buffer, length, 100, &type, &r, &found), 0);
	assert_int_equal(frame_peek(buffer, size, size - FRAME_HEADER_SIZE - 1, &type, &r, &found), -1);
	memset(buffer, 0xFF, 4);
	assert_int_equal(frame_peek(buffer, size, 1000, &type, &r, &found), -1);
}

static void
a_broken_reader_yields_nothing(void **state)
{
	static const uint8_t payload[] = {5, 0, 0, 0, 'a', 'b'};
	FrameReader r = {payload, sizeof(payload), 0, false};
	char		bytes[3] = {1, 1, 1};

	(void) state;
	assert_null(frame_get_text(&r).data);	/* announces five bytes, has two */
	assert_true(r.broken);
	assert_int_equal(frame_get_u8(&r), 0);
	assert_int_equal(frame_get_u32(&r), 0);
	assert_true(frame_get_i64(&r) == 0);
	frame_get_bytes(&r, bytes, 3);
	assert_memory_equal(bytes, "\0\0\0", 3);
	assert_false(frame_complete(&r));
}

static void
leftovers_are_not_complete(void **state)
{
	static const uint8_t payload[] = {1, 2};
	FrameReader r = {payload, sizeof(payload), 0, false};

	(void) state;
	frame_get_u8(&r);
	assert_false(frame_complete(&r));
	frame_get_u8(&r);
	assert_true(frame_complete(&r));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_come_back),
		cmocka_unit_test(overflow_is_remembered),
		cmocka_unit_test(more_bytes_are_awaited),
		cmocka_unit_test(a_broken_reader_yields_nothing),
		cmocka_unit_test(leftovers_are_not_complete),
	};

	return cmocka_run_group_tests_name("frame", tests, NULL, NULL);
}
