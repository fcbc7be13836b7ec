/*
 * json_read.c
 *		The JSON decoder, by recursive descent bounded by JSON_MAX_DEPTH.
 */
#include "json_read.h"
#include "../protocol/json_check.h"
#include "json_markers.h"
#include "../protocol/utf8.h"

#include "lauxlib.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* a number's text is copied to end it */
#define MAX_NUMBER_CHARS 1100

typedef struct JsonReader
{
	lua_State  *L;
	const char *start;
	const char *at;
	const char *end;
	bool		stored;			/* by the server: numbers have no bounds */
	int			depth;
	const char *why;
} JsonReader;

static bool read_value(JsonReader *r);

/* the first reason stands; what follows from it is of no interest */
static bool
fail(JsonReader *r, const char *why)
{
	if (r->why == NULL)
		r->why = why;
	return false;
}

/* JSON's four blanks, no others */
static void
skip_space(JsonReader *r)
{
	while (r->at < r->end &&
		   (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r'))
		r->at++;
}

/* take the next byte if it is the wanted one */
static bool
accept(JsonReader *r, char wanted)
{
	if (r->at == r->end || *r->at != wanted)
		return false;
	r->at++;
	return true;
}

/* take a word that must be there as a whole */
static bool
accept_word(JsonReader *r, const char *word)
{
	size_t		n = strlen(word);

	if ((size_t) (r->end - r->at) < n || memcmp(r->at, word, n) != 0)
		return fail(r, "unexpected character");
	r->at += n;
	return true;
}

/* ------------------------------------------------------------------------
 * Strings
 * ------------------------------------------------------------------------ */

/*
 * The four digits of an escape; a NUL must be kept from strchr(), which finds
 * it.
 */
static bool
read_hex4(JsonReader *r, unsigned long *value)
{
	*value = 0;
	for (int i = 0; i < 4; i++)
	{
		static const char digits[] = "0123456789abcdef";
		const char *digit;

		if (r->at == r->end || *r->at == '\0')
			return fail(r, "incomplete \\u escape");
		/* lower case by a bit; it leaves digits as they are */
		digit = strchr(digits, *r->at | 0x20);
		if (digit == NULL)
			return fail(r, "invalid \\u escape");
		*value = *value << 4 | (unsigned long) (digit - digits);
		r->at++;
	}
	return true;
}

/* after "\u": one character, of a pair where it needs two escapes */
static bool
read_unicode(JsonReader *r, char *out, size_t *length)
{
	unsigned long code;
	unsigned long low;

	if (!read_hex4(r, &code))
		return false;
	if (code >= 0xDC00 && code <= 0xDFFF)
		return fail(r, "lone surrogate");
	if (code >= 0xD800 && code <= 0xDBFF)
	{
		if (!accept(r, '\\') || !accept(r, 'u'))
			return fail(r, "lone surrogate");
		if (!read_hex4(r, &low))
			return false;
		if (low < 0xDC00 || low > 0xDFFF)
			return fail(r, "lone surrogate");
		code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
	}
	*length = utf8_encode((uint32_t) code, out);
	return true;
}

/* after a backslash */
static bool
read_escape(JsonReader *r, char *out, size_t *length)
{
	static const char names[] = "\"\\/bfnrt";
	static const char values[] = "\"\\/\b\f\n\r\t";
	const char *name;

	if (accept(r, 'u'))
		return read_unicode(r, out, length);
	if (r->at == r->end || *r->at == '\0')
		return fail(r, "incomplete escape");
	name = strchr(names, *r->at);
	if (name == NULL)
		return fail(r, "invalid escape");
	r->at++;
	*out = values[name - names];
	*length = 1;
	return true;
}

/*
 * Where the string at hand ends (at its closing quote), or NULL; *escaped
 * tells whether it has escapes.
 */
static const char *
string_end(JsonReader *r, bool *escaped)
{
	const char *at = r->at;

	*escaped = false;
	while (at < r->end && *at != '"')
	{
		size_t		n = 1;

		if ((unsigned char) *at < 0x20)
			break;
		if (*at == '\\')
		{
			*escaped = true;
			n = 2;
		}
		else if ((unsigned char) *at >= 0x80)
			n = utf8_char_length(at, (size_t) (r->end - at));
		if (n == 0 || n > (size_t) (r->end - at))
			break;
		at += n;
	}
	if (at < r->end && *at == '"')
		return at;
	r->at = at;
	fail(r, at == r->end ? "unterminated string" : "invalid character in a string");
	return NULL;
}

/* after the opening quote: push the string */
static bool
read_string(JsonReader *r)
{
	bool		escaped;
	const char *end = string_end(r, &escaped);
	luaL_Buffer buffer;

	if (end == NULL)
		return false;
	if (!escaped)
	{
		lua_pushlstring(r->L, r->at, (size_t) (end - r->at));
		r->at = end + 1;
		return true;
	}
	luaL_buffinit(r->L, &buffer);
	while (r->at < end)
	{
		char		bytes[4];
		size_t		n = 1;

		if (!accept(r, '\\'))
			bytes[0] = *r->at++;
		else if (!read_escape(r, bytes, &n))
			return false;
		luaL_addlstring(&buffer, bytes, n);
	}
	luaL_pushresult(&buffer);
	r->at = end + 1;
	return true;
}

/* ------------------------------------------------------------------------
 * Numbers
 * ------------------------------------------------------------------------ */

/* returns how many there were */
static size_t
skip_digits(JsonReader *r)
{
	const char *start = r->at;

	while (r->at < r->end && *r->at >= '0' && *r->at <= '9')
		r->at++;
	return (size_t) (r->at - start);
}

/* the decimal integer between two places; false when it exceeds 64 bits */
static bool
to_integer(const char *at, const char *end, lua_Integer *value)
{
	bool		negative = *at == '-';
	lua_Unsigned bound = (lua_Unsigned) LUA_MAXINTEGER + negative;
	lua_Unsigned sum = 0;

	for (at += negative; at < end; at++)
	{
		unsigned	digit = (unsigned) (*at - '0');

		if (sum > (bound - digit) / 10)
			return false;
		sum = sum * 10 + digit;
	}
	*value = (lua_Integer) (negative ? 0 - sum : sum);
	return true;
}

/* a number that Lua has none for: its text, or an error */
static bool
push_digits(JsonReader *r, const char *start, const char *why)
{
	if (!r->stored)
		return fail(r, why);
	lua_pushlstring(r->L, start, (size_t) (r->at - start));
	return true;
}

/*
 * Strtod() wants an ended string, and the text may be followed by anything.
 * Without setlocale() its decimal point is a point.
 */
static bool
push_float(JsonReader *r, const char *start)
{
	char		text[MAX_NUMBER_CHARS + 1];
	size_t		n = (size_t) (r->at - start);
	lua_Number	value;

	if (n > MAX_NUMBER_CHARS)
		return push_digits(r, start, "number with too many digits");
	memcpy(text, start, n);
	text[n] = '\0';
	value = strtod(text, NULL);
	if (!isfinite(value))
		return push_digits(r, start, "number out of range");
	lua_pushnumber(r->L, value);
	return true;
}

/*
 * Checked by hand against JSON's grammar: strtod() alone takes hex, "inf" and
 * leading blanks.
 */
static bool
read_number(JsonReader *r)
{
	const char *start = r->at;
	bool		integral = true;
	lua_Integer value;

	accept(r, '-');
	if (!accept(r, '0') && skip_digits(r) == 0)
		return fail(r, "unexpected character");
	if (accept(r, '.'))
	{
		integral = false;
		if (skip_digits(r) == 0)
			return fail(r, "invalid number");
	}
	if (accept(r, 'e') || accept(r, 'E'))
	{
		integral = false;
		if (!accept(r, '+'))
			accept(r, '-');
		if (skip_digits(r) == 0)
			return fail(r, "invalid number");
	}
	if (integral && to_integer(start, r->at, &value))
	{
		lua_pushinteger(r->L, value);
		return true;
	}
	return integral && r->stored ? push_digits(r, start, NULL) : push_float(r, start);
}

/* ------------------------------------------------------------------------
 * Containers
 * ------------------------------------------------------------------------ */

/* after '[': push the list */
static bool
read_list(JsonReader *r)
{
	lua_Integer n = 0;

	lua_newtable(r->L);
	skip_space(r);
	if (accept(r, ']'))
		return true;
	do
	{
		if (!read_value(r))
			return false;
		lua_rawseti(r->L, -2, ++n);
		skip_space(r);
	} while (accept(r, ','));
	return accept(r, ']') || fail(r, "expected ',' or ']'");
}

/* one member: set it in the table on top */
static bool
read_member(JsonReader *r)
{
	skip_space(r);
	if (!accept(r, '"'))
		return fail(r, "expected a member's name");
	if (!read_string(r))
		return false;
	skip_space(r);
	if (!accept(r, ':'))
		return fail(r, "expected ':'");
	if (!read_value(r))
		return false;
	lua_rawset(r->L, -3);
	return true;
}

/* after '{': push the table; an empty one remembers that it is an object */
static bool
read_object(JsonReader *r)
{
	lua_newtable(r->L);
	skip_space(r);
	if (accept(r, '}'))
	{
		json_marker_push(r->L, JSON_OBJECT);
		lua_setmetatable(r->L, -2);
		return true;
	}
	do
	{
		if (!read_member(r))
			return false;
		skip_space(r);
	} while (accept(r, ','));
	return accept(r, '}') || fail(r, "expected ',' or '}'");
}

/* the depth also bounds the recursion of this file on the C stack */
static bool
read_container(JsonReader *r)
{
	bool		done;

	if (r->depth == JSON_MAX_DEPTH)
		return fail(r, "nested more than 100 levels deep");
	r->depth++;
	done = *r->at++ == '[' ? read_list(r) : read_object(r);
	r->depth--;
	return done;
}

/* one byte tells what comes */
static bool
read_value(JsonReader *r)
{
	luaL_checkstack(r->L, 8, "value too deep to decode");
	skip_space(r);
	if (r->at == r->end)
		return fail(r, "unexpected end");
	switch (*r->at)
	{
		case '[':
		case '{':
			return read_container(r);
		case '"':
			r->at++;
			return read_string(r);
		case 't':
			lua_pushboolean(r->L, 1);
			return accept_word(r, "true");
		case 'f':
			lua_pushboolean(r->L, 0);
			return accept_word(r, "false");
		case 'n':
			json_marker_push(r->L, JSON_NULL);
			return accept_word(r, "null");
		default:
			return read_number(r);
	}
}

/* Blanks may follow the value, nothing else. */
bool
json_read(lua_State *L, const char *text, size_t length, bool stored, const char **why, size_t *at)
{
	JsonReader	r = {.L = L, .start = text, .at = text, .end = text + length, .stored = stored};
	bool		done = read_value(&r);

	if (done)
	{
		skip_space(&r);
		if (r.at < r.end)
			done = fail(&r, "unexpected text after the value");
	}
	*why = r.why;
	*at = (size_t) (r.at - r.start);
	return done;
}
