/* SPDX-License-Identifier: MIT */
/* Where a budget breaks: by counting what is above it, level by level. */
#include "user/fit/knee.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "user/fit/line.h"
#include "user/stats/shares.h"

#define ALPHA	   0.05
#define MIN_BEYOND 10 /* durations beyond the quantile that a run must be able to have */

static const struct {
	const char *name;
	double ns;
} units[] = { { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 } };

/* A plain decimal number above 0, and where it ends; NaN otherwise. */
static double decimal(const char *text, const char **ret_end)
{
	size_t n = strspn(text, "0123456789.");
	char word[32], *end;
	double value;

	if (!n || n >= sizeof(word))
		return NAN;
	memcpy(word, text, n);
	word[n] = '\0';
	value = strtod(word, &end);
	*ret_end = text + n;
	return *end || !(value > 0) ? (double)NAN : value;
}

int knee_parse(const char *text, struct knee_budget *ret_budget)
{
	const char *at = text;
	double percent, amount;

	if (*at++ != 'p')
		return -EINVAL;
	percent = decimal(at, &at);
	if (!(percent > 0 && percent < 100) || *at++ != '=')
		return -EINVAL;
	amount = decimal(at, &at);
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(at, units[i].name) != 0 || !(amount * units[i].ns >= 1) ||
		    amount * units[i].ns > 1e15)
			continue;
		*ret_budget =
			(struct knee_budget){ percent / 100, (u64)(amount * units[i].ns + 0.5) };
		return 0;
	}
	return -EINVAL;
}

/* Values of bucket @i are above the first and at most the second. */
static double bucket_low(u32 i)
{
	return i ? (double)hist_bound(i - 1) : 0;
}

static double bucket_high(u32 i)
{
	return i < NR_HIST_BOUNDS ? (double)hist_bound(i) : INFINITY;
}

/* What is above the budget for certain, and what may be. */
static void count_above(const struct hist *h, const struct knee_budget *budget, u64 *ret_n,
			u64 *ret_certain, u64 *ret_possible)
{
	*ret_n = *ret_certain = *ret_possible = 0;
	for (u32 i = 0; i < NR_HIST_BUCKETS; i++) {
		*ret_n += h->counts[i];
		if (bucket_low(i) >= (double)budget->ns)
			*ret_certain += h->counts[i];
		if (bucket_high(i) > (double)budget->ns)
			*ret_possible += h->counts[i];
	}
}

static void widen_quantile(const struct hist *h, u64 n, double quantile, struct knee_level *l)
{
	double rank = ceil(quantile * (double)n), below = 0;

	for (u32 i = 0; i < NR_HIST_BUCKETS; i++) {
		below += (double)h->counts[i];
		if (below < rank || below <= 0)
			continue;
		l->quantile_low_ns = fmin(l->quantile_low_ns, bucket_low(i));
		l->quantile_high_ns = fmax(l->quantile_high_ns, bucket_high(i));
		return;
	}
}

static enum knee_state judge(const struct knee_run *run, const struct knee_budget *budget,
			     struct knee_level *l)
{
	double allowed = 1 - budget->quantile;
	struct interval low, high;
	u64 n, certain, possible;

	count_above(run->durations, budget, &n, &certain, &possible);
	l->fewest = !l->runs || n < l->fewest ? n : l->fewest;
	widen_quantile(run->durations, n, budget->quantile, l);
	low = share_wilson(certain, n, ALPHA);
	high = share_wilson(possible, n, ALPHA);
	if (n) {
		l->above_low = fmin(l->above_low, low.low);
		l->above_high = fmax(l->above_high, high.high);
	}
	/* The product of decimals is rounded: 1000 must do for 0.99. */
	if ((double)n * allowed < MIN_BEYOND - 1e-6) {
		l->too_few = true;
		return KNEE_UNKNOWN;
	}
	return high.high < allowed ? KNEE_HOLDS : low.low > allowed ? KNEE_BROKEN : KNEE_UNKNOWN;
}

static void add_run(const struct knee_run *run, const struct knee_budget *budget,
		    struct knee_level *l)
{
	enum knee_state state = judge(run, budget, l);

	l->state = !l->runs || l->state == state ? state : KNEE_UNKNOWN;
	l->x += (run->x - l->x) / (double)++l->runs;
}

static void decide(struct fit_knee *k)
{
	size_t last_held = k->n, first_broken = k->n;

	for (size_t i = 0; i < k->n; i++) {
		if (k->levels[i].state == KNEE_HOLDS)
			last_held = i;
		if (k->levels[i].state == KNEE_BROKEN && first_broken == k->n)
			first_broken = i;
	}
	k->low = last_held < k->n ? k->levels[last_held].x : (double)NAN;
	k->high = first_broken < k->n ? k->levels[first_broken].x : (double)NAN;
	k->crossed = last_held < k->n && first_broken < last_held;
	k->verdict = KNEE_UNRESOLVED;
	if (k->crossed)
		return;
	if (last_held < k->n && first_broken < k->n)
		k->verdict = KNEE_BETWEEN;
	else if (last_held + 1 == k->n)
		k->verdict = KNEE_NOT_REACHED;
	else if (first_broken == 0)
		k->verdict = KNEE_ALREADY_BROKEN;
}

static int by_x(const void *a, const void *b)
{
	const struct knee_run *p = a, *q = b;

	return p->x < q->x ? -1 : p->x > q->x;
}

void knee_find(const struct knee_run *runs, size_t n, double same, const struct knee_budget *budget,
	       struct fit_knee *ret_knee)
{
	struct knee_run sorted[MAX_FIT_RUNS];
	struct fit_point points[MAX_FIT_RUNS] = { { 0 } };
	size_t level[MAX_FIT_RUNS] = { 0 };
	struct fit_knee *k = ret_knee;

	memset(k, 0, sizeof(*k));
	memcpy(sorted, runs, n * sizeof(*runs));
	qsort(sorted, n, sizeof(*sorted), by_x);
	for (size_t i = 0; i < n; i++)
		points[i].x = sorted[i].x;
	k->n = fit_levels(points, n, same, level);
	for (size_t i = 0; i < k->n; i++)
		k->levels[i] = (struct knee_level){ .quantile_low_ns = INFINITY, .above_low = 1 };
	for (size_t i = 0; i < n; i++)
		add_run(&sorted[i], budget, &k->levels[level[i]]);
	decide(k);
}
