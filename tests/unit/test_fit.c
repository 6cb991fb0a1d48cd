/* SPDX-License-Identifier: MIT */
/* Lines are refused where they must be, and knees are where the levels show them. */
#include "tests/lib/check.h"

#include <math.h>

#include "user/fit/knee.h"
#include "user/fit/line.h"

static struct fit_line of(const struct fit_point *points, size_t n)
{
	struct fit_point sorted[MAX_FIT_RUNS];
	struct fit_line l;

	memcpy(sorted, points, n * sizeof(*points));
	fit_line(sorted, n, 0, &l);
	return l;
}

/* Memory of sessions, as published: three levels, three runs each. MB. */
TEST(memory_of_sessions_is_refused_as_it_should_have_been)
{
	static const struct fit_point points[] = {
		{ 300, 218 }, { 100, 104 }, { 500, 320 }, { 100, 96 },	{ 500, 332 },
		{ 300, 205 }, { 500, 325 }, { 100, 91 },  { 300, 212 },
	};
	struct fit_line l = of(points, 9);

	CHECK_EQ_U64(l.runs, 9);
	CHECK_EQ_U64(l.levels, 3);
	CHECK_NEAR(l.slope.value, 0.571667, 1e-6);
	CHECK_NEAR(l.intercept.value, 39.9444, 1e-4);
	CHECK(l.refused == (FIT_FEW_LEVELS | FIT_EXTRAPOLATED));
	/* Three levels are one degree of freedom. */
	CHECK(l.slope.by_runs.low < l.slope.value && l.slope.value < l.slope.by_runs.high);
	CHECK(!isnan(l.slope.by_levels.low));
	CHECK_NEAR(l.smallest_gap, 200, 0);
	CHECK_NEAR(l.intercept_without_smallest, 40.6667, 1e-4);
	CHECK_NEAR(l.average_low, 0.97, 1e-9);
}

TEST(two_levels_have_no_interval_and_no_intercept)
{
	static const struct fit_point points[] = {
		{ 1, 2.5 }, { 1, 2.6 }, { 100, 9 }, { 100, 9.1 }
	};
	struct fit_line l = of(points, 4);

	CHECK(l.refused == FIT_TWO_POINTS);
	CHECK_NEAR(l.slope.value, 6.5 / 99, 1e-12);
	CHECK(isnan(l.slope.by_runs.low) && isnan(l.slope.by_levels.low));
	CHECK(isnan(l.intercept.value) && isnan(l.intercept_without_smallest));
}

TEST(one_level_is_no_line)
{
	static const struct fit_point points[] = { { 5, 2.5 }, { 5, 2.6 } };
	struct fit_line l = of(points, 2);

	CHECK(l.refused == FIT_ONE_LEVEL);
	CHECK(isnan(l.slope.value));
	CHECK(of(points, 1).refused == FIT_ONE_LEVEL);
}

/* 2 + 3 x from 0 on, with errors that favour nothing. */
TEST(a_line_that_begins_at_zero_is_said)
{
	static const double off[] = { 1, -1, 0.5, -1, 1, -0.5, -1, 1, 0, 1, -1, 0 };
	struct fit_point points[12];
	struct fit_line l;

	for (size_t i = 0; i < 12; i++)
		points[i] = (struct fit_point){ (double)(i / 2) * 20,
						2 + 3 * (double)(i / 2) * 20 + off[i] };
	l = of(points, 12);
	CHECK_EQ_U64(l.refused, 0);
	CHECK_EQ_U64(l.levels, 6);
	CHECK(l.slope.by_levels.low < 3 && 3 < l.slope.by_levels.high);
	CHECK(l.intercept.by_runs.low < 2 && 2 < l.intercept.by_runs.high);
	CHECK(l.lack_chance > 0.05 && l.lack_chance <= 1);
	CHECK_NEAR(l.lack_df1, 4, 0);
	CHECK_NEAR(l.lack_df2, 6, 0);
	CHECK(!l.exact && l.r2 > 0.99);
}

