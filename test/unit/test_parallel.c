/*
 * test_parallel.c
 *		Calls that wait, and branches that wait side by side: the real runner
 *		against a worker with a journal in memory.
 */
#include "cmocka_all.h"
#include "worker_model.h"

#include <poll.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static WorkerModel model;

/*
 * Tools answer at once with their own name; those that begin with "bad" fail,
 * and "refused" isn't even journaled.  All else is pending.
 */
static void
decide(WorkerModel *m, ModelCall *call)
{
	char		value[200];

	if (strcmp(call->kind, "tool") != 0)
		return;
	if (strncmp(call->name, "bad", 3) == 0 || strcmp(call->name, "refused") == 0)
	{
		snprintf(value, sizeof(value), "{\"code\":\"tool_failed\",\"message\":\"%s\"}", call->name);
		worker_model_settle(m, call, RETURN_ERROR, value);
	}
	else
	{
		snprintf(value, sizeof(value), "\"%s\"", call->name);
		worker_model_settle(m, call, RETURN_OK, value);
	}
	if (strcmp(call->name, "refused") == 0)
		call->delivered_no = 0;
}

static void
begin(const char *code)
{
	worker_model_begin(&model, code);
	model.decide = decide;
}

static int
end_model(void **state)
{
	(void) state;
	worker_model_end(&model);
	return 0;
}

static void
attempt(AttemptEnd expected)
{
	AttemptEnd	end = worker_model_attempt(&model);

	if (end == ATTEMPT_DIVERGED)
		fail_msg("%s", model.why);
	if (end != expected && end == ATTEMPT_DONE)
		fail_msg("done: %s", model.text);
	assert_int_equal(end, expected);
}

/* "1 ask q|2 tool a": the calls of the last attempt */
static void
assert_calls(const char *expected)
{
	char		text[4096] = "";
	size_t		n = 0;

	for (uint32_t i = 0; i < model.made; i++)
		n += (size_t) snprintf(text + n, sizeof(text) - n, "%s%s %s", i > 0 ? "|" : "",
							   model.calls[i].kind, model.calls[i].name);
	assert_string_equal(text, expected);
}

static void
assert_done(const char *result)
{
	if (!model.succeeded)
		fail_msg("%s", model.text);
	assert_string_equal(model.text != NULL ? model.text : "nothing", result);
}

/* the code ends in its first attempt, without pausing */
static void
assert_result(const char *code, const char *result)
{
	begin(code);
	attempt(ATTEMPT_DONE);
	assert_done(result);
	worker_model_end(&model);
}

static void
assert_error(const char *code, const char *error_code, const char *error)
{
	begin(code);
	attempt(ATTEMPT_DONE);
	assert_false(model.succeeded);
	assert_string_equal(model.text, error);
	assert_string_equal(model.error_code, error_code);
	worker_model_end(&model);
}

/* the code makes one call, which gets that answer */
static void
assert_answered(const char *code, const char *calls, const char *args, const char *answer, const char *result)
{
	begin(code);
	attempt(ATTEMPT_SUSPENDED);
	assert_calls(calls);
	if (args == NULL)
		assert_null(model.calls[0].args);
	else
		assert_string_equal(model.calls[0].args, args);
	worker_model_answer(&model, 1, answer);
	attempt(ATTEMPT_DONE);
	assert_done(result);
	worker_model_end(&model);
}

/* ------------------------------------------------------------------------
 * Calls that wait
 * ------------------------------------------------------------------------ */

static void
asking(void **state)
{
	(void) state;
	assert_answered("return ask{message = 'go?'}", "ask ask", "{\"message\":\"go?\"}",
					"{\"action\":\"accept\",\"content\":{\"n\":1}}", "[\"accept\",{\"n\":1}]");
	assert_answered("return ask{message = 'go?', expires = 60, schema = {type = 'object'}}", "ask ask",
					"{\"expires\":60,\"message\":\"go?\",\"schema\":{\"type\":\"object\"}}",
					"{\"action\":\"decline\",\"content\":null}", "[\"decline\",null]");
	assert_answered("local a, c = ask{message = 'go?', url = 'https://x'} return a, c == nil", "ask ask",
					"{\"message\":\"go?\",\"url\":\"https://x\"}", "{\"action\":\"cancel\"}", "[\"cancel\",true]");
	assert_answered("return select('#', ask(setmetatable({message = 'm'}, {__index = error})))", "ask ask",
					"{\"message\":\"m\"}", "{\"action\":\"cancel\"}", "2");
}

