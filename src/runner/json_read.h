/*
 * json_read.h
 *		JSON text as Lua values.
 *
 * Strict: one value, valid UTF-8, no lone surrogates, JSON_MAX_DEPTH levels.
 * Numbers without fraction or exponent that fit 64 bits are integers, all
 * others floats.  null is json.null, everywhere: no member or element is lost.
 *
 * The server's numbers have no bounds.  In what it has stored an integer of more
 * than 64 bits, or a number beyond the floats, becomes its text: an id that lost
 * its last digits would be another one.
 */
#ifndef SANDBOX_EXEC_JSON_READ_H
#define SANDBOX_EXEC_JSON_READ_H

#include "lua.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * Push the value.  False: the text is unsound; *why says why (a constant),
 * *at where (bytes from its start), and the stack has junk on top.  May raise
 * a Lua error (stack overflow): call it protected.
 */
extern bool json_read(lua_State *L, const char *text, size_t length, bool stored,
					  const char **why, size_t *at);

#endif