/* Counts that are exact have no errors to judge by, and need none. */
TEST(what_is_exactly_on_a_line_is_exact)
{
	static const struct fit_point up[] = { { 1, 5 }, { 20, 62 }, { 40, 122 }, { 60, 182 } };
	static const struct fit_point flat[] = { { 0, 2 }, { 10, 2 }, { 20, 2 }, { 30, 2 } };
	struct fit_line l = of(up, 4);

	CHECK(l.exact && l.refused == 0);
	CHECK_NEAR(l.slope.value, 3, 1e-12);
	CHECK_NEAR(l.intercept.value, 2, 1e-12);
	l = of(flat, 4);
	CHECK(l.exact && l.refused == 0);
	CHECK_NEAR(l.slope.value, 0, 1e-12);
}

/* However good the R2 of the line is. */
TEST(a_curve_is_refused_with_its_local_line)
{
	static const double x[] = { 1, 10, 30, 100, 300, 600, 1000 };
	struct fit_point points[21];
	struct fit_line l;

	for (size_t i = 0; i < 21; i++) {
		double at = x[i / 3];

		points[i] = (struct fit_point){ at, (5 + 18 * at + 0.004 * at * at) *
							    (1 + 0.002 * ((double)(i % 3) - 1)) };
	}
	l = of(points, 21);
	CHECK(l.r2 > 0.99);
	CHECK(l.refused & FIT_CURVATURE);
	CHECK(l.refused & FIT_LACK_OF_FIT);
	CHECK(l.square.by_runs.low < 0.004 && 0.004 < l.square.by_runs.high);
	CHECK(l.aicc[FIT_MODEL_SQUARE] < l.aicc[FIT_MODEL_X_LOG_X]);
	CHECK(l.aicc[FIT_MODEL_X_LOG_X] < l.aicc[FIT_MODEL_LINE]);
	CHECK_NEAR(l.local_slope.value, 18.1, 0.1);
	CHECK_NEAR(l.local_x_high, 30, 0);
	CHECK(l.upper_slope.value > 1.05 * l.lower_slope.value);
}

TEST(an_intercept_below_zero_is_unphysical)
{
	static const struct fit_point points[] = { { 2, 1.1 },	 { 2, 0.9 },   { 40, 38.9 },
						   { 40, 39.1 }, { 60, 59.2 }, { 60, 58.8 },
						   { 80, 79.1 }, { 80, 78.9 } };
	struct fit_point less[8];
	struct fit_line l;

	for (size_t i = 0; i < 8; i++)
		less[i] = (struct fit_point){ points[i].x, points[i].y - 0.5 };
	l = of(less, 8);
	CHECK(l.refused == FIT_NEGATIVE);
	CHECK(l.intercept.by_runs.high < 0);
}

/* Levels that wander by more than their runs: more runs of a level would not help. */
TEST(levels_that_scatter_are_no_line)
{
	static const double off[] = { 0, 8, -9, 7, -8, 9, -7, 1 };
	struct fit_point points[24];
	struct fit_line l;

	for (size_t i = 0; i < 24; i++)
		points[i] = (struct fit_point){ (double)(i / 3) * 10,
						50 + (double)(i / 3) * 10 + off[i / 3] +
							0.1 * (double)(i % 3) };
	l = of(points, 24);
	CHECK(l.refused & FIT_LACK_OF_FIT);
	CHECK(l.lack_chance < 1e-6);
	/* Those of one level are not independent: what counts them so is too narrow. */
	CHECK(l.slope.by_levels.high - l.slope.by_levels.low >
	      l.slope.by_runs.high - l.slope.by_runs.low);
}

/* About normal: twelve uniform numbers of a generator that always gives the same. */
static double noise(u64 *state)
{
	double sum = -6;

	for (int i = 0; i < 12; i++) {
		*state = *state * 6364136223846793005u + 1442695040888963407u;
		sum += (double)(*state >> 11) / (double)(1ull << 53);
	}
	return sum;
}

struct coverage {
	u32 by_runs, by_levels, refused;
};

