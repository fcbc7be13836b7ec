/*
 * test_runner.c
 *		The real runner program over a socket pair.
 */
#include "cmocka_all.h"
#include "runner_client.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static RunnerClient client;
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

/* run a request and expect an answer */
static void
run_request(const RunMessage *request)
{
	assert_true(runner_client_send(&client, request));
	assert_true(runner_client_receive(&client, &done));
}

static void
run(const char *code)
{
	RunMessage	request = runner_client_request(code);

	run_request(&request);
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
assert_result(const char *code, const char *json)
{
	run(code);
	if (!done.succeeded)
		fail_msg("%s: %.*s", code, (int) done.error.length, done.error.data);
	assert_int_equal(done.exit_code, 0);
	assert_text(done.result, json);
}

static void
assert_failure(const char *code, const char *error_code, const char *error)
{
	run(code);
	assert_false(done.succeeded);
	assert_int_equal(done.exit_code, 1);
	assert_text(done.error_code, error_code);
	assert_text(done.error, error);
}

static void
assert_output(OutlogStream stream, const char *expected)
{
	bool		truncated;
	char	   *text = runner_client_output(&client, stream, &truncated);

	assert_string_equal(text, expected);
	free(text);
}

/* ------------------------------------------------------------------------
 * Start and end
 * ------------------------------------------------------------------------ */

static void
ready_says_what_it_is(void **state)
{
	(void) state;
	assert_int_equal(client.ready.protocol_version, PROTOCOL_VERSION);
	assert_true(client.ready.seccomp);
	assert_true(client.ready.runtime_version.length > 4);
	assert_memory_equal(client.ready.runtime_version.data, "Lua 5.4", 7);
}

/* it ends with that exit code before READY */
static void
assert_refuses(const RunnerOptions *options, int exit_code)
{
	RunnerClient c;
	int			status;

	assert_true(runner_client_spawn(&c, options));
	assert_false(runner_client_await_ready(&c));
	assert_int_equal(waitpid(c.pid, &status, 0), c.pid);
	c.pid = 0;
	runner_client_end(&c);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), exit_code);
}

static void
wrong_arguments_are_refused(void **state)
{
	RunnerOptions options = runner_client_defaults();

	(void) state;
	options.version = "0.0.9";
	assert_refuses(&options, RUNNER_EXIT_USAGE);
	options = runner_client_defaults();
	options.protocol = "999";
	assert_refuses(&options, RUNNER_EXIT_USAGE);
	options = runner_client_defaults();
	options.memory_kb = "lots";
	assert_refuses(&options, RUNNER_EXIT_USAGE);
	options = runner_client_defaults();
	options.parent = "1";		/* not its parent: that one died meanwhile */
	assert_refuses(&options, RUNNER_EXIT_SETUP);
}

