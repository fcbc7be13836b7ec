/*
 * calls.h
 *		What the code asks from outside: one round trip to the worker each.
 */
#ifndef SANDBOX_EXEC_CALLS_H
#define SANDBOX_EXEC_CALLS_H

#include "lua.h"

/*
 * Make a call and push its value.  The arguments are the table at args_index,
 * or none when that is 0 or nil.  When the call fails, its error object is
 * raised.  The Lua code stands still meanwhile, coroutines included.
 */
extern void calls_make(lua_State *L, const char *kind, const char *name, int args_index);

/* raise an error object of our own, as a failed call would; tool may be NULL */
extern int	calls_error(lua_State *L, const char *code, const char *tool, const char *message);

#endif
