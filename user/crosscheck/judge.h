/* SPDX-License-Identifier: MIT */
/*
 * One claim, from numbers: what is confirmed, what is refuted, what neither. Pure.
 *
 * CONFIRMED is shown, never a lack of difference: the 90 % interval of the difference lies inside
 * of the margin (two one-sided tests at 5 %). REFUTED: the 99 % interval lies wholly outside, for
 * every value that the exact side and the time that was not sampled leave possible. Between the two
 * a claim is UNRESOLVED, with the reason.
 */
#ifndef SKYOBSERVE_CROSSCHECK_JUDGE_H
#define SKYOBSERVE_CROSSCHECK_JUDGE_H

#include "user/model/claims.h"
#include "user/stats/shares.h"

#define JUDGE_CONFIRM_ALPHA 0.05 /* each side */
#define JUDGE_REFUTE_ALPHA  0.01
#define JUDGE_POWER	    0.9
/* Repeats that differ by more than this many times the variance of samples confirm nothing. */
#define JUDGE_MAX_DEFF 4
/* Of a profile that covers less of the CPU time, bounds are looked at instead of its shares. */
#define JUDGE_FULL_COVERAGE 0.98

/* Default margins. Go's profiler gives 100 samples per second of CPU time. */
#define JUDGE_SHARE_MARGIN	  0.03
#define JUDGE_COVERAGE_MARGIN	  0.02
#define JUDGE_CPU_MARGIN	  0.01
#define JUDGE_REATTRIBUTED_MARGIN 0.005

struct share_evidence {
	u64 hits, n;	 /* of the profile */
	double deff;	 /* from repeats; NaN: not known, taken as 1 */
	double coverage; /* part of the CPU time that was sampled; NaN: not known, taken as 1 */
	struct interval exact; /* the observer's share; NaN: it has none */
	double margin;
};

/* Each fills in @c, which claim_begin has begun, with its verdict. */

/* C5, C6, C7: the share of a bucket. */
void judge_share(const struct share_evidence *e, struct claim *c);

/* C1: samples of the profile, and signals that its profiler got; @edge may be missing at an end. */
void judge_census(u64 samples, u64 signals, u64 edge, struct claim *c);

/* C2: sampled seconds, and the seconds of CPU time that were spent: where the observer has them. */
void judge_coverage(double sampled, struct interval spent, double margin, struct claim *c);

/*
 * C3: @n places of the same samples, counted twice. What is known of pairs is how many are at
 * least at different places: half of the sum of all differences.
 */
void judge_reattribution(const u64 *profile, const u64 *ours, u32 n, double margin,
			 struct claim *c);

/* C9: how far the observer's CPU time and the kernel's own sums are apart, and whether that is
 * inside of the bound of the identity. */
void judge_cpu(double seconds, double residual, bool inside, double margin, struct claim *c);

/* C10: shares of one bucket in @nr_runs runs; their design effect. One run: FEW_RUNS. */
void judge_repeatability(const double *hits, const double *n, size_t nr_runs, struct claim *c);

/*
 * Of @n claims that are REFUTED one by one, keep those that are when the chance of any error is
 * what JUDGE_REFUTE_ALPHA says; the others become UNRESOLVED. Source: Holm 1979.
 */
void judge_holm(struct claim *claims, u32 n);

#endif /* SKYOBSERVE_CROSSCHECK_JUDGE_H */
