/* SPDX-License-Identifier: MIT */
/*
 * Shares that were estimated by counting samples: how far off they may be, whether two agree, and
 * how many samples it would take. A share is 0 to 1; @deff is the design effect, 1 for independent
 * samples. What cannot be computed (no samples, a share outside) is NaN.
 */
#ifndef SKYOBSERVE_STATS_SHARES_H
#define SKYOBSERVE_STATS_SHARES_H

#include <stdbool.h>
#include <stddef.h>

#include "types.h"

struct interval {
	double low, high;
};

/* Standard error of @p from @n samples: sqrt(deff p (1-p) / n). Source: binomial; Kish 1965. */
double share_error(double p, double n, double deff);

/*
 * Interval that holds the true share with probability 1 - @alpha, from @hits of @n samples. It
 * stays inside of 0 to 1 also where few samples hit.
 *
 * Source: Wilson 1927, without correction for continuity.
 */
struct interval share_wilson(u64 hits, u64 n, double alpha);

/*
 * The same for one of @nr_buckets buckets of one table, all of whose intervals hold together with
 * probability 1 - @alpha: for readers who compare rows.
 *
 * Source: Goodman 1965, Technometrics 7(2): Wilson's interval at alpha / buckets.
 */
struct interval share_goodman(u64 hits, u64 n, u32 nr_buckets, double alpha);

/*
 * Where the true share is if only the part @coverage of all time was sampled and @p is the share of
 * that: what is missing can be anywhere, nothing is assumed.
 *
 * Source: Manski's worst-case bounds: [c p, c p + 1 - c].
 */
struct interval share_bounds(double p, double coverage);

/* Two shares agree within a margin, as two one-sided tests say. */
struct equivalence {
	struct interval ci;   /* of the difference, at 1 - 2 alpha */
	double z_low, z_high; /* distances from -margin and to +margin, in standard errors */
	bool confirmed;	      /* the interval lies inside of the margin */
};

/*
 * Whether a difference @delta with the standard error @se lies inside of (-@margin, @margin), each
 * side at level @alpha (0.05: a 90 % interval). That it is not different from 0 does not suffice.
 *
 * Source: Schuirmann 1987; Lakens 2017.
 */
struct equivalence share_equivalence(double delta, double se, double margin, double alpha);

/*
 * Whether a difference is outside of the margin: its interval at 1 - @alpha (0.01: 99 %) lies
 * wholly beyond one side.
 */
bool share_is_outside(double delta, double se, double margin, double alpha);

/*
 * Samples with which share_equivalence confirms, with probability @power, a share @p that is
 * exactly right: deff p (1-p) (z_alpha + z_((1+power)/2))^2 / margin^2, rounded up.
 *
 * Source: Julious 2004, sample sizes for equivalence at no difference, where either side can fail.
 */
double share_samples_needed(double p, double margin, double deff, double alpha, double power);

/* Whether several runs can be samples of one share. */
struct homogeneity {
	double share; /* of all runs together */
	double chi2, df, p_value;
	double ratio;	    /* variance between the runs / that of independent samples */
	double deff;	    /* the same, at least 1 */
	double n_effective; /* samples of the mean run that independent ones would equal */
};

/*
 * @hits of @n samples in each of @nr_runs runs, at least 2; hits need not be whole (shares that
 * were published rounded). ratio = s^2 between / (p (1-p) / mean n): chi2 / df where all n are
 * equal.
 *
 * Source: Pearson 1900; Kish 1965.
 */
struct homogeneity share_homogeneity(const double *hits, const double *n, size_t nr_runs);

/*
 * The part of all samples that was given to a bucket wrongly, whatever they were, if its true share
 * is @truth and @seen was reported: (seen - truth) / (1 - truth).
 */
double share_relabelled(double seen, double truth);

/* The ranges of two sets of runs. */
struct ranges {
	struct interval a, b;
	bool overlap;
	double chance; /* that ranges of equal sets do not overlap: 2 / C(na + nb, na) */
};

/* At least one run each; the chance is for any order of runs being equally likely. */
struct ranges share_ranges(const double *a, size_t na, const double *b, size_t nb);

#endif /* SKYOBSERVE_STATS_SHARES_H */
