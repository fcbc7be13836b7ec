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

#include "json_text.h"

/*
 * Append the value at index.  False: it has no JSON form, or no room; the
 * message says why and where, and the stack has junk on top.  May raise a Lua
 * error (stack overflow): call it protected.
 */
extern bool json_write(JsonText *w, int index);

#endif
