/* SPDX-License-Identifier: MIT */
/* A line, and each way in which it can be wrong. */
#include "user/fit/line.h"

#include <math.h>
#include <stdlib.h>

#include "user/stats/regress.h"
#include "user/stats/student.h"

#define ALPHA	     0.05
#define MAX_DISTANCE 0.1 /* of the lowest level from 0, as a part of the range */
#define MAX_GAPS     2	 /* the same, in smallest gaps */
#define MAX_SLOPES   0.05
#define LOCAL_LEVELS 3
#define ROUNDING     1e-9 /* residuals below this part of the largest value are none */

static const struct fit_number nothing = { NAN, { NAN, NAN }, { NAN, NAN } };

/* Points of some levels, and a fit of a model through them. */
struct part {
	const struct fit_point *points;
	const size_t *level; /* from first_level on */
	size_t n, levels, first_level;
	double rows[MAX_FIT_RUNS * 3], y[MAX_FIT_RUNS];
	size_t cluster[MAX_FIT_RUNS];
	double scale; /* rows hold x / scale, so that squares of large x lose nothing */
	struct regression fit;
};

static int by_x(const void *a, const void *b)
{
	const struct fit_point *p = a, *q = b;

	return p->x < q->x ? -1 : p->x > q->x;
}

size_t fit_levels(struct fit_point *points, size_t n, double same, size_t *ret_level)
{
	size_t levels = 0;
	double first = 0;

	qsort(points, n, sizeof(*points), by_x);
	for (size_t i = 0; i < n; i++) {
		if (!i || points[i].x > first * (1 + same)) {
			first = points[i].x;
			levels++;
		}
		ret_level[i] = levels - 1;
	}
	return levels;
}

/* The points of @levels levels from @first on. */
static void take(struct part *p, const struct fit_point *points, const size_t *level, size_t n,
		 size_t first, size_t levels)
{
	size_t begin = 0, end;

	while (begin < n && level[begin] < first)
		begin++;
	for (end = begin; end < n && level[end] < first + levels;)
		end++;
	*p = (struct part){ .points = points + begin,
			    .level = level + begin,
			    .n = end - begin,
			    .levels = levels,
			    .first_level = first,
			    .scale = end > begin && points[end - 1].x > 0 ? points[end - 1].x : 1 };
}

static int fit(struct part *p, enum fit_model model)
{
	size_t width = model == FIT_MODEL_LINE ? 2 : 3;

	for (size_t i = 0; i < p->n; i++) {
		double x = p->points[i].x / p->scale, *row = &p->rows[i * width];

		row[0] = 1;
		row[1] = x;
		if (model == FIT_MODEL_SQUARE)
			row[2] = x * x;
		else if (model == FIT_MODEL_X_LOG_X)
			row[2] = x > 0 ? x * log(x) : 0;
		p->y[i] = p->points[i].y;
		p->cluster[i] = p->level[i] - p->first_level;
	}
	return regress(p->rows, p->y, p->n, width, &p->fit);
}

static struct fit_interval around(double value, double se, double df)
{
	double reach = student_two_sided(ALPHA, df) * se;

	return (struct fit_interval){ value - reach, value + reach };
}

/* Coefficient @k, of x to the power @k. */
static struct fit_number number(const struct part *p, size_t k)
{
	const struct regression *f = &p->fit;
	double unit = pow(p->scale, (double)k), se[MAX_REGRESSORS];
	struct fit_number n = nothing;

	n.value = f->beta[k] / unit;
	if (f->n > f->p)
		n.by_runs = around(n.value, f->hc3[k] / unit, (double)(f->n - f->p));
	if (p->levels > f->p && !regress_jackknife(p->rows, p->y, p->cluster, f, p->levels, se))
		n.by_levels = around(n.value, se[k] / unit, (double)(p->levels - f->p));
	return n;
}

static bool is_above(struct fit_interval i)
{
	return i.low > 0;
}

static bool is_below(struct fit_interval i)
{
	return i.high < 0;
}

