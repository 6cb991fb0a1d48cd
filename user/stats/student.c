/* SPDX-License-Identifier: MIT */
/* Student's t and Fisher's F by the incomplete beta function. */
#include "user/stats/student.h"

#include <float.h>
#include <math.h>

#define MAX_TERMS  10000
#define LENTZ_TINY 1e-300
#define MAX_STEPS  2200 /* of a bisection: all exponents of a double, then all its digits */

static double away_from_zero(double v)
{
	return fabs(v) < LENTZ_TINY ? LENTZ_TINY : v;
}

/* The continued fraction of I_x(a, b); it converges fast for x < (a + 1) / (a + b + 2). */
static double fraction(double x, double a, double b)
{
	double c = 1, d = 1 / away_from_zero(1 - (a + b) * x / (a + 1)), h = d;

	for (int m = 1; m < MAX_TERMS; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		double step;

		d = 1 / away_from_zero(1 + even * d);
		c = away_from_zero(1 + even / c);
		h *= d * c;
		d = 1 / away_from_zero(1 + odd * d);
		c = away_from_zero(1 + odd / c);
		step = d * c;
		h *= step;
		if (fabs(step - 1) < DBL_EPSILON)
			break;
	}
	return h;
}

/* I_x(a, b); @y is 1 - @x, given apart because it may be too small to be a difference. */
static double beta_below(double x, double y, double a, double b)
{
	double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(y));

	if (x <= 0)
		return 0;
	if (y <= 0)
		return 1;
	if (x < (a + 1) / (a + b + 2))
		return front * fraction(x, a, b) / a;
	return 1 - front * fraction(y, b, a) / b;
}

double student_above(double t, double df)
{
	double t2 = t * t, tail;

	if (isnan(t) || !(df > 0))
		return NAN;
	if (isinf(t))
		return t > 0 ? 0 : 1;
	tail = beta_below(df / (df + t2), t2 / (df + t2), df / 2, 0.5) / 2;
	return t > 0 ? tail : 1 - tail;
}

double student_two_sided(double alpha, double df)
{
	double low = 0, high = 1;

	if (!(alpha > 0 && alpha < 1) || !(df > 0))
		return NAN;
	while (student_above(high, df) > alpha / 2 && high < DBL_MAX / 4)
		high *= 2;
	for (int i = 0; i < MAX_STEPS; i++) {
		double middle = low + (high - low) / 2;

		if (middle <= low || middle >= high)
			break;
		if (student_above(middle, df) > alpha / 2)
			low = middle;
		else
			high = middle;
	}
	return high;
}

double fisher_above(double f, double df1, double df2)
{
	double all = df2 + df1 * f;

	if (isnan(f) || f < 0 || !(df1 > 0) || !(df2 > 0))
		return NAN;
	if (isinf(all))
		return 0;
	return beta_below(df2 / all, df1 * f / all, df2 / 2, df1 / 2);
}
