/*
 * libraries.h
 *		The libraries that code sees, one function each to build it.
 *
 * Each expects the table to fill on top of the stack and leaves it there.
 * They run once, while the state is prepared, and raise no errors.
 */
#ifndef SANDBOX_EXEC_LIBRARIES_H
#define SANDBOX_EXEC_LIBRARIES_H

#include "lua.h"

/* print, load, collectgarbage: what base has in another form; emit */
extern void base_library(lua_State *L);

/* json.encode, decode, array, null */
extern void json_library(lua_State *L);

/* io.write, read, stdout, stderr */
extern void io_library(lua_State *L);

/* os.time, clock, date, difftime, exit on the logical clock, in UTC */
extern void os_library(lua_State *L);

/* the globals ask, sleep and await_event; expects the globals on top */
extern void pauses_library(lua_State *L);

/* the global parallel; expects the globals on top */
extern void parallel_library(lua_State *L);

/* the globals tools, workspace, executions, require; expects the globals on top */
extern void tools_library(lua_State *L);

/* string.rep as stock, except that repeating nothing is no work */
extern void string_additions(lua_State *L);

/* resume, close, yield and isyieldable as stock, except for branches of parallel */
extern void coroutine_additions(lua_State *L);

/* math.randomseed whose default is the execution's seed */
extern void math_additions(lua_State *L);

/* seed math.random for the current execution; leaves the stack as it was */
extern void math_seed(lua_State *L);

#ifdef RUNNER_PROBE
/* probe(name): really try what the sandbox forbids; only in the test build */
extern void probe_library(lua_State *L);
#endif

#endif
