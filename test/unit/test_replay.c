/*
 * test_replay.c
 *		Random programs, interrupted at random, make the same calls in every
 *		attempt.
 *
 * Each program is made from a seed: branches, branches within branches, calls
 * that wait or don't, errors, coroutines, close handlers.  Each call says in its
 * arguments what the program has seen so far: how many steps were taken, the
 * logical clock, and in which order tables lie as keys.  So whatever goes
 * another way in a later attempt is noticed at the next call, by the journal.
 *
 * REPLAY_SEED=n runs the program of that seed alone and prints it.
 */
#include "cmocka_all.h"
#include "worker_model.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#define PROGRAMS 250
#define ATTEMPTS_MAX 2000

static uint64_t random_state;
static WorkerModel model;

/* 0 to limit - 1 (splitmix64) */
static uint32_t
random_below(uint32_t limit)
{
	uint64_t	z = (random_state += UINT64_C(0x9E3779B97F4A7C15));

	z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
	return (uint32_t) ((z ^ z >> 31) % limit);
}

/* ------------------------------------------------------------------------
 * Programs
 * ------------------------------------------------------------------------ */

static const char prelude[] =
	"local n, log = 0, {}\n"
	"local weak = setmetatable({}, {__mode = 'k'})\n"
	"local function note(...)\n"
	"  n = n + 1\n"
	"  log[#log + 1] = table.concat({...}, ' ')\n"
	"  print(n, ...)\n"
	"  weak[{}] = n\n"
	"end\n"
	"local function seen()\n"
	"  local keys, order, alive = {}, {}, 0\n"
	"  for i = 1, 5 do keys[{}] = i end\n"
	"  for _, i in pairs(keys) do order[#order + 1] = i end\n"
	"  for _ in pairs(weak) do alive = alive + 1 end\n"
	"  return {n = n, clock = os.clock(), order = table.concat(order), alive = alive,\n"
	"    memory = collectgarbage('count'), random = math.random(1000)}\n"
	"end\n"
	"local function tool(name)\n"
	"  local ok, v = pcall(tools.call, name, seen())\n"
	"  note(name, ok and json.encode(v):sub(1, 20) or v.code)\n"
	"  return ok\n"
	"end\n"
	"local function question(name)\n"
	"  local action, content = ask{message = name .. json.encode(seen())}\n"
	"  note(name, action, json.encode(content):sub(1, 20))\n"
	"  return action == 'accept'\n"
	"end\n"
	"local function closing(name)\n"
	"  return setmetatable({}, {__close = function() note('closing') tool(name) end})\n"
	"end\n"
	"local function failed(e) note('failed', type(e) == 'table' and e.code or tostring(e)) end\n";

typedef struct Program
{
	char		text[200000];
	size_t		length;
	int			names;
	int			budget;			/* calls that it may still contain */
} Program;

static Program program;

static void
put(const char *format, ...)
{
	va_list		args;

	va_start(args, format);
	program.length += (size_t) vsnprintf(program.text + program.length, sizeof(program.text) - program.length, format, args);
	va_end(args);
	assert_true(program.length < sizeof(program.text));
}

static void put_statements(int depth);

static void
put_branches(int depth)
{
	int			count = 1 + (int) random_below(4);

	for (int i = 0; i < count; i++)
	{
		put("%sfunction()\n", i > 0 ? ", " : "");
		put_statements(depth - 1);
		put("return %d end", i);
	}
}

static void
put_call(void)
{
	int			name = ++program.names;

	program.budget--;
	switch (random_below(7))
	{
		case 0:
		case 1:
			put("tool 't%d'\n", name);
			break;
		case 2:
		case 3:
			put("question 'q%d'\n", name);
			break;
		case 4:
			put("sleep(%u) note 'slept'\n", random_below(3));
			break;
		case 5:
			put("note('event', json.encode({await_event('e%d', 5)}):sub(1, 20))\n", name);
			break;
		default:
			put("tool 'bad%d'\n", name);
			break;
	}
}

static void
put_in_block(const char *before, int depth, const char *after)
{
	put("%s\n", before);
	put_statements(depth - 1);
	put("%s\n", after);
}

