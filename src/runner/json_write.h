/*
 * json_write.h
 *		Lua values as JSON text.
 *
 * Raw access only: no metamethod of the code runs.  Integers are written
 * exactly, floats by the shortest digits that read back as the same number,
 * with ".0" where they would look like integers.  A table is a list when its
 * keys are 1 to n, an object when all are text (written in byte order, so that
 * equal tables give equal text); an empty one is a list unless it is marked as
 * an object.  What has no exact JSON form is an error.
 */
#ifndef SANDBOX_EXEC_JSON_WRITE_H
#define SANDBOX_EXEC_JSON_WRITE_H

#include "../protocol/json_check.h"
#include "lua.h"

/* where a value stands in the table around it */
typedef struct JsonStep
{
	const void *table;
	const char *key;			/* NULL in a list */
	size_t		key_length;
	lua_Integer index;
} JsonStep;

typedef struct JsonWriter
{
	lua_State  *L;
	char	   *text;
	size_t		length;
	size_t		capacity;
	int			box;			/* stack slot of the memory, or 0: it's fixed */
	int			depth;
	JsonStep	steps[JSON_MAX_DEPTH];
	char		message[320];	/* why json_write() failed */
} JsonWriter;

/* write into a buffer of the caller's */
extern void json_writer_fixed(JsonWriter *w, lua_State *L, char *buffer, size_t capacity);

/* write into memory that grows, held by a value that this pushes */
extern void json_writer_growing(JsonWriter *w, lua_State *L);

/*
 * Append the value at index.  False: it has no JSON form, or no room; the
 * writer's message says why and where, and its stack has junk on top.  May
 * raise a Lua error (stack overflow): call it protected.
 */
extern bool json_write(JsonWriter *w, int index);

/* append text as it is; false when there is no room */
extern bool json_append(JsonWriter *w, const char *text, size_t length);

#endif
