/*
 * test_burst.c
 *		A runner that was told of several executions at once: what it leaves, what
 *		it says, and how it is stopped.
 */
#include "cmocka_all.h"
#include "runner_client.h"

#include <unistd.h>

static RunnerClient client;
static RunMessage requests[AHEAD_MAX];
static RunnerSays says;

static int
start_runner(void **state)
{
	RunnerOptions options = runner_client_defaults();

	(void) state;
	return runner_client_spawn(&client, &options) && runner_client_await_ready(&client) ? 0 : -1;
}

static int
end_runner(void **state)
{
	(void) state;
	runner_client_end(&client);
	return 0;
}

/* send these, up to a NULL, and wait for the frame that ends it */
static void
burst(const char *const *codes)
{
	int			count = 0;

	for (; codes[count] != NULL; count++)
		requests[count] = runner_client_request(codes[count]);
	assert_true(runner_client_send_burst(&client, requests, count));
	says = runner_client_listen(&client);
}

static void
assert_text(FrameText text, const char *expected)
{
	assert_non_null(text.data);
	if (text.length != strlen(expected) || memcmp(text.data, expected, text.length) != 0)
		fail_msg("\"%.*s\" is not \"%s\"", (int) text.length, text.data, expected);
}

/* it sent DONE with that result */
static void
assert_said(const char *result)
{
	assert_int_equal(says.type, MESSAGE_DONE);
	assert_true(says.done.succeeded);
	assert_text(says.done.result, result);
}

/* it left that result */
static void
assert_left(uint32_t number, const char *result)
{
	uint8_t		frame[AHEAD_DONE_MAX];
	size_t		size = ahead_take(runner_client_ahead(&client), number, frame);
	FrameReader payload;
	DoneMessage done;
	uint8_t		type;

	assert_int_equal(frame_peek(frame, size, AHEAD_DONE_MAX, &type, &payload, &size), 1);
	assert_int_equal(type, MESSAGE_DONE);
	assert_true(message_get_done(&payload, &done));
	assert_true(done.succeeded && done.reusable);
	assert_text(done.result, result);
}

static void
assert_nothing_left(uint32_t number)
{
	uint8_t		frame[AHEAD_DONE_MAX];

	assert_int_equal(ahead_take(runner_client_ahead(&client), number, frame), 0);
}

static void
one_after_another(void **state)
{
	(void) state;
	burst((const char *[]){"x = 1 return 1", "return {x}", "return 'three'", "return 4", NULL});
	assert_said("4");
	assert_left(0, "1");
	assert_left(1, "[]");
	assert_left(2, "\"three\"");
	assert_nothing_left(3);
}

/* an error's traceback is output */
static void
a_failure_without_output_is_left_too(void **state)
{
	uint8_t		frame[AHEAD_DONE_MAX];

	(void) state;
	burst((const char *[]){"return 1", "os.exit(3)", "return 3", "error('oh')", "return 5", NULL});
	assert_int_equal(says.type, MESSAGE_DONE);
	assert_false(says.done.succeeded);
	assert_true(ahead_take(runner_client_ahead(&client), 1, frame) > 0);
	assert_left(2, "3");
	assert_nothing_left(3);
}

/* what the worker must see before the next begins is said, and the rest dropped */
static void
what_is_not_quiet_ends_it(void **state)
{
	static const char *const loud[] = {
		"print(1) return 'loud'", "io.stderr:write('x') return 'loud'", "emit(1) return 'loud'"};

	(void) state;
	for (size_t i = 0; i < sizeof(loud) / sizeof(loud[0]); i++)
	{
		ahead_reset(runner_client_ahead(&client));
		burst((const char *[]){"return 1", loud[i], "return 3", NULL});
		assert_said("\"loud\"");
		assert_left(0, "1");
		assert_nothing_left(1);
		assert_int_equal(atomic_load(&runner_client_ahead(&client)->begun), 2);
	}
}

static void
a_large_result_ends_it(void **state)
{
	(void) state;
	burst((const char *[]){"return ('x'):rep(600)", "return 2", NULL});
	assert_int_equal(says.type, MESSAGE_DONE);
	assert_int_equal(says.done.result.length, 602);
	assert_nothing_left(0);
	assert_int_equal(atomic_load(&runner_client_ahead(&client)->begun), 1);
}

