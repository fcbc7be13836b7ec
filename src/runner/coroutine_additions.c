/*
 * coroutine_additions.c
 *		Coroutines as stock, except for those that are branches of parallel.
 *
 * The code gets hold of a branch by coroutine.running(), but whether it goes on
 * is for its scheduler to say: it can't be resumed or closed, and doesn't yield.
 * Coroutines that a branch makes are the code's own.
 */
#include "libraries.h"
#include "parallel.h"

#include "lauxlib.h"

/* upstream's, the same in every execution */
static lua_CFunction stock_resume;
static lua_CFunction stock_close;
static lua_CFunction stock_yield;
static lua_CFunction stock_isyieldable;

static bool
argument_is_branch(lua_State *L)
{
	lua_State  *co = lua_tothread(L, 1);

	return co != NULL && parallel_is_branch(co);
}

static int
coroutine_resume(lua_State *L)
{
	if (!argument_is_branch(L))
		return stock_resume(L);
	lua_pushboolean(L, 0);
	lua_pushliteral(L, "cannot resume a branch of parallel");
	return 2;
}

static int
coroutine_close(lua_State *L)
{
	if (argument_is_branch(L))
		return luaL_error(L, "cannot close a branch of parallel");
	return stock_close(L);
}

static int
coroutine_yield(lua_State *L)
{
	if (parallel_is_branch(L))
		return luaL_error(L, "attempt to yield from a branch of parallel");
	return stock_yield(L);
}

static int
coroutine_isyieldable(lua_State *L)
{
	if (lua_isnone(L, 1) ? !parallel_is_branch(L) : !argument_is_branch(L))
		return stock_isyieldable(L);
	lua_pushboolean(L, 0);
	return 1;
}

/* put ours in the place of the one in the table on top, which is returned */
static lua_CFunction
put_in_place_of(lua_State *L, const char *name, lua_CFunction ours)
{
	lua_CFunction stock;

	lua_getfield(L, -1, name);
	stock = lua_tocfunction(L, -1);
	lua_pop(L, 1);
	lua_pushcfunction(L, ours);
	lua_setfield(L, -2, name);
	return stock;
}

void
coroutine_additions(lua_State *L)
{
	stock_resume = put_in_place_of(L, "resume", coroutine_resume);
	stock_close = put_in_place_of(L, "close", coroutine_close);
	stock_yield = put_in_place_of(L, "yield", coroutine_yield);
	stock_isyieldable = put_in_place_of(L, "isyieldable", coroutine_isyieldable);
}