static void
asking_wrongly(void **state)
{
	(void) state;
#define ASK_ERROR(args, message) \
	assert_error("ask" args, "runtime_error", "code:1: bad argument #1 to 'ask' (" message ")")
	ASK_ERROR("('go?')", "table expected, got string");
	ASK_ERROR("()", "table expected, got no value");
	ASK_ERROR("{}", "field 'message' is required");
	ASK_ERROR("{'go?'}", "unknown field '1'");
	ASK_ERROR("{mesage = 'go?'}", "unknown field 'mesage'");
	ASK_ERROR("{message = 1}", "field 'message' must be a string, not a number");
	ASK_ERROR("{message = 'go?', schema = 'object'}", "field 'schema' must be a table, not a string");
	ASK_ERROR("{message = 'go?', url = {}}", "field 'url' must be a string, not a table");
	ASK_ERROR("{message = 'go?', url = 'x', schema = {}}", "fields 'schema' and 'url' exclude each other");
	ASK_ERROR("{message = 'go?', expires = '1'}", "field 'expires' must be a number, not a string");
#define EXPIRES_RULE "field 'expires' must be seconds, more than 0 and at most 31536000 (one year)"
	ASK_ERROR("{message = 'go?', expires = 0}", EXPIRES_RULE);
	ASK_ERROR("{message = 'go?', expires = -1}", EXPIRES_RULE);
	ASK_ERROR("{message = 'go?', expires = 0/0}", EXPIRES_RULE);
	ASK_ERROR("{message = 'go?', expires = math.huge}", EXPIRES_RULE);
	assert_error("ask{message = 'go?', schema = {f = print}}", "invalid_tool_arguments",
				 "a function has no JSON form (at schema.f)");
}

static void
sleeping(void **state)
{
	(void) state;
	assert_answered("return select('#', sleep(5))", "sleep sleep", "{\"seconds\":5}", "null", "0");
	assert_answered("return sleep(0)", "sleep sleep", "{\"seconds\":0}", "null", "nothing");
	assert_answered("return sleep('0.5')", "sleep sleep", "{\"seconds\":0.5}", "null", "nothing");
#define SLEEP_ERROR(args, message) \
	assert_error("sleep(" args ")", "runtime_error", "code:1: bad argument #1 to 'sleep' (" message ")")
#define SECONDS_RULE "seconds must be a number from 0 to 31536000 (one year)"
	SLEEP_ERROR("-1", SECONDS_RULE);
	SLEEP_ERROR("0/0", SECONDS_RULE);
	SLEEP_ERROR("math.huge", SECONDS_RULE);
	SLEEP_ERROR("math.maxinteger", SECONDS_RULE);
	SLEEP_ERROR("", "number expected, got no value");
	SLEEP_ERROR("{}", "number expected, got table");
}

static void
awaiting_events(void **state)
{
	(void) state;
	assert_answered("return await_event('paid', 60)", "event paid", "{\"timeout\":60}",
					"{\"payload\":{\"n\":1}}", "{\"n\":1}");
	assert_answered("return await_event('paid')", "event paid", NULL, "{\"payload\":null}", "nothing");
	assert_answered("return await_event('paid', 1.5)", "event paid", "{\"timeout\":1.5}",
					"{\"timeout\":true}", "[null,\"timeout\"]");
	begin("await_event(('\xE2\x82\xAC'):rep(255))");
	attempt(ATTEMPT_SUSPENDED);
	assert_int_equal(strlen(model.calls[0].name), 765);
}

static void
awaiting_wrongly(void **state)
{
	(void) state;
#define EVENT_ERROR(args, number, message)                 \
	assert_error("await_event(" args ")", "runtime_error", \
				 "code:1: bad argument #" number " to 'await_event' (" message ")")
	EVENT_ERROR("", "1", "string expected, got no value");
	EVENT_ERROR("''", "1", "the name must have 1 to 255 characters");
	EVENT_ERROR("('\xE2\x82\xAC'):rep(256)", "1", "the name must have 1 to 255 characters");
	EVENT_ERROR("'a\\0b'", "1", "the name must be valid UTF-8 without NUL");
	EVENT_ERROR("'\\xff'", "1", "the name must be valid UTF-8 without NUL");
	EVENT_ERROR("'a', -1", "2", SECONDS_RULE);
	EVENT_ERROR("'a', 0/0", "2", SECONDS_RULE);
	EVENT_ERROR("'a', {}", "2", "number expected, got table");
}

