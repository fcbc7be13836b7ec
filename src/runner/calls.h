/*
 * calls.h
 *		What the code asks from outside: one round trip to the worker each.
 */
#ifndef SANDBOX_EXEC_CALLS_H
#define SANDBOX_EXEC_CALLS_H

#include "lua.h"

/* what becomes of the value, which is on top; returns the number of results */
typedef int (*CallFinish)(lua_State *L);

/*
 * Make a call and return what finish makes of its value, or the value itself
 * when finish is NULL; to be returned at once from a C function.  The arguments
 * are the table at args_index, or none when that is 0 or nil.  When the call
 * fails, its error object is raised.  In a branch of parallel this yields, and
 * finish finds the stack as it is now; elsewhere the code stands still.
 */
extern int	calls_make(lua_State *L, const char *kind, const char *name, int args_index,
					   CallFinish finish);

/* raise an error object of our own, as a failed call would; tool may be NULL */
extern int	calls_error(lua_State *L, const char *code, const char *tool, const char *message);

#endif
