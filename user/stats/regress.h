/* SPDX-License-Identifier: MIT */
/* Ordinary least squares, with standard errors that do not assume more than they must. Pure. */
#ifndef SKYOBSERVE_STATS_REGRESS_H
#define SKYOBSERVE_STATS_REGRESS_H

#include <stddef.h>

#define MAX_REGRESSORS 8
#define MAX_REGRESSED  256 /* points */

struct regression {
	size_t n, p;
	double beta[MAX_REGRESSORS];
	/* Standard errors. Those of equal and independent errors; NaN if n = p. */
	double se[MAX_REGRESSORS];
	/*
	 * Those of independent errors of any size (HC3); NaN if a point is fitted whatever it is.
	 * Source: MacKinnon and White 1985; Long and Ervin 2000.
	 */
	double hc3[MAX_REGRESSORS];
	double rss, tss; /* squares of the residuals; of the distances from the mean */
	double residual[MAX_REGRESSED], leverage[MAX_REGRESSED];
};

/*
 * Fit @y by @n rows of @p regressors each (a column of ones is one of them, if it is meant).
 *
 * 0; -EINVAL: fewer points than regressors, or too many of either; -EDOM: the regressors depend on
 * each other, or a number is none.
 *
 * Source: modified Gram-Schmidt with a second pass, y as one more column: Bjoerck 1996, 2.4.
 */
int regress(const double *rows, const double *y, size_t n, size_t p, struct regression *ret_fit);

/*
 * Standard errors if points with the same @cluster (below @nr_clusters, each of them there) are not
 * independent of each other: the spread of the fits that leave out one cluster.
 *
 * As regress; -EDOM also if a fit without one of them is not determined.
 *
 * Source: the cluster jackknife, CV3: MacKinnon, Nielsen and Webb 2023. With one point per cluster
 * it is HC3, but for the factor (n-1)/n and the centre.
 */
int regress_jackknife(const double *rows, const double *y, const size_t *cluster,
		      const struct regression *fit, size_t nr_clusters,
		      double ret_se[MAX_REGRESSORS]);

/*
 * Akaike's criterion with the correction for few points, up to a constant that all models of the
 * same points share; the lower the better. NaN if there are too few, or nothing is left to explain.
 *
 * Source: Hurvich and Tsai 1989.
 */
double regress_aicc(const struct regression *fit);

/*
 * Probability of @runs or fewer runs of equal signs in a random order of @plus and @minus signs:
 * small if they come in stretches, as of a line through a curve.
 *
 * Source: Wald and Wolfowitz 1940, exact.
 */
double regress_runs_below(size_t runs, size_t plus, size_t minus);

#endif /* SKYOBSERVE_STATS_REGRESS_H */
