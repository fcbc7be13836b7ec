/*
 * json_text.h
 *		A JSON text that is being written, and where in the value it stands.
 *
 * Each function that appends returns false when it could not, and has then
 * left the reason in the message: no room, or a value without JSON form.
 */
#ifndef SANDBOX_EXEC_JSON_TEXT_H
#define SANDBOX_EXEC_JSON_TEXT_H

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

typedef struct JsonText
{
	lua_State  *L;
	char	   *text;
	size_t		length;
	size_t		capacity;
	size_t		spread;			/* bytes that the server's form is longer */
	int			box;			/* stack slot of the memory, or 0: it's fixed */
	bool		whole;			/* floats without a fraction are written as integers */
	int			depth;
	JsonStep	steps[JSON_MAX_DEPTH];
	char		message[320];	/* why something failed, and where */
} JsonText;

/*
 * The server stores values as jsonb, which prints a blank after each comma and
 * colon and numbers without exponents: limits apply to that length.
 */
extern size_t json_text_stored(const JsonText *w);

/* write into a buffer of the caller's */
extern void json_text_fixed(JsonText *w, lua_State *L, char *buffer, size_t capacity);

/* write into memory that grows, held by a value that this pushes */
extern void json_text_growing(JsonText *w, lua_State *L);

extern bool json_append(JsonText *w, const char *text, size_t length);
extern bool json_append_char(JsonText *w, char c);

/* a comma or a colon */
extern bool json_append_separator(JsonText *w, char c);

/* quoted and escaped; fails for what isn't UTF-8 and for NUL */
extern bool json_append_string(JsonText *w, const char *text, size_t length);

/* the number at index; fails for NaN and infinities */
extern bool json_append_number(JsonText *w, int index);

/* returns false, with why and the place as the message */
extern bool json_fail(JsonText *w, const char *why);

#endif