static void
a_call_ends_it(void **state)
{
	ReturnMessage answer = {.status = RETURN_OK, .value = {"7", 1}};

	(void) state;
	burst((const char *[]){"return 1", "return tools.call('x')", "return 3", NULL});
	assert_int_equal(says.type, MESSAGE_CALL);
	assert_left(0, "1");
	assert_true(runner_client_answer(&client, &answer));
	says = runner_client_listen(&client);
	assert_said("7");
	assert_int_equal(atomic_load(&runner_client_ahead(&client)->begun), 2);
}

static void
one_that_leaves_ends_it(void **state)
{
	(void) state;
	burst((const char *[]){"return 1", "local t = {} for i = 1, 1e9 do t[i] = {} end", "return 3", NULL});
	assert_int_equal(says.type, MESSAGE_DONE);
	assert_false(says.done.reusable);
	assert_left(0, "1");
}

static void
stopped_before_it_began(void **state)
{
	RunMessage	request = runner_client_request("return 'next'");
	DoneMessage done;

	(void) state;
	assert_int_equal(ahead_stop(runner_client_ahead(&client)), 0);
	burst((const char *[]){"return 1", "return 2", NULL});
	assert_int_equal(says.type, MESSAGE_DROPPED);
	assert_nothing_left(0);

	/* and it stands ready */
	assert_true(runner_client_send(&client, &request));
	assert_true(runner_client_receive(&client, &done));
	assert_text(done.result, "\"next\"");
}

/* whenever the stop comes: what has begun is told of, and nothing after it begins */
static void
stopped_at_any_time(void **state)
{
	const char *codes[AHEAD_MAX + 1] = {NULL};
	Ahead	   *ahead = runner_client_ahead(&client);

	(void) state;
	for (int i = 0; i < AHEAD_MAX; i++)
		requests[i] = runner_client_request(codes[i] = "for i = 1, 2000 do end return 1");
	for (int round = 0; round < 200; round++)
	{
		uint32_t	begun;
		uint32_t	left = 0;

		ahead_reset(ahead);
		assert_true(runner_client_send_burst(&client, requests, AHEAD_MAX));
		while (atomic_load(&ahead->done) < (uint32_t) round % 50)
			;
		begun = ahead_stop(ahead);
		says = runner_client_listen(&client);
		while (left < AHEAD_MAX && atomic_load(&ahead->done) > left)
			assert_left(left++, "1");
		if (says.type == MESSAGE_DONE)
			left++;
		else
			assert_int_equal(says.type, MESSAGE_DROPPED);
		/* the one that was about to begin may have seen the stop */
		assert_true(left >= begun - (begun > 0) && left <= begun + 1);
		assert_true(atomic_load(&ahead->begun) <= begun + 1);
	}
}

static void
forged_sizes_stay_in_bounds(void **state)
{
	Ahead	   *ahead = calloc(1, sizeof(Ahead));
	uint8_t		frame[AHEAD_DONE_MAX];

	(void) state;
	atomic_store(&ahead->done, UINT32_MAX);
	ahead->left[0].size = UINT32_MAX;
	assert_int_equal(ahead_take(ahead, 0, frame), AHEAD_DONE_MAX);
	assert_int_equal(ahead_take(ahead, 1, frame), AHEAD_DONE_MAX);
	assert_int_equal(ahead_take(ahead, AHEAD_MAX, frame), 0);
	assert_false(ahead_leave(ahead, AHEAD_MAX, frame, 1));
	assert_false(ahead_leave(ahead, 0, frame, AHEAD_DONE_MAX + 1));
	free(ahead);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(one_after_another, start_runner, end_runner),
		cmocka_unit_test_setup_teardown(a_failure_without_output_is_left_too, start_runner, end_runner),
		cmocka_unit_test_setup_teardown(what_is_not_quiet_ends_it, start_runner, end_runner),
		cmocka_unit_test_setup_teardown(a_large_result_ends_it, start_runner, end_runner),
		cmocka_unit_test_setup_teardown(a_call_ends_it, start_runner, end_runner),
		cmocka_unit_test_setup_teardown(one_that_leaves_ends_it, start_runner, end_runner),
		cmocka_unit_test_setup_teardown(stopped_before_it_began, start_runner, end_runner),
		cmocka_unit_test_setup_teardown(stopped_at_any_time, start_runner, end_runner),
		cmocka_unit_test(forged_sizes_stay_in_bounds)};

	alarm(120);					/* a runner that never answers must not stop the suite */
	return cmocka_run_group_tests_name("burst", tests, NULL, NULL);
}
