/*
 * test_message.c
 *		Messages: round trips, and what a receiver refuses.
 */
#include "cmocka_all.h"

#include "../../src/protocol/message.h"

static uint8_t buffer[FRAME_HEADER_SIZE + MAX_RUN_PAYLOAD];

static FrameText
text(const char *string)
{
	FrameText	t = {string, string == NULL ? 0 : (uint32_t) strlen(string)};

	return t;
}

static void
assert_text(FrameText t, const char *string)
{
	if (string == NULL)
		assert_null(t.data);
	else
	{
		assert_non_null(t.data);
		assert_int_equal(t.length, strlen(string));
		assert_memory_equal(t.data, string, t.length);
	}
}

/* the payload of the frame in buffer */
static FrameReader
payload(size_t size, MessageType expected)
{
	FrameReader r;
	uint8_t		type;
	size_t		found;

	assert_true(size > 0);
	assert_int_equal(frame_peek(buffer, size, MAX_RUN_PAYLOAD, &type, &r, &found), 1);
	assert_int_equal(type, expected);
	return r;
}

static RunMessage
sample_run(void)
{
	RunMessage	m = {
		.id = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16},
		.clock_ms = INT64_C(1700000000123),
		.memory_limit = 1 << 20,
		.max_output_chars = 50000,
		.execution = text("{}"),
		.args = text(NULL),
		.code = text("return 1")};

	return m;
}

static DoneMessage
sample_failure(void)
{
	DoneMessage m = {
		.succeeded = false,
		.exit_code = -3,
		.reusable = true,
		.error_code = text("exit"),
		.error = text("exited")};

	return m;
}

static void
ready_comes_back(void **state)
{
	ReadyMessage m = {PROTOCOL_VERSION, true, text("Lua 5.4.9")};
	ReadyMessage got;
	FrameReader r = payload(message_put_ready(buffer, sizeof(buffer), &m), MESSAGE_READY);

	(void) state;
	assert_true(message_get_ready(&r, &got));
	assert_int_equal(got.protocol_version, PROTOCOL_VERSION);
	assert_true(got.seccomp);
	assert_text(got.runtime_version, "Lua 5.4.9");
}

static void
run_comes_back(void **state)
{
	RunMessage	m = sample_run();
	RunMessage	got;
	FrameReader r = payload(message_put_run(buffer, sizeof(buffer), &m), MESSAGE_RUN);

	(void) state;
	assert_true(message_get_run(&r, &got));
	assert_memory_equal(got.id, m.id, 16);
	assert_true(got.clock_ms == m.clock_ms && got.memory_limit == m.memory_limit);
	assert_int_equal(got.max_output_chars, 50000);
	assert_text(got.execution, "{}");
	assert_text(got.args, NULL);
	assert_text(got.code, "return 1");
}

static void
done_comes_back(void **state)
{
	DoneMessage m = {.succeeded = true, .reusable = true, .result = text("[1]")};
	DoneMessage got;
	FrameReader r = payload(message_put_done(buffer, sizeof(buffer), &m), MESSAGE_DONE);

	(void) state;
	assert_true(message_get_done(&r, &got));
	assert_true(got.succeeded && got.reusable);
	assert_text(got.result, "[1]");
	assert_text(got.error, NULL);

	m = sample_failure();
	r = payload(message_put_done(buffer, sizeof(buffer), &m), MESSAGE_DONE);
	assert_true(message_get_done(&r, &got));
	assert_int_equal(got.exit_code, -3);
	assert_text(got.error_code, "exit");
	assert_text(got.error, "exited");
	assert_text(got.result, NULL);
}

static void
call_comes_back(void **state)
{
	CallMessage m = {.seq = 7, .kind = text("tool"), .name = text("app.lookup"), .args = text("{}")};
	CallMessage got;
	FrameReader r = payload(message_put_call(buffer, sizeof(buffer), &m), MESSAGE_CALL);

	(void) state;
	assert_true(message_get_call(&r, &got));
	assert_int_equal(got.seq, 7);
	assert_text(got.kind, "tool");
	assert_text(got.name, "app.lookup");
	assert_text(got.args, "{}");
	m.args = text(NULL);
	r = payload(message_put_call(buffer, sizeof(buffer), &m), MESSAGE_CALL);
	assert_true(message_get_call(&r, &got));
	assert_text(got.args, NULL);
}

static void
calls_must_have_a_kind_and_a_name(void **state)
{
	static char big[MAX_CALL_NAME_BYTES + 1];
	CallMessage m = {.seq = 1, .kind = text("tool")};
	CallMessage got;
	FrameReader r = payload(message_put_call(buffer, sizeof(buffer), &m), MESSAGE_CALL);

	(void) state;
	assert_false(message_get_call(&r, &got));
	m.name = (FrameText){big, MAX_CALL_NAME_BYTES};
	r = payload(message_put_call(buffer, sizeof(buffer), &m), MESSAGE_CALL);
	assert_true(message_get_call(&r, &got));
	m.name.length++;
	r = payload(message_put_call(buffer, sizeof(buffer), &m), MESSAGE_CALL);
	assert_false(message_get_call(&r, &got));
	m.name = text("x");
	m.kind = text(NULL);
	r = payload(message_put_call(buffer, sizeof(buffer), &m), MESSAGE_CALL);
	assert_false(message_get_call(&r, &got));
	m.kind = (FrameText){big, MAX_CALL_KIND_BYTES + 1};
	r = payload(message_put_call(buffer, sizeof(buffer), &m), MESSAGE_CALL);
	assert_false(message_get_call(&r, &got));
}