static void
waiting_for_children(void **state)
{
	(void) state;
	assert_answered("return executions.wait('0193').status", "child executions.wait", "{\"id\":\"0193\"}",
					"{\"id\":\"0193\",\"status\":\"failed\"}", "\"failed\"");
	assert_error("executions.wait()", "runtime_error",
				 "code:1: bad argument #1 to 'wait' (string expected, got no value)");
}

/* pending is no error: neither pcall nor a close handler sees it */
static void
what_is_pending_cannot_be_caught(void **state)
{
	(void) state;
	begin("local x <close> = setmetatable({}, {__close = function() print('closed') end}) "
		  "print(pcall(coroutine.wrap(function() return ask{message = 'm'} end))) print('after')");
	attempt(ATTEMPT_SUSPENDED);
	assert_string_equal(model.output, "");
	attempt(ATTEMPT_SUSPENDED);
	worker_model_answer(&model, 1, "{\"action\":\"accept\",\"content\":{}}");
	attempt(ATTEMPT_DONE);
	assert_string_equal(model.output, "true\taccept\ttable: 1\nafter\nclosed\n");
}

/* it says nothing more, and lives until it is killed */
static void
a_suspended_runner_waits(void **state)
{
	struct pollfd socket = {.events = POLLIN};
	int			status;

	(void) state;
	begin("ask{message = 'm'}");
	attempt(ATTEMPT_SUSPENDED);
	socket.fd = model.client.socket;
	assert_int_equal(poll(&socket, 1, 50), 0);
	assert_int_equal(waitpid(model.client.pid, &status, WNOHANG), 0);
}

static void
an_answer_after_suspend_ends_it(void **state)
{
	ReturnMessage answer = {.status = RETURN_OK, .delivered_no = 1};
	int			status;

	(void) state;
	begin("ask{message = 'm'}");
	attempt(ATTEMPT_SUSPENDED);
	assert_true(runner_client_answer(&model.client, &answer));
	assert_int_equal(waitpid(model.client.pid, &status, 0), model.client.pid);
	model.client.pid = 0;
	assert_int_equal(WEXITSTATUS(status), RUNNER_EXIT_USAGE);
	(void) runner_client_end(&model.client);
}

static void
names_of_tools_are_text(void **state)
{
	(void) state;
	assert_result("return tools['\xC3\xA9']()", "\"\xC3\xA9\"");
	assert_error("tools.call('a\\0b')", "runtime_error", "code:1: bad argument #1 to 'call' (a name has no NUL character)");
	assert_error("tools['\\xff']()", "tool_not_found", "tool names have 1 to 255 characters");
}

/* ------------------------------------------------------------------------
 * Branches
 * ------------------------------------------------------------------------ */

static void
results_of_branches(void **state)
{
	(void) state;
	assert_result("return parallel(function() return 1 end, function() end, function() return 3, 4 end)",
				  "[1,null,3]");
	assert_result("return select('#', parallel())", "0");
	assert_result("return select('#', parallel(function() end))", "1");
	assert_result("return parallel(function() return tools.a() end, function() return tools.b() end)",
				  "[\"a\",\"b\"]");
	assert_result("return parallel(parallel, coroutine.wrap(function() return tools.a() end))", "[null,\"a\"]");
}

static void
arguments_of_parallel(void **state)
{
	(void) state;
	assert_error("parallel(function() print('ran') end, nil)", "runtime_error",
				 "code:1: bad argument #2 to 'parallel' (function expected, got nil)");
	assert_error("parallel(tools.a)", "runtime_error",
				 "code:1: bad argument #1 to 'parallel' (function expected, got tool)");
	assert_error("local t = {} for i = 1, 101 do t[i] = print end parallel(table.unpack(t))", "runtime_error",
				 "code:1: too many functions to run in parallel (101; the limit is 100)");
	assert_result("local t = {} for i = 1, 100 do t[i] = function() return tools.a() end end "
				  "return #{parallel(table.unpack(t))}",
				  "100");
	assert_error("local t = {} for i = 1, 1e6 do t[i] = print end parallel(table.unpack(t))", "runtime_error",
				 "code:1: too many results to unpack");
}

/* each runs up to its first call, in order; then the numbers decide */
static void
branches_take_turns(void **state)
{
	(void) state;
	begin("local function branch(name) return function() "
		  "print(name, 1) tools[name .. 1]() print(name, 2) tools[name .. 2]() print(name, 3) end end "
		  "parallel(branch 'a', branch 'b')");
	attempt(ATTEMPT_DONE);
	assert_calls("tool a1|tool b1|tool a2|tool b2");
	assert_string_equal(model.output, "a\t1\nb\t1\na\t2\nb\t2\na\t3\nb\t3\n");
}

