/* SPDX-License-Identifier: MIT */
/* The level at which a budget of latency breaks, from histograms of runs at several. Pure. */
#ifndef SKYOBSERVE_FIT_KNEE_H
#define SKYOBSERVE_FIT_KNEE_H

#include "hist.h"
#include "user/model/fit.h"

struct knee_run {
	double x;
	const struct hist *durations; /* in ns */
};

/* @quantile (0.99) of all durations are to be at most @ns. */
struct knee_budget {
	double quantile;
	u64 ns;
};

/* "p99=100ms", "p99.9=2s". 0, or -EINVAL. */
int knee_parse(const char *text, struct knee_budget *ret_budget);

/*
 * Judge 1 <= @n <= MAX_FIT_RUNS runs. Of each run the durations above the budget are counted (those
 * in the bucket in which the budget lies may be above or not), and the interval of their share at
 * 95 % (Wilson) is held against what the budget allows. Runs with fewer than 10 durations beyond
 * the quantile, if it were just reached, show nothing (1,000 for p99). A level holds, or is broken,
 * if all its runs are; levels are those of fit_levels. Between levels nothing is computed, and
 * beyond them nothing is said.
 */
void knee_find(const struct knee_run *runs, size_t n, double same, const struct knee_budget *budget,
	       struct fit_knee *ret_knee);

#endif /* SKYOBSERVE_FIT_KNEE_H */
