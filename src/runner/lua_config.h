/*
 * lua_config.h
 *		How our Lua differs from a stock build; forced into each of its sources.
 *
 * Upstream's files are compiled unchanged.  What must differ (nothing may
 * depend on time or show an address, finalizers of tables don't run) is done by
 * defining macros that upstream leaves open, or that stand for one call.
 */
#ifndef SANDBOX_EXEC_LUA_CONFIG_H
#define SANDBOX_EXEC_LUA_CONFIG_H

#include <stddef.h>
#include <stdio.h>

#define LUA_USE_POSIX
#define LUA_COMPAT_5_3			/* as upstream's own makefile has it */
#include "luaconf.h"

/* a constant: pairs() has one order, and one image serves every execution */
#define luai_makeseed(L) 0x5A4DB0C5u

/* table.sort asks the clock for randomness otherwise */
#define l_randomizePivot() (~0u)

/* nothing of Lua may write to descriptors that aren't there */
#define lua_writestring(text, length) ((void) (text), (void) (length))
#define lua_writeline() ((void) 0)
#define lua_writestringerror(format, argument) ((void) (format), (void) (argument))

/* what is printed for an object is its number (identity.h), never an address */
#undef lua_pointer2str
#define lua_pointer2str(buffer, size, pointer) \
	snprintf(buffer, size, "%zu", (size_t) (pointer))

/* lauxlib.c and lstrlib.c, the two that turn pointers into text */
#ifdef SANDBOX_LUA_IDENTITIES
#include "identity.h"
#define lua_topointer(L, index) identity_of(L, index)
#undef l_sprintf
#define l_sprintf(buffer, size, format, value) \
	_Generic((value), const void *             \
			 : identity_format, default        \
			 : snprintf)(buffer, size, format, value)
#endif

/*
 * lapi.c: __gc of a table never runs.  Userdata keep theirs: the buffers of
 * lauxlib.c are freed by it when a coroutine is dropped after an error.
 */
#ifdef SANDBOX_LUA_NO_TABLE_GC
#include "lua.h"
#include "lgc.h"
#define luaC_checkfinalizer(L, object, metatable) \
	((object)->tt == LUA_VTABLE ? (void) 0 : (luaC_checkfinalizer) (L, object, metatable))
#endif

#endif
