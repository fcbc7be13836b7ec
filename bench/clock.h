/*
 * clock.h
 *		Times and percentiles, for the programs of the benchmark.
 *
 * Each prints lines "NAME UNIT VALUE", which bench/lib.sh records.
 */
#ifndef BENCH_CLOCK_H
#define BENCH_CLOCK_H

#include <math.h>
#include <stdlib.h>
#include <time.h>

static inline double
now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

static inline int
by_value(const void *a, const void *b)
{
	double		x = *(const double *) a;
	double		y = *(const double *) b;

	return (x > y) - (x < y);
}

static inline void
sort_times(double *times, int count)
{
	qsort(times, (size_t) count, sizeof(*times), by_value);
}

/* of sorted times */
static inline double
percentile(const double *times, int count, double p)
{
	int			at = (int) ceil(p / 100 * count) - 1;

	return times[at < 0 ? 0 : at];
}

#endif