static void
put_statement(int depth)
{
	if (depth <= 0 || random_below(2) == 0)
	{
		put_call();
		return;
	}
	switch (random_below(12))
	{
		case 0:
		case 1:
		case 2:
			put("do local ok, e = pcall(parallel, ");
			put_branches(depth);
			put(") note('joined', tostring(ok)) if not ok then failed(e) end end\n");
			break;
		case 3:
			put("note('joined', parallel(");
			put_branches(depth);
			put("))\n");
			break;
		case 4:
			put_in_block("do local ok, e = pcall(function()", depth, "error('inner', 0) end) failed(e) end");
			break;
		case 5:
			put("do local c <close> = closing 'c%d'\n", ++program.names);
			put_statements(depth - 1);
			put("end\n");
			break;
		case 6:
			put_in_block("for v in coroutine.wrap(function() coroutine.yield(1)", depth,
						 "coroutine.yield(2) end) do note('yielded', v) end");
			break;
		case 7:
			put_in_block("do local s = ('ab'):gsub('.', function(c) note('in gsub', c)", depth, "end) end");
			break;
		case 8:
			put("if question 'if%d' then\n", ++program.names);
			put_statements(depth - 1);
			put("else\n");
			put_statements(depth - 1);
			put("end\n");
			break;
		case 9:
			put_in_block("for i = 1, 2 do", depth, "end");
			break;
		case 10:
			put_in_block("do local t = setmetatable({}, {__index = function(t, k)", depth,
						 "return k end}) note(t.field) end");
			break;
		default:
			put("if n %% %u == 0 then error('at ' .. n, 0) end\n", 2 + random_below(4));
			break;
	}
}

static void
put_statements(int depth)
{
	int			count = 1 + (int) random_below(3);

	for (int i = 0; i < count && program.budget > 0; i++)
		put_statement(depth);
}

/* loops repeat some calls, so the budget is well below the model's limit */
static void
make_program(void)
{
	program.length = 0;
	program.names = 0;
	program.budget = 5 + (int) random_below(25);
	put("%slocal ok, e = pcall(function()\n", prelude);
	do
	{
		put("note('joined', parallel(");
		put_branches(4);
		put("))\n");
	} while (program.budget > 0 && random_below(2) == 0);
	put("end)\nif not ok then failed(e) end\nreturn n, log, seen()\n");
}

/* ------------------------------------------------------------------------
 * The world around it
 * ------------------------------------------------------------------------ */

/* values of all sizes, so that reading them early would move other tables */
static void
random_value(char *value, size_t capacity)
{
	size_t		n = (size_t) snprintf(value, capacity, "[\"v%u\"", random_below(1000));

	for (uint32_t i = random_below(3) * random_below(40); i > 0; i--)
		n += (size_t) snprintf(value + n, capacity - n, ",{\"k%u\":[%u]}", random_below(100), i);
	snprintf(value + n, capacity - n, "]");
}

static void
decide(WorkerModel *m, ModelCall *call)
{
	char		value[8192];

	if (strcmp(call->kind, "tool") == 0 && strncmp(call->name, "bad", 3) == 0)
	{
		worker_model_settle(m, call, RETURN_ERROR, "{\"code\":\"tool_failed\",\"message\":\"no\"}");
		/* one in two is refused rather than recorded: by its name, in every attempt */
		if (call->name[strlen(call->name) - 1] % 2 == 0)
			call->delivered_no = 0;
	}
	else if (strcmp(call->kind, "tool") == 0)
	{
		random_value(value, sizeof(value));
		worker_model_settle(m, call, RETURN_OK, value);
	}
	else if (strcmp(call->kind, "sleep") == 0 && random_below(2) == 0)
		worker_model_settle(m, call, RETURN_OK, "null");
}

static void
answer(WorkerModel *m, uint32_t seq)
{
	static const char *const actions[] = {"accept", "decline", "cancel"};
	char		content[8000];
	char		value[8192];

	random_value(content, sizeof(content));
	if (strcmp(m->calls[seq - 1].kind, "ask") == 0)
		snprintf(value, sizeof(value), "{\"action\":\"%s\",\"content\":%s}", actions[random_below(3)], content);
	else if (strcmp(m->calls[seq - 1].kind, "event") != 0)
		snprintf(value, sizeof(value), "null");
	else if (random_below(3) == 0)
		snprintf(value, sizeof(value), "{\"timeout\":true}");
	else
		snprintf(value, sizeof(value), "{\"payload\":%s}", content);
	worker_model_answer(m, seq, value);
}

