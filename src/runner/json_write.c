/*
 * json_write.c
 *		The JSON encoder: values and tables.
 *
 * Recursion is bounded by JSON_MAX_DEPTH, cycles are found by comparing with
 * the tables that a value lies in, and a table that is reached by many ways is
 * bounded by the room for text.
 */
#include "json_write.h"
#include "json_markers.h"

#include "lauxlib.h"

#include <stdio.h>
#include <string.h>

/* objects of up to so many members need no memory for sorting */
#define FEW_MEMBERS 16

typedef struct Member
{
	const char *key;
	size_t		length;
} Member;

static bool write_value(JsonText *w, int index);

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
find_shape(JsonText *w, int index, Shape *shape)
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
			return json_fail(w, why);
		}
	}
	if (shape->texts > 0 && shape->integers > 0)
		return json_fail(w, "a table with both numbers and text as keys has no JSON form");
	if (shape->greatest != shape->integers)
		return json_fail(w, "a list with holes has no JSON form");
	return true;
}

/* n elements, all there: find_shape() has counted them */
static bool
write_list(JsonText *w, int index, size_t n)
{
	JsonStep   *step = &w->steps[w->depth - 1];

	if (!json_append_char(w, '['))
		return false;
	step->key = NULL;
	for (size_t i = 1; i <= n; i++)
	{
		if (i > 1 && !json_append_separator(w, ','))
			return false;
		step->index = (lua_Integer) i;
		lua_rawgeti(w->L, index, (lua_Integer) i);
		if (!write_value(w, lua_gettop(w->L)))
			return false;
		lua_pop(w->L, 1);
	}
	return json_append_char(w, ']');
}

/*
 * By bytes, so that no locale has a say; for UTF-8 it's also code point
 * order.
 */
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

/* The number of members is known: the array is large enough. */
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

/*
 * The value is looked up again by its key: what lua_next() gave is gone after
 * sorting.  No key is lost by that, since a string's identity is its text.
 */
static bool
write_member(JsonText *w, int index, const Member *member)
{
	JsonStep   *step = &w->steps[w->depth - 1];

	step->key = member->key;
	step->key_length = member->length;
	if (!json_append_string(w, member->key, member->length) || !json_append_separator(w, ':'))
		return false;
	lua_pushlstring(w->L, member->key, member->length);
	lua_rawget(w->L, index);
	if (!write_value(w, lua_gettop(w->L)))
		return false;
	lua_pop(w->L, 1);
	return true;
}

/*
 * The array for many members is a userdata: it is accounted, and gone with
 * the state should an error be raised.
 */
static bool
write_object(JsonText *w, int index, size_t n)
{
	Member		few[FEW_MEMBERS];
	Member	   *members = few;

	if (n > FEW_MEMBERS)
		members = lua_newuserdatauv(w->L, n * sizeof(Member), 0);
	collect_members(w->L, index, members);
	sort_members(members, n);
	if (!json_append_char(w, '{'))
		return false;
	for (size_t i = 0; i < n; i++)
	{
		if (i > 0 && !json_append_separator(w, ','))
			return false;
		if (!write_member(w, index, &members[i]))
			return false;
	}
	if (n > FEW_MEMBERS)
		lua_pop(w->L, 1);
	return json_append_char(w, '}');
}

/* enter a table: not too deep, and not one that it lies in */
static bool
enter(JsonText *w, int index)
{
	const void *table = lua_topointer(w->L, index);

	for (int i = 0; i < w->depth; i++)
	{
		if (w->steps[i].table == table)
			return json_fail(w, "a table that contains itself has no JSON form");
	}
	if (w->depth == JSON_MAX_DEPTH)
	{
		w->depth = 0;
		return json_fail(w, "nested more than 100 levels deep");
	}
	return true;
}

/*
 * After a failure depth stays as it was: the message has used it, and nothing
 * writes on.
 */
static bool
write_table(JsonText *w, int index)
{
	Shape		shape;
	bool		done;

	if (!enter(w, index) || !find_shape(w, index, &shape))
		return false;
	if (shape.texts > 0 && json_is_marked(w->L, index, JSON_ARRAY))
		return json_fail(w, "a table marked by json.array has text as keys");
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
write_value(JsonText *w, int index)
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
			return json_append_number(w, index);
		case LUA_TSTRING:
			text = lua_tolstring(L, index, &length);
			return json_append_string(w, text, length);
		case LUA_TTABLE:
			return write_table(w, index);
		default:
			if (json_is_null(L, index))
				return json_append(w, "null", 4);
			snprintf(why, sizeof(why), "a %s has no JSON form", luaL_typename(L, index));
			return json_fail(w, why);
	}
}

/* relative indexes would move with what is pushed */
bool
json_write(JsonText *w, int index)
{
	return write_value(w, lua_absindex(w->L, index));
}