/* Of 1,000 experiments with six levels of three runs, whose levels share an error of @shared. */
static struct coverage cover(double shared)
{
	static const double x[] = { 0, 10, 30, 100, 300, 1000 };
	struct coverage c = { 0 };
	u64 state = 1;

	for (int t = 0; t < 1000; t++) {
		struct fit_point points[18];
		struct fit_line l;
		double level = 0;

		for (size_t i = 0; i < 18; i++) {
			if (i % 3 == 0)
				level = shared * noise(&state);
			points[i] = (struct fit_point){ x[i / 3], level };
		}
		for (size_t i = 0; i < 18; i++)
			points[i].y += 1000 + 5 * points[i].x + 3 * noise(&state);
		fit_line(points, 18, 0, &l);
		c.by_runs += l.slope.by_runs.low < 5 && 5 < l.slope.by_runs.high;
		c.by_levels += l.slope.by_levels.low < 5 && 5 < l.slope.by_levels.high;
		c.refused += l.refused != 0;
	}
	return c;
}

/* The same numbers each time: what may differ is rounding. */
TEST(intervals_hold_the_truth_as_often_as_they_say)
{
	struct coverage apart = cover(0), together = cover(3);

	CHECK(apart.by_runs >= 925 && apart.by_runs <= 965);
	CHECK(apart.by_levels >= 950);
	CHECK(apart.refused <= 110); /* of true lines */
	CHECK(together.by_levels >= 950);
	CHECK(together.by_runs < 850); /* why there are two */
}

TEST(levels_that_were_measured_are_joined)
{
	struct fit_point points[] = { { 8.1, 0 }, { 2, 0 }, { 7.9, 0 }, { 2.05, 0 }, { 8.2, 0 } };
	size_t level[5];

	CHECK_EQ_U64(fit_levels(points, 5, 0.05, level), 2);
	CHECK_EQ_U64(level[1], 0);
	CHECK_EQ_U64(level[2], 1);
	CHECK_NEAR(points[4].x, 8.2, 0);
	CHECK_EQ_U64(fit_levels(points, 5, 0, level), 5);
}

TEST(budgets_are_parsed)
{
	static const char *const wrong[] = {
		"",	   "p99",	"99=1s",    "p0=1s",   "p100=1s",      "p99=",
		"p99=0s",  "p99=1",	"p99=1h",   "p99=-1s", "p99=1.1.1s",   "p=1s",
		"p99=1sx", "p99=0.1ns", "p99=1e3s", "p99 =1s", "p99=9999999s", "pnan=1s"
	};
	struct knee_budget b;

	CHECK(!knee_parse("p99=100ms", &b));
	CHECK_NEAR(b.quantile, 0.99, 1e-15);
	CHECK_EQ_U64(b.ns, 100000000);
	CHECK(!knee_parse("p99.9=1.5s", &b) && b.ns == 1500000000);
	CHECK(!knee_parse("p50=250us", &b) && b.ns == 250000);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		if (knee_parse(wrong[i], &b) != -22)
			FAIL("`%s` is taken", wrong[i]);
	}
}

/* @n durations, @slow of them of 300 ms, the rest of 1 ms. */
static struct hist durations(u64 n, u64 slow)
{
	struct hist h = { 0 };

	h.counts[hist_bucket(1000000)] = n - slow;
	h.counts[hist_bucket(300000000)] = slow;
	return h;
}

static struct fit_knee knee_of(const u64 (*levels)[3], size_t n)
{
	static const struct knee_budget budget = { 0.99, 100000000 };
	static struct hist hists[MAX_FIT_RUNS];
	struct knee_run runs[MAX_FIT_RUNS];
	struct fit_knee k;

	for (size_t i = 0; i < n; i++) {
		hists[i] = durations(levels[i][1], levels[i][2]);
		runs[i] = (struct knee_run){ (double)levels[i][0], &hists[i] };
	}
	knee_find(runs, n, 0, &budget, &k);
	return k;
}

