/* SPDX-License-Identifier: MIT */
/* A line through runs at several levels, and what speaks against it. Pure. */
#ifndef SKYOBSERVE_FIT_LINE_H
#define SKYOBSERVE_FIT_LINE_H

#include "user/model/fit.h"

/* One run: what was measured (not below 0) at that level (not below 0). */
struct fit_point {
	double x, y;
};

/*
 * Sort @points by x and say which belong together: @level[i] is the level of point i, from 0 on. A
 * point begins a new level if it is more than @same, a part of it, above the first one of the last
 * level: 0 for levels that were chosen, more for those that were measured. Returns how many.
 */
size_t fit_levels(struct fit_point *points, size_t n, double same, size_t *ret_level);

/*
 * Fit 1 <= @n <= MAX_FIT_RUNS points, which are sorted in place.
 *
 * Intervals are at 95 %, by_runs from HC3 with n - 2 degrees of freedom, by_levels from the
 * jackknife over levels with levels - 2. Refused are:
 *
 * | TWO_POINTS             | two levels: no interval, no intercept                           |
 * | FEW_LEVELS             | fewer than four                                                 |
 * | EXTRAPOLATED_INTERCEPT | x_low is above 10 % of the range, or twice the smallest gap     |
 * | NEGATIVE_INTERCEPT     | it and an interval of it are below 0                            |
 * | CURVATURE              | an interval of the square's factor excludes 0, or the slopes of |
 * |                        | the lower and upper third, of three levels or more, differ by   |
 * |                        | more than 5 % with intervals that do not touch                  |
 * | LACK_OF_FIT            | the means of levels are off the line by more than runs of one   |
 * |                        | level differ, at 5 %                                            |
 */
void fit_line(struct fit_point *points, size_t n, double same, struct fit_line *ret_line);

#endif /* SKYOBSERVE_FIT_LINE_H */