/* what isn't journaled has no number, in no attempt, and comes first */
static void
an_answer_without_number_comes_first(void **state)
{
	(void) state;
	begin("local order = {} "
		  "local function branch(name) return function() pcall(tools[name]) order[#order + 1] = name end end "
		  "parallel(branch 'a', branch 'refused', branch 'b') return table.concat(order, ' ')");
	attempt(ATTEMPT_DONE);
	assert_done("\"refused a b\"");
}

/* the example of the design: an answer comes while an attempt is at work */
static bool
answer_first_in_tool_b(WorkerModel *m, int when)
{
	if (when == 0 && m->made == m->count && strcmp(m->calls[m->made - 1].name, "B") == 0 && m->calls[0].answered == 0)
		worker_model_answer(m, 1, "{\"action\":\"accept\"}");
	return true;
}

static void
an_answer_during_an_attempt_is_for_the_next(void **state)
{
	(void) state;
	begin("parallel(function() ask{message = 'f'} tools.A() end, "
		  "function() ask{message = 'g'} tools.B() tools.C() end)");
	model.between = answer_first_in_tool_b;
	attempt(ATTEMPT_SUSPENDED);
	assert_calls("ask ask|ask ask");
	worker_model_answer(&model, 2, "{\"action\":\"accept\"}");
	attempt(ATTEMPT_SUSPENDED);
	assert_calls("ask ask|ask ask|tool B|tool C");
	attempt(ATTEMPT_DONE);
	assert_calls("ask ask|ask ask|tool B|tool C|tool A");
}

static const char three_asks[] =
	"local order = {} "
	"local function branch(name) return function() tools['before ' .. name]() ask{message = name} "
	"tools['after ' .. name]() order[#order + 1] = name end end "
	"parallel(branch 'a', branch 'b', branch 'c') return table.concat(order)";

/* three asks, answered one an attempt or several at once, in every order */
static void
answers_in_every_order(void **state)
{
	static const int orders[6][3] = {{4, 5, 6}, {4, 6, 5}, {5, 4, 6}, {5, 6, 4}, {6, 4, 5}, {6, 5, 4}};

	(void) state;
	for (int order = 0; order < 6; order++)
		for (int grouping = 0; grouping < 4; grouping++)
		{
			char		expected[6] = "\"...\"";

			begin(three_asks);
			attempt(ATTEMPT_SUSPENDED);
			assert_int_equal(model.count, 6);
			for (int i = 0; i < 3; i++)
			{
				worker_model_answer(&model, (uint32_t) orders[order][i], "{\"action\":\"accept\"}");
				expected[1 + i] = (char) ('a' + orders[order][i] - 4);
				if (i < 2 && (grouping & 1 << i))
					attempt(ATTEMPT_SUSPENDED);
			}
			attempt(ATTEMPT_DONE);
			assert_done(expected);
			attempt(ATTEMPT_DONE);
			assert_done(expected);
			worker_model_end(&model);
		}
}

/* the clock a branch reads is that of the last delivery, not of the last arrival */
static void
the_clock_moves_at_delivery(void **state)
{
	(void) state;
	begin("parallel(function() ask{message = 'a'} end, "
		  "function() tools.x{at = os.clock()} tools.y{at = os.clock()} end)");
	model.now_ms += 1000;
	attempt(ATTEMPT_SUSPENDED);
	model.now_ms += 500000;
	worker_model_answer(&model, 1, "{\"action\":\"accept\"}");
	attempt(ATTEMPT_DONE);
	assert_string_equal(model.calls[1].args, "{\"at\":0}");
	assert_string_equal(model.calls[2].args, "{\"at\":1.001}");
}

/* the inner branches take part in the choice of the outer ones */
static void
nested_branches(void **state)
{
	(void) state;
	begin("local function branch(name) return function() ask{message = name} print(name) return name end end "
		  "return parallel(branch 'a', function() print(parallel(branch 'b', branch 'c')) return 'n' end, branch 'd')");
	attempt(ATTEMPT_SUSPENDED);
	worker_model_answer(&model, 3, "{\"action\":\"accept\"}");
	worker_model_answer(&model, 4, "{\"action\":\"accept\"}");
	worker_model_answer(&model, 2, "{\"action\":\"accept\"}");
	attempt(ATTEMPT_SUSPENDED);
	assert_string_equal(model.output, "c\nd\nb\nb\tc\n");
	worker_model_answer(&model, 1, "{\"action\":\"accept\"}");
	attempt(ATTEMPT_DONE);
	assert_string_equal(model.output, "c\nd\nb\nb\tc\na\n");
	assert_done("[\"a\",\"n\",\"d\"]");
}

