/*
 * json_markers.h
 *		Values that stand for what Lua has no form of its own for.
 *
 * null is one userdata.  A table is marked by its metatable: as a list (by
 * json.array) or as an object (an empty one that was decoded).
 */
#ifndef SANDBOX_EXEC_JSON_MARKERS_H
#define SANDBOX_EXEC_JSON_MARKERS_H

#include "lua.h"

#include <stdbool.h>

typedef enum JsonMarker
{
	JSON_NULL,
	JSON_ARRAY,
	JSON_OBJECT
} JsonMarker;

/* create them in the state that is being prepared */
extern void json_markers_prepare(lua_State *L);

/* push json.null, or the metatable that marks */
extern void json_marker_push(lua_State *L, JsonMarker marker);

/* the value at index is json.null */
extern bool json_is_null(lua_State *L, int index);

/* the table at index bears that mark */
extern bool json_is_marked(lua_State *L, int index, JsonMarker marker);

#endif
