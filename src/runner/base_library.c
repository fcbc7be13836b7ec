/*
 * base_library.c
 *		The functions of the base library that differ from stock.
 */
#include "execution.h"
#include "json_write.h"
#include "libraries.h"

#include "lauxlib.h"

#include <string.h>

/*
 * As stock print(), __tostring and __name included; but the text goes into
 * shared memory, which needs no system call and survives a kill.
 */
static int
base_print(lua_State *L)
{
	int			n = lua_gettop(L);

	for (int i = 1; i <= n; i++)
	{
		size_t		length;
		const char *text = luaL_tolstring(L, i, &length);

		if (i > 1)
			execution_print(OUTLOG_STDOUT, "\t", 1);
		execution_print(OUTLOG_STDOUT, text, length);
		lua_pop(L, 1);
	}
	execution_print(OUTLOG_STDOUT, "\n", 1);
	return 0;
}

/* emit(value): an event of its own in the log */
static int
base_emit(lua_State *L)
{
	JsonText	writer;

	luaL_checkany(L, 1);
	lua_settop(L, 1);
	json_text_growing(&writer, L);
	if (!json_write(&writer, 1))
		return luaL_error(L, "cannot emit: %s", writer.message);
	if (json_text_stored(&writer) > OUTLOG_EVENT_MAX)
		return luaL_error(L, "cannot emit: the value has %I bytes as JSON; the limit is %d",
						  (lua_Integer) json_text_stored(&writer), OUTLOG_EVENT_MAX);
	if (!outlog_emit(&current.output, writer.text, writer.length, json_text_stored(&writer)))
		return luaL_error(L, "cannot emit: the log is full");
	return 0;
}

/* the slot that keeps a piece alive while the compiler reads it */
#define PIECE_SLOT 5

/* lua_Reader: the next piece comes from the function that was given to load */
static const char *
read_piece(lua_State *L, void *unused, size_t *length)
{
	(void) unused;
	luaL_checkstack(L, 2, "too many nested functions");
	lua_pushvalue(L, 1);
	lua_call(L, 0, 1);
	if (lua_isnil(L, -1))
	{
		lua_pop(L, 1);
		*length = 0;
		return NULL;
	}
	if (!lua_isstring(L, -1))
		luaL_error(L, "reader function must return a string");
	lua_replace(L, PIECE_SLOT);
	return lua_tolstring(L, PIECE_SLOT, length);
}

/*
 * load(chunk, name, mode, env).  Only text is ever loaded: a mode that asks
 * for more is cut down, one that excludes text is refused.
 */
static int
base_load(lua_State *L)
{
	const char *mode = luaL_optstring(L, 3, "t");
	bool		has_env = !lua_isnone(L, 4);
	size_t		length;
	const char *text = lua_tolstring(L, 1, &length);
	const char *name;
	int			status;

	name = luaL_optstring(L, 2, text != NULL ? text : "=(load)");
	if (text == NULL)
		luaL_checktype(L, 1, LUA_TFUNCTION);
	if (strchr(mode, 't') == NULL)
	{
		luaL_pushfail(L);
		lua_pushfstring(L, "only text can be loaded (mode is '%s')", mode);
		return 2;
	}

	lua_settop(L, PIECE_SLOT);
	if (text != NULL)
		status = luaL_loadbufferx(L, text, length, name, "t");
	else
		status = lua_load(L, read_piece, NULL, name, "t");
	if (status != LUA_OK)
	{
		luaL_pushfail(L);
		lua_insert(L, -2);
		return 2;
	}
	if (has_env)
	{
		lua_pushvalue(L, 4);
		/* a chunk always has _ENV as its first upvalue */
		if (lua_setupvalue(L, -2, 1) == NULL)
			lua_pop(L, 1);
	}
	return 1;
}

/* what would change how the collector works isn't the code's to decide */
static int
base_collectgarbage(lua_State *L)
{
	static const char *const names[] = {"collect", "count", "step", NULL};

	switch (luaL_checkoption(L, 1, "collect", names))
	{
		case 1:
			lua_pushnumber(L, lua_gc(L, LUA_GCCOUNT) + lua_gc(L, LUA_GCCOUNTB) / 1024.0);
			return 1;
		case 2:
			lua_pushboolean(L, lua_gc(L, LUA_GCSTEP, (int) luaL_optinteger(L, 2, 0)) > 0);
			return 1;
		default:
			lua_pushinteger(L, lua_gc(L, LUA_GCCOLLECT));
			return 1;
	}
}

void
base_library(lua_State *L)
{
	static const luaL_Reg functions[] = {
		{"print", base_print},
		{"emit", base_emit},
		{"load", base_load},
		{"collectgarbage", base_collectgarbage},
		{NULL, NULL}};

	luaL_setfuncs(L, functions, 0);
}
