/*
 * json_write.c
 *		The JSON encoder.
 *
 * Recursion is bounded by JSON_MAX_DEPTH, cycles are found by comparing with
 * the tables that a value lies in, and a table that is reached by many ways is
 * bounded by the room for text.
 */
#include "json_write.h"
#include "json_markers.h"
#include "../protocol/utf8.h"

#include "lauxlib.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* objects of up to so many members need no memory for sorting */
#define FEW_MEMBERS 16

#define FIRST_CAPACITY 1024

typedef struct Member
{
	const char *key;
	size_t		length;
} Member;

static bool write_value(JsonWriter *w, int index);

/* ------------------------------------------------------------------------
 * Text and failure
 * ------------------------------------------------------------------------ */

void
json_writer_fixed(JsonWriter *w, lua_State *L, char *buffer, size_t capacity)
{
	w->L = L;
	w->text = buffer;
	w->length = 0;
	w->capacity = capacity;
	w->box = 0;
	w->depth = 0;
}

void
json_writer_growing(JsonWriter *w, lua_State *L)
{
	json_writer_fixed(w, L, lua_newuserdatauv(L, FIRST_CAPACITY, 0), FIRST_CAPACITY);
	w->box = lua_gettop(L);
}

/* append to a bounded message; what doesn't fit is cut */
static void
add_message(JsonWriter *w, size_t *at, const char *format, ...)
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
static bool
fail(JsonWriter *w, const char *why)
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

static bool
grow(JsonWriter *w, size_t need)
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

bool
json_append(JsonWriter *w, const char *text, size_t length)
{
	if (length > w->capacity - w->length && !grow(w, w->length + length))
		return false;
	memcpy(w->text + w->length, text, length);
	w->length += length;
	return true;
}

static bool
append_char(JsonWriter *w, char c)
{
	return json_append(w, &c, 1);
}

/* ------------------------------------------------------------------------
 * Scalars
 * ------------------------------------------------------------------------ */

static bool
write_escape(JsonWriter *w, char c)
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

static bool
write_string(JsonWriter *w, const char *text, size_t length)
{
	if (!append_char(w, '"'))
		return false;
	while (length > 0)
	{
		bool		bad;
		size_t		n = plain_run(text, length, &bad);

		if (bad)
			return fail(w, "text that is not valid UTF-8 has no JSON form");
		if (!json_append(w, text, n))
			return false;
		text += n;
		length -= n;
		if (length == 0)
			break;
		if (*text == '\0')
			return fail(w, "text with a NUL character cannot be stored as JSON");
		if (!write_escape(w, *text))
			return false;
		text++;
		length--;
	}
	return append_char(w, '"');
}

