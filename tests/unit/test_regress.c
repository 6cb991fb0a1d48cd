/* SPDX-License-Identifier: MIT */
/* Regressions: against the certified values of NIST's reference data, and against fractions. */
#include "tests/lib/check.h"

#include <errno.h>
#include <math.h>

#include "user/stats/regress.h"
#include "user/stats/student.h"

#define STUDENT(t, df, p)
#define TWO_SIDED(alpha, df, t)
#define FISHER(f, df1, df2, p)
#define ERRORS(p, j, beta, se, hc3, jackknife)
#define RUNS(runs, plus, minus, p)

static void near_relative(double got, double want, double tolerance)
{
	CHECK_NEAR(got, want, fabs(want) * tolerance + 1e-300);
}

/* Rows of 1, x, x^2, ... */
static void powers(const double *x, size_t n, size_t p, double *ret_rows)
{
	for (size_t i = 0; i < n; i++) {
		ret_rows[i * p] = 1;
		for (size_t j = 1; j < p; j++)
			ret_rows[i * p + j] = ret_rows[i * p + j - 1] * x[i];
	}
}

TEST(student_is_exact)
{
#undef STUDENT
#define STUDENT(t, df, p) near_relative(student_above(t, df), (p), 1e-11);
#undef TWO_SIDED
#define TWO_SIDED(alpha, df, t) near_relative(student_two_sided(alpha, df), (t), 1e-10);
#include "tests/unit/regress_reference.def"
#undef STUDENT
#define STUDENT(t, df, p)
#undef TWO_SIDED
#define TWO_SIDED(alpha, df, t)
	/* Of one degree it is Cauchy's distribution. */
	near_relative(student_two_sided(0.05, 1), tan(M_PI * 0.475), 1e-10);
	near_relative(student_above(3, 1), 0.5 - atan(3) / M_PI, 1e-11);
	/* Tables: t(0.975; 7), t(0.975; 30). */
	CHECK_NEAR(student_two_sided(0.05, 7), 2.364624251, 1e-9);
	CHECK_NEAR(student_two_sided(0.05, 30), 2.042272456, 1e-9);
	CHECK_NEAR(student_above(0, 5), 0.5, 1e-15);
	near_relative(student_above(-2.5, 4), 1 - student_above(2.5, 4), 1e-15);
	CHECK(isnan(student_above(1, 0)) && isnan(student_two_sided(0, 3)));
	CHECK(isnan(student_two_sided(0.05, -1)));
}

TEST(fisher_is_exact)
{
#undef FISHER
#define FISHER(f, df1, df2, p) near_relative(fisher_above(f, df1, df2), (p), 1e-11);
#include "tests/unit/regress_reference.def"
#undef FISHER
#define FISHER(f, df1, df2, p)
	/* Of one degree it is the square of t. */
	near_relative(fisher_above(6.25, 1, 4), 2 * student_above(2.5, 4), 1e-12);
	CHECK_NEAR(fisher_above(0, 2, 3), 1, 0);
	CHECK(isnan(fisher_above(-1, 2, 3)) && isnan(fisher_above(1, 0, 3)));
}

/* NIST StRD, Norris: linear, 36 points. */
TEST(norris_is_certified)
{
	static const double y[] = { 0.1,   338.8, 118.1, 888.0, 9.2,   228.1, 668.5, 998.5, 449.1,
				    778.9, 559.2, 0.3,	 0.1,	778.1, 668.8, 339.3, 448.9, 10.8,
				    557.7, 228.3, 998.0, 888.8, 119.6, 0.3,   0.6,   557.6, 339.3,
				    888.0, 998.5, 778.9, 10.2,	117.6, 228.9, 668.4, 449.2, 0.2 };
	static const double x[] = { 0.2,   337.4, 118.2, 884.6, 10.1,  226.5, 666.3, 996.3, 448.6,
				    777.0, 558.2, 0.4,	 0.6,	775.5, 666.9, 338.0, 447.5, 11.6,
				    556.0, 228.1, 995.8, 887.6, 120.2, 0.3,   0.3,   556.8, 339.1,
				    887.2, 999.0, 779.0, 11.1,	118.3, 229.2, 669.1, 448.9, 0.5 };
	double rows[36 * 2];
	struct regression f;

	powers(x, 36, 2, rows);
	CHECK_EQ_U64(regress(rows, y, 36, 2, &f), 0);
	near_relative(f.beta[0], -0.262323073774029, 1e-11);
	near_relative(f.beta[1], 1.00211681802045, 1e-13);
	near_relative(f.se[0], 0.232818234301152, 1e-11);
	near_relative(f.se[1], 0.429796848199937e-3, 1e-11);
	near_relative(sqrt(f.rss / 34), 0.884796396144373, 1e-11);
	near_relative(1 - f.rss / f.tss, 0.999993745883712, 1e-14);
}

/* NIST StRD, Pontius: quadratic, 40 points, a level twice. */
TEST(pontius_is_certified)
{
	static const double y[] = { .11019,  .21956,  .32949,  .43899,	.54803,	 .65694,  .76562,
				    .87487,  .98292,  1.09146, 1.20001, 1.30822, 1.41599, 1.52399,
				    1.63194, 1.73947, 1.84646, 1.95392, 2.06128, 2.16844, .11052,
				    .22018,  .32939,  .43886,  .54798,	.65739,	 .76596,  .87474,
				    .98300,  1.09150, 1.20004, 1.30818, 1.41613, 1.52408, 1.63159,
				    1.73965, 1.84696, 1.95445, 2.06177, 2.16829 };
	double x[40], rows[40 * 3];
	struct regression f;

	for (int i = 0; i < 40; i++)
		x[i] = 150000.0 * (i % 20 + 1);
	powers(x, 40, 3, rows);
	CHECK_EQ_U64(regress(rows, y, 40, 3, &f), 0);
	near_relative(f.beta[0], 0.673565789473684e-3, 1e-9);
	near_relative(f.beta[1], 0.732059160401003e-6, 1e-11);
	near_relative(f.beta[2], -0.316081871345029e-14, 1e-9);
	near_relative(f.se[0], 0.107938612033077e-3, 1e-9);
	near_relative(sqrt(f.rss / 37), 0.205177424076185e-3, 1e-9);
}

