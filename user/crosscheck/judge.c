/* SPDX-License-Identifier: MIT */
/* Verdicts from numbers. Knows neither profiles nor records. */
#include "user/crosscheck/judge.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "user/stats/normal.h"

#define PERCENT 100

static void unresolved(struct claim *c, enum claim_reason reason)
{
	c->verdict = VERDICT_UNRESOLVED;
	c->reason = reason;
}

static void missing(struct claim *c, const char *text)
{
	c->verdict = VERDICT_NOT_TESTABLE;
	c->reason = REASON_EXACT_SIDE_MISSING;
	snprintf(c->text, sizeof(c->text), "%s", text);
}

/* How far [low, high] lies outside of [-margin, margin]; below 0 if it does not. */
static double beyond(double low, double high, double margin)
{
	return low > 0 ? low - margin : -high - margin;
}

/* Whether a share is outside for every value that is possible, and by how much at least. */
static bool share_is_refuted(const struct share_evidence *e, double p, struct claim *c)
{
	/* The samples of this run say what this run's profile says: repeats widen no interval. */
	double se = share_error(p, (double)e->n, 1);
	double out = beyond(p - e->exact.high, p - e->exact.low, e->margin);
	double at_least =
		beyond(c->bound_low - e->exact.high, c->bound_high - e->exact.low, e->margin);

	if (out <= 0)
		return false;
	c->p_outside = se > 0 ? 2 * normal_below(-out / se) : 0;
	if (c->p_outside > JUDGE_REFUTE_ALPHA || at_least <= 0)
		return false;
	c->verdict = VERDICT_REFUTED;
	snprintf(c->text, sizeof(c->text), "Off by at least %.1f points.",
		 (at_least + e->margin) * PERCENT);
	return true;
}

/* Samples that would do, for a share that is right, or for this difference. */
static double samples_needed(const struct share_evidence *e, double p, double deff)
{
	double right = share_samples_needed(p, e->margin, deff, JUDGE_CONFIRM_ALPHA, JUDGE_POWER);
	double z = -normal_quantile(JUDGE_CONFIRM_ALPHA);
	double room = fabs(e->margin - fmax(fabs(p - e->exact.low), fabs(p - e->exact.high)));

	if ((double)e->n < right)
		return right;
	return ceil(deff * p * (1 - p) * z * z / (room * room));
}

static void say_unresolved(const struct share_evidence *e, double p, double deff, bool would,
			   struct claim *c)
{
	c->n_needed = samples_needed(e, p, deff);
	if (deff > JUDGE_MAX_DEFF) {
		unresolved(c, REASON_OVERDISPERSED);
		snprintf(
			c->text, sizeof(c->text),
			"Runs of the same work differ by %.0f times the variance of samples: these "
			"are %.1f independent samples, not %llu.",
			deff, (double)e->n / deff, e->n);
	} else if (would) {
		unresolved(c, REASON_LOW_COVERAGE);
		snprintf(c->text, sizeof(c->text),
			 "%.1f %% of the CPU time was sampled: the share can be anything from %.1f "
			 "to %.1f %%.",
			 e->coverage * PERCENT, c->bound_low * PERCENT, c->bound_high * PERCENT);
	} else if (e->exact.high - e->exact.low >= 2 * e->margin) {
		/* No number of samples would do. */
		unresolved(c, REASON_EXACT_SIDE_BOUNDED);
		c->n_needed = NAN;
	} else if ((double)e->n <
		   share_samples_needed(p, e->margin, deff, JUDGE_CONFIRM_ALPHA, JUDGE_POWER)) {
		unresolved(c, REASON_TOO_FEW_SAMPLES);
	} else if (e->exact.high - e->exact.low > e->margin) {
		unresolved(c, REASON_EXACT_SIDE_BOUNDED);
	} else {
		unresolved(c, REASON_STRADDLES);
	}
}

