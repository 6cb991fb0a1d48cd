/* SPDX-License-Identifier: MIT */
/* Ordinary least squares by an orthogonal basis of the regressors. */
#include "user/stats/regress.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* What is left of a column once those before it are taken out: below it is rounding. */
#define INDEPENDENT 1e-13
/* A point with this leverage is fitted whatever it is. */
#define FREE_LEVERAGE (1 - 1e-9)

struct basis {
	size_t n, p;
	double q[MAX_REGRESSORS][MAX_REGRESSED];
	double r[MAX_REGRESSORS][MAX_REGRESSORS];
	double inverse[MAX_REGRESSORS][MAX_REGRESSORS]; /* of r */
};

static double dot(const double *a, const double *b, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

/* Take the first @k vectors of the basis out of @v, twice; what was taken is added to @taken. */
static void take_out(const struct basis *b, size_t k, double *v, double *taken)
{
	for (int pass = 0; pass < 2; pass++) {
		for (size_t j = 0; j < k; j++) {
			double part = dot(b->q[j], v, b->n);

			taken[j] += part;
			for (size_t i = 0; i < b->n; i++)
				v[i] -= part * b->q[j][i];
		}
	}
}

static int make_basis(const double *rows, struct basis *b)
{
	for (size_t j = 0; j < b->p; j++) {
		double taken[MAX_REGRESSORS] = { 0 }, *v = b->q[j], whole, left;

		for (size_t i = 0; i < b->n; i++)
			v[i] = rows[i * b->p + j];
		whole = sqrt(dot(v, v, b->n));
		take_out(b, j, v, taken);
		left = sqrt(dot(v, v, b->n));
		if (!(left > whole * INDEPENDENT) || !isfinite(left))
			return -EDOM;
		for (size_t i = 0; i < b->n; i++)
			v[i] /= left;
		for (size_t i = 0; i < j; i++)
			b->r[i][j] = taken[i];
		b->r[j][j] = left;
	}
	return 0;
}

static void invert(struct basis *b)
{
	for (size_t j = 0; j < b->p; j++) {
		for (size_t i = j + 1; i-- > 0;) {
			double sum = i == j;

			for (size_t k = i + 1; k <= j; k++)
				sum -= b->r[i][k] * b->inverse[k][j];
			b->inverse[i][j] = sum / b->r[i][i];
		}
	}
}

/* Row @j, column @i of the pseudo-inverse: how much beta[j] grows with y[i]. */
static double weight(const struct basis *b, size_t j, size_t i)
{
	double sum = 0;

	for (size_t k = j; k < b->p; k++)
		sum += b->inverse[j][k] * b->q[k][i];
	return sum;
}

static void set_errors(const struct basis *b, struct regression *f)
{
	double variance = f->n > f->p ? f->rss / (double)(f->n - f->p) : NAN;

	for (size_t j = 0; j < b->p; j++) {
		double hc3 = 0;

		for (size_t i = 0; i < b->n; i++) {
			double w = weight(b, j, i), e = f->residual[i] / (1 - f->leverage[i]);

			hc3 += f->leverage[i] < FREE_LEVERAGE ? w * w * e * e : (double)NAN;
		}
		f->hc3[j] = sqrt(hc3);
		f->se[j] = sqrt(variance * dot(b->inverse[j], b->inverse[j], b->p));
	}
}

static void set_squares(const double *y, struct regression *f)
{
	double mean = 0;

	for (size_t i = 0; i < f->n; i++)
		mean += y[i] / (double)f->n;
	for (size_t i = 0; i < f->n; i++)
		f->tss += (y[i] - mean) * (y[i] - mean);
	f->rss = dot(f->residual, f->residual, f->n);
}

int regress(const double *rows, const double *y, size_t n, size_t p, struct regression *ret_fit)
{
	struct basis b = { .n = n, .p = p };
	struct regression f = { .n = n, .p = p };
	double on_basis[MAX_REGRESSORS] = { 0 };

	if (!p || n < p || p > MAX_REGRESSORS || n > MAX_REGRESSED)
		return -EINVAL;
	if (make_basis(rows, &b))
		return -EDOM;
	invert(&b);
	memcpy(f.residual, y, n * sizeof(*y));
	take_out(&b, p, f.residual, on_basis);
	for (size_t j = 0; j < p; j++) {
		f.beta[j] = dot(b.inverse[j], on_basis, p);
		if (!isfinite(f.beta[j]))
			return -EDOM;
	}
	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j < p; j++)
			f.leverage[i] += b.q[j][i] * b.q[j][i];
	}
	set_squares(y, &f);
	set_errors(&b, &f);
	*ret_fit = f;
	return 0;
}

int regress_jackknife(const double *rows, const double *y, const size_t *cluster,
		      const struct regression *fit, size_t nr_clusters,
		      double ret_se[MAX_REGRESSORS])
{
	double spread[MAX_REGRESSORS] = { 0 }, some_y[MAX_REGRESSED] = { 0 };
	double some[MAX_REGRESSED * MAX_REGRESSORS] = { 0 };
	struct regression part;

	for (size_t g = 0; g < nr_clusters; g++) {
		size_t n = 0;
		int r;

		for (size_t i = 0; i < fit->n; i++) {
			if (cluster[i] == g)
				continue;
			memcpy(&some[n * fit->p], &rows[i * fit->p], fit->p * sizeof(*rows));
			some_y[n++] = y[i];
		}
		r = regress(some, some_y, n, fit->p, &part);
		if (r)
			return -EDOM;
		for (size_t j = 0; j < fit->p; j++)
			spread[j] += (part.beta[j] - fit->beta[j]) * (part.beta[j] - fit->beta[j]);
	}
	for (size_t j = 0; j < fit->p; j++)
		ret_se[j] = sqrt(spread[j] * (double)(nr_clusters - 1) / (double)nr_clusters);
	return 0;
}

double regress_aicc(const struct regression *fit)
{
	/* The variance of the errors is one more of them. */
	double n = (double)fit->n, k = (double)fit->p + 1;

	if (n <= k + 1 || !(fit->rss > 0))
		return NAN;
	return n * log(fit->rss / n) + 2 * k + 2 * k * (k + 1) / (n - k - 1);
}

static double choose(size_t n, size_t k)
{
	return k > n ? 0
		     : exp(lgamma((double)n + 1) - lgamma((double)k + 1) -
			   lgamma((double)(n - k) + 1));
}

double regress_runs_below(size_t runs, size_t plus, size_t minus)
{
	double sum = 0;

	if (!plus || !minus)
		return runs ? 1 : 0;
	for (size_t r = 2; r <= runs; r++) {
		size_t k = r / 2;

		if (r % 2)
			sum += choose(plus - 1, k) * choose(minus - 1, k - 1) +
			       choose(plus - 1, k - 1) * choose(minus - 1, k);
		else
			sum += 2 * choose(plus - 1, k - 1) * choose(minus - 1, k - 1);
	}
	sum /= choose(plus + minus, plus);
	return sum < 1 ? sum : 1;
}
