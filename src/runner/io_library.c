/*
 * io_library.c
 *		io without files: two streams that are captured, and no input.
 */
#include "execution.h"
#include "libraries.h"

#include "lauxlib.h"

#define STREAM_TYPE "FILE*"		/* the name that messages have in stock Lua */

/* write the arguments from first on; numbers are written as tostring does */
static void
write_arguments(lua_State *L, OutlogStream stream, int first)
{
	int			n = lua_gettop(L);

	for (int i = first; i <= n; i++)
	{
		size_t		length;
		const char *text = luaL_checklstring(L, i, &length);

		execution_print(stream, text, length);
	}
}

/* raises the usual error for anything that isn't a stream */
static OutlogStream
check_stream(lua_State *L)
{
	return *(OutlogStream *) luaL_checkudata(L, 1, STREAM_TYPE);
}

/* io.write; the stream that it returns is the upvalue */
static int
io_write(lua_State *L)
{
	write_arguments(L, OUTLOG_STDOUT, 1);
	lua_pushvalue(L, lua_upvalueindex(1));
	return 1;
}

/* there is no input, so every read is at its end */
static int
io_read(lua_State *L)
{
	luaL_pushfail(L);
	return 1;
}

/* returns the stream, so that calls can be chained */
static int
stream_write(lua_State *L)
{
	write_arguments(L, check_stream(L), 2);
	lua_settop(L, 1);
	return 1;
}

/* output needs no flushing and has no mode: succeed, as programs expect */
static int
stream_nothing(lua_State *L)
{
	check_stream(L);
	lua_settop(L, 1);
	return 1;
}

/* stock prints an address here */
static int
stream_tostring(lua_State *L)
{
	lua_pushstring(L, check_stream(L) == OUTLOG_STDOUT ? "file (stdout)" : "file (stderr)");
	return 1;
}

/*
 * Locked by __metatable: the methods are shared by both streams, and a
 * replaced write would hide output from whoever prints next.
 */
static void
stream_metatable(lua_State *L)
{
	static const luaL_Reg methods[] = {
		{"write", stream_write},
		{"flush", stream_nothing},
		{"setvbuf", stream_nothing},
		{NULL, NULL}};

	luaL_newmetatable(L, STREAM_TYPE);
	luaL_newlib(L, methods);
	lua_setfield(L, -2, "__index");
	lua_pushcfunction(L, stream_tostring);
	lua_setfield(L, -2, "__tostring");
	lua_pushboolean(L, 0);
	lua_setfield(L, -2, "__metatable");
	lua_pop(L, 1);
}

/* push a new stream */
static void
new_stream(lua_State *L, OutlogStream stream)
{
	OutlogStream *data = lua_newuserdatauv(L, sizeof(*data), 0);

	*data = stream;
	luaL_setmetatable(L, STREAM_TYPE);
}

/*
 * The names are few on purpose: a function that always fails would be found
 * by code that asks whether it exists.
 */
void
io_library(lua_State *L)
{
	stream_metatable(L);
	new_stream(L, OUTLOG_STDERR);
	lua_setfield(L, -2, "stderr");
	lua_pushcfunction(L, io_read);
	lua_setfield(L, -2, "read");
	new_stream(L, OUTLOG_STDOUT);
	lua_pushvalue(L, -1);
	lua_setfield(L, -3, "stdout");
	lua_pushcclosure(L, io_write, 1);
	lua_setfield(L, -2, "write");
}
