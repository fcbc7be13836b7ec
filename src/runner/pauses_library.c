/*
 * pauses_library.c
 *		The globals "ask", "sleep" and "await_event": calls whose answer may be
 *		long in coming.
 *
 * What is wrong in the arguments themselves is said here, before anyone is
 * asked; what a schema may contain is the worker's to judge.
 */
#include "calls.h"
#include "json_markers.h"
#include "libraries.h"
#include "../protocol/utf8.h"

#include "lauxlib.h"

#include <string.h>

/* whatever waits for longer was a mistake */
#define SECONDS_MAX 31536000
#define SECONDS_RULE "seconds must be a number from 0 to 31536000 (one year)"

#define EVENT_NAME_CHARS_MAX 255

/* false for NaN */
static bool
is_duration(lua_Number seconds)
{
	return seconds >= 0 && seconds <= SECONDS_MAX;
}

static void
check_seconds(lua_State *L, int index)
{
	luaL_argcheck(L, is_duration(luaL_checknumber(L, index)), index, SECONDS_RULE);
}

/* push a table whose one field is the number at index */
static void
push_seconds(lua_State *L, int index, const char *field)
{
	lua_createtable(L, 0, 1);
	if (lua_isinteger(L, index))
		lua_pushvalue(L, index);
	else
		lua_pushnumber(L, lua_tonumber(L, index));
	lua_setfield(L, -2, field);
}

/* push a field of the answer on top; null, here too, is nil */
static void
push_field(lua_State *L, const char *field)
{
	luaL_checktype(L, -1, LUA_TTABLE);
	lua_getfield(L, -1, field);
	if (json_is_null(L, -1))
	{
		lua_pop(L, 1);
		lua_pushnil(L);
	}
}

/* ------------------------------------------------------------------------
 * ask
 * ------------------------------------------------------------------------ */

typedef struct AskField
{
	const char *name;
	int			type;
} AskField;

static const AskField ask_fields[] = {
	{"message", LUA_TSTRING},
	{"schema", LUA_TTABLE},
	{"url", LUA_TSTRING},
	{"expires", LUA_TNUMBER}};

#define ASK_FIELDS ((int) (sizeof(ask_fields) / sizeof(ask_fields[0])))

static bool
is_ask_field(lua_State *L, int index)
{
	if (lua_type(L, index) != LUA_TSTRING)
		return false;
	for (int i = 0; i < ASK_FIELDS; i++)
		if (strcmp(lua_tostring(L, index), ask_fields[i].name) == 0)
			return true;
	return false;
}

/* a misspelled field would be left out in silence */
static void
check_no_other_fields(lua_State *L)
{
	for (lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1))
		if (!is_ask_field(L, -2))
			luaL_argerror(L, 1, lua_pushfstring(L, "unknown field '%s'", luaL_tolstring(L, -2, NULL)));
}

/* the message for a field of another type */
static const char *
type_rule(lua_State *L, const AskField *field)
{
	return lua_pushfstring(L, "field '%s' must be a %s, not a %s", field->name,
						   lua_typename(L, field->type), luaL_typename(L, -1));
}

/* check the field and put it into the table on top; returns its type */
static int
copy_ask_field(lua_State *L, const AskField *field)
{
	int			type;

	lua_pushstring(L, field->name);
	type = lua_rawget(L, 1);
	if (type != LUA_TNIL && type != field->type)
		luaL_argerror(L, 1, type_rule(L, field));
	if (type == LUA_TNUMBER)
		luaL_argcheck(L, is_duration(lua_tonumber(L, -1)) && lua_tonumber(L, -1) > 0, 1,
					  "field 'expires' must be seconds, more than 0 and at most 31536000 (one year)");
	lua_setfield(L, -2, field->name);
	return type;
}

static int
ask_answered(lua_State *L)
{
	push_field(L, "action");
	lua_insert(L, -2);
	push_field(L, "content");
	lua_remove(L, -2);
	return 2;
}

/* ask{message =, schema =, expires =} or ask{message =, url =, expires =} */
static int
pause_ask(lua_State *L)
{
	int			types[ASK_FIELDS];

	luaL_checktype(L, 1, LUA_TTABLE);
	lua_settop(L, 1);
	check_no_other_fields(L);
	lua_createtable(L, 0, ASK_FIELDS);
	for (int i = 0; i < ASK_FIELDS; i++)
		types[i] = copy_ask_field(L, &ask_fields[i]);
	luaL_argcheck(L, types[0] != LUA_TNIL, 1, "field 'message' is required");
	luaL_argcheck(L, types[1] == LUA_TNIL || types[2] == LUA_TNIL, 1,
				  "fields 'schema' and 'url' exclude each other");
	return calls_make(L, "ask", "ask", 2, ask_answered);
}

/* ------------------------------------------------------------------------
 * sleep and await_event
 * ------------------------------------------------------------------------ */

static int
sleep_over(lua_State *L)
{
	(void) L;
	return 0;
}

/* sleep(seconds) */
static int
pause_sleep(lua_State *L)
{
	check_seconds(L, 1);
	push_seconds(L, 1, "seconds");
	return calls_make(L, "sleep", "sleep", lua_gettop(L), sleep_over);
}

static size_t
count_characters(const char *text, size_t length)
{
	size_t		n = 0;

	for (size_t i = 0; i < length; i++)
		n += ((unsigned char) text[i] & 0xC0) != 0x80;
	return n;
}

static const char *
check_event_name(lua_State *L, int index)
{
	size_t		length;
	const char *name = luaL_checklstring(L, index, &length);

	luaL_argcheck(L, utf8_valid(name, length), index, "the name must be valid UTF-8 without NUL");
	length = count_characters(name, length);
	luaL_argcheck(L, length > 0 && length <= EVENT_NAME_CHARS_MAX, index,
				  "the name must have 1 to 255 characters");
	return name;
}

static int
event_came(lua_State *L)
{
	push_field(L, "timeout");
	if (lua_toboolean(L, -1))
	{
		lua_pushnil(L);
		lua_pushliteral(L, "timeout");
		return 2;
	}
	lua_pop(L, 1);
	push_field(L, "payload");
	return 1;
}

/* await_event(name, timeout in seconds or nil) */
static int
pause_await_event(lua_State *L)
{
	const char *name = check_event_name(L, 1);

	if (lua_isnoneornil(L, 2))
		return calls_make(L, "event", name, 0, event_came);
	check_seconds(L, 2);
	push_seconds(L, 2, "timeout");
	return calls_make(L, "event", name, lua_gettop(L), event_came);
}

void
pauses_library(lua_State *L)
{
	static const luaL_Reg functions[] = {
		{"ask", pause_ask},
		{"sleep", pause_sleep},
		{"await_event", pause_await_event},
		{NULL, NULL}};

	luaL_setfuncs(L, functions, 0);
}
