/*
 * test_calls.c
 *		What the real runner asks from outside, and what the code makes of the
 *		answers.
 */
#include "cmocka_all.h"
#include "runner_client.h"

#include <stdio.h>
#include <unistd.h>

static RunnerClient client;
static CallMessage call;
static DoneMessage done;

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

static void
assert_text(FrameText text, const char *expected)
{
	if (expected == NULL)
	{
		assert_null(text.data);
		return;
	}
	assert_non_null(text.data);
	if (text.length != strlen(expected) || memcmp(text.data, expected, text.length) != 0)
		fail_msg("\"%.*s\" is not \"%s\"", (int) text.length, text.data, expected);
}

static void
start(const char *code)
{
	RunMessage	request = runner_client_request(code);

	assert_true(runner_client_send(&client, &request));
}

static void
expect_call(uint32_t seq, const char *kind, const char *name, const char *args)
{
	assert_true(runner_client_receive_call(&client, &call));
	assert_int_equal(call.seq, seq);
	assert_text(call.kind, kind);
	assert_text(call.name, name);
	assert_text(call.args, args);
}

static void
answer(bool ok, const char *value)
{
	ReturnMessage message = {.status = ok ? RETURN_OK : RETURN_ERROR, .delivered_no = 1, .clock_ms = INT64_C(1700000001000)};

	if (value != NULL)
		message.value = (FrameText){value, (uint32_t) strlen(value)};
	assert_true(runner_client_answer(&client, &message));
}

static void
expect_result(const char *json)
{
	assert_true(runner_client_receive(&client, &done));
	if (!done.succeeded)
		fail_msg("%.*s", (int) done.error.length, done.error.data);
	assert_text(done.result, json);
	if (done.reusable)
		return;
	end_runner(NULL);
	assert_int_equal(start_runner(NULL), 0);
}

/* what code gets that has that answer */
static void
assert_answer(const char *value, const char *code, const char *json)
{
	start(code);
	expect_call(1, "tool", "t", NULL);
	answer(true, value);
	expect_result(json);
}

/* ------------------------------------------------------------------------ */

static void
what_is_asked(void **state)
{
	(void) state;
	start("tools.a.b.c{n = 10/2, x = 0.5, s = 'x', l = {1.0, 2^53}} tools.call('a.b', {}) "
		  "tools.t() tools.search('q') tools.describe('d') workspace.set('k', json.null) "
		  "executions.get('i') return 'end'");
	expect_call(1, "tool", "a.b.c", "{\"l\":[1,9007199254740992],\"n\":5,\"s\":\"x\",\"x\":0.5}");
	answer(true, NULL);
	expect_call(2, "tool", "a.b", "{}");
	answer(true, NULL);
	expect_call(3, "tool", "t", NULL);
	answer(true, NULL);
	expect_call(4, "tool", "tools.search", "{\"query\":\"q\"}");
	answer(true, NULL);
	expect_call(5, "tool", "tools.describe", "{\"name\":\"d\"}");
	answer(true, NULL);
	expect_call(6, "tool", "workspace.set", "{\"key\":\"k\",\"value\":null}");
	answer(true, NULL);
	expect_call(7, "tool", "executions.get", "{\"id\":\"i\"}");
	answer(true, NULL);
	expect_result("\"end\"");
}

static void
what_comes_back(void **state)
{
	(void) state;
	assert_answer(NULL, "return {tools.t() == nil}", "[true]");
	assert_answer("null", "return {tools.t() == nil}", "[true]");
	assert_answer("[1, 1.50, null, {}, []]", "return tools.t()", "[1,1.5,null,{},[]]");
	assert_answer("9223372036854775807", "return {math.type(tools.t())}", "[\"integer\"]");
	/* digits are kept where Lua has no such number */
	assert_answer("12345678901234567890", "return tools.t()", "\"12345678901234567890\"");
	assert_answer("-9223372036854775809", "return tools.t()", "\"-9223372036854775809\"");
	assert_answer("1e400", "return {tools.t()}", "[\"1e400\"]");
	assert_answer("0.1234567890123456789", "return tools.t()", "0.12345678901234568");
	/* the clock goes on from the answer */
	assert_answer("1", "tools.t() return os.time()", "1700000001");
}

