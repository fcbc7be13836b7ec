/*
 * string_additions.c
 *		string.rep in our own form.
 *
 * Stock Lua counts through n repetitions of the empty string; with n of 2^63
 * that never ends.  Here it takes no time.  And the text is filled by doubling.
 */
#include "libraries.h"

#include "lauxlib.h"

#include <string.h>

/* what a string's length can be, with room for its header */
#define MAX_LENGTH ((size_t) LUA_MAXINTEGER - 64)

/* fill total bytes with repetitions of the unit that stands at their start */
static void
repeat_unit(char *text, size_t unit, size_t total)
{
	size_t		filled = unit;

	while (filled < total)
	{
		size_t		n = filled < total - filled ? filled : total - filled;

		memcpy(text + filled, text, n);
		filled += n;
	}
}

/*
 * Sizes are checked before anything is allocated: a text that exceeds what a
 * string can be is an error, one that exceeds the limit the end.
 */
static int
string_rep(lua_State *L)
{
	size_t		length;
	size_t		separator_length;
	const char *text = luaL_checklstring(L, 1, &length);
	lua_Integer n = luaL_checkinteger(L, 2);
	const char *separator = luaL_optlstring(L, 3, "", &separator_length);
	size_t		unit = length + separator_length;
	size_t		total;
	luaL_Buffer buffer;
	char	   *out;

	if (n <= 0 || unit == 0)
	{
		lua_pushliteral(L, "");
		return 1;
	}
	if (unit < length || unit > MAX_LENGTH / (size_t) n)
		return luaL_error(L, "resulting string too large");
	total = unit * (size_t) n - separator_length;
	out = luaL_buffinitsize(L, &buffer, total);
	memcpy(out, text, length);
	if (n > 1)
	{
		memcpy(out + length, separator, separator_length);
		repeat_unit(out, unit, total);
	}
	luaL_pushresultsize(&buffer, total);
	return 1;
}

/* replaces what was copied from upstream's table */
void
string_additions(lua_State *L)
{
	lua_pushcfunction(L, string_rep);
	lua_setfield(L, -2, "rep");
}
