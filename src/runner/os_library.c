/*
 * os_library.c
 *		os without an operating system: a logical clock, dates in UTC, and exit.
 *
 * The clock starts where the request says and advances one millisecond a
 * reading.  So a busy-wait ends, and ends the same way each time.
 */
#include "calendar.h"
#include "error_codes.h"
#include "execution.h"
#include "libraries.h"

#include "lauxlib.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

/* what os.date accepts after '%', and after the modifiers E and O */
#define CONVERSIONS "aAbBcCdDeFgGhHIjmMnprRStTuUVwWxXyYzZ%"
#define E_CONVERSIONS "cCxXyY"
#define O_CONVERSIONS "deHImMSuUVwWy"

/* rounded down, also before 1970 */
static int64_t
read_seconds(void)
{
	int64_t		ms = current.clock_ms + execution_read_clock();

	return ms / 1000 - (ms % 1000 < 0);
}

/*
 * The same clock as os.time(), from 0: both agree about what time has passed.
 */
static int
os_clock(lua_State *L)
{
	lua_pushnumber(L, (lua_Number) execution_read_clock() / 1000.0);
	return 1;
}

/* stock gives a float, also for whole seconds */
static int
os_difftime(lua_State *L)
{
	lua_Integer later = luaL_checkinteger(L, 1);
	lua_Integer earlier = luaL_checkinteger(L, 2);

	lua_pushnumber(L, (lua_Number) later - (lua_Number) earlier);
	return 1;
}

/* ------------------------------------------------------------------------
 * Tables of date fields
 * ------------------------------------------------------------------------ */

/* in the table on top */
static void
set_field(lua_State *L, const char *name, lua_Integer value)
{
	lua_pushinteger(L, value);
	lua_setfield(L, -2, name);
}

/* fill the table on top */
static void
set_date_fields(lua_State *L, const CalendarTime *t)
{
	set_field(L, "year", t->year);
	set_field(L, "month", t->month);
	set_field(L, "day", t->day);
	set_field(L, "hour", t->hour);
	set_field(L, "min", t->minute);
	set_field(L, "sec", t->second);
	set_field(L, "yday", t->yearday + 1);
	set_field(L, "wday", t->weekday + 1);
	lua_pushboolean(L, 0);
	lua_setfield(L, -2, "isdst");
}

/* a field of the table at 1; without a default it must be there */
static lua_Integer
date_field(lua_State *L, const char *name, lua_Integer preset, bool required)
{
	int			is_integer;
	lua_Integer value;
	int			type = lua_getfield(L, 1, name);

	value = lua_tointegerx(L, -1, &is_integer);
	if (!is_integer)
	{
		if (type != LUA_TNIL)
			return luaL_error(L, "field '%s' is not an integer", name);
		if (required)
			return luaL_error(L, "field '%s' missing in date table", name);
		value = preset;
	}
	/* what C's struct tm could hold; it also keeps the sums from overflowing */
	if (value < INT_MIN || value > INT_MAX)
		return luaL_error(L, "field '%s' is out-of-bound", name);
	lua_pop(L, 1);
	return value;
}

/*
 * Without a table it reads the clock; with one it computes, and the clock
 * stands.
 */
static int
os_time(lua_State *L)
{
	CalendarTime t;
	int64_t		seconds;
	lua_Integer year;
	lua_Integer month;
	lua_Integer day;
	lua_Integer hour;
	lua_Integer minute;

	if (lua_isnoneornil(L, 1))
	{
		lua_pushinteger(L, read_seconds());
		return 1;
	}
	luaL_checktype(L, 1, LUA_TTABLE);
	lua_settop(L, 1);
	year = date_field(L, "year", 0, true);
	month = date_field(L, "month", 0, true);
	day = date_field(L, "day", 0, true);
	hour = date_field(L, "hour", 12, false);
	minute = date_field(L, "min", 0, false);
	seconds = calendar_to_seconds(year, month, day, hour, minute,
								  date_field(L, "sec", 0, false));
	if (!calendar_from_seconds(seconds, &t))
		return luaL_error(L, "time result cannot be represented in this installation");
	/* the fields come back within their ranges, as from mktime */
	set_date_fields(L, &t);
	lua_pushinteger(L, seconds);
	return 1;
}