static double largest(const struct part *p)
{
	double most = 0;

	for (size_t i = 0; i < p->n; i++)
		most = fmax(most, fabs(p->points[i].y));
	return most;
}

/* Two degrees of freedom are the line's. */
static void set_lack(const struct part *p, struct fit_line *l)
{
	double mean[MAX_FIT_RUNS] = { 0 }, runs[MAX_FIT_RUNS] = { 0 }, within = 0, between;

	if (p->levels < 3 || p->n == p->levels)
		return;
	for (size_t i = 0; i < p->n; i++) {
		mean[p->cluster[i]] += p->y[i];
		runs[p->cluster[i]]++;
	}
	for (size_t i = 0; i < p->n; i++) {
		double off = p->y[i] - mean[p->cluster[i]] / runs[p->cluster[i]];

		within += off * off;
	}
	l->lack_df1 = (double)(p->levels - 2);
	l->lack_df2 = (double)(p->n - p->levels);
	between = fmax(p->fit.rss - within, 0) / l->lack_df1;
	l->lack_f = between / (within / l->lack_df2);
	l->lack_chance = isinf(l->lack_f) ? 0 : fisher_above(l->lack_f, l->lack_df1, l->lack_df2);
	if (l->lack_chance < ALPHA)
		l->refused |= FIT_LACK_OF_FIT;
}

static void set_signs(const struct part *p, struct fit_line *l)
{
	double sum[MAX_FIT_RUNS] = { 0 };
	size_t plus = 0;

	for (size_t i = 0; i < p->n; i++)
		sum[p->cluster[i]] += p->fit.residual[i];
	for (size_t g = 0; g < p->levels; g++) {
		plus += sum[g] > 0;
		l->stretches += !g || (sum[g] > 0) != (sum[g - 1] > 0);
	}
	l->signs = p->levels;
	l->stretches_chance = regress_runs_below(l->stretches, plus, p->levels - plus);
}

/* An interval of the square excludes 0, and it is not all rounding. */
static bool square_matters(const struct part *p, const struct fit_line *l)
{
	const struct fit_number *c = &l->square;

	if (isnan(c->value) || fabs(c->value) * p->scale * p->scale <= ROUNDING * largest(p))
		return false;
	return is_above(c->by_runs) || is_below(c->by_runs) || is_above(c->by_levels) ||
	       is_below(c->by_levels);
}

static bool slopes_differ(const struct fit_number *a, const struct fit_number *b)
{
	return fabs(b->value - a->value) > MAX_SLOPES * fabs(a->value) &&
	       (a->by_runs.high < b->by_runs.low || b->by_runs.high < a->by_runs.low);
}

static struct fit_number slope_of(const struct part *whole, size_t first, size_t levels)
{
	struct part p;

	take(&p, whole->points, whole->level, whole->n, first, levels);
	return fit(&p, FIT_MODEL_LINE) ? nothing : number(&p, 1);
}

static void set_curvature(struct part *whole, struct fit_line *l)
{
	size_t third = (whole->levels + 2) / 3;

	l->aicc[FIT_MODEL_LINE] = regress_aicc(&whole->fit);
	if (whole->levels >= 3 && !fit(whole, FIT_MODEL_SQUARE)) {
		l->square = number(whole, 2);
		l->aicc[FIT_MODEL_SQUARE] = regress_aicc(&whole->fit);
	}
	if (whole->levels >= 3 && !fit(whole, FIT_MODEL_X_LOG_X))
		l->aicc[FIT_MODEL_X_LOG_X] = regress_aicc(&whole->fit);
	/* Two levels have no interval here either. */
	if (third >= 3) {
		l->lower_slope = slope_of(whole, 0, third);
		l->upper_slope = slope_of(whole, whole->levels - third, third);
	}
	if (square_matters(whole, l) || slopes_differ(&l->lower_slope, &l->upper_slope))
		l->refused |= FIT_CURVATURE;
}

