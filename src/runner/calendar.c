/*
 * calendar.c
 *		Days and dates, and strftime's conversions of them.
 *
 * Years are counted from March, so that the leap day is a year's last and the
 * months before it have a regular length; 400 years ("era") repeat exactly.
 */
#include "calendar.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#define DAY_SECONDS 86400
#define ERA_DAYS 146097
#define EPOCH_DAYS 719468		/* from 0000-03-01 to 1970-01-01 */

static const char *const day_names[] = {
	"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};
static const char *const month_names[] = {
	"January", "February", "March", "April", "May", "June", "July",
	"August", "September", "October", "November", "December"};

/* quotient and remainder that round down */
static int64_t
floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

/* never negative, also for dates before 1970 */
static int64_t
floor_mod(int64_t a, int64_t b)
{
	return a % b < 0 ? a % b + b : a % b;
}

/* days since 1970-01-01 of the first day of a month (1 to 12) */
static int64_t
month_start(int64_t year, int month)
{
	int64_t		shifted = year - (month <= 2);
	int64_t		of_era = floor_mod(shifted, 400);
	int64_t		months = (month + 9) % 12;	/* since March */
	int64_t		of_year = (153 * months + 2) / 5;

	return floor_div(shifted, 400) * ERA_DAYS +
		of_era * 365 + of_era / 4 - of_era / 100 + of_year - EPOCH_DAYS;
}

/*
 * Only the month has to be brought into range; days and smaller units just
 * add up.
 */
int64_t
calendar_to_seconds(int64_t year, int64_t month, int64_t day,
					int64_t hour, int64_t minute, int64_t second)
{
	int64_t		years = year + floor_div(month - 1, 12);
	int64_t		days = month_start(years, (int) floor_mod(month - 1, 12) + 1) + day - 1;

	return days * DAY_SECONDS + hour * 3600 + minute * 60 + second;
}

/*
 * The year of the era is found by taking out of its days the leap days that
 * passed: one in 1460, none in 36524, one in 146096.
 */
bool
calendar_from_seconds(int64_t seconds, CalendarTime *t)
{
	int64_t		days = floor_div(seconds, DAY_SECONDS);
	int64_t		of_day = floor_mod(seconds, DAY_SECONDS);
	int64_t		shifted = days + EPOCH_DAYS;
	int64_t		era = floor_div(shifted, ERA_DAYS);
	int64_t		of_era = floor_mod(shifted, ERA_DAYS);
	int64_t		year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
	int64_t		of_year = of_era - (365 * year + year / 4 - year / 100);
	int64_t		months = (5 * of_year + 2) / 153;

	t->day = (int) (of_year - (153 * months + 2) / 5 + 1);
	t->month = (int) (months < 10 ? months + 3 : months - 9);
	t->year = era * 400 + year + (t->month <= 2);
	t->hour = (int) (of_day / 3600);
	t->minute = (int) (of_day / 60 % 60);
	t->second = (int) (of_day % 60);
	t->weekday = (int) floor_mod(days + 4, 7);
	t->yearday = (int) (days - month_start(t->year, 1));
	/* as far as C's struct tm goes, which counts from 1900 */
	return t->year - 1900 >= INT_MIN && t->year - 1900 <= INT_MAX;
}

/* 365 or 366 */
static int
year_length(int64_t year)
{
	return (int) (month_start(year + 1, 1) - month_start(year, 1));
}

/* the week by ISO 8601, from 1, and the year that it belongs to */
static int
iso_week(const CalendarTime *t, int64_t *year)
{
	int			monday_based = (t->weekday + 6) % 7;
	int			week = (t->yearday - monday_based + 10) / 7;

	*year = t->year;
	if (week < 1)
	{
		*year = t->year - 1;
		return (t->yearday + year_length(*year) - monday_based + 10) / 7;
	}
	if (week == 53 && t->yearday - monday_based + 3 >= year_length(t->year))
	{
		*year = t->year + 1;
		return 1;
	}
	return week;
}

/* every number that strftime prints has a fixed form */
static size_t
put_number(char *buffer, const char *format, long long value)
{
	return (size_t) snprintf(buffer, CALENDAR_FORMAT_MAX, format, value);
}

/* a conversion that stands for others: "%D" is "%m/%d/%y" */
static size_t
put_all(char *buffer, const char *conversions, const CalendarTime *t)
{
	size_t		n = 0;

	for (const char *c = conversions; *c != '\0'; c++)
	{
		if (*c == '%')
			n += calendar_format(buffer + n, *++c, t);
		else
			buffer[n++] = *c;
	}
	return n;
}

/* a name, or its first letters */
static size_t
put_text(char *buffer, const char *text, size_t limit)
{
	size_t		n = strlen(text);

	if (n > limit)
		n = limit;
	memcpy(buffer, text, n);
	return n;
}

/* conversions that stand for several others, or for a text */
static size_t
format_compound(char *buffer, char conversion, const CalendarTime *t)
{
	switch (conversion)
	{
		case 'a':
			return put_text(buffer, day_names[t->weekday], 3);
		case 'A':
			return put_text(buffer, day_names[t->weekday], CALENDAR_FORMAT_MAX);
		case 'b':
		case 'h':
			return put_text(buffer, month_names[t->month - 1], 3);
		case 'B':
			return put_text(buffer, month_names[t->month - 1], CALENDAR_FORMAT_MAX);
		case 'c':
			return put_all(buffer, "%a %b %e %H:%M:%S %Y", t);
		case 'D':
		case 'x':
			return put_all(buffer, "%m/%d/%y", t);
		case 'F':
			return put_all(buffer, "%Y-%m-%d", t);
		case 'r':
			return put_all(buffer, "%I:%M:%S %p", t);
		case 'R':
			return put_all(buffer, "%H:%M", t);
		case 'T':
		case 'X':
			return put_all(buffer, "%H:%M:%S", t);
		case 'p':
			return put_text(buffer, t->hour < 12 ? "AM" : "PM", 2);
		case 'z':
			return put_text(buffer, "+0000", 5);
		case 'Z':
			return put_text(buffer, "GMT", 3);
		case 'n':
			return put_text(buffer, "\n", 1);
		case 't':
			return put_text(buffer, "\t", 1);
		case '%':
			return put_text(buffer, "%", 1);
		default:
			return 0;
	}
}

/* numbers here, everything else in format_compound() */
size_t
calendar_format(char *buffer, char conversion, const CalendarTime *t)
{
	int64_t		iso_year;
	int			week = iso_week(t, &iso_year);

	switch (conversion)
	{
		case 'C':
			return put_number(buffer, "%02lld", floor_div(t->year, 100));
		case 'd':
			return put_number(buffer, "%02lld", t->day);
		case 'e':
			return put_number(buffer, "%2lld", t->day);
		case 'g':
			return put_number(buffer, "%02lld", floor_mod(iso_year, 100));
		case 'G':
			return put_number(buffer, "%lld", iso_year);
		case 'H':
			return put_number(buffer, "%02lld", t->hour);
		case 'I':
			return put_number(buffer, "%02lld", (t->hour + 11) % 12 + 1);
		case 'j':
			return put_number(buffer, "%03lld", t->yearday + 1);
		case 'm':
			return put_number(buffer, "%02lld", t->month);
		case 'M':
			return put_number(buffer, "%02lld", t->minute);
		case 's':
			return put_number(buffer, "%lld",
							  calendar_to_seconds(t->year, t->month, t->day,
												  t->hour, t->minute, t->second));
		case 'S':
			return put_number(buffer, "%02lld", t->second);
		case 'u':
			return put_number(buffer, "%lld", (t->weekday + 6) % 7 + 1);
		case 'U':
			return put_number(buffer, "%02lld", (t->yearday + 7 - t->weekday) / 7);
		case 'V':
			return put_number(buffer, "%02lld", week);
		case 'w':
			return put_number(buffer, "%lld", t->weekday);
		case 'W':
			return put_number(buffer, "%02lld", (t->yearday + 7 - (t->weekday + 6) % 7) / 7);
		case 'y':
			return put_number(buffer, "%02lld", floor_mod(t->year, 100));
		case 'Y':
			return put_number(buffer, "%lld", t->year);
		default:
			return format_compound(buffer, conversion, t);
	}
}
