/* SPDX-License-Identifier: MIT */
/* Student's t and Fisher's F, for intervals and tests of regressions. */
#ifndef SKYOBSERVE_STATS_STUDENT_H
#define SKYOBSERVE_STATS_STUDENT_H

/*
 * Probability that a value of Student's t with @df degrees of freedom is above @t; NaN if @df is
 * not above 0. Relative error below 1e-11 for @df up to 1000.
 *
 * Source: I_x(df/2, 1/2) / 2 at x = df / (df + t^2), the regularized incomplete beta function, by
 * its continued fraction (Lentz): Abramowitz and Stegun 26.5.8, 26.7.1.
 */
double student_above(double t, double df);

/*
 * The t that is passed with probability @alpha / 2 on either side: 1 - @alpha is the level of an
 * interval. NaN if @df is not above 0 or @alpha not between 0 and 1. Relative error below 1e-10.
 */
double student_two_sided(double alpha, double df);

/* Probability that a value of F with @df1 and @df2 degrees of freedom is above @f; else as above.
 */
double fisher_above(double f, double df1, double df2);

#endif /* SKYOBSERVE_STATS_STUDENT_H */