/* NIST StRD, Longley: six regressors that nearly depend on each other. */
TEST(longley_is_certified)
{
	static const double rows[16 * 7] = {
		1,	83.0,	234289, 2356,	1590,	107608, 1947,	1,	88.5,	259426,
		2325,	1456,	108632, 1948,	1,	88.2,	258054, 3682,	1616,	109773,
		1949,	1,	89.5,	284599, 3351,	1650,	110929, 1950,	1,	96.2,
		328975, 2099,	3099,	112075, 1951,	1,	98.1,	346999, 1932,	3594,
		113270, 1952,	1,	99.0,	365385, 1870,	3547,	115094, 1953,	1,
		100.0,	363112, 3578,	3350,	116219, 1954,	1,	101.2,	397469, 2904,
		3048,	117388, 1955,	1,	104.6,	419180, 2822,	2857,	118734, 1956,
		1,	108.4,	442769, 2936,	2798,	120445, 1957,	1,	110.8,	444546,
		4681,	2637,	121950, 1958,	1,	112.6,	482704, 3813,	2552,	123366,
		1959,	1,	114.2,	502601, 3931,	2514,	125368, 1960,	1,	115.7,
		518173, 4806,	2572,	127852, 1961,	1,	116.9,	554894, 4007,	2827,
		130081, 1962
	};
	static const double y[] = { 60323, 61122, 60171, 61187, 63221, 63639, 64989, 63761,
				    66019, 67857, 68169, 66513, 68655, 69564, 69331, 70551 };
	static const double want[][2] = { { -3482258.63459582, 890420.383607373 },
					  { 15.0618722713733, 84.9149257747669 },
					  { -0.358191792925910e-1, 0.334910077722432e-1 },
					  { -2.02022980381683, 0.488399681651699 },
					  { -1.03322686717359, 0.214274163161675 },
					  { -0.511041056535807e-1, 0.226073200069370 },
					  { 1829.15146461355, 455.478499142212 } };
	struct regression f;

	CHECK_EQ_U64(regress(rows, y, 16, 7, &f), 0);
	for (int j = 0; j < 7; j++) {
		near_relative(f.beta[j], want[j][0], 1e-8);
		near_relative(f.se[j], want[j][1], 1e-8);
	}
	near_relative(1 - f.rss / f.tss, 0.995479004577296, 1e-11);
}

static const double some_x[] = { 1, 1, 1, 2, 2, 4, 4, 4, 8, 8, 16 };
static const double some_y[] = { 11, 13, 12, 17, 16, 22, 25, 24, 47, 41, 85 };
static const size_t some_levels[] = { 0, 0, 0, 1, 1, 2, 2, 2, 3, 3, 4 };

static void check_errors(size_t p, size_t j, double beta, double se, double hc3, double jackknife)
{
	double rows[11 * 3], got[MAX_REGRESSORS];
	struct regression f;

	powers(some_x, 11, p, rows);
	CHECK_EQ_U64(regress(rows, some_y, 11, p, &f), 0);
	CHECK_EQ_U64(regress_jackknife(rows, some_y, some_levels, &f, 5, got), 0);
	near_relative(f.beta[j], beta, 1e-11);
	near_relative(f.se[j], se, 1e-11);
	near_relative(f.hc3[j], hc3, 1e-11);
	near_relative(got[j], jackknife, 1e-11);
}

TEST(standard_errors_are_those_of_fractions)
{
#undef ERRORS
#define ERRORS(p, j, beta, se, hc3, jackknife) check_errors(p, j, beta, se, hc3, jackknife);
#include "tests/unit/regress_reference.def"
#undef ERRORS
#define ERRORS(p, j, beta, se, hc3, jackknife)
}

TEST(runs_of_signs_are_counted_exactly)
{
#undef RUNS
#define RUNS(runs, plus, minus, p) near_relative(regress_runs_below(runs, plus, minus), p, 1e-12);
#include "tests/unit/regress_reference.def"
	CHECK_NEAR(regress_runs_below(1, 0, 5), 1, 0); /* no other order is possible */
}

TEST(what_is_not_determined_is_refused)
{
	double same[] = { 1, 5, 1, 5, 1, 5 }, y[] = { 1, 2, 3 }, x[] = { 1, 2 }, rows[4];
	const size_t level[] = { 0, 1 };
	double se[MAX_REGRESSORS];
	struct regression f;

	CHECK(regress(same, y, 3, 2, &f) == -EDOM);
	CHECK(regress(same, y, 1, 2, &f) == -EINVAL);
	CHECK(regress(same, y, 3, 0, &f) == -EINVAL);
	CHECK(regress(same, y, MAX_REGRESSED + 1, 2, &f) == -EINVAL);
	powers(x, 2, 2, rows);
	CHECK_EQ_U64(regress(rows, y, 2, 2, &f), 0);
	CHECK_NEAR(f.beta[1], 1, 1e-14);
	CHECK(isnan(f.se[0]) && isnan(f.hc3[0]));
	CHECK(regress_jackknife(rows, y, level, &f, 2, se) == -EDOM);
	CHECK(isnan(regress_aicc(&f)));
	y[1] = NAN;
	CHECK(regress(rows, y, 2, 2, &f) == -EDOM);
}