/* inner branches start, and one that forked goes on, before what is next to it */
static void
nested_branches_start_in_order(void **state)
{
	(void) state;
	begin("local function say(name) return function() print(name) end end "
		  "parallel(function() parallel(say 'a', say 'b') print('ab') "
		  "parallel(say 'c', function() tools.t() print('d') end) print('cd') end, say 'e')");
	attempt(ATTEMPT_DONE);
	assert_string_equal(model.output, "a\nb\nab\nc\ne\nd\ncd\n");
}

/* ------------------------------------------------------------------------
 * Errors in branches
 * ------------------------------------------------------------------------ */

static void
errors_in_branches(void **state)
{
	(void) state;
	begin("local ok, e = pcall(parallel, function() tools.a() print('a') end, "
		  "function() tools.bad1() end, function() error('early') end, function() tools.b() tools.c() print('b') end) "
		  "return ok, e.message");
	attempt(ATTEMPT_DONE);
	assert_string_equal(model.output, "a\nb\n");
	assert_done("[false,\"bad1\"]");
	worker_model_end(&model);

	assert_error("parallel(function() end, function() error('boom') end)", "runtime_error", "code:1: boom");
	assert_error("parallel(function() tools.bad2() end)", "tool_failed", "bad2");
	assert_error("parallel(function() error() end)", "runtime_error", "(error object is a nil value)");
	assert_result("return parallel(function() return pcall(tools.call, 'bad') end)", "false");
	assert_result("return parallel(function() return select(2, xpcall(function() tools.bad() end, "
				  "function(e) return e.message .. tools.a() end)) end)",
				  "\"bada\"");
}

static void
blocks_are_closed(void **state)
{
	(void) state;
	begin("local function closing(name) return setmetatable({}, {__close = function(_, e) "
		  "print(name, e, tools[name]()) end}) end "
		  "print(pcall(parallel, function() local x <close> = closing 'x' do local y <close> = closing 'y' tools.a() end "
		  "error('boom', 0) end, function() pcall(function() local z <close> = closing 'z' tools.bad() end) end, "
		  "function() local w <close> = setmetatable({}, {__close = function() error('other', 0) end}) error('lost') end))");
	attempt(ATTEMPT_DONE);
	assert_string_equal(model.output, "y\tnil\ty\nx\tboom\tx\nz\ttable: 1\tz\nfalse\tboom\n");
}

/* its close handler after an error can't yield: it holds up everything */
static void
a_pending_call_while_closing(void **state)
{
	(void) state;
	begin("return pcall(parallel, function() local x <close> = setmetatable({}, {__close = function() "
		  "print((ask{message = 'x'})) parallel(function() ask{message = 'in'} end) end}) error('boom', 0) end, "
		  "function() ask{message = 'y'} end)");
	attempt(ATTEMPT_SUSPENDED);
	assert_calls("ask ask");
	worker_model_answer(&model, 1, "{\"action\":\"accept\"}");
	attempt(ATTEMPT_SUSPENDED);
	assert_calls("ask ask|ask ask");
	worker_model_answer(&model, 2, "{\"action\":\"accept\"}");
	attempt(ATTEMPT_SUSPENDED);
	assert_calls("ask ask|ask ask|ask ask");
	worker_model_answer(&model, 3, "{\"action\":\"accept\"}");
	attempt(ATTEMPT_DONE);
	assert_done("[false,\"boom\"]");
}

/* ------------------------------------------------------------------------
 * Where a branch can't wait
 * ------------------------------------------------------------------------ */

/* it is made at once: while it is pending, a branch that has its answer stands, too */
static void
calls_that_hold_up_everything(void **state)
{
	static const char *const makes[] = {
		"coroutine.wrap(function() ask{message = 'x'} end)()",
		"local s = ('x'):gsub('x', function() ask{message = 'x'} end)",
		"table.sort({1, 2}, function() ask{message = 'x'} end)",
		"tostring(setmetatable({}, {__tostring = function() ask{message = 'x'} return '' end}))",
		"xpcall(error, function() ask{message = 'x'} end)",
		"load(function() ask{message = 'x'} end)",
		"coroutine.wrap(function() parallel(function() ask{message = 'x'} end) end)()"};

	(void) state;
	for (size_t i = 0; i < sizeof(makes) / sizeof(makes[0]); i++)
	{
		char		code[400];

		snprintf(code, sizeof(code),
				 "parallel(function() tools.a() print('a') end, function() %s print('b') end)", makes[i]);
		begin(code);
		attempt(ATTEMPT_SUSPENDED);
		assert_calls("tool a|ask ask");
		assert_string_equal(model.output, "");
		worker_model_answer(&model, 2, "{\"action\":\"accept\"}");
		attempt(ATTEMPT_DONE);
		assert_string_equal(model.output, "b\na\n");
		worker_model_end(&model);
	}
}

