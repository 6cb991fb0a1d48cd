/* SPDX-License-Identifier: MIT */
/* Ranges part only when no run of one side reaches the other, and the chance of it is exact. */
#include "tests/lib/check.h"

#include "user/model/ranges.h"

static enum range_relation relate(double a1, double a2, double a3, double b1, double b2, double b3)
{
	double a[] = { a1, a2, a3 }, b[] = { b1, b2, b3 };
	struct range left = range_of(a, 3), right = range_of(b, 3);

	return range_relate(&left, &right);
}

TEST(ranges_part_only_when_none_reaches_the_other)
{
	CHECK(relate(3, 1, 2, 4, 6, 5) == RANGE_B_HIGHER);
	CHECK(relate(4, 6, 5, 3, 1, 2) == RANGE_B_LOWER);
	CHECK(relate(3, 1, 2, 3, 6, 5) == RANGE_OVERLAP); /* they touch */
	CHECK(relate(1, 9, 5, 4, 6, 5) == RANGE_OVERLAP); /* one in the other */
	CHECK(relate(2, 2, 2, 2, 2, 2) == RANGE_EQUAL);
	CHECK(relate(2, 2, 2, 2, 2, 3) == RANGE_OVERLAP);
	CHECK(relate(2, 2, 2, 3, 3, 3) == RANGE_B_HIGHER);
}

TEST(two_runs_are_no_range)
{
	double a[] = { 1, 2 }, b[] = { 3, 4, 5 };
	struct range left = range_of(a, 2), right = range_of(b, 3), none = { 0 };

	CHECK(range_relate(&left, &right) == RANGE_UNRESOLVED);
	CHECK(range_relate(&right, &left) == RANGE_UNRESOLVED);
	CHECK(range_relate(&right, &none) == RANGE_UNRESOLVED);
}

TEST(the_median_is_the_middle_run_or_between_two)
{
	double odd[] = { 9, 1, 4 }, even[] = { 8, 1, 2, 4 };

	CHECK(range_of(odd, 3).median == 4);
	CHECK(range_of(even, 4).median == 3);
}

TEST(orders_are_binomials)
{
	CHECK(range_orders(3, 3) == 20);
	CHECK(range_orders(5, 5) == 252);
	CHECK(range_orders(3, 5) == 56 && range_orders(5, 3) == 56);
	CHECK(range_orders(1, 1) == 2);
	CHECK(range_orders(64, 64) == 1e18); /* cut */
}
