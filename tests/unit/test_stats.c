/* SPDX-License-Identifier: MIT */
/* Statistics: against exact values, against closed forms, and on the numbers of a run that was
 * published. */
#include "tests/lib/check.h"

#include <math.h>

#include "user/stats/normal.h"
#include "user/stats/shares.h"

static void near_relative(double got, double want, double tolerance)
{
	CHECK_NEAR(got, want, fabs(want) * tolerance + 1e-300);
}

TEST(normal_quantiles_are_exact)
{
#define QUANTILE(p, z)                                    \
	if ((p) == 0.5)                                   \
		CHECK_NEAR(normal_quantile(p), 0, 1e-15); \
	else                                              \
		near_relative(normal_quantile(p), (z), 1e-12);
#define BELOW(z, p)
#define CHI_SQUARE(x, df, p)
#define WILSON(k, n, alpha, low, high)
#include "tests/unit/stats_reference.def"
#undef QUANTILE
#define QUANTILE(p, z)
	CHECK(isinf(normal_quantile(0)) && isinf(normal_quantile(1)));
	CHECK(isnan(normal_quantile(-0.1)) && isnan(normal_quantile(1.1)));
}

TEST(normal_probabilities_are_exact)
{
#undef BELOW
#define BELOW(z, p) CHECK_NEAR(normal_below(z), (p), 1e-15);
#include "tests/unit/stats_reference.def"
#undef BELOW
#define BELOW(z, p)
}

TEST(chi_square_probabilities_are_exact)
{
#undef CHI_SQUARE
#define CHI_SQUARE(x, df, p) near_relative(chi_square_above(x, df), (p), 1e-10);
#include "tests/unit/stats_reference.def"
#undef CHI_SQUARE
#define CHI_SQUARE(x, df, p)
	CHECK_NEAR(chi_square_above(0, 3), 1, 0);
	CHECK(isnan(chi_square_above(-1, 3)) && isnan(chi_square_above(1, 0)));
	/* Of one degree it is two sides of the normal distribution. */
	near_relative(chi_square_above(4, 1), 2 * normal_below(-2), 1e-12);
}

TEST(wilson_intervals_are_the_roots_of_their_equation)
{
#undef WILSON
#define WILSON(k, n, alpha, want_low, want_high)               \
	{                                                      \
		struct interval i = share_wilson(k, n, alpha); \
		near_relative(i.low, want_low, 1e-11);         \
		near_relative(i.high, want_high, 1e-11);       \
	}
#include "tests/unit/stats_reference.def"
	CHECK_NEAR(share_wilson(0, 10, 0.05).low, 0, 0);
	CHECK_NEAR(share_wilson(10, 10, 0.05).high, 1, 0);
	CHECK(isnan(share_wilson(0, 0, 0.05).low));
	CHECK(isnan(share_wilson(2, 1, 0.05).high));
}

/* Each row of nine at alpha / 9. */
TEST(goodman_intervals_are_wilsons_at_a_smaller_level)
{
	struct interval g = share_goodman(892, 2088, 9, 0.05);

	CHECK_NEAR(g.low, 0.39750552926256932615, 1e-12);
	CHECK_NEAR(g.high, 0.45743478555461246883, 1e-12);
	CHECK(isnan(share_goodman(1, 2, 0, 0.05).low));
}

TEST(errors_of_shares)
{
	CHECK_NEAR(share_error(0.427, 2088, 1) * 100, 1.08, 0.005);
	CHECK_NEAR(share_error(0.887, 2088, 1) * 100, 0.69, 0.005);
	CHECK_NEAR(share_error(0.870, 2088, 1) * 100, 0.74, 0.005);
	CHECK_NEAR(share_error(0.5, 100, 4), 0.1, 1e-15);
	CHECK(isnan(share_error(1.5, 100, 1)) && isnan(share_error(0.5, 0, 1)));
}

/* "half is GC", "a quarter is reflection", "under 4 % is compiled". */
TEST(bounds_when_not_all_time_was_sampled)
{
	CHECK_NEAR(share_bounds(0.50, 0.835).low, 0.4175, 1e-12);
	CHECK_NEAR(share_bounds(0.50, 0.835).high, 0.5825, 1e-12);
	CHECK_NEAR(share_bounds(0.25, 0.835).low, 0.20875, 1e-12);
	CHECK_NEAR(share_bounds(0.25, 0.835).high, 0.37375, 1e-12);
	CHECK_NEAR(share_bounds(0.04, 0.835).low, 0.0334, 1e-12);
	CHECK_NEAR(share_bounds(0.04, 0.835).high, 0.1984, 1e-12);
	CHECK_NEAR(share_bounds(0.4, 1.01).low, 0.4, 0);
	CHECK_NEAR(share_bounds(0.4, 1.01).high, 0.4, 0);
}

/* 110 of 831 samples where 14.57 % was true: no difference is shown, and no agreement either. */
TEST(equivalence_is_not_the_lack_of_a_difference)
{
	double p = 110.0 / 831, truth = 0.1457, se = share_error(p, 831, 1);
	struct equivalence e = share_equivalence(p - truth, se, 0.03, 0.05);

	CHECK_NEAR(share_error(truth, 831, 1) * 100, 1.22, 0.005);
	CHECK_NEAR((p - truth) / share_error(truth, 831, 1), -1.09, 0.005);
	CHECK_NEAR(e.z_low, 1.42, 0.005);
	CHECK(!e.confirmed);
	CHECK(!share_is_outside(p - truth, se, 0.03, 0.01));
	e = share_equivalence(p - truth, se, 0.05, 0.05);
	CHECK_NEAR(e.z_low, 3.12, 0.005);
	CHECK_NEAR(e.z_high, 5.39, 0.01);
	CHECK(e.confirmed);
	CHECK(share_is_outside(0.1, 0.01, 0.03, 0.01));
	CHECK(share_is_outside(-0.1, 0.01, 0.03, 0.01));
	CHECK(!share_is_outside(0.05, 0.01, 0.03, 0.01));
}

