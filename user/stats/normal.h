/* SPDX-License-Identifier: MIT */
/* The two distributions that everything here is compared with. */
#ifndef SKYOBSERVE_STATS_NORMAL_H
#define SKYOBSERVE_STATS_NORMAL_H

/* Probability that a standard normal value is below @z. Error below 1e-15. */
double normal_below(double z);

/*
 * The z below which a standard normal value is with probability @p: -inf at 0, +inf at 1, NaN
 * outside. Relative error below 1e-12.
 *
 * Source: P. Acklam's rational approximation (relative error 1.15e-9), then one step of Halley's
 * method on erfc.
 */
double normal_quantile(double p);

/*
 * Probability that a chi-square value of @df degrees of freedom is above @x; NaN if @df is not
 * above 0 or @x is below 0. Relative error below 1e-10 for @df up to 1000.
 *
 * Source: Q(df/2, x/2), the regularized incomplete gamma function, by its series below its mean and
 * by its continued fraction (Lentz) above: Abramowitz and Stegun 6.5.29, 6.5.31.
 */
double chi_square_above(double x, double df);

#endif /* SKYOBSERVE_STATS_NORMAL_H */
