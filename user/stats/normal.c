/* SPDX-License-Identifier: MIT */
/* The normal and the chi-square distribution. */
#include "user/stats/normal.h"

#include <float.h>
#include <math.h>

#define SQRT_2	   1.41421356237309504880
#define SQRT_2_PI  2.50662827463100050242
#define TAIL	   0.02425 /* where Acklam's two approximations meet */
#define MAX_TERMS  10000
#define ENOUGH	   1e-16
#define LENTZ_TINY 1e-300

double normal_below(double z)
{
	return erfc(-z / SQRT_2) / 2;
}

static double polynomial(const double *c, int n, double x)
{
	double sum = 0;

	for (int i = 0; i < n; i++)
		sum = sum * x + c[i];
	return sum;
}

static double acklam(double p)
{
	static const double a[] = { -3.969683028665376e+01, 2.209460984245205e+02,
				    -2.759285104469687e+02, 1.383577518672690e+02,
				    -3.066479806614716e+01, 2.506628277459239e+00 };
	static const double b[] = { -5.447609879822406e+01, 1.615858368580409e+02,
				    -1.556989798598866e+02, 6.680131188771972e+01,
				    -1.328068155288572e+01, 1 };
	static const double c[] = { -7.784894002430293e-03, -3.223964580411365e-01,
				    -2.400758277161838e+00, -2.549732539343734e+00,
				    4.374664141464968e+00,  2.938163982698783e+00 };
	static const double d[] = { 7.784695709041462e-03, 3.224671290700398e-01,
				    2.445134137142996e+00, 3.754408661907416e+00, 1 };
	double q = p - 0.5;

	if (p < TAIL) {
		q = sqrt(-2 * log(p));
		return polynomial(c, 6, q) / polynomial(d, 5, q);
	}
	return polynomial(a, 6, q * q) * q / polynomial(b, 6, q * q);
}

double normal_quantile(double p)
{
	double z, e, u;

	if (isnan(p) || p < 0 || p > 1)
		return NAN;
	if (p == 0 || p == 1)
		return p == 0 ? -INFINITY : INFINITY;
	if (p > 0.5)
		return -normal_quantile(1 - p);
	z = acklam(p);
	e = normal_below(z) - p;
	u = e * SQRT_2_PI * exp(z * z / 2);
	return z - u / (1 + z * u / 2);
}

/* P(a, x) = x^a e^-x / gamma(a) * sum x^n / (a (a+1) ... (a+n)) */
static double gamma_below(double a, double x)
{
	double term = 1 / a, sum = term;

	for (int n = 1; n < MAX_TERMS && term > sum * ENOUGH; n++) {
		term *= x / (a + n);
		sum += term;
	}
	return sum * exp(-x + a * log(x) - lgamma(a));
}

/* Q(a, x) = x^a e^-x / gamma(a) * 1/(x+1-a- 1(1-a)/(x+3-a- 2(2-a)/(x+5-a- ...))) */
static double gamma_above(double a, double x)
{
	double b = x + 1 - a, c = 1 / LENTZ_TINY, d = 1 / b, h = d;

	for (int i = 1; i < MAX_TERMS; i++) {
		double an = -i * (i - a), step;

		b += 2;
		d = an * d + b;
		d = 1 / (fabs(d) < LENTZ_TINY ? LENTZ_TINY : d);
		c = b + an / c;
		c = fabs(c) < LENTZ_TINY ? LENTZ_TINY : c;
		step = d * c;
		h *= step;
		if (fabs(step - 1) < DBL_EPSILON)
			break;
	}
	return h * exp(-x + a * log(x) - lgamma(a));
}

double chi_square_above(double x, double df)
{
	double a = df / 2, y = x / 2;

	if (isnan(x) || isnan(df) || df <= 0 || x < 0)
		return NAN;
	if (y == 0)
		return 1;
	return y < a + 1 ? 1 - gamma_below(a, y) : gamma_above(a, y);
}
