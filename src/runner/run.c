/*
 * run.c
 *		Input, code, result: the phases of one execution.
 *
 * Each phase that can raise a Lua error runs protected.  The host itself never
 * calls what the code could have replaced: it looks up nothing by name in the
 * globals and reads tables raw.
 */
#include "run.h"
#include "error_codes.h"
#include "error_text.h"
#include "execution.h"
#include "json_read.h"
#include "json_write.h"
#include "libraries.h"
#include "state.h"

#include "lauxlib.h"

#include <stdio.h>
#include <string.h>

/* how the code is called in messages: "code:3: ..." */
#define CHUNK_NAME "=code"

static char result_text[MAX_RESULT_BYTES];

/* an outcome whose text is a constant or was formatted here */
static void
fail_with(const char *code, const char *text)
{
	execution_fail(code, 1, text, strlen(text));
}

/* ------------------------------------------------------------------------
 * Input
 * ------------------------------------------------------------------------ */

/* set a global to what the JSON text holds; false after setting the outcome */
static bool
set_input(lua_State *L, const char *name, FrameText json)
{
	const char *why;
	size_t		at;
	char		text[200];

	lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
	lua_pushstring(L, name);
	if (json.data == NULL)
		lua_pushnil(L);
	else if (!json_read(L, json.data, json.length, true, &why, &at))
	{
		snprintf(text, sizeof(text), "%s: %s at byte %zu", name, why, at + 1);
		fail_with(ERROR_ARGS, text);
		return false;
	}
	lua_rawset(L, -3);
	return true;
}

/* protected: set the globals "execution" and "args" from the request at 1 */
static int
set_inputs(lua_State *L)
{
	const RunMessage *request = lua_touserdata(L, 1);

	lua_pushboolean(L, set_input(L, "execution", request->execution) && set_input(L, "args", request->args));
	return 1;
}

/* Decoding runs under the execution's memory limit: large arguments count. */
static bool
prepare_input(lua_State *L, const RunMessage *request)
{
	bool		done;

	math_seed(L);
	lua_pushcfunction(L, set_inputs);
	lua_pushlightuserdata(L, (void *) request);
	if (lua_pcall(L, 1, 1, 0) != LUA_OK)
	{
		fail_with(ERROR_ARGS, "the arguments are too deep to decode");
		return false;
	}
	done = lua_toboolean(L, -1);
	lua_settop(L, 0);
	return done;
}

/* ------------------------------------------------------------------------
 * Result
 * ------------------------------------------------------------------------ */

/*
 * Several values become a list; its brackets aren't a Lua table's, but a level
 * of nesting all the same.
 */
static bool
write_values(JsonText *w, int n)
{
	JsonStep   *step = &w->steps[0];

	step->table = NULL;
	step->key = NULL;
	w->depth = 1;
	if (!json_append_char(w, '['))
		return false;
	for (int i = 1; i <= n; i++)
	{
		step->index = i;
		if (i > 1 && !json_append_separator(w, ','))
			return false;
		if (!json_write(w, i))
			return false;
	}
	return json_append_char(w, ']');
}

static bool
write_all(JsonText *w, int n)
{
	if (!(n > 1 ? write_values(w, n) : json_write(w, 1)))
		return false;
	if (json_text_stored(w) <= MAX_RESULT_BYTES)
		return true;
	snprintf(w->message, sizeof(w->message), "larger than %d bytes as JSON", MAX_RESULT_BYTES);
	return false;
}

/* protected: the values on the stack are what the code returned */
static int
write_result(lua_State *L)
{
	JsonText	writer;
	int			n = lua_gettop(L);
	char		text[sizeof(writer.message) + 32];

	json_text_fixed(&writer, L, result_text, sizeof(result_text));
	if (write_all(&writer, n))
		execution_succeed(result_text, writer.length);
	else
	{
		snprintf(text, sizeof(text), "invalid result: %s", writer.message);
		fail_with(ERROR_RESULT, text);
	}
	return 0;
}

/* the stack holds the returned values and nothing else */
static void
finish(lua_State *L)
{
	int			n = lua_gettop(L);

	if (n == 0 || (n == 1 && lua_isnil(L, 1)))
	{
		execution_succeed(NULL, 0);
		return;
	}
	lua_pushcfunction(L, write_result);
	lua_insert(L, 1);
	if (lua_pcall(L, n, 0, 0) != LUA_OK)
		fail_with(ERROR_RESULT, "invalid result: too many values");
}

/* ------------------------------------------------------------------------
 * The whole
 * ------------------------------------------------------------------------ */

/* Whatever phase ends it has set the outcome. */
static void
run_phases(lua_State *L, const RunMessage *request)
{
	if (!prepare_input(L, request))
		return;
	lua_pushcfunction(L, error_traceback);
	if (luaL_loadbufferx(L, request->code.data, request->code.length, CHUNK_NAME, "t") != LUA_OK)
	{
		error_outcome(L, ERROR_SYNTAX);
		return;
	}
	if (lua_pcall(L, 0, LUA_MULTRET, 1) != LUA_OK)
	{
		error_outcome(L, ERROR_RUNTIME);
		return;
	}
	lua_remove(L, 1);
	finish(L);
}

/* L isn't used after a longjmp, so it needn't be volatile. */
const DoneMessage *
run_request(const RunMessage *request, void *area)
{
	lua_State  *L;

	execution_begin(request, area);
	L = state_restore((size_t) request->memory_limit);
	if (setjmp(current.end) == 0)
		run_phases(L, request);
	outlog_finish(&current.output);
	return &current.outcome;
}