TEST(a_knee_lies_between_levels_that_were_measured)
{
	/* x, durations, above the budget */
	static const u64 levels[][3] = {
		{ 64, 10000, 900 }, { 1, 10000, 2 },	{ 8, 10000, 20 },
		{ 8, 10000, 30 },   { 32, 10000, 100 }, { 64, 10000, 700 }
	};
	struct fit_knee k = knee_of(levels, 6);

	CHECK(k.verdict == KNEE_BETWEEN);
	CHECK_EQ_U64(k.n, 4);
	CHECK_NEAR(k.low, 8, 0);
	CHECK_NEAR(k.high, 64, 0); /* at 32 it is 1 %, as near as can be */
	CHECK(k.levels[2].state == KNEE_UNKNOWN && !k.levels[2].too_few);
	CHECK_NEAR(k.levels[3].quantile_low_ns, (double)hist_bound(hist_bucket(300000000) - 1), 0);
	CHECK_NEAR(k.levels[1].quantile_high_ns, (double)hist_bound(hist_bucket(1000000)), 0);
}

TEST(beyond_the_levels_nothing_is_said)
{
	static const u64 good[][3] = { { 1, 5000, 2 }, { 8, 5000, 3 } };
	static const u64 bad[][3] = { { 4, 5000, 400 }, { 8, 5000, 3000 } };
	struct fit_knee k = knee_of(good, 2);

	CHECK(k.verdict == KNEE_NOT_REACHED && isnan(k.high));
	CHECK_NEAR(k.low, 8, 0);
	k = knee_of(bad, 2);
	CHECK(k.verdict == KNEE_ALREADY_BROKEN && isnan(k.low));
	CHECK_NEAR(k.high, 4, 0);
}

TEST(what_does_not_show_it_is_not_resolved)
{
	static const u64 few[][3] = { { 1, 999, 0 }, { 8, 999, 900 } };
	static const u64 enough[][3] = { { 1, 1000, 0 }, { 8, 1000, 900 } };
	static const u64 crossed[][3] = { { 1, 9000, 800 }, { 8, 9000, 3 } };
	static const u64 mixed[][3] = { { 1, 9000, 3 }, { 8, 9000, 3 }, { 8, 9000, 500 } };
	static const u64 none[][3] = { { 1, 0, 0 }, { 2, 0, 0 } };
	struct fit_knee k = knee_of(few, 2);

	CHECK(k.verdict == KNEE_UNRESOLVED && k.levels[0].too_few);
	CHECK(knee_of(enough, 2).verdict == KNEE_BETWEEN);
	k = knee_of(crossed, 2);
	CHECK(k.verdict == KNEE_UNRESOLVED && k.crossed);
	k = knee_of(mixed, 3);
	CHECK(k.verdict == KNEE_UNRESOLVED && k.levels[1].state == KNEE_UNKNOWN);
	CHECK_NEAR(k.low, 1, 0);
	CHECK(knee_of(none, 2).verdict == KNEE_UNRESOLVED);
}

/* A bucket in which the budget lies may be above it or not: both are allowed for. */
TEST(a_bucket_that_holds_the_budget_shows_nothing)
{
	struct knee_budget inside = { 0.5, 280000000 }, bound = { 0.5, 0 };
	struct hist h = durations(5000, 4900);
	struct knee_run run = { 4, &h };
	struct fit_knee k;

	knee_find(&run, 1, 0, &inside, &k);
	CHECK(k.verdict == KNEE_UNRESOLVED);
	CHECK(k.levels[0].above_low < 0.01 && k.levels[0].above_high > 0.97);
	/* A bound is inclusive: what is in the bucket is within it. */
	bound.ns = hist_bound(hist_bucket(300000000));
	knee_find(&run, 1, 0, &bound, &k);
	CHECK(k.verdict == KNEE_NOT_REACHED);
	bound.ns = hist_bound(hist_bucket(300000000) - 1);
	knee_find(&run, 1, 0, &bound, &k);
	CHECK(k.verdict == KNEE_ALREADY_BROKEN);
}