static void
a_failed_call_raises_its_error(void **state)
{
	(void) state;
	start("local ok, e = pcall(tools.t) return {ok, e.code, e.detail == nil}");
	expect_call(1, "tool", "t", NULL);
	answer(false, "{\"code\": \"tool_failed\", \"message\": \"m\"}");
	expect_result("[false,\"tool_failed\",true]");

	start("tools.t()");
	expect_call(1, "tool", "t", NULL);
	answer(false, "{\"code\": \"tool_failed\", \"message\": \"m\"}");
	assert_true(runner_client_receive(&client, &done));
	assert_text(done.error_code, "tool_failed");
	assert_text(done.error, "m");
}

/* what names nothing, or has no JSON form, is an error of the code at once */
static void
what_is_not_asked(void **state)
{
	static const char *const code[] = {
		"tools.call('')",
		"tools[('x'):rep(256)]()",
		"tools['\\xff']()",
		"tools['a\\0b']()",
		"tools.call('a\\0b')",
		"tools.call()",
		"tools.t(1)",
		"tools.t{1}",
		"tools.t{n = 0/0}",
		"tools.t{n = print}",
		"tools.t{n = '\\xff'}",
		"tools.t{n = ('x'):rep(1024 * 1024)}",
		"local t = {} for i = 1, 400000 do t[i] = 1 end tools.t{n = t}",
		"require('')",
		"tools.x = 1",
		"tools.t.x = 1",
		NULL};
	char		text[400];

	(void) state;
	for (int i = 0; code[i] != NULL; i++)
	{
		snprintf(text, sizeof(text), "local ok = pcall(function() %s end) tools.t() return ok", code[i]);
		start(text);
		expect_call(1, "tool", "t", NULL);
		answer(true, NULL);
		expect_result("false");
	}
	/* 255 characters, of four bytes each */
	start("return tools[('\xF0\x9F\x99\x82'):rep(255)]()");
	assert_true(runner_client_receive_call(&client, &call));
	assert_int_equal(call.name.length, 4 * 255);
	answer(true, "1");
	expect_result("1");
}

static void
modules(void **state)
{
	(void) state;
	start("local m = require('a.b') return {m.name, m.twice(21), require('a.b') == m, require('n')}");
	expect_call(1, "module", "a.b", NULL);
	answer(true, "\"return {name = ..., twice = function(x) return 2 * x end}\"");
	expect_call(2, "module", "n", NULL);
	answer(true, "\"\"");
	expect_result("[\"a.b\",42,true,true]");

	start("return {pcall(require, 'x')}");
	expect_call(1, "module", "x", NULL);
	answer(true, "\"return +\"");
	expect_result("[false,\"x:1: unexpected symbol near '+'\"]");

	/* a circle ends where it closes */
	start("return {pcall(require, 'x')}");
	expect_call(1, "module", "x", NULL);
	answer(true, "\"return require 'y'\"");
	expect_call(2, "module", "y", NULL);
	answer(true, "\"return require 'x'\"");
	expect_result("[false,\"y:1: loop or earlier error loading module 'x'\"]");

	/* no bytecode */
	start("return {pcall(require, 'x')}");
	expect_call(1, "module", "x", NULL);
	answer(true, "\"\\u001bLua\"");
	assert_true(runner_client_receive(&client, &done));
	assert_true(done.succeeded);
}

static void
an_unsound_answer(void **state)
{
	static const uint8_t frame[] = {0, 0, 0, 0, MESSAGE_RETURN};

	(void) state;
	start("return {pcall(tools.t)}");
	expect_call(1, "tool", "t", NULL);
	answer(true, "[1");
	assert_true(runner_client_receive(&client, &done));
	assert_true(done.succeeded);

	/* no such frame: the runner ends */
	start("return tools.t()");
	expect_call(1, "tool", "t", NULL);
	assert_int_equal(write(client.socket, frame, sizeof(frame)), sizeof(frame));
	assert_false(runner_client_receive(&client, &done));
}

#define runner_test(function) cmocka_unit_test_setup_teardown(function, start_runner, end_runner)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		runner_test(what_is_asked),
		runner_test(what_comes_back),
		runner_test(a_failed_call_raises_its_error),
		runner_test(what_is_not_asked),
		runner_test(modules),
		runner_test(an_unsound_answer),
	};

	alarm(120);					/* a runner that never answers must not stop the suite */
	return cmocka_run_group_tests_name("calls", tests, NULL, NULL);
}