static void set_local(const struct part *whole, struct fit_line *l)
{
	struct part p;

	if (whole->levels <= LOCAL_LEVELS)
		return;
	take(&p, whole->points, whole->level, whole->n, 0, LOCAL_LEVELS);
	if (fit(&p, FIT_MODEL_LINE))
		return;
	l->local_slope = number(&p, 1);
	l->local_intercept = number(&p, 0);
	l->local_x_high = p.points[p.n - 1].x;
}

/* How far outside 0 is, and how much the answer there hangs on the lowest level. */
static void set_distance(const struct part *whole, struct fit_line *l)
{
	struct part p;
	const struct fit_point *at = whole->points;

	l->smallest_gap = INFINITY;
	for (size_t i = 1; i < whole->n; i++) {
		if (whole->level[i] != whole->level[i - 1])
			l->smallest_gap = fmin(l->smallest_gap, at[i].x - at[i - 1].x);
	}
	if (l->x_low > MAX_DISTANCE * (l->x_high - l->x_low) ||
	    l->x_low > MAX_GAPS * l->smallest_gap)
		l->refused |= FIT_EXTRAPOLATED;
	if (whole->levels < 3)
		return;
	take(&p, whole->points, whole->level, whole->n, 1, whole->levels - 1);
	if (!fit(&p, FIT_MODEL_LINE))
		l->intercept_without_smallest = p.fit.beta[0];
}

static double mean_ratio(const struct part *p, size_t level)
{
	double sum = 0, n = 0;

	for (size_t i = 0; i < p->n; i++) {
		if (p->level[i] != level)
			continue;
		sum += p->points[i].x > 0 ? p->points[i].y / p->points[i].x : (double)NAN;
		n++;
	}
	return sum / n;
}

/* More than two levels. */
static void judge(struct part *p, struct fit_line *l)
{
	l->slope = number(p, 1);
	l->intercept = number(p, 0);
	l->exact = sqrt(p->fit.rss) <= ROUNDING * largest(p);
	if (p->levels < FIT_MIN_LEVELS)
		l->refused |= FIT_FEW_LEVELS;
	if (l->intercept.value < 0 && !l->exact &&
	    (is_below(l->intercept.by_runs) || is_below(l->intercept.by_levels)))
		l->refused |= FIT_NEGATIVE;
	/* Of rounding, anything could be said. */
	if (l->exact)
		return;
	set_signs(p, l);
	set_lack(p, l);
	set_local(p, l);
	set_curvature(p, l);
}

void fit_line(struct fit_point *points, size_t n, double same, struct fit_line *ret_line)
{
	struct part p;
	size_t level[MAX_FIT_RUNS] = { 0 }, levels = fit_levels(points, n, same, level);
	struct fit_line l = { .runs = n,
			      .levels = levels,
			      .x_low = points[0].x,
			      .x_high = points[n - 1].x,
			      .smallest_gap = NAN,
			      .slope = nothing,
			      .intercept = nothing,
			      .intercept_without_smallest = NAN,
			      .r2 = NAN,
			      .stretches_chance = NAN,
			      .lack_f = NAN,
			      .lack_df1 = NAN,
			      .lack_df2 = NAN,
			      .lack_chance = NAN,
			      .square = nothing,
			      .lower_slope = nothing,
			      .upper_slope = nothing,
			      .local_slope = nothing,
			      .local_intercept = nothing,
			      .local_x_high = NAN,
			      .aicc = { NAN, NAN, NAN } };

	take(&p, points, level, n, 0, levels);
	l.average_low = mean_ratio(&p, 0);
	l.average_high = mean_ratio(&p, levels - 1);
	if (levels < 2 || fit(&p, FIT_MODEL_LINE)) {
		l.refused = FIT_ONE_LEVEL;
		*ret_line = l;
		return;
	}
	l.r2 = p.fit.tss > 0 ? 1 - p.fit.rss / p.fit.tss : (double)NAN;
	set_distance(&p, &l);
	if (levels == 2) {
		l.refused |= FIT_TWO_POINTS;
		l.slope.value = p.fit.beta[1] / p.scale;
	} else {
		judge(&p, &l);
	}
	*ret_line = l;
}
