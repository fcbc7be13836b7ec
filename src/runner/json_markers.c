/*
 * json_markers.c
 *		The markers, kept in the registry.
 */
#include "json_markers.h"

#include "lauxlib.h"

/* the addresses are registry keys */
static const char marker_keys[3];

/* as JSON spells it */
static int
null_tostring(lua_State *L)
{
	lua_pushliteral(L, "null");
	return 1;
}

/*
 * Null is a userdata and not nil: tables can hold it, so no member or element
 * is lost on the way through Lua.  It counts as true, as everything does that
 * isn't nil or false.
 */
void
json_markers_prepare(lua_State *L)
{
	lua_newuserdatauv(L, 0, 0);
	lua_createtable(L, 0, 3);
	lua_pushcfunction(L, null_tostring);
	lua_setfield(L, -2, "__tostring");
	lua_pushliteral(L, "json.null");
	lua_setfield(L, -2, "__name");
	lua_pushboolean(L, 0);
	lua_setfield(L, -2, "__metatable");
	lua_setmetatable(L, -2);
	lua_rawsetp(L, LUA_REGISTRYINDEX, &marker_keys[JSON_NULL]);

	/* tables that bear these stay ordinary: their metatable isn't locked */
	lua_newtable(L);
	lua_rawsetp(L, LUA_REGISTRYINDEX, &marker_keys[JSON_ARRAY]);
	lua_newtable(L);
	lua_rawsetp(L, LUA_REGISTRYINDEX, &marker_keys[JSON_OBJECT]);
}

/* by registry key: what the code does to json doesn't matter here */
void
json_marker_push(lua_State *L, JsonMarker marker)
{
	lua_rawgetp(L, LUA_REGISTRYINDEX, &marker_keys[marker]);
}

/* there is one, so identity decides */
bool
json_is_null(lua_State *L, int index)
{
	bool		same;

	if (lua_type(L, index) != LUA_TUSERDATA)
		return false;
	index = lua_absindex(L, index);
	json_marker_push(L, JSON_NULL);
	same = lua_rawequal(L, index, -1);
	lua_pop(L, 1);
	return same;
}

/* by the identity of the metatable; its contents are the code's */
bool
json_is_marked(lua_State *L, int index, JsonMarker marker)
{
	bool		same;

	if (!lua_getmetatable(L, index))
		return false;
	json_marker_push(L, marker);
	same = lua_rawequal(L, -1, -2);
	lua_pop(L, 2);
	return same;
}
