/*
 * identity.c
 *		Numbers of objects, in a table with weak keys in the registry.
 */
#include "identity.h"

#include "lauxlib.h"
#include "lua.h"

#include <stdio.h>
#include <string.h>

/* the address is the registry key; the table's [1] is the last number given */
static const char registry_key;

/* Weak keys: being printed doesn't keep an object alive. */
void
identity_prepare(lua_State *L)
{
	lua_createtable(L, 1, 0);
	lua_pushinteger(L, 0);
	lua_rawseti(L, -2, 1);
	lua_createtable(L, 0, 1);
	lua_pushliteral(L, "k");
	lua_setfield(L, -2, "__mode");
	lua_setmetatable(L, -2);
	lua_rawsetp(L, LUA_REGISTRYINDEX, &registry_key);
}

/* the next number, for the object at index; table is that of the numbers */
static lua_Integer
assign(lua_State *L, int table, int index)
{
	lua_Integer number;

	lua_rawgeti(L, table, 1);
	number = lua_tointeger(L, -1) + 1;
	lua_pop(L, 1);
	lua_pushinteger(L, number);
	lua_rawseti(L, table, 1);
	lua_pushvalue(L, index);
	lua_pushinteger(L, number);
	lua_rawset(L, table);
	return number;
}

/*
 * Not by address: once an object is collected, another one may lie there, and
 * would be taken for the first.
 */
const void *
identity_of(lua_State *L, int index)
{
	lua_Integer number;
	int			table;

	index = lua_absindex(L, index);
	if ((lua_topointer) (L, index) == NULL)
		return NULL;
	luaL_checkstack(L, 6, "too many values to print");
	lua_rawgetp(L, LUA_REGISTRYINDEX, &registry_key);
	table = lua_gettop(L);
	lua_pushvalue(L, index);
	if (lua_rawget(L, table) == LUA_TNUMBER)
		number = lua_tointeger(L, -1);
	else
		number = assign(L, table, index);
	lua_settop(L, table - 1);
	return (const void *) (size_t) number;
}

/* Flags and width of the format stay; only the conversion changes. */
int
identity_format(char *buffer, size_t size, const char *format, const void *value)
{
	char		numeric[32];
	size_t		n = strlen(format);

	/* for objects without address the caller has turned %p into %s */
	if (format[n - 1] == 's')
		return snprintf(buffer, size, format, (const char *) value);
	if (n + 2 > sizeof(numeric))
		return 0;
	memcpy(numeric, format, n - 1);
	memcpy(numeric + n - 1, "zu", 3);
	return snprintf(buffer, size, numeric, (size_t) value);
}
