/*
 * error_text.c
 *		Describing an error value.
 *
 * The value is the code's: describing it may run its __tostring, which may
 * fail, recurse or not end.  So that happens protected, within the same limits
 * as the code, and has a plain text to fall back on.
 */
#include "error_text.h"
#include "error_codes.h"
#include "execution.h"
#include "json_write.h"
#include "../protocol/utf8.h"

#include "lauxlib.h"

#include <string.h>

/* where the registry keeps the traceback; the address is the key */
static const char traceback_key;

/* an error's JSON is worth reading up to here */
#define MAX_JSON_TEXT 1000

/*
 * Formatted at once: when the error has left the protected call, the stack
 * that it speaks of is gone.
 */
int
error_traceback(lua_State *L)
{
	luaL_traceback(L, L, NULL, 1);
	lua_rawsetp(L, LUA_REGISTRYINDEX, &traceback_key);
	return 1;
}

/* push the raw field of the table at 1 */
static int
push_field(lua_State *L, const char *name)
{
	lua_pushstring(L, name);
	return lua_rawget(L, 1);
}

/*
 * Push a text for the table or userdata at 1: its message, what __tostring
 * says, its JSON, or what it is.
 */
static void
push_object_text(lua_State *L)
{
	char		json[MAX_JSON_TEXT];
	JsonText	writer;

	if (lua_istable(L, 1))
	{
		int			type = push_field(L, "message");

		if (type == LUA_TSTRING || type == LUA_TNUMBER)
			return;
		lua_settop(L, 1);
	}
	if (luaL_callmeta(L, 1, "__tostring") && lua_type(L, -1) == LUA_TSTRING)
		return;
	lua_settop(L, 1);
	if (lua_istable(L, 1))
	{
		json_text_fixed(&writer, L, json, sizeof(json));
		if (json_write(&writer, 1))
		{
			lua_pushlstring(L, json, writer.length);
			return;
		}
	}
	lua_pushfstring(L, "(error object is a %s value)", luaL_typename(L, 1));
}

/* protected: the error at 1 becomes its text */
static int
describe(lua_State *L)
{
	if (lua_type(L, 1) != LUA_TSTRING && lua_type(L, 1) != LUA_TNUMBER)
		push_object_text(L);
	lua_tostring(L, -1);
	return 1;
}

/*
 * The code that the error brings along, into a buffer of MAX_ERROR_CODE_BYTES
 * + 1; false when it has none that can be kept.
 */
static bool
own_code(lua_State *L, int index, char *code)
{
	size_t		length;
	const char *text;
	bool		usable = false;

	if (!lua_istable(L, index))
		return false;
	lua_pushliteral(L, "code");
	if (lua_rawget(L, index) == LUA_TSTRING || lua_isinteger(L, -1))
	{
		text = lua_tolstring(L, -1, &length);
		usable = length > 0 && length <= MAX_ERROR_CODE_BYTES && utf8_valid(text, length);
		if (usable)
			memcpy(code, text, length + 1);
	}
	lua_pop(L, 1);
	return usable;
}

/* stderr has what the stock interpreter would print there */
static void
print_line(const char *text, size_t length)
{
	execution_print(OUTLOG_STDERR, text, length);
	execution_print(OUTLOG_STDERR, "\n", 1);
}

/*
 * The code is looked for first and raw, so that it is right even where
 * describing the error fails.
 */
void
error_outcome(lua_State *L, const char *code)
{
	char		buffer[MAX_ERROR_CODE_BYTES + 1];
	int			error = lua_gettop(L);
	const char *text = "(error object cannot be described)";
	size_t		length = strlen(text);

	if (own_code(L, error, buffer))
		code = buffer;
	lua_pushcfunction(L, describe);
	lua_pushvalue(L, error);
	if (lua_pcall(L, 1, 1, 0) == LUA_OK)
		text = lua_tolstring(L, -1, &length);
	execution_fail(code, 1, text, length);

	print_line(current.error, current.outcome.error.length);
	if (lua_rawgetp(L, LUA_REGISTRYINDEX, &traceback_key) == LUA_TSTRING)
	{
		text = lua_tolstring(L, -1, &length);
		print_line(text, length);
	}
}
