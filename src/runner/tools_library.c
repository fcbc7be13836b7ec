/*
 * tools_library.c
 *		The globals "tools", "workspace" and "executions", and require.
 *
 * tools.NAME is whatever the name may be: the worker knows which there are.  A
 * name with dots is a path of such values, each of which can be called.
 */
#include "calls.h"
#include "libraries.h"

#include "lauxlib.h"

#include <stdbool.h>
#include <string.h>

#define TOOL_TYPE "tool"

/* ------------------------------------------------------------------------
 * Values that stand for a tool: their user value is its name
 * ------------------------------------------------------------------------ */

static void
push_tool(lua_State *L, const char *name)
{
	lua_newuserdatauv(L, 0, 1);
	lua_pushstring(L, name);
	lua_setiuservalue(L, -2, 1);
	luaL_setmetatable(L, TOOL_TYPE);
}

/* the name of the tool at 1; it stays on the stack */
static const char *
check_tool(lua_State *L)
{
	luaL_checkudata(L, 1, TOOL_TYPE);
	lua_getiuservalue(L, 1, 1);
	return lua_tostring(L, -1);
}

/* a name at index: an ended string, which one with a NUL in it is not */
static const char *
check_word(lua_State *L, int index)
{
	size_t		length;
	const char *word = luaL_checklstring(L, index, &length);

	luaL_argcheck(L, strlen(word) == length, index, "a name has no NUL character");
	return word;
}

static int
tool_index(lua_State *L)
{
	const char *key = check_word(L, 2);
	const char *name = check_tool(L);

	push_tool(L, lua_pushfstring(L, "%s.%s", name, key));
	return 1;
}

static int
tool_call(lua_State *L)
{
	const char *name = check_tool(L);

	return calls_make(L, "tool", name, lua_isnoneornil(L, 2) || lua_gettop(L) < 3 ? 0 : 2, NULL);
}

static int
tool_tostring(lua_State *L)
{
	lua_pushfstring(L, "tool: %s", check_tool(L));
	return 1;
}

/* nothing can be stored in what only stands for something */
static int
tool_newindex(lua_State *L)
{
	return luaL_error(L, "tools cannot be assigned to");
}

static void
tool_metatable(lua_State *L)
{
	static const luaL_Reg methods[] = {
		{"__index", tool_index},
		{"__newindex", tool_newindex},
		{"__call", tool_call},
		{"__tostring", tool_tostring},
		{NULL, NULL}};

	luaL_newmetatable(L, TOOL_TYPE);
	luaL_setfuncs(L, methods, 0);
	lua_pushboolean(L, 0);
	lua_setfield(L, -2, "__metatable");
	lua_pop(L, 1);
}

/* ------------------------------------------------------------------------
 * The global "tools"
 * ------------------------------------------------------------------------ */

static int
tools_index(lua_State *L)
{
	push_tool(L, check_word(L, 2));
	return 1;
}

static int
tools_call(lua_State *L)
{
	const char *name = check_word(L, 1);

	return calls_make(L, "tool", name, lua_isnoneornil(L, 2) ? 0 : 2, NULL);
}

/* tools.search{query =, limit =, offset =}, or just the query */
static int
tools_search(lua_State *L)
{
	if (lua_type(L, 1) == LUA_TSTRING)
	{
		lua_createtable(L, 0, 1);
		lua_pushvalue(L, 1);
		lua_setfield(L, -2, "query");
		lua_replace(L, 1);
	}
	return calls_make(L, "tool", "tools.search", lua_isnoneornil(L, 1) ? 0 : 1, NULL);
}

/* push a table of the named arguments from 1 on; absent ones are left out */
static void
name_arguments(lua_State *L, const char *const *names)
{
	int			count = lua_gettop(L);

	lua_createtable(L, 0, 2);
	for (int i = 0; names[i] != NULL && i < count; i++)
	{
		lua_pushvalue(L, i + 1);
		lua_setfield(L, -2, names[i]);
	}
}

static int
call_with_names(lua_State *L, const char *tool, const char *const *names)
{
	name_arguments(L, names);
	return calls_make(L, "tool", tool, lua_gettop(L), NULL);
}

static int
tools_describe(lua_State *L)
{
	static const char *const names[] = {"name", NULL};

	luaL_checkstring(L, 1);
	return call_with_names(L, "tools.describe", names);
}

static void
tools_global(lua_State *L, int globals)
{
	static const luaL_Reg functions[] = {
		{"call", tools_call},
		{"search", tools_search},
		{"describe", tools_describe},
		{NULL, NULL}};

	luaL_newlib(L, functions);
	lua_createtable(L, 0, 3);
	lua_pushcfunction(L, tools_index);
	lua_setfield(L, -2, "__index");
	lua_pushcfunction(L, tool_newindex);
	lua_setfield(L, -2, "__newindex");
	lua_pushboolean(L, 0);
	lua_setfield(L, -2, "__metatable");
	lua_setmetatable(L, -2);
	lua_setfield(L, globals, "tools");
}

/* ------------------------------------------------------------------------
 * Sugar: workspace and executions
 * ------------------------------------------------------------------------ */

