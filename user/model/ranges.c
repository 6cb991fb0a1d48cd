/* SPDX-License-Identifier: MIT */
/* Ranges: an argument from ranks, without any assumption about distributions. */
#include "user/model/ranges.h"

#include <stdlib.h>

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

struct range range_of(double *values, size_t n)
{
	qsort(values, n, sizeof(*values), by_value);
	return (struct range){ .low = values[0],
			       .high = values[n - 1],
			       .median = (values[(n - 1) / 2] + values[n / 2]) / 2,
			       .n = (u32)n };
}

enum range_relation range_relate(const struct range *a, const struct range *b)
{
	if (a->n < RANGE_MIN_RUNS || b->n < RANGE_MIN_RUNS)
		return RANGE_UNRESOLVED;
	if (b->high < a->low)
		return RANGE_B_LOWER;
	if (b->low > a->high)
		return RANGE_B_HIGHER;
	/* Neither is below the other, so what has no width on both sides is the same. */
	if (!(a->low < a->high) && !(b->low < b->high))
		return RANGE_EQUAL;
	return RANGE_OVERLAP;
}

double range_orders(u32 n, u32 m)
{
	double orders = 1;

	for (u32 i = 1; i <= n && orders < 1e18; i++)
		orders = orders * (double)(m + i) / (double)i;
	return orders < 1e18 ? orders : 1e18;
}