void judge_share(const struct share_evidence *e, struct claim *c)
{
	double deff = isnan(e->deff) ? 1 : e->deff, p = (double)e->hits / (double)e->n;
	double coverage = isnan(e->coverage) ? 1 : e->coverage;
	struct interval bounds = share_bounds(p, coverage);
	double reach = -normal_quantile(JUDGE_CONFIRM_ALPHA) * share_error(p, (double)e->n, deff);
	bool inside;

	c->n = (double)e->n;
	c->deff = deff;
	c->margin = e->margin;
	if (!e->n) {
		unresolved(c, REASON_TOO_FEW_SAMPLES);
		return;
	}
	c->profiler = p;
	if (coverage >= JUDGE_FULL_COVERAGE)
		bounds = (struct interval){ p, p };
	c->bound_low = bounds.low;
	c->bound_high = bounds.high;
	if (isnan(e->exact.low)) {
		missing(c, "The record has no exact share of it.");
		return;
	}
	c->low = e->exact.low;
	c->high = e->exact.high;
	c->delta = p - (c->low + c->high) / 2;
	c->ci_low = p - c->high - reach;
	c->ci_high = p - c->low + reach;
	if (share_is_refuted(e, p, c))
		return;
	inside = c->ci_low > -e->margin && c->ci_high < e->margin;
	if (inside && deff <= JUDGE_MAX_DEFF && bounds.low - c->high > -e->margin &&
	    bounds.high - c->low < e->margin) {
		c->verdict = VERDICT_CONFIRMED;
		return;
	}
	say_unresolved(e, p, deff, inside || c->p_outside <= JUDGE_REFUTE_ALPHA, c);
}

void judge_census(u64 samples, u64 signals, u64 edge, struct claim *c)
{
	u64 off = samples > signals ? samples - signals : signals - samples;

	c->profiler = c->n = (double)samples;
	c->low = c->high = (double)signals;
	c->delta = (double)samples - (double)signals;
	c->margin = (double)edge;
	c->verdict = off <= edge ? VERDICT_CONFIRMED : VERDICT_REFUTED;
	if (off <= edge)
		return;
	if (samples < signals)
		snprintf(
			c->text, sizeof(c->text),
			"%llu signals of its profiler are not in the profile: samples were "
			"removed, "
			"or its buffer was full (look for runtime._LostExternalCode and the like), "
			"or it was taken in part of the window.",
			off);
	else
		snprintf(c->text, sizeof(c->text),
			 "The profile has %llu samples for which there was no signal: they were "
			 "made "
			 "up, or it is of another time.",
			 off);
}

void judge_coverage(double sampled, struct interval spent, double margin, struct claim *c)
{
	double middle = (spent.low + spent.high) / 2;

	c->profiler = sampled;
	c->margin = margin;
	if (isnan(spent.low) || middle <= 0) {
		missing(c, "The record has no CPU time for the profile's window.");
		return;
	}
	c->low = spent.low;
	c->high = spent.high;
	c->delta = sampled / middle - 1;
	c->ci_low = sampled / spent.high - 1;
	c->ci_high = spent.low > 0 ? sampled / spent.low - 1 : INFINITY;
	if (c->ci_low > -margin && c->ci_high < margin) {
		c->verdict = VERDICT_CONFIRMED;
	} else if (c->ci_low > margin || c->ci_high < -margin) {
		c->verdict = VERDICT_REFUTED;
		snprintf(
			c->text, sizeof(c->text),
			sampled < middle
				? "%.1f %% of the CPU time has no sample; which part is not known, "
				  "so "
				  "every share carries that much doubt."
				: "%.1f %% more time was sampled than was spent: it is another "
				  "process's profile, or one of another window.",
			fabs(c->delta) * PERCENT);
	} else {
		unresolved(c, REASON_WINDOW_EDGES);
		snprintf(c->text, sizeof(c->text),
			 "What was spent between the profile's edges and the nearest frames of the "
			 "record is not known. Record with a shorter interval, or profile longer.");
	}
}