static int
workspace_get(lua_State *L)
{
	static const char *const names[] = {"key", NULL};

	luaL_checkstring(L, 1);
	return call_with_names(L, "workspace.get", names);
}

static int
workspace_set(lua_State *L)
{
	static const char *const names[] = {"key", "value", NULL};

	luaL_checkstring(L, 1);
	luaL_checkany(L, 2);
	return call_with_names(L, "workspace.set", names);
}

static int
workspace_delete(lua_State *L)
{
	static const char *const names[] = {"key", NULL};

	luaL_checkstring(L, 1);
	return call_with_names(L, "workspace.delete", names);
}

static int
workspace_list(lua_State *L)
{
	static const char *const names[] = {"prefix", NULL};

	return call_with_names(L, "workspace.list", names);
}

static int
executions_enqueue(lua_State *L)
{
	luaL_checktype(L, 1, LUA_TTABLE);
	return calls_make(L, "tool", "executions.enqueue", 1, NULL);
}

static int
executions_get(lua_State *L)
{
	static const char *const names[] = {"id", NULL};

	luaL_checkstring(L, 1);
	return call_with_names(L, "executions.get", names);
}

/* the record of a child, once it has ended */
static int
executions_wait(lua_State *L)
{
	static const char *const names[] = {"id", NULL};

	luaL_checkstring(L, 1);
	name_arguments(L, names);
	return calls_make(L, "child", "executions.wait", lua_gettop(L), NULL);
}

static void
sugar_globals(lua_State *L, int globals)
{
	static const luaL_Reg workspace[] = {
		{"get", workspace_get},
		{"set", workspace_set},
		{"delete", workspace_delete},
		{"list", workspace_list},
		{NULL, NULL}};
	static const luaL_Reg executions[] = {
		{"enqueue", executions_enqueue},
		{"get", executions_get},
		{"wait", executions_wait},
		{NULL, NULL}};

	luaL_newlib(L, workspace);
	lua_setfield(L, globals, "workspace");
	luaL_newlib(L, executions);
	lua_setfield(L, globals, "executions");
}

/* ------------------------------------------------------------------------
 * require
 * ------------------------------------------------------------------------ */

/* compile the module whose source is on top, in its place */
static void
load_module(lua_State *L, const char *name)
{
	size_t		length;
	const char *source = lua_tolstring(L, -1, &length);

	if (source == NULL)
		luaL_error(L, "module '%s' has no source", name);
	if (luaL_loadbufferx(L, source, length, lua_pushfstring(L, "=%s", name), "t") != LUA_OK)
		lua_error(L);
}

/* push what the module whose name is at 1 returned before */
static bool
push_loaded(lua_State *L)
{
	lua_pushvalue(L, 1);
	return lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL;
}

/* ... or the coroutine that loads it, or nothing */
static void
mark_loading(lua_State *L, bool begins)
{
	lua_pushvalue(L, 1);
	if (begins)
		lua_pushthread(L);
	else
		lua_pushnil(L);
	lua_rawset(L, lua_upvalueindex(2));
}

/* another branch of parallel may be at it, too; one that is at it twice never ends */
static bool
is_loading(lua_State *L)
{
	bool		here;

	lua_pushvalue(L, 1);
	lua_rawget(L, lua_upvalueindex(2));
	here = lua_tothread(L, -1) == L;
	lua_pop(L, 1);
	return here;
}

/* As in stock Lua, a module that returns nothing counts as true. */
static int
module_ran(lua_State *L, int status, lua_KContext context)
{
	(void) status;
	(void) context;
	mark_loading(L, false);
	if (lua_isnil(L, -1))
		lua_pushboolean(L, 1);
	lua_pushvalue(L, 1);
	lua_pushvalue(L, -2);
	lua_rawset(L, lua_upvalueindex(1));
	return 1;
}

/* the module is on top; another branch may have loaded it meanwhile */
static int
module_came(lua_State *L)
{
	if (push_loaded(L))
		return 1;
	lua_pop(L, 1);
	mark_loading(L, true);
	load_module(L, lua_tostring(L, 1));
	lua_pushvalue(L, 1);
	lua_callk(L, 1, 1, 0, module_ran);
	return module_ran(L, LUA_OK, 0);
}

/*
 * The modules that were loaded stand in the first upvalue, by name; those that
 * are being loaded in the second.
 */
static int
require(lua_State *L)
{
	const char *name = check_word(L, 1);

	lua_settop(L, 1);
	if (push_loaded(L))
		return 1;
	if (is_loading(L))
		return luaL_error(L, "loop or earlier error loading module '%s'", name);
	return calls_make(L, "module", name, 0, module_came);
}

void
tools_library(lua_State *L)
{
	int			globals = lua_gettop(L);

	tool_metatable(L);
	tools_global(L, globals);
	sugar_globals(L, globals);
	lua_createtable(L, 0, 1);
	lua_getfield(L, globals, "json");
	lua_setfield(L, -2, "json");
	lua_newtable(L);
	lua_pushcclosure(L, require, 2);
	lua_setfield(L, globals, "require");
}
