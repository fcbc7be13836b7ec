/*
 * json_library.c
 *		The global "json".
 */
#include "json_markers.h"
#include "json_read.h"
#include "json_write.h"
#include "libraries.h"

#include "lauxlib.h"

/*
 * The text grows in a userdata, so it counts against the memory limit like
 * everything else.
 */
static int
json_encode(lua_State *L)
{
	JsonText	writer;

	luaL_checkany(L, 1);
	lua_settop(L, 1);
	json_text_growing(&writer, L);
	if (!json_write(&writer, 1))
		return luaL_error(L, "cannot encode: %s", writer.message);
	lua_pushlstring(L, writer.text, writer.length);
	return 1;
}

/* Errors name the byte, from 1, as string positions in Lua are. */
static int
json_decode(lua_State *L)
{
	size_t		length;
	const char *text = luaL_checklstring(L, 1, &length);
	const char *why;
	size_t		at;

	lua_settop(L, 1);
	if (!json_read(L, text, length, false, &why, &at))
		return luaL_error(L, "invalid JSON: %s at byte %I", why, (lua_Integer) at + 1);
	return 1;
}

/* json.array(t): t, to be written as a list even when it's empty */
static int
json_array(lua_State *L)
{
	if (lua_isnoneornil(L, 1))
	{
		lua_settop(L, 0);
		lua_newtable(L);
	}
	luaL_checktype(L, 1, LUA_TTABLE);
	lua_settop(L, 1);
	if (lua_getmetatable(L, 1))
	{
		lua_settop(L, 1);
		luaL_argcheck(L, json_is_marked(L, 1, JSON_ARRAY) || json_is_marked(L, 1, JSON_OBJECT),
					  1, "table has a metatable");
	}
	json_marker_push(L, JSON_ARRAY);
	lua_setmetatable(L, 1);
	return 1;
}

/* null is a value and not a function: it can be compared with ==. */
void
json_library(lua_State *L)
{
	static const luaL_Reg functions[] = {
		{"encode", json_encode},
		{"decode", json_decode},
		{"array", json_array},
		{NULL, NULL}};

	json_markers_prepare(L);
	luaL_setfuncs(L, functions, 0);
	json_marker_push(L, JSON_NULL);
	lua_setfield(L, -2, "null");
}
