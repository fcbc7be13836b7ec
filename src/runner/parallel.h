/*
 * parallel.h
 *		Branches of the code that wait for their answers side by side.
 */
#ifndef SANDBOX_EXEC_PARALLEL_H
#define SANDBOX_EXEC_PARALLEL_H

#include "answer.h"

#include "lua.h"

#include <stdbool.h>

/* this coroutine is a branch: nobody but its scheduler may resume or end it */
extern bool parallel_is_branch(lua_State *co);

/*
 * The place of the answer to a call of L, when L can wait for it as a branch;
 * else NULL, and the call is to be made while everything stands still.
 */
extern Answer *parallel_place(lua_State *L);

/*
 * As a branch that can, wait for the answer in its place to be delivered; then
 * go on in k, with the stack as it is.  To be returned at once from a C function.
 */
extern int	parallel_park(lua_State *L, lua_KContext context, lua_KFunction k);

#endif
