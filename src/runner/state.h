/*
 * state.h
 *		The Lua state that code runs in: prepared once, put back for each run.
 */
#ifndef SANDBOX_EXEC_STATE_H
#define SANDBOX_EXEC_STATE_H

#include "lua.h"

#include <stdbool.h>
#include <stddef.h>

/* build the restricted state in the arena and seal it; false: out of memory */
extern bool state_prepare(void);

/*
 * The prepared state, exactly as it was, with memory_limit bytes beyond it.
 * Whatever an earlier run left is gone; pointers into it are dead.
 */
extern lua_State *state_restore(size_t memory_limit);

/* the arena's handler: collect more eagerly, or as usual again */
extern void state_memory_pressure(bool on);

#endif