/* answer one that is open, if there is any */
static bool
answer_any(WorkerModel *m)
{
	uint32_t	open = 0;

	for (uint32_t i = 0; i < m->count; i++)
		open += m->calls[i].status == RETURN_PENDING && m->calls[i].answered == 0;
	if (open == 0)
		return false;
	open = random_below(open) + 1;
	for (uint32_t i = 0; i < m->count; i++)
		if (m->calls[i].status == RETURN_PENDING && m->calls[i].answered == 0 && --open == 0)
			answer(m, i + 1);
	return true;
}

static bool
anything_is_pending(const WorkerModel *m)
{
	for (uint32_t i = 0; i < m->made; i++)
		if (m->calls[i].status == RETURN_PENDING)
			return true;
	return false;
}

/* people answer, time passes, and servers crash */
static bool
between(WorkerModel *m, int when)
{
	(void) when;
	if (random_below(8) == 0)
		answer_any(m);
	m->now_ms += random_below(100);
	return random_below(60) != 0;
}

static bool
no_crash(WorkerModel *m, int when)
{
	(void) m;
	(void) when;
	return true;
}

/* ------------------------------------------------------------------------
 * The property
 * ------------------------------------------------------------------------ */

/* what two attempts printed is the same as far as both got */
static void
assert_same_output(const char *earlier, const char *later, uint64_t seed)
{
	size_t		length = strlen(earlier) < strlen(later) ? strlen(earlier) : strlen(later);

	if (memcmp(earlier, later, length) != 0)
		fail_msg("seed %llu: the output differs:\n%s\n---\n%s", (unsigned long long) seed, earlier, later);
}

/* one attempt; keeps the longest output in *output */
static AttemptEnd
attempt(uint64_t seed, char **output)
{
	AttemptEnd	end = worker_model_attempt(&model);

	if (end == ATTEMPT_DIVERGED || end == ATTEMPT_DIED)
		fail_msg("seed %llu: %s", (unsigned long long) seed, end == ATTEMPT_DIED ? "the runner died" : model.why);
	assert_same_output(*output, model.output, seed);
	if (strlen(model.output) >= strlen(*output))
	{
		free(*output);
		*output = strdup(model.output);
	}
	return end;
}

static void
run_to_the_end(uint64_t seed, char **output)
{
	for (int attempts = 0; attempts < ATTEMPTS_MAX; attempts++)
	{
		AttemptEnd	end = attempt(seed, output);

		if (end == ATTEMPT_DONE)
			return;
		if (end != ATTEMPT_SUSPENDED)
			continue;
		if (!anything_is_pending(&model))
			fail_msg("seed %llu: suspended without anything pending", (unsigned long long) seed);
		for (uint32_t i = random_below(3); i > 0; i--)
			answer_any(&model);
	}
	fail_msg("seed %llu: does not end", (unsigned long long) seed);
}

/* what is complete is replayed without a new call, to the same result */
static void
assert_replays(uint64_t seed, char **output)
{
	char	   *result = strdup(model.text);
	uint32_t	calls = model.made;

	model.between = no_crash;
	assert_int_equal(attempt(seed, output), ATTEMPT_DONE);
	assert_int_equal(model.made, calls);
	assert_int_equal(model.count, calls);
	assert_string_equal(model.text, result);
	free(result);
}

/* returns the number of calls */
static uint32_t
check_program(uint64_t seed)
{
	char	   *output = strdup("");
	uint32_t	calls;

	random_state = seed;
	make_program();
	if (getenv("REPLAY_SEED") != NULL)
		printf("%s", program.text);
	worker_model_begin(&model, program.text);
	model.decide = decide;
	model.between = between;
	run_to_the_end(seed, &output);
	if (!model.succeeded)
		fail_msg("seed %llu: %s", (unsigned long long) seed, model.text);
	assert_replays(seed, &output);
	calls = model.count;
	worker_model_end(&model);
	free(output);
	return calls;
}

static void
no_attempt_diverges(void **state)
{
	uint32_t	calls = 0;

	(void) state;
	if (getenv("REPLAY_SEED") != NULL)
		(void) check_program(strtoull(getenv("REPLAY_SEED"), NULL, 10));
	else
		for (uint64_t seed = 1; seed <= PROGRAMS; seed++)
			calls += check_program(seed);
	print_message("%u calls\n", calls);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_attempt_diverges),
	};

	alarm(600);					/* a runner that never answers must not stop the suite */
	return cmocka_run_group_tests_name("replay", tests, NULL, NULL);
}