/* a prefix of a sound payload, or one with something behind it, is refused */
static void
only_whole_payloads(void **state)
{
	RunMessage	m = sample_run();
	RunMessage	got;
	FrameReader whole = payload(message_put_run(buffer, sizeof(buffer), &m), MESSAGE_RUN);

	(void) state;
	for (size_t length = 0; length < whole.length; length++)
	{
		FrameReader r = whole;

		r.length = length;
		assert_false(message_get_run(&r, &got));
	}
	whole.length++;
	assert_false(message_get_run(&whole, &got));
}

static bool
done_is_accepted(const DoneMessage *m)
{
	DoneMessage got;
	FrameReader r = payload(message_put_done(buffer, sizeof(buffer), m), MESSAGE_DONE);

	return message_get_done(&r, &got);
}

static void
outcomes_must_be_consistent(void **state)
{
	DoneMessage m = sample_failure();

	(void) state;
	assert_true(done_is_accepted(&m));
	m.result = text("1");
	assert_false(done_is_accepted(&m));
	m = sample_failure();
	m.error_code = text(NULL);
	assert_false(done_is_accepted(&m));
	m.error_code = text("");
	assert_false(done_is_accepted(&m));
	m = sample_failure();
	m.succeeded = true;
	assert_false(done_is_accepted(&m));
}

static void
texts_must_be_sound(void **state)
{
	static char big[MAX_ERROR_BYTES + 1];
	DoneMessage m = sample_failure();

	(void) state;
	m.error = text("caf\xE9");
	assert_false(done_is_accepted(&m));
	m.error.data = "a\0b";
	m.error.length = 3;
	assert_false(done_is_accepted(&m));
	memset(big, 'x', sizeof(big));
	m.error.data = big;
	m.error.length = MAX_ERROR_BYTES;
	assert_true(done_is_accepted(&m));
	m.error.length++;
	assert_false(done_is_accepted(&m));
	m = sample_failure();
	m.error_code.data = big;
	m.error_code.length = MAX_ERROR_CODE_BYTES + 1;
	assert_false(done_is_accepted(&m));
}

static void
booleans_are_zero_or_one(void **state)
{
	DoneMessage m = sample_failure();
	DoneMessage got;
	size_t		size = message_put_done(buffer, sizeof(buffer), &m);
	FrameReader r;

	(void) state;
	buffer[FRAME_HEADER_SIZE] = 2;
	r = payload(size, MESSAGE_DONE);
	assert_false(message_get_done(&r, &got));
}

static bool
comes_back(ReturnMessage m)
{
	ReturnMessage got;
	FrameReader r = payload(message_put_return(buffer, sizeof(buffer), &m), MESSAGE_RETURN);

	return message_get_return(&r, &got) && got.status == m.status &&
		got.delivered_no == m.delivered_no && got.clock_ms == m.clock_ms &&
		got.value.length == m.value.length;
}

static void
what_is_pending_has_no_value(void **state)
{
	(void) state;
	assert_true(comes_back((ReturnMessage){RETURN_OK, 7, 1700000000000, text("[1]")}));
	assert_true(comes_back((ReturnMessage){RETURN_ERROR, 0, 0, text("{}")}));
	assert_true(comes_back((ReturnMessage){RETURN_PENDING, 0, 0, text(NULL)}));
	assert_false(comes_back((ReturnMessage){RETURN_OK, 7, -1, text("[1]")}));
	assert_false(comes_back((ReturnMessage){RETURN_PENDING, 1, 0, text(NULL)}));
	assert_false(comes_back((ReturnMessage){RETURN_PENDING, 0, 1, text(NULL)}));
	assert_false(comes_back((ReturnMessage){RETURN_PENDING, 0, 0, text("1")}));
	assert_false(comes_back((ReturnMessage){RETURN_PENDING + 1, 0, 0, text(NULL)}));
}

static void
suspend_says_nothing_else(void **state)
{
	FrameReader r = payload(message_put_suspend(buffer, sizeof(buffer)), MESSAGE_SUSPEND);

	(void) state;
	assert_true(message_get_suspend(&r));
	r.data = buffer;
	r.length = 1;
	assert_false(message_get_suspend(&r));
}

static void
the_largest_run_fits(void **state)
{
	RunMessage	m = sample_run();
	RunMessage	got;
	FrameReader r;

	(void) state;
	m.code = (FrameText){calloc(1, MAX_CODE_BYTES), MAX_CODE_BYTES};
	m.args = (FrameText){calloc(1, MAX_ARGS_BYTES), MAX_ARGS_BYTES};
	m.execution = (FrameText){calloc(1, MAX_EXECUTION_JSON_BYTES), MAX_EXECUTION_JSON_BYTES};
	r = payload(message_put_run(buffer, sizeof(buffer), &m), MESSAGE_RUN);
	assert_true(message_get_run(&r, &got));
	assert_int_equal(message_put_run(buffer, 1000, &m), 0);
	free((void *) m.code.data);
	free((void *) m.args.data);
	free((void *) m.execution.data);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ready_comes_back),
		cmocka_unit_test(run_comes_back),
		cmocka_unit_test(done_comes_back),
		cmocka_unit_test(call_comes_back),
		cmocka_unit_test(calls_must_have_a_kind_and_a_name),
		cmocka_unit_test(only_whole_payloads),
		cmocka_unit_test(outcomes_must_be_consistent),
		cmocka_unit_test(texts_must_be_sound),
		cmocka_unit_test(booleans_are_zero_or_one),
		cmocka_unit_test(what_is_pending_has_no_value),
		cmocka_unit_test(suspend_says_nothing_else),
		cmocka_unit_test(the_largest_run_fits),
	};

	return cmocka_run_group_tests_name("message", tests, NULL, NULL);
}
