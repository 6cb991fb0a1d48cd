/* SPDX-License-Identifier: MIT */
/* Ranges of repeated runs, and whether two of them lie apart. Pure. */
#ifndef SKYOBSERVE_MODEL_RANGES_H
#define SKYOBSERVE_MODEL_RANGES_H

#include <stdbool.h>
#include <stddef.h>

#include "types.h"

/* Fewer runs of a side are no range: two of three agree by luck too often. */
#define RANGE_MIN_RUNS 3

struct range {
	double low, high, median;
	u32 n;
};

enum range_relation {
	RANGE_UNRESOLVED, /* fewer than RANGE_MIN_RUNS on a side */
	RANGE_EQUAL,	  /* every run of both sides gave the same number */
	RANGE_OVERLAP,	  /* they touch, or lie in each other */
	RANGE_B_LOWER,	  /* every run of B is below every run of A */
	RANGE_B_HIGHER,
};

/* Of @n > 0 values, which are sorted in place. */
struct range range_of(double *values, size_t n);

enum range_relation range_relate(const struct range *a, const struct range *b);

/*
 * The chance that all of @n runs are below all of @m others if nothing but luck orders them:
 * 1 / C(n + m, n). Exact (every order of exchangeable runs is as likely). Twice that for either
 * direction. Returned as its inverse, C(n + m, n), at most 1e18.
 */
double range_orders(u32 n, u32 m);

#endif /* SKYOBSERVE_MODEL_RANGES_H */