/* ------------------------------------------------------------------------
 * os.date
 * ------------------------------------------------------------------------ */

/* the conversion at format, just after '%'; raises an error when unknown */
static const char *
check_conversion(lua_State *L, const char *format, const char *end, char *conversion)
{
	const char *allowed = CONVERSIONS;
	const char *c = format;

	if (c < end && (*c == 'E' || *c == 'O'))
		allowed = *c++ == 'E' ? E_CONVERSIONS : O_CONVERSIONS;
	if (c == end || *c == '\0' || strchr(allowed, *c) == NULL)
	{
		luaL_argerror(L, 1, lua_pushfstring(L, "invalid conversion specifier '%%%s'", format));
		return format;
	}
	*conversion = *c;
	return c + 1;
}

/*
 * The buffer may hold a value on the stack, so nothing else is pushed
 * meanwhile but by a failing check_conversion().
 */
static void
push_formatted(lua_State *L, const char *format, size_t length, const CalendarTime *t)
{
	const char *end = format + length;
	luaL_Buffer buffer;

	luaL_buffinit(L, &buffer);
	while (format < end)
	{
		char		conversion;
		char	   *room;

		if (*format != '%')
		{
			luaL_addchar(&buffer, *format++);
			continue;
		}
		format = check_conversion(L, format + 1, end, &conversion);
		room = luaL_prepbuffsize(&buffer, CALENDAR_FORMAT_MAX);
		luaL_addsize(&buffer, calendar_format(room, conversion, t));
	}
	luaL_pushresult(&buffer);
}

/* There is one time zone, so "!" makes no difference. */
static int
os_date(lua_State *L)
{
	size_t		length;
	const char *format = luaL_optlstring(L, 1, "%c", &length);
	int64_t		seconds = lua_isnoneornil(L, 2) ? read_seconds() : luaL_checkinteger(L, 2);
	CalendarTime t;

	if (!calendar_from_seconds(seconds, &t))
		return luaL_error(L, "date result cannot be represented in this installation");
	/* "!" asks for UTC: here there is nothing else */
	if (*format == '!')
	{
		format++;
		length--;
	}
	if (strncmp(format, "*t", 2) == 0)
	{
		lua_createtable(L, 0, 9);
		set_date_fields(L, &t);
	}
	else
		push_formatted(L, format, length, &t);
	return 1;
}

/* ------------------------------------------------------------------------
 * os.exit
 * ------------------------------------------------------------------------ */

/* os.exit(code): the execution ends here, whatever protects the caller */
static int
os_exit(lua_State *L)
{
	lua_Integer code;
	char		text[64];
	int			n;

	if (lua_isboolean(L, 1))
		code = lua_toboolean(L, 1) ? 0 : 1;
	else
		code = luaL_optinteger(L, 1, 0);
	luaL_argcheck(L, code >= INT_MIN && code <= INT_MAX, 1, "exit code out of range");
	if (code == 0)
		execution_succeed(NULL, 0);
	else
	{
		n = snprintf(text, sizeof(text), "exited with code %d", (int) code);
		execution_fail(ERROR_EXIT, (int) code, text, (size_t) n);
	}
	execution_end();
}

/*
 * What isn't here (execute, getenv, remove, ...) is absent and not a stub, as
 * code that looks for it expects.
 */
void
os_library(lua_State *L)
{
	static const luaL_Reg functions[] = {
		{"clock", os_clock},
		{"date", os_date},
		{"difftime", os_difftime},
		{"exit", os_exit},
		{"time", os_time},
		{NULL, NULL}};

	luaL_setfuncs(L, functions, 0);
}