/* Tables of this are made with 1.6449 for 1.64485...: at most one sample more. */
TEST(samples_that_are_needed)
{
	static const struct {
		double p, want[4]; /* for margins of 1, 2, 3 and 5 points */
	} rows[] = {
		{ 0.05, { 5141, 1286, 572, 206 } },
		{ 0.15, { 13800, 3450, 1534, 552 } },
		{ 0.30, { 22728, 5682, 2526, 910 } },
		{ 0.50, { 27057, 6765, 3007, 1083 } },
	};
	static const double margins[] = { 0.01, 0.02, 0.03, 0.05 };

	for (size_t i = 0; i < 4; i++) {
		for (size_t k = 0; k < 4; k++)
			CHECK_NEAR(share_samples_needed(rows[i].p, margins[k], 1, 0.05, 0.9),
				   rows[i].want[k] - 0.5, 0.5);
	}
	CHECK_NEAR(share_samples_needed(0.15, 0.03, 1, 0.05, 0.9), 1534, 0);
	CHECK_NEAR(share_samples_needed(0.15, 0.03, 2, 0.05, 0.9), 3067, 0);
	CHECK(isnan(share_samples_needed(0.15, 0, 1, 0.05, 0.9)));
}

/* Three runs of one program: 42.7, 88.7, 87.0 % in system calls; 27.8, 4.4, 4.7 % in the collector.
 */
static struct homogeneity published(const double *shares, const double *n)
{
	double hits[3];

	for (int i = 0; i < 3; i++)
		hits[i] = shares[i] * n[i];
	return share_homogeneity(hits, n, 3);
}

TEST(published_runs_are_not_samples_of_one_share)
{
	static const double calls[] = { 0.427, 0.887, 0.870 }, gc[] = { 0.278, 0.044, 0.047 };
	static const double n[] = { 2088, 2088, 2088 }, fewer[] = { 1000, 1000, 1000 };
	struct homogeneity h = published(calls, n);
	double se = hypot(share_error(0.427, 2088, 1), share_error(0.887, 2088, 1));

	CHECK_NEAR(h.chi2, 1434.6, 0.05);
	CHECK_NEAR(h.df, 2, 0);
	CHECK_NEAR(h.deff, 717, 0.5);
	CHECK_NEAR(h.n_effective, 2.9, 0.05);
	CHECK(h.p_value < 1e-300);
	h = published(gc, n);
	CHECK_NEAR(h.chi2, 697.6, 0.05);
	CHECK_NEAR(h.deff, 349, 0.5);
	CHECK_NEAR(h.n_effective, 6.0, 0.05);
	CHECK_NEAR(0.46 / se, 35.8, 0.05);
	CHECK_NEAR(published(calls, fewer).deff, 344, 0.5);
}

/* Of what was not called a system call, the collector's share is nearly the same: a relabelling. */
TEST(published_runs_look_relabelled)
{
	static const double calls[] = { 0.427, 0.887, 0.870 };
	static const double low[] = { 0.35, 0.87, 0.85 }, high[] = { 0.42, 0.89, 0.87 };
	static const double rest_gc[] = { 0.278 / 0.573, 0.044 / 0.113, 0.047 / 0.130 };
	static const double rest[] = { 2088 * 0.573, 2088 * 0.113, 2088 * 0.130 };
	struct homogeneity h = published(rest_gc, rest);

	CHECK_NEAR(h.chi2, 18.0, 0.05);
	CHECK_NEAR(h.p_value, 1.2e-4, 0.1e-4);
	for (int i = 0; i < 3; i++) {
		CHECK_NEAR(share_relabelled(calls[i], 0.116), low[i], 0.005);
		CHECK_NEAR(share_relabelled(calls[i], 0.017), high[i], 0.005);
	}
}

TEST(equal_runs_are_homogeneous)
{
	const double hits[] = { 10, 10, 10 }, n[] = { 100, 100, 100 };
	struct homogeneity h = share_homogeneity(hits, n, 3);

	CHECK_NEAR(h.chi2, 0, 1e-12);
	CHECK_NEAR(h.p_value, 1, 1e-12);
	CHECK_NEAR(h.deff, 1, 0);
	CHECK_NEAR(h.n_effective, 100, 0);
}

TEST(ranges_that_do_not_overlap_and_the_chance_of_it)
{
	const double a[] = { 3, 1, 2, 2, 2 }, b[] = { 5, 4, 6, 6, 6 }, c[] = { 3, 9, 4 };
	struct ranges r = share_ranges(a, 3, b, 3);

	CHECK_NEAR(r.a.low, 1, 0);
	CHECK_NEAR(r.a.high, 3, 0);
	CHECK(!r.overlap);
	CHECK_NEAR(r.chance, 0.1, 1e-15);
	CHECK_NEAR(share_ranges(a, 5, b, 5).chance, 2.0 / 252, 1e-15);
	CHECK(share_ranges(a, 3, c, 3).overlap); /* they share an end */
}