void judge_reattribution(const u64 *profile, const u64 *ours, u32 n, double margin, struct claim *c)
{
	u64 apart = 0, all = 0, pairs;

	for (u32 i = 0; i < n; i++) {
		apart += profile[i] > ours[i] ? profile[i] - ours[i] : ours[i] - profile[i];
		all += profile[i];
	}
	c->n = (double)all;
	c->margin = margin;
	if (!all) {
		unresolved(c, REASON_TOO_FEW_SAMPLES);
		return;
	}
	pairs = apart / 2;
	c->profiler = c->delta = (double)pairs / (double)all;
	c->low = c->high = 0;
	c->verdict = c->delta <= margin ? VERDICT_CONFIRMED : VERDICT_REFUTED;
	if (c->verdict == VERDICT_REFUTED)
		snprintf(
			c->text, sizeof(c->text),
			"At least %llu of %llu samples are not where the signal interrupted the "
			"program. Go itself charges the vDSO, and assembly that it cannot walk out "
			"of, to their callers.",
			pairs, all);
}

void judge_cpu(double seconds, double residual, bool inside, double margin, struct claim *c)
{
	c->margin = margin;
	if (isnan(seconds) || isnan(residual)) {
		missing(c, "The record has no identity of CPU time.");
		return;
	}
	c->low = c->high = seconds;
	c->profiler = seconds * (1 + residual);
	c->delta = residual;
	if (fabs(residual) <= margin)
		c->verdict = VERDICT_CONFIRMED;
	else if (inside) /* the ticks of /proc are coarser than the margin */
		unresolved(c, REASON_EXACT_SIDE_BOUNDED);
	else
		c->verdict = VERDICT_REFUTED;
}

void judge_repeatability(const double *hits, const double *n, size_t nr_runs, struct claim *c)
{
	struct homogeneity h;

	c->margin = JUDGE_MAX_DEFF;
	if (nr_runs < 2) {
		c->verdict = VERDICT_NOT_TESTABLE;
		c->reason = REASON_FEW_RUNS;
		return;
	}
	h = share_homogeneity(hits, n, nr_runs);
	c->deff = c->profiler = h.ratio;
	c->n = h.n_effective;
	/* Every run all or nothing in it: they do not differ. */
	if (isnan(h.ratio) || h.ratio <= JUDGE_MAX_DEFF) {
		c->verdict = VERDICT_CONFIRMED;
		return;
	}
	/* That two or three runs differ by chance is not refused by the ratio alone. */
	if (h.p_value > JUDGE_REFUTE_ALPHA) {
		unresolved(c, REASON_FEW_RUNS);
		return;
	}
	c->verdict = VERDICT_REFUTED;
	snprintf(c->text, sizeof(c->text),
		 "chi-square %.1f with %.0f degrees of freedom: these runs are not samples of one "
		 "share; %.0f samples of one of them are worth %.1f.",
		 h.chi2, h.df, h.n_effective * h.deff, h.n_effective);
}

void judge_holm(struct claim *claims, u32 n)
{
	u32 nr_tests = 0;

	for (u32 i = 0; i < n; i++)
		nr_tests += !isnan(claims[i].p_outside);
	/* From the smallest chance up; the first that is too large ends it. */
	for (u32 rank = 0; rank < nr_tests; rank++) {
		struct claim *next = NULL;
		u32 smaller = 0;

		for (u32 i = 0; i < n && !next; i++) {
			smaller = 0;
			for (u32 k = 0; k < n; k++)
				smaller += claims[k].p_outside < claims[i].p_outside ||
					   (k < i && claims[k].p_outside == claims[i].p_outside);
			if (!isnan(claims[i].p_outside) && smaller == rank)
				next = &claims[i];
		}
		if (!next || next->p_outside <= JUDGE_REFUTE_ALPHA / (nr_tests - rank))
			continue;
		for (u32 i = 0; i < n; i++) {
			if (claims[i].p_outside >= next->p_outside &&
			    claims[i].verdict == VERDICT_REFUTED)
				unresolved(&claims[i], REASON_STRADDLES);
		}
		return;
	}
}
