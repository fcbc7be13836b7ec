/*
 * no_bytecode.c
 *		Stands in for upstream's lundump.c and ldump.c: the runner has no loader
 *		for precompiled code at all, whatever mode is asked for.
 */
#include "lua.h"

#include "ldebug.h"
#include "lundump.h"

/* Only reached if a mode with 'b' slipped through; the message then tells. */
LClosure *
luaU_undump(lua_State *L, ZIO *Z, const char *name)
{
	(void) Z;
	(void) name;
	luaG_runerror(L, "precompiled code cannot be loaded");
}

/* string.dump isn't there to call it, but the C API refers to it. */
int
luaU_dump(lua_State *L, const Proto *f, lua_Writer w, void *data, int strip)
{
	(void) L;
	(void) f;
	(void) w;
	(void) data;
	(void) strip;
	return 1;
}