static void
ends_with_the_socket(void **state)
{
	int			status;

	(void) state;
	close(client.socket);
	client.socket = 0;
	assert_int_equal(waitpid(client.pid, &status, 0), client.pid);
	client.pid = 0;
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void
an_unsound_frame_ends_it(void **state)
{
	int			status;
	uint8_t		frame[] = {1, 0, 0, 0, MESSAGE_RUN, 0};

	(void) state;
	assert_int_equal(write(client.socket, frame, sizeof(frame)), sizeof(frame));
	assert_int_equal(waitpid(client.pid, &status, 0), client.pid);
	client.pid = 0;
	assert_int_equal(WEXITSTATUS(status), RUNNER_EXIT_USAGE);
}

/* ------------------------------------------------------------------------
 * Outcomes
 * ------------------------------------------------------------------------ */

static void
results(void **state)
{
	(void) state;
	assert_result("return 1 + 1", "2");
	assert_result("", NULL);
	assert_result("return nil", NULL);
	assert_result("return json.null", "null");
	assert_result("return 1, nil, 'x'", "[1,null,\"x\"]");
	assert_result("return {}", "[]");
	assert_result("return {a = {}, b = json.array()}", "{\"a\":[],\"b\":[]}");
	assert_result("return math.maxinteger, math.mininteger, 2^53, 0.1, -0.0",
				  "[9223372036854775807,-9223372036854775808,9007199254740992.0,0.1,-0.0]");
	assert_result("return {z = 1, a = 2, m = 3}", "{\"a\":2,\"m\":3,\"z\":1}");
	assert_result("return json.decode('{\"a\":{},\"b\":[],\"c\":null}')", "{\"a\":{},\"b\":[],\"c\":null}");
}

static void
results_without_json(void **state)
{
	(void) state;
	assert_failure("return print", "result_invalid", "invalid result: a function has no JSON form");
	assert_failure("return {items = {1, {f = print}}}", "result_invalid",
				   "invalid result: a function has no JSON form (at items[2].f)");
	assert_failure("local t = {} t.t = t return t", "result_invalid",
				   "invalid result: a table that contains itself has no JSON form (at t)");
	assert_failure("return 0/0", "result_invalid", "invalid result: NaN has no JSON form");
	assert_failure("return '\\xff'", "result_invalid",
				   "invalid result: text that is not valid UTF-8 has no JSON form");
	assert_failure("return {1, nil, 3}", "result_invalid", "invalid result: a list with holes has no JSON form");
	assert_failure("return ('x'):rep(2^20)", "result_invalid", "invalid result: larger than 1048576 bytes as JSON");
}

static void
errors(void **state)
{
	(void) state;
	assert_failure("error('boom')", "runtime_error", "code:1: boom");
	assert_output(OUTLOG_STDERR, "code:1: boom\nstack traceback:\n\t[C]: in function 'error'\n\tcode:1: in main chunk\n");
	assert_failure("error({code = 'E1', message = 'no'})", "E1", "no");
	assert_failure("error({code = ('x'):rep(64), message = 'no'})", "runtime_error", "no");
	assert_failure("error({what = 1})", "runtime_error", "{\"what\":1}");
	assert_failure("error()", "runtime_error", "(error object is a nil value)");
	assert_failure("error(setmetatable({}, {__tostring = function() return 'custom' end}))",
				   "runtime_error", "custom");
	assert_failure("error(setmetatable({}, {__tostring = error}))", "runtime_error",
				   "(error object cannot be described)");
	assert_failure("x = = 1", "syntax_error", "code:1: unexpected symbol near '='");
	assert_failure("\x1BLua", "syntax_error", "attempt to load a binary chunk (mode is 't')");
}

static void
a_long_error_is_clipped(void **state)
{
	(void) state;
	run("error(('\xE2\x82\xAC'):rep(10000), 0)");
	assert_int_equal(done.error.length, MAX_ERROR_BYTES / 3 * 3);
}

static void
exit_codes(void **state)
{
	(void) state;
	run("pcall(os.exit, 7)");
	assert_false(done.succeeded);
	assert_int_equal(done.exit_code, 7);
	assert_text(done.error_code, "exit");
	run("coroutine.wrap(function() print('x') os.exit(0) end)()");
	assert_true(done.succeeded);
	assert_int_equal(done.exit_code, 0);
	assert_text(done.result, NULL);
	assert_output(OUTLOG_STDOUT, "x\n");
	run("os.exit(false)");
	assert_int_equal(done.exit_code, 1);
}

static void
inputs(void **state)
{
	RunMessage	request = runner_client_request("return {args, execution.id}");

	(void) state;
	request.args = (FrameText){"{\"n\":[1,2.5,9223372036854775808]}", 33};
	request.execution = (FrameText){"{\"id\":\"abc\"}", 12};
	run_request(&request);
	assert_text(done.result, "[{\"n\":[1,2.5,\"9223372036854775808\"]},\"abc\"]");
	request.args = (FrameText){"[1e999]", 7};
	run_request(&request);
	assert_text(done.result, "[[\"1e999\"],\"abc\"]");
	request.args = (FrameText){"[1", 2};
	run_request(&request);
	assert_text(done.error_code, "args_invalid");
	assert_result("return args == nil", "true");
}

/* ------------------------------------------------------------------------
 * Limits
 * ------------------------------------------------------------------------ */

static void
output_is_cut(void **state)
{
	RunMessage	request = runner_client_request("print('abcdef') io.stderr:write('err') print('more') return 1");
	bool		truncated;
	char	   *text;

	(void) state;
	request.max_output_chars = 4;
	run_request(&request);
	assert_true(done.succeeded);
	text = runner_client_output(&client, OUTLOG_STDOUT, &truncated);
	assert_string_equal(text, "abcd");
	assert_true(truncated);
	free(text);
	text = runner_client_output(&client, OUTLOG_STDERR, &truncated);
	assert_string_equal(text, "err");
	assert_false(truncated);
	free(text);
}

static void
the_memory_limit_ends_it(void **state)
{
	int			status;

	(void) state;
	run("print('before') pcall(function() local t = {} for i = 1, 1e9 do t[i] = {} end end) return 1");
	assert_false(done.succeeded);
	assert_false(done.reusable);
	assert_text(done.error_code, "memory_limit");
	assert_text(done.error, "memory limit of 65536 kB exceeded");
	assert_output(OUTLOG_STDOUT, "before\n");
	assert_int_equal(waitpid(client.pid, &status, 0), client.pid);
	client.pid = 0;
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void
a_request_has_its_own_limit(void **state)
{
	RunMessage	request = runner_client_request("local s = ('x'):rep(200000) return #s");

	(void) state;
	request.memory_limit = 150000;
	run_request(&request);
	assert_text(done.error_code, "memory_limit");
}

/* garbage of many times the limit, with half of it alive */
static void
garbage_is_collected_in_time(void **state)
{
	(void) state;
	run("local keep = {} for i = 1, 32 do keep[i] = ('x'):rep(1024 * 1024) end "
		"for i = 1, 300 do local s = ('y'):rep(1024 * 1024 + i) end return #keep");
	assert_true(done.succeeded);
	assert_false(done.reusable);
}

/* ------------------------------------------------------------------------
 * Purity
 * ------------------------------------------------------------------------ */

static const char fingerprint[] =
	"local names = {} for name, value in pairs(_G) do names[#names + 1] = name .. tostring(value) end "
	"return names, math.random(1000000), os.time(), os.clock(), collectgarbage('count'), "
	"tostring(print), tostring({}), string.rep('x', 2), #string.format('%p', {})";

/* whatever a run did, the next starts from the same state, to the byte */
static void
nothing_is_left_behind(void **state)
{
	static const char *const dirty[] = {
		"leak = 1 string.evil = 2 for i = 1, 1000 do _G['k' .. i] = {} end print(tostring({}))",
		"string.rep = nil math.random = nil setmetatable(_G, {__index = error}) error('x')",
		"math.randomseed(1) math.random() for i = 1, 10 do os.time() end os.exit(3)",
		"local t = setmetatable({}, {__mode = 'k'}) for i = 1, 100 do t[{}] = i end collectgarbage()",
		"coroutine.wrap(function() error('in a coroutine') end)()",
		"local s = 'x' .. 1 getmetatable(json.array()).__index = function() return 1 end return s",
		"x = = 1",
		"return print",
		"local f f = function() return f() + 1 end f()"};
	RunMessage	request = runner_client_request(fingerprint);
	char		first[8192];

	(void) state;
	run_request(&request);
	assert_true(done.succeeded && done.result.length < sizeof(first));
	memcpy(first, done.result.data, done.result.length);
	first[done.result.length] = '\0';
	for (size_t i = 0; i < sizeof(dirty) / sizeof(dirty[0]); i++)
	{
		run(dirty[i]);
		if (!done.reusable)
		{
			end_runner(state);
			assert_int_equal(start_runner(state), 0);
		}
		assert_result(fingerprint, first);
	}
}

static void
the_id_seeds_random(void **state)
{
	RunMessage	request = runner_client_request("return math.random(1 << 60)");
	char		first[64] = "";

	(void) state;
	run_request(&request);
	memcpy(first, done.result.data, done.result.length);
	run_request(&request);
	assert_text(done.result, first);
	request.id[15] = 9;
	run_request(&request);
	assert_true(done.result.length != strlen(first) ||
				memcmp(done.result.data, first, done.result.length) != 0);
}

static void
requests_may_queue_up(void **state)
{
	RunMessage	request = runner_client_request("return 1");
	RunMessage	other = runner_client_request("return 2");

	(void) state;
	assert_true(runner_client_send(&client, &request));
	assert_true(runner_client_send(&client, &other));
	assert_true(runner_client_receive(&client, &done));
	assert_text(done.result, "1");
	assert_true(runner_client_receive(&client, &done));
	assert_text(done.result, "2");
}

/* the largest request there can be: all of it is read, and answered */
static void
a_large_request(void **state)
{
	size_t		length = MAX_CODE_BYTES - 20;
	char	   *code = malloc(length + 1);
	RunMessage	request;

	(void) state;
	memset(code, ' ', length);
	memcpy(code, "return 5", 8);
	code[length] = '\0';
	request = runner_client_request(code);
	request.args = (FrameText){malloc(MAX_ARGS_BYTES), MAX_ARGS_BYTES};
	memset((char *) request.args.data, ' ', MAX_ARGS_BYTES);
	memcpy((char *) request.args.data, "[1]", 3);
	run_request(&request);
	assert_text(done.result, "5");
	assert_false(done.reusable);
	free((char *) request.args.data);
	free(code);
}

#define runner_test(function) cmocka_unit_test_setup_teardown(function, start_runner, end_runner)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		runner_test(ready_says_what_it_is),
		cmocka_unit_test(wrong_arguments_are_refused),
		runner_test(ends_with_the_socket),
		runner_test(an_unsound_frame_ends_it),
		runner_test(results),
		runner_test(results_without_json),
		runner_test(errors),
		runner_test(a_long_error_is_clipped),
		runner_test(exit_codes),
		runner_test(inputs),
		runner_test(output_is_cut),
		runner_test(the_memory_limit_ends_it),
		runner_test(a_request_has_its_own_limit),
		runner_test(garbage_is_collected_in_time),
		runner_test(nothing_is_left_behind),
		runner_test(the_id_seeds_random),
		runner_test(requests_may_queue_up),
		runner_test(a_large_request),
	};

	alarm(120);					/* a runner that never answers must not stop the suite */
	return cmocka_run_group_tests_name("runner", tests, NULL, NULL);
}
