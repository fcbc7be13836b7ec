/*
 * math_additions.c
 *		Random numbers that repeat: seeded from the execution's id.
 */
#include "execution.h"
#include "libraries.h"

#include "lauxlib.h"

/* where the registry keeps upstream's randomseed; the address is the key */
static const char seed_function_key;

/* math.randomseed(): without arguments upstream would ask the clock */
static int
math_randomseed(lua_State *L)
{
	if (lua_isnone(L, 1))
	{
		lua_pushinteger(L, current.seed[0]);
		lua_pushinteger(L, current.seed[1]);
	}
	else
	{
		/* checked here, where an error still knows the function's name */
		luaL_checkinteger(L, 1);
		luaL_optinteger(L, 2, 0);
		lua_settop(L, 2);
	}
	lua_pushvalue(L, lua_upvalueindex(1));
	lua_insert(L, 1);
	lua_call(L, 2, 2);
	return 2;
}

/*
 * Upstream seeds with time and an address when the library is opened; seeding
 * again makes the image the same in each process.
 */
void
math_additions(lua_State *L)
{
	lua_getfield(L, -1, "randomseed");
	lua_pushvalue(L, -1);
	lua_rawsetp(L, LUA_REGISTRYINDEX, &seed_function_key);
	lua_pushcclosure(L, math_randomseed, 1);
	lua_setfield(L, -2, "randomseed");
	/* the image must not depend on when it was made */
	math_seed(L);
}

/*
 * Upstream's own function is called, from the registry: what the generator
 * does with a seed stays its business.
 */
void
math_seed(lua_State *L)
{
	lua_rawgetp(L, LUA_REGISTRYINDEX, &seed_function_key);
	lua_pushinteger(L, current.seed[0]);
	lua_pushinteger(L, current.seed[1]);
	lua_call(L, 2, 0);
}
