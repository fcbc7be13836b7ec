/*
 * test_calendar.c
 *		Dates against the C library's, which has the zone UTC here.
 */
#include "cmocka_all.h"

#include <stdio.h>
#include <time.h>

#include "../../src/runner/calendar.h"

/* a moment in every week of some centuries, and some odd ones */
static void
agrees_with_libc(void **state)
{
	static const char conversions[] = "aAbBcCdDeFgGhHIjmMnprRsStTuUVwWxXyYzZ%";

	(void) state;
	for (int64_t seconds = INT64_C(-6000000000); seconds < INT64_C(9000000000); seconds += 604799 + 3601)
	{
		CalendarTime t;
		time_t		as_time = (time_t) seconds;
		struct tm	tm;

		assert_non_null(gmtime_r(&as_time, &tm));
		assert_true(calendar_from_seconds(seconds, &t));
		for (const char *c = conversions; *c != '\0'; c++)
		{
			char		format[] = {'%', *c, '\0'};
			char		expected[100];
			char		got[CALENDAR_FORMAT_MAX + 1];
			size_t		n = calendar_format(got, *c, &t);

			got[n] = '\0';
			strftime(expected, sizeof(expected), format, &tm);
			if (strcmp(got, expected) != 0)
				fail_msg("%%%c of %lld: %s, not %s", *c, (long long) seconds, got, expected);
		}
	}
}

static void
fields_normalize(void **state)
{
	static const int64_t fields[][6] = {
		{2024, 2, 30, 0, 0, 0}, {2023, 14, 1, 25, 61, 61}, {2023, -11, -40, -1, -1, -1}, {1970, 1, 1, 0, 0, 0}, {1900, 3, 0, 12, 0, 0}, {2000, 1, 366, 0, 0, 86400}, {2024, 0, 0, 0, 0, 0}, {1, 1, 1, 0, 0, 0}, {9999, 12, 31, 23, 59, 59}};

	(void) state;
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
	{
		const int64_t *f = fields[i];
		struct tm	tm = {
			.tm_year = (int) f[0] - 1900, .tm_mon = (int) f[1] - 1, .tm_mday = (int) f[2], .tm_hour = (int) f[3], .tm_min = (int) f[4], .tm_sec = (int) f[5]};

		assert_true(calendar_to_seconds(f[0], f[1], f[2], f[3], f[4], f[5]) == (int64_t) timegm(&tm));
	}
}

static void
there_and_back(void **state)
{
	(void) state;
	for (int64_t seconds = INT64_C(-100000000000); seconds < INT64_C(400000000000);
		 seconds += INT64_C(98765431))
	{
		CalendarTime t;

		assert_true(calendar_from_seconds(seconds, &t));
		assert_true(calendar_to_seconds(t.year, t.month, t.day, t.hour, t.minute, t.second) == seconds);
	}
}

static void
years_beyond_an_int(void **state)
{
	CalendarTime t;

	(void) state;
	assert_false(calendar_from_seconds(INT64_MAX, &t));
	assert_false(calendar_from_seconds(INT64_MIN, &t));
	assert_true(calendar_from_seconds(INT64_C(67768036191676799), &t));
	assert_true(t.year == 2147485547);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agrees_with_libc),
		cmocka_unit_test(fields_normalize),
		cmocka_unit_test(there_and_back),
		cmocka_unit_test(years_beyond_an_int),
	};

	setenv("TZ", "UTC0", 1);
	return cmocka_run_group_tests_name("calendar", tests, NULL, NULL);
}