/* these wait like any other call of a branch */
static void
calls_that_can_wait(void **state)
{
	static const char *const makes[] = {
		"ask{message = 'x'}",
		"pcall(ask, {message = 'x'})",
		"local t = setmetatable({}, {__index = function() return (ask{message = 'x'}) end}) local v = t.x",
		"local t = setmetatable({}, {__add = function() return (ask{message = 'x'}) end}) local v = t + 1",
		"local c <close> = setmetatable({}, {__close = function() ask{message = 'x'} end})",
		"for v in ask, {message = 'x'} do break end",
		"parallel(function() ask{message = 'x'} end)",
		"return ask{message = 'x'}"};

	(void) state;
	for (size_t i = 0; i < sizeof(makes) / sizeof(makes[0]); i++)
	{
		char		code[400];

		snprintf(code, sizeof(code),
				 "parallel(function() tools.a() print('a') end, function() %s end) print('b')", makes[i]);
		begin(code);
		attempt(ATTEMPT_SUSPENDED);
		assert_calls("tool a|ask ask");
		assert_string_equal(model.output, "a\n");
		worker_model_answer(&model, 2, "{\"action\":\"accept\"}");
		attempt(ATTEMPT_DONE);
		assert_string_equal(model.output, "a\nb\n");
		worker_model_end(&model);
	}
}

/* the module's own code runs in the branch, too */
static void
decide_module(WorkerModel *m, ModelCall *call)
{
	if (strcmp(call->kind, "module") == 0)
		worker_model_settle(m, call, RETURN_OK, "\"local n = tools.t() return {n = n, name = ...}\"");
	else
		decide(m, call);
}

static void
modules_in_branches(void **state)
{
	(void) state;
	begin("local a, b = parallel(function() return require 'm' end, function() tools.x() return require 'm' end) "
		  "return a == b, a.n, a.name, require 'm' == a");
	model.decide = decide_module;
	attempt(ATTEMPT_DONE);
	assert_done("[true,\"t\",\"m\",true]");
	assert_calls("module m|tool x|tool t|module m");
}

/* ------------------------------------------------------------------------
 * Branches and the coroutine library
 * ------------------------------------------------------------------------ */

static void
a_branch_is_not_the_codes_coroutine(void **state)
{
	(void) state;
	assert_error("parallel(function() coroutine.yield(1) end)", "runtime_error",
				 "code:1: attempt to yield from a branch of parallel");
	assert_error("parallel(coroutine.yield)", "runtime_error", "attempt to yield from a branch of parallel");
	assert_result("return parallel(coroutine.isyieldable)", "false");
	assert_result("return parallel(function() return coroutine.wrap(coroutine.isyieldable)() end)", "true");
	assert_result("return parallel(function() return select(2, coroutine.running()) end)", "false");
	assert_result("local co return parallel(function() co = coroutine.running() tools.a() return 'a' end, "
				  "function() return {coroutine.resume(co), coroutine.status(co), pcall(coroutine.close, co)} end)",
				  "[\"a\",[false,\"suspended\",false,\"cannot close a branch of parallel\"]]");
	assert_result("local co parallel(function() co = coroutine.running() return 1 end) "
				  "return coroutine.status(co), coroutine.close(co), coroutine.resume(co)",
				  "[\"dead\",true,false,\"cannot resume dead coroutine\"]");
	assert_result("local co pcall(parallel, function() co = coroutine.running() error('x') end) "
				  "return coroutine.status(co), coroutine.close(co), coroutine.resume(co)",
				  "[\"dead\",true,false,\"cannot resume dead coroutine\"]");
	assert_result("local co = coroutine.running() return parallel(function() return {coroutine.resume(co)} end)",
				  "[false,\"cannot resume non-suspended coroutine\"]");
	/* ended, while its parallel has not */
	assert_result("local co return parallel(function() co = coroutine.running() return 'a' end, "
				  "function() return {coroutine.resume(co)} end)",
				  "[\"a\",[false,\"cannot resume a branch of parallel\"]]");
}

