/*
 * state.c
 *		Building the restricted environment.
 *
 * The globals are a new table that is filled by allow list, so that what a
 * library gains in another release of Lua stays out until somebody decides.
 * The table becomes the registry's, so that load() without an environment gets
 * it, too.
 */
#include "state.h"
#include "arena.h"
#include "identity.h"
#include "libraries.h"

#include "lauxlib.h"
#include "lualib.h"

static lua_State *state;

/* kept of the base library as they are; the others come from base_library.c */
static const char *const base_names[] = {
	"assert", "error", "getmetatable", "ipairs", "next", "pairs", "pcall",
	"rawequal", "rawget", "rawlen", "rawset", "select", "setmetatable",
	"tonumber", "tostring", "type", "xpcall", NULL};

static const char *const string_names[] = {
	"byte", "char", "find", "format", "gmatch", "gsub", "len", "lower",
	"match", "pack", "packsize", "reverse", "sub", "unpack", "upper", NULL};

static const char *const table_names[] = {
	"concat", "insert", "move", "pack", "remove", "sort", "unpack", NULL};

static const char *const coroutine_names[] = {
	"close", "create", "isyieldable", "resume", "running", "status", "wrap",
	"yield", NULL};

static const char *const utf8_names[] = {
	"char", "charpattern", "codepoint", "codes", "len", "offset", NULL};

static const char *const math_names[] = {
	"abs", "acos", "asin", "atan", "ceil", "cos", "cosh", "deg", "exp",
	"floor", "fmod", "frexp", "huge", "ldexp", "log", "log10", "max",
	"maxinteger", "min", "mininteger", "modf", "pi", "pow", "rad", "random",
	"randomseed", "sin", "sinh", "sqrt", "tan", "tanh", "tointeger", "type",
	"ult", NULL};

/* copy what the names name from the table at source to the one on top */
static void
copy_names(lua_State *L, int source, const char *const *names)
{
	for (; *names != NULL; names++)
	{
		lua_getfield(L, source, *names);
		lua_setfield(L, -2, *names);
	}
}

/* as opened by upstream: push a table of the allowed names */
static void
push_library(lua_State *L, const char *name, lua_CFunction open, const char *const *names)
{
	luaL_requiref(L, name, open, 0);
	lua_newtable(L);
	copy_names(L, lua_gettop(L) - 1, names);
	lua_remove(L, -2);
}

/*
 * Finish the library on top: a global, and known by name to error messages and
 * tracebacks, which look functions up in the table of loaded modules.
 */
static void
install(lua_State *L, int globals, const char *name)
{
	luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
	lua_pushvalue(L, -2);
	lua_setfield(L, -2, name);
	lua_pop(L, 1);
	lua_setfield(L, globals, name);
}

/* methods of strings come from our table, and nobody gets at the metatable */
static void
lock_string_metatable(lua_State *L, int library)
{
	lua_pushliteral(L, "");
	lua_getmetatable(L, -1);
	lua_pushvalue(L, library);
	lua_setfield(L, -2, "__index");
	lua_pushboolean(L, 0);
	lua_setfield(L, -2, "__metatable");
	lua_pop(L, 2);
}

/* Of each library only the allowed names are kept. */
static void
standard_libraries(lua_State *L, int globals)
{
	push_library(L, LUA_STRLIBNAME, luaopen_string, string_names);
	string_additions(L);
	lock_string_metatable(L, lua_gettop(L));
	install(L, globals, LUA_STRLIBNAME);

	push_library(L, LUA_TABLIBNAME, luaopen_table, table_names);
	lua_getfield(L, -1, "unpack");
	lua_setfield(L, globals, "unpack");
	install(L, globals, LUA_TABLIBNAME);

	push_library(L, LUA_MATHLIBNAME, luaopen_math, math_names);
	math_additions(L);
	install(L, globals, LUA_MATHLIBNAME);

	push_library(L, LUA_COLIBNAME, luaopen_coroutine, coroutine_names);
	coroutine_additions(L);
	install(L, globals, LUA_COLIBNAME);
	push_library(L, LUA_UTF8LIBNAME, luaopen_utf8, utf8_names);
	install(L, globals, LUA_UTF8LIBNAME);
}

/* what code has here in place of files, a system and modules */
static void
own_libraries(lua_State *L, int globals)
{
	lua_newtable(L);
	json_library(L);
	install(L, globals, "json");
	lua_newtable(L);
	io_library(L);
	install(L, globals, LUA_IOLIBNAME);
	lua_newtable(L);
	os_library(L);
	install(L, globals, LUA_OSLIBNAME);
}

/*
 * The order matters in two places: strings need their library before their
 * metatable is locked, and require needs json.
 */
static void
build_globals(lua_State *L)
{
	int			globals;

	/* upstream's globals are read once more and then dropped */
	luaL_requiref(L, LUA_GNAME, luaopen_base, 0);
	lua_createtable(L, 0, 48);
	globals = lua_gettop(L);
	copy_names(L, globals - 1, base_names);
	lua_pushliteral(L, LUA_VERSION);
	lua_setfield(L, globals, "_VERSION");
	lua_pushnil(L);
	lua_setfield(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);

	standard_libraries(L, globals);
	own_libraries(L, globals);
	base_library(L);
	tools_library(L);
	pauses_library(L);
	parallel_library(L);
#ifdef RUNNER_PROBE
	probe_library(L);
#endif
	lua_pushvalue(L, globals);
	lua_rawseti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
	lua_pushvalue(L, globals);
	install(L, globals, LUA_GNAME);

	/* the slots of these are there already when a run sets them */
	lua_pushboolean(L, 0);
	lua_setfield(L, globals, "args");
	lua_pushboolean(L, 0);
	lua_setfield(L, globals, "execution");
	lua_settop(L, 0);
}

/*
 * The collection leaves no garbage in the image and the collector at the
 * start of a cycle.
 */
bool
state_prepare(void)
{
	state = lua_newstate(arena_alloc, NULL);
	if (state == NULL)
		return false;
	/* every thread starts with a copy of it: no branch (parallel.c) */
	*(void **) lua_getextraspace(state) = NULL;
	identity_prepare(state);
	build_globals(state);
	lua_gc(state, LUA_GCCOLLECT);
	return arena_seal();
}

/* The address never changes, as the image lies where it was made. */
lua_State *
state_restore(size_t memory_limit)
{
	arena_restore(memory_limit);
	return state;
}

/*
 * Near the limit every step of the collector becomes a whole cycle, and the
 * next one is due at once.  These calls only set numbers; nothing is collected
 * while an allocation is under way.  (A step size of 2^40 is as large as the
 * collector's arithmetic bears.)
 */
void
state_memory_pressure(bool on)
{
	if (on)
	{
		lua_gc(state, LUA_GCINC, 1000, 1000, 40);
		lua_gc(state, LUA_GCRESTART);
	}
	else
		lua_gc(state, LUA_GCINC, 200, 100, 13);
}
