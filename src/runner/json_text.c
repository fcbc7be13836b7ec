/*
 * json_text.c
 *		What a JSON text is put together from: bytes, strings, numbers, and the
 *		reason where it ends in failure.
 */
#include "json_text.h"
#include "../protocol/utf8.h"

#include "lauxlib.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* what memory that grows begins with; it doubles from there */
#define FIRST_CAPACITY 1024

/* ------------------------------------------------------------------------
 * Text and failure
 * ------------------------------------------------------------------------ */

/* the steps need no clearing: only those below depth are looked at */
void
json_text_fixed(JsonText *w, lua_State *L, char *buffer, size_t capacity)
{
	w->L = L;
	w->text = buffer;
	w->length = 0;
	w->capacity = capacity;
	w->spread = 0;
	w->box = 0;
	w->whole = false;
	w->depth = 0;
}

size_t
json_text_stored(const JsonText *w)
{
	return w->length + w->spread;
}

/* The slot is remembered, not the address: growing replaces what it holds. */
void
json_text_growing(JsonText *w, lua_State *L)
{
	json_text_fixed(w, L, lua_newuserdatauv(L, FIRST_CAPACITY, 0), FIRST_CAPACITY);
	w->box = lua_gettop(L);
}

/* append to a bounded message; what doesn't fit is cut */
static void
add_message(JsonText *w, size_t *at, const char *format, ...)
{
	va_list		arguments;
	int			n;

	va_start(arguments, format);
	n = vsnprintf(w->message + *at, sizeof(w->message) - *at, format, arguments);
	va_end(arguments);
	*at += (size_t) n;
	if (*at >= sizeof(w->message))
		*at = sizeof(w->message) - 1;
}

/* record why, and where: " (at items[3].name)" */
bool
json_fail(JsonText *w, const char *why)
{
	size_t		at = 0;

	add_message(w, &at, "%s", why);
	for (int i = 0; i < w->depth; i++)
	{
		const JsonStep *step = &w->steps[i];

		add_message(w, &at, "%s", i == 0 ? " (at " : "");
		if (step->key == NULL)
			add_message(w, &at, "[%lld]", (long long) step->index);
		else
			add_message(w, &at, i == 0 ? "%.*s" : ".%.*s",
						(int) utf8_clip(step->key, step->key_length, 40), step->key);
	}
	if (w->depth > 0)
		add_message(w, &at, ")");
	return false;
}

/* The old memory is garbage from here on, for the collector to take. */
static bool
grow(JsonText *w, size_t need)
{
	size_t		capacity = w->capacity * 2;
	char	   *text;

	if (w->box == 0)
	{
		/* where it stands says nothing: the sum of all is too large */
		snprintf(w->message, sizeof(w->message), "larger than %zu bytes as JSON", w->capacity);
		return false;
	}
	if (capacity < need)
		capacity = need;
	text = lua_newuserdatauv(w->L, capacity, 0);
	memcpy(text, w->text, w->length);
	lua_replace(w->L, w->box);
	w->text = text;
	w->capacity = capacity;
	return true;
}

/* capacity never lies below length, so the difference is sound */
bool
json_append(JsonText *w, const char *text, size_t length)
{
	if (length > w->capacity - w->length && !grow(w, w->length + length))
		return false;
	memcpy(w->text + w->length, text, length);
	w->length += length;
	return true;
}

/* for punctuation */
bool
json_append_char(JsonText *w, char c)
{
	return json_append(w, &c, 1);
}

bool
json_append_separator(JsonText *w, char c)
{
	w->spread++;
	return json_append_char(w, c);
}

/* ------------------------------------------------------------------------
 * Scalars
 * ------------------------------------------------------------------------ */

/* Only what JSON requires is escaped: text stays readable, and short. */
static bool
write_escape(JsonText *w, char c)
{
	static const char letters[] = "btnvfr";
	char		text[8];
	int			n;

	if (c == '"' || c == '\\')
		n = snprintf(text, sizeof(text), "\\%c", c);
	else if (c >= '\b' && c <= '\r' && c != '\v')
		n = snprintf(text, sizeof(text), "\\%c", letters[c - '\b']);
	else
		n = snprintf(text, sizeof(text), "\\u%04x", (unsigned) c);
	return json_append(w, text, (size_t) n);
}

/* bytes from text on that are written as they are; *bad: stopped at unsound ones */
static size_t
plain_run(const char *text, size_t length, bool *bad)
{
	size_t		n = 0;

	*bad = false;
	while (n < length)
	{
		unsigned char c = (unsigned char) text[n];
		size_t		bytes = 1;

		if (c < 0x20 || c == '"' || c == '\\')
			break;
		if (c >= 0x80)
		{
			bytes = utf8_char_length(text + n, length - n);
			if (bytes == 0)
			{
				*bad = true;
				break;
			}
		}
		n += bytes;
	}
	return n;
}

/* In runs of plain text, as most strings are one. */
bool
json_append_string(JsonText *w, const char *text, size_t length)
{
	if (!json_append_char(w, '"'))
		return false;
	while (length > 0)
	{
		bool		bad;
		size_t		n = plain_run(text, length, &bad);

		if (bad)
			return json_fail(w, "text that is not valid UTF-8 has no JSON form");
		if (!json_append(w, text, n))
			return false;
		text += n;
		length -= n;
		if (length == 0)
			break;
		if (*text == '\0')
			return json_fail(w, "text with a NUL character cannot be stored as JSON");
		if (!write_escape(w, *text))
			return false;
		text++;
		length--;
	}
	return json_append_char(w, '"');
}

/* how much longer a number is without its exponent, if it has one */
static size_t
exponent_spread(const char *text)
{
	const char *e = strchr(text, 'e');
	long		exponent;
	size_t		digits = 0;
	size_t		length;

	if (e == NULL)
		return 0;
	exponent = strtol(e + 1, NULL, 10);
	for (const char *c = text; c < e; c++)
		digits += *c >= '0' && *c <= '9';
	if (exponent < 0)
		length = (size_t) (-exponent) + 1 + digits;
	else
		length = digits > (size_t) exponent ? digits + 1 : (size_t) exponent + 1;
	return length > strlen(text) ? length - strlen(text) : 0;
}

/* the fewest digits that read back as the same number, and look like a float */
static bool
write_float(JsonText *w, lua_Number value)
{
	char		text[40];
	int			n = 0;

	if (!isfinite(value))
		return json_fail(w, isnan(value) ? "NaN has no JSON form" : "an infinity has no JSON form");
	for (int digits = 15; digits <= 17; digits++)
	{
		n = snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	w->spread += exponent_spread(text);
	if (strcspn(text, ".e") == (size_t) n)
	{
		memcpy(text + n, ".0", 2);
		n += 2;
	}
	return json_append(w, text, (size_t) n);
}

/* Integers never go through a float: all 64 bits arrive. */
bool
json_append_number(JsonText *w, int index)
{
	char		text[24];
	int			n;
	int			is_whole;
	lua_Integer value = lua_tointegerx(w->L, index, &is_whole);

	if (!lua_isinteger(w->L, index) && !(w->whole && is_whole))
		return write_float(w, lua_tonumber(w->L, index));
	n = snprintf(text, sizeof(text), "%lld", (long long) value);
	return json_append(w, text, (size_t) n);
}