static void
coroutines_within_branches(void **state)
{
	(void) state;
	assert_result("local function branch(from) return function() local sum = 0 "
				  "local co = coroutine.create(function() for i = from, from + 2 do coroutine.yield(i) tools.t() end end) "
				  "for i in coroutine.wrap(function() for i = from, from + 2 do coroutine.yield(i) tools.t() end end) do "
				  "sum = sum + i tools.u() end "
				  "coroutine.resume(co) return {sum, coroutine.status(co), coroutine.close(co)} end end "
				  "return parallel(branch(1), branch(10))",
				  "[[6,\"suspended\",true],[33,\"suspended\",true]]");
	/* a coroutine made in one branch and resumed in another */
	assert_result("local co = coroutine.wrap(function() while true do coroutine.yield(tools.t()) end end) "
				  "return parallel(function() tools.a() return co() end, function() return co() end)",
				  "[\"t\",\"t\"]");
}

/* ------------------------------------------------------------------------
 * Hostile code
 * ------------------------------------------------------------------------ */

static void
branches_without_end(void **state)
{
	(void) state;
	assert_error("local function f() parallel(f) end f()", "runtime_error",
				 "code:1: too many branches within branches (the limit is 1000)");
	assert_error("local function f() local _, e = coroutine.resume(coroutine.create(function() parallel(f) end)) "
				 "error(e, 0) end f()",
				 "runtime_error", "C stack overflow");
	assert_error("local function f() ('x'):gsub('x', function() parallel(f) end) end f()", "runtime_error",
				 "C stack overflow");
	assert_result("local n = 0 for i = 1, 1e5 do parallel(function() n = n + 1 end, function() n = n + 1 end) end return n",
				  "200000");
}

static void
nesting_to_the_limit(void **state)
{
	(void) state;
	assert_result("local function f(n) if n > 0 then return (parallel(function() tools.t() return f(n - 1) end)) end "
				  "return 'deep' end return f(300)",
				  "\"deep\"");
	assert_result("local function f(n) if n == 0 then return 'deep' end "
				  "return coroutine.wrap(function() return (parallel(function() return f(n - 1) end)) end)() end "
				  "return f(20)",
				  "\"deep\"");
}

static void
in_metamethods(void **state)
{
	(void) state;
	assert_result("local t = setmetatable({}, {__gc = function() parallel(print) end}) t = nil collectgarbage() return 1", "1");
	assert_result("local t = setmetatable({}, {__index = function(t, k) return (parallel(function() return tools[k]() end)) end}) "
				  "return parallel(function() return t.a end, function() return t.b end)",
				  "[\"a\",\"b\"]");
	assert_result("local n = 0 local t = {3, 1, 2} table.sort(t, function(a, b) parallel(function() tools.t() n = n + 1 end) "
				  "return a < b end) return t[1], n > 1",
				  "[1,true]");
}

static void
memory_in_branches(void **state)
{
	(void) state;
	assert_error("pcall(parallel, function() tools.a() end, function() pcall(string.rep, 'x', 1 << 40) "
				 "local s = ('x'):rep(1 << 20) local t = {} for i = 1, 1e9 do t[i] = s .. i end end)",
				 "memory_limit", "memory limit of 65536 kB exceeded");
	assert_error("local function f() parallel(f, function() local t = {} for i = 1, 1e6 do t[i] = {} end tools.t() end) end f()",
				 "memory_limit", "memory limit of 65536 kB exceeded");
}

/* a megabyte and a half each, held until their turn */
static void
decide_large(WorkerModel *m, ModelCall *call)
{
	size_t		length = 1536 * 1024;
	char	   *value = malloc(length + 1);

	memset(value, 'x', length);
	value[0] = value[length - 1] = '"';
	value[length] = '\0';
	worker_model_settle(m, call, RETURN_OK, value);
	free(value);
}

static void
large_answers_are_held(void **state)
{
	static const char format[] =
		"local t = {} for i = 1, %d do t[i] = function() local n = 0 for j = 1, 3 do n = n + #tools.t() end return n end end "
		"local sum = 0 for _, n in ipairs{parallel(table.unpack(t))} do sum = sum + n end return sum";
	char		code[sizeof(format) + 10];

	(void) state;
	snprintf(code, sizeof(code), format, 10);
	begin(code);
	model.decide = decide_large;
	attempt(ATTEMPT_DONE);
	assert_done("47185860");
	worker_model_end(&model);

	snprintf(code, sizeof(code), format, 11);
	begin(code);
	model.decide = decide_large;
	attempt(ATTEMPT_DONE);
	assert_false(model.succeeded);
	assert_string_equal(model.error_code, "memory_limit");
	assert_string_equal(model.text, "answers that branches wait for exceed 16384 kB");
}

