/*
 * calendar.h
 *		The proleptic Gregorian calendar in UTC, without libc's time zones (which
 *		would open files).
 */
#ifndef SANDBOX_EXEC_CALENDAR_H
#define SANDBOX_EXEC_CALENDAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct CalendarTime
{
	int64_t		year;			/* as written: 1970 */
	int			month;			/* 1 to 12 */
	int			day;			/* 1 to 31 */
	int			hour;
	int			minute;
	int			second;			/* 0 to 59: no leap seconds */
	int			weekday;		/* 0 is Sunday */
	int			yearday;		/* 0 to 365 */
} CalendarTime;

/* seconds since 1970 as a date; false when struct tm couldn't hold the year */
extern bool calendar_from_seconds(int64_t seconds, CalendarTime *t);

/*
 * Seconds since 1970 of a date whose fields may lie outside their ranges (each
 * within an int), as timegm() has it.
 */
extern int64_t calendar_to_seconds(int64_t year, int64_t month, int64_t day,
								   int64_t hour, int64_t minute, int64_t second);

/*
 * Write what one conversion of strftime makes of t in the C locale (without
 * its '%'; modifiers E and O have no effect there).  Returns the bytes written,
 * or 0 for an unknown conversion.  The buffer must hold CALENDAR_FORMAT_MAX.
 */
#define CALENDAR_FORMAT_MAX 80
extern size_t calendar_format(char *buffer, char conversion, const CalendarTime *t);

#endif
