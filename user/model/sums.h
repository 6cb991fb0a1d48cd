/* SPDX-License-Identifier: MIT */
/* Sums over processes, and what is left of one when a part of it is counted elsewhere. */
#ifndef SKYOBSERVE_MODEL_SUMS_H
#define SKYOBSERVE_MODEL_SUMS_H

#include "user/model/snapshot.h"

/* Add the arrays of @p (calls, histograms, errors, kinds) to those of @sum. 0 or -ENOMEM. */
int process_snap_add(struct process_snap *sum, const struct process_snap *p);

/*
 * Take the arrays of @part, an earlier state of @p, from those of @p, but kinds. What is taken of
 * the calls is noted, so that the books of @p close.
 */
void process_snap_subtract(struct process_snap *p, const struct process_snap *part);

#endif /* SKYOBSERVE_MODEL_SUMS_H */