/* an answer that can't be read fails its call, in its turn */
static void
decide_deep(WorkerModel *m, ModelCall *call)
{
	char		value[1000];

	if (strcmp(call->name, "deep") != 0)
	{
		decide(m, call);
		return;
	}
	memset(value, '[', 400);
	memset(value + 400, ']', 400);
	value[800] = '\0';
	worker_model_settle(m, call, RETURN_OK, value);
}

static void
unreadable_answers(void **state)
{
	(void) state;
	begin("return parallel(function() tools.a() end, function() return select(2, pcall(tools.call, 'deep')) end)");
	model.decide = decide_deep;
	attempt(ATTEMPT_DONE);
	assert_true(model.succeeded);
	assert_non_null(strstr(model.text, "the answer cannot be read"));
}

/* what an execution left in branches is not there for the next */
static void
nothing_is_left_behind(void **state)
{
	static const char *const dirty[] = {
		"parallel(function() tools.a() os.exit(3) end, function() tools.b() end)",
		"parallel(function() tools.a() tools.b() end, function() tools.c() end) error('x')"};
	RunMessage	request = runner_client_request("return collectgarbage('count'), tostring({}), parallel(function() return 1 end)");
	RunnerClient *client = &model.client;
	char		first[200] = "";

	(void) state;
	begin("tools.a()");
	attempt(ATTEMPT_DONE);
	for (size_t i = 0; i < 4; i++)
	{
		RunMessage	other = runner_client_request(dirty[i % 2]);
		RunnerSays	says;

		assert_true(runner_client_send(client, &request));
		says = runner_client_listen(client);
		assert_int_equal(says.type, MESSAGE_DONE);
		assert_true(says.done.succeeded);
		if (i == 0)
			memcpy(first, says.done.result.data, says.done.result.length);
		assert_int_equal(says.done.result.length, strlen(first));
		assert_memory_equal(says.done.result.data, first, says.done.result.length);

		assert_true(runner_client_send(client, &other));
		while ((says = runner_client_listen(client)).type == MESSAGE_CALL)
		{
			ReturnMessage answer = {.status = RETURN_OK, .delivered_no = says.call.seq, .value = {"\"value\"", 7}};

			assert_true(runner_client_answer(client, &answer));
		}
		assert_int_equal(says.type, MESSAGE_DONE);
	}
}

#define parallel_test(function) cmocka_unit_test_teardown(function, end_model)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		parallel_test(asking),
		parallel_test(asking_wrongly),
		parallel_test(sleeping),
		parallel_test(awaiting_events),
		parallel_test(awaiting_wrongly),
		parallel_test(waiting_for_children),
		parallel_test(what_is_pending_cannot_be_caught),
		parallel_test(a_suspended_runner_waits),
		parallel_test(an_answer_after_suspend_ends_it),
		parallel_test(names_of_tools_are_text),
		parallel_test(results_of_branches),
		parallel_test(arguments_of_parallel),
		parallel_test(branches_take_turns),
		parallel_test(an_answer_without_number_comes_first),
		parallel_test(an_answer_during_an_attempt_is_for_the_next),
		parallel_test(answers_in_every_order),
		parallel_test(the_clock_moves_at_delivery),
		parallel_test(nested_branches),
		parallel_test(nested_branches_start_in_order),
		parallel_test(errors_in_branches),
		parallel_test(blocks_are_closed),
		parallel_test(a_pending_call_while_closing),
		parallel_test(calls_that_hold_up_everything),
		parallel_test(calls_that_can_wait),
		parallel_test(modules_in_branches),
		parallel_test(a_branch_is_not_the_codes_coroutine),
		parallel_test(coroutines_within_branches),
		parallel_test(branches_without_end),
		parallel_test(nesting_to_the_limit),
		parallel_test(in_metamethods),
		parallel_test(memory_in_branches),
		parallel_test(large_answers_are_held),
		parallel_test(unreadable_answers),
		parallel_test(nothing_is_left_behind),
	};

	alarm(120);					/* a runner that never answers must not stop the suite */
	return cmocka_run_group_tests_name("parallel", tests, NULL, NULL);
}