/* the fewest digits that read back as the same number, and look like a float */
static bool
write_float(JsonWriter *w, lua_Number value)
{
	char		text[40];
	int			n = 0;

	if (!isfinite(value))
		return fail(w, isnan(value) ? "NaN has no JSON form" : "an infinity has no JSON form");
	for (int digits = 15; digits <= 17; digits++)
	{
		n = snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	if (strcspn(text, ".e") == (size_t) n)
	{
		memcpy(text + n, ".0", 2);
		n += 2;
	}
	return json_append(w, text, (size_t) n);
}

static bool
write_number(JsonWriter *w, int index)
{
	char		text[24];
	int			n;

	if (!lua_isinteger(w->L, index))
		return write_float(w, lua_tonumber(w->L, index));
	n = snprintf(text, sizeof(text), "%lld", (long long) lua_tointeger(w->L, index));
	return json_append(w, text, (size_t) n);
}

/* ------------------------------------------------------------------------
 * Tables
 * ------------------------------------------------------------------------ */

typedef struct Shape
{
	size_t		texts;			/* keys that are text */
	size_t		integers;		/* keys that are integers from 1 on */
	lua_Unsigned greatest;		/* of those */
} Shape;

/* look at all keys; false when one can be no part of JSON */
static bool
find_shape(JsonWriter *w, int index, Shape *shape)
{
	lua_State  *L = w->L;

	memset(shape, 0, sizeof(*shape));
	lua_pushnil(L);
	while (lua_next(L, index))
	{
		lua_pop(L, 1);
		if (lua_type(L, -1) == LUA_TSTRING)
			shape->texts++;
		else if (lua_isinteger(L, -1) && lua_tointeger(L, -1) >= 1)
		{
			lua_Unsigned key = (lua_Unsigned) lua_tointeger(L, -1);

			shape->integers++;
			if (key > shape->greatest)
				shape->greatest = key;
		}
		else
		{
			char		why[80];

			snprintf(why, sizeof(why), "a table with a key that is a %s has no JSON form",
					 lua_type(L, -1) == LUA_TNUMBER ? "number other than 1 to n" : luaL_typename(L, -1));
			return fail(w, why);
		}
	}
	if (shape->texts > 0 && shape->integers > 0)
		return fail(w, "a table with both numbers and text as keys has no JSON form");
	if (shape->greatest != shape->integers)
		return fail(w, "a list with holes has no JSON form");
	return true;
}

static bool
write_list(JsonWriter *w, int index, size_t n)
{
	JsonStep   *step = &w->steps[w->depth - 1];

	if (!append_char(w, '['))
		return false;
	step->key = NULL;
	for (size_t i = 1; i <= n; i++)
	{
		if (i > 1 && !append_char(w, ','))
			return false;
		step->index = (lua_Integer) i;
		lua_rawgeti(w->L, index, (lua_Integer) i);
		if (!write_value(w, lua_gettop(w->L)))
			return false;
		lua_pop(w->L, 1);
	}
	return append_char(w, ']');
}

static bool
member_before(const Member *a, const Member *b)
{
	size_t		n = a->length < b->length ? a->length : b->length;
	int			order = memcmp(a->key, b->key, n);

	return order != 0 ? order < 0 : a->length < b->length;
}

/* let the member at root sink to its place in a heap of n */
static void
sift(Member *members, size_t root, size_t n)
{
	Member		sinking = members[root];

	for (;;)
	{
		size_t		child = 2 * root + 1;

		if (child >= n)
			break;
		if (child + 1 < n && member_before(&members[child], &members[child + 1]))
			child++;
		if (!member_before(&sinking, &members[child]))
			break;
		members[root] = members[child];
		root = child;
	}
	members[root] = sinking;
}

/* a heap sort: libc's qsort may allocate, and ask the system how much it has */
static void
sort_members(Member *members, size_t n)
{
	for (size_t root = n / 2; root-- > 0;)
		sift(members, root, n);
	while (n-- > 1)
	{
		Member		greatest = members[0];

		members[0] = members[n];
		members[n] = greatest;
		sift(members, 0, n);
	}
}

static void
collect_members(lua_State *L, int index, Member *members)
{
	size_t		i = 0;

	lua_pushnil(L);
	while (lua_next(L, index))
	{
		lua_pop(L, 1);
		/* the table keeps its keys alive, and nothing changes it meanwhile */
		members[i].key = lua_tolstring(L, -1, &members[i].length);
		i++;
	}
}

static bool
write_member(JsonWriter *w, int index, const Member *member)
{
	JsonStep   *step = &w->steps[w->depth - 1];

	step->key = member->key;
	step->key_length = member->length;
	if (!write_string(w, member->key, member->length) || !append_char(w, ':'))
		return false;
	lua_pushlstring(w->L, member->key, member->length);
	lua_rawget(w->L, index);
	if (!write_value(w, lua_gettop(w->L)))
		return false;
	lua_pop(w->L, 1);
	return true;
}

static bool
write_object(JsonWriter *w, int index, size_t n)
{
	Member		few[FEW_MEMBERS];
	Member	   *members = few;

	if (n > FEW_MEMBERS)
		members = lua_newuserdatauv(w->L, n * sizeof(Member), 0);
	collect_members(w->L, index, members);
	sort_members(members, n);
	if (!append_char(w, '{'))
		return false;
	for (size_t i = 0; i < n; i++)
	{
		if (i > 0 && !append_char(w, ','))
			return false;
		if (!write_member(w, index, &members[i]))
			return false;
	}
	if (n > FEW_MEMBERS)
		lua_pop(w->L, 1);
	return append_char(w, '}');
}

/* enter a table: not too deep, and not one that it lies in */
static bool
enter(JsonWriter *w, int index)
{
	const void *table = lua_topointer(w->L, index);

	for (int i = 0; i < w->depth; i++)
	{
		if (w->steps[i].table == table)
			return fail(w, "a table that contains itself has no JSON form");
	}
	if (w->depth == JSON_MAX_DEPTH)
	{
		w->depth = 0;
		return fail(w, "nested more than 100 levels deep");
	}
	return true;
}

static bool
write_table(JsonWriter *w, int index)
{
	Shape		shape;
	bool		done;

	if (!enter(w, index) || !find_shape(w, index, &shape))
		return false;
	if (shape.texts > 0 && json_is_marked(w->L, index, JSON_ARRAY))
		return fail(w, "a table marked by json.array has text as keys");
	w->steps[w->depth++].table = lua_topointer(w->L, index);
	if (shape.texts > 0 ||
		(shape.integers == 0 && json_is_marked(w->L, index, JSON_OBJECT)))
		done = write_object(w, index, shape.texts);
	else
		done = write_list(w, index, shape.integers);
	if (done)
		w->depth--;
	return done;
}

/* index is absolute */
static bool
write_value(JsonWriter *w, int index)
{
	lua_State  *L = w->L;
	size_t		length;
	const char *text;
	char		why[64];

	luaL_checkstack(L, 8, "value too deep to encode");
	switch (lua_type(L, index))
	{
		case LUA_TNIL:
			return json_append(w, "null", 4);
		case LUA_TBOOLEAN:
			return lua_toboolean(L, index) ? json_append(w, "true", 4) : json_append(w, "false", 5);
		case LUA_TNUMBER:
			return write_number(w, index);
		case LUA_TSTRING:
			text = lua_tolstring(L, index, &length);
			return write_string(w, text, length);
		case LUA_TTABLE:
			return write_table(w, index);
		default:
			if (json_is_null(L, index))
				return json_append(w, "null", 4);
			snprintf(why, sizeof(why), "a %s has no JSON form", luaL_typename(L, index));
			return fail(w, why);
	}
}

bool
json_write(JsonWriter *w, int index)
{
	return write_value(w, lua_absindex(w->L, index));
}
