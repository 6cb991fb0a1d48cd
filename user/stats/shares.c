/* SPDX-License-Identifier: MIT */
/* Shares that were estimated by counting samples. */
#include "user/stats/shares.h"

#include <math.h>

#include "user/stats/normal.h"

double share_error(double p, double n, double deff)
{
	if (!(p >= 0 && p <= 1 && n > 0 && deff > 0))
		return NAN;
	return sqrt(deff * p * (1 - p) / n);
}

static struct interval wilson(u64 hits, u64 n, double z)
{
	double k = (double)hits, all = (double)n, z2 = z * z;
	double half = z * sqrt(k * (all - k) / all + z2 / 4);

	if (!n || hits > n)
		return (struct interval){ NAN, NAN };
	/* No hit, or nothing else: the limit is exact, not off by a rounding. */
	return (struct interval){ hits ? (k + z2 / 2 - half) / (all + z2) : 0,
				  hits < n ? (k + z2 / 2 + half) / (all + z2) : 1 };
}

struct interval share_wilson(u64 hits, u64 n, double alpha)
{
	return wilson(hits, n, -normal_quantile(alpha / 2));
}

struct interval share_goodman(u64 hits, u64 n, u32 nr_buckets, double alpha)
{
	return share_wilson(hits, n, nr_buckets ? alpha / nr_buckets : NAN);
}

struct interval share_bounds(double p, double coverage)
{
	if (!(p >= 0 && p <= 1 && coverage >= 0))
		return (struct interval){ NAN, NAN };
	/* More than all time was sampled: nothing is missing. */
	if (coverage > 1)
		coverage = 1;
	return (struct interval){ coverage * p, coverage * p + (1 - coverage) };
}

struct equivalence share_equivalence(double delta, double se, double margin, double alpha)
{
	double z = -normal_quantile(alpha);
	struct equivalence e = { .ci = { delta - z * se, delta + z * se },
				 .z_low = (delta + margin) / se,
				 .z_high = (margin - delta) / se };

	e.confirmed = e.ci.low > -margin && e.ci.high < margin;
	return e;
}

bool share_is_outside(double delta, double se, double margin, double alpha)
{
	double reach = -normal_quantile(alpha / 2) * se;

	return delta - reach > margin || delta + reach < -margin;
}

double share_samples_needed(double p, double margin, double deff, double alpha, double power)
{
	double z = -normal_quantile(alpha) + normal_quantile((1 + power) / 2);

	if (!(p >= 0 && p <= 1 && margin > 0 && deff > 0))
		return NAN;
	return ceil(deff * p * (1 - p) * z * z / (margin * margin));
}

struct homogeneity share_homogeneity(const double *hits, const double *n, size_t nr_runs)
{
	double all_hits = 0, all = 0, mean = 0, between = 0, mean_n;
	struct homogeneity h = { .df = (double)nr_runs - 1 };

	for (size_t i = 0; i < nr_runs; i++) {
		all_hits += hits[i];
		all += n[i];
		mean += hits[i] / n[i] / (double)nr_runs;
	}
	h.share = all_hits / all;
	mean_n = all / (double)nr_runs;
	for (size_t i = 0; i < nr_runs; i++) {
		double p = hits[i] / n[i];

		h.chi2 += n[i] * (p - h.share) * (p - h.share) / (h.share * (1 - h.share));
		between += (p - mean) * (p - mean) / h.df;
	}
	h.p_value = chi_square_above(h.chi2, h.df);
	h.ratio = between / (h.share * (1 - h.share) / mean_n);
	h.deff = h.ratio < 1 ? 1 : h.ratio;
	h.n_effective = mean_n / h.deff;
	return h;
}

double share_relabelled(double seen, double truth)
{
	return (seen - truth) / (1 - truth);
}

static struct interval range(const double *values, size_t n)
{
	struct interval r = { NAN, NAN };

	for (size_t i = 0; i < n; i++) {
		r.low = !i || values[i] < r.low ? values[i] : r.low;
		r.high = !i || values[i] > r.high ? values[i] : r.high;
	}
	return r;
}

struct ranges share_ranges(const double *a, size_t na, const double *b, size_t nb)
{
	struct ranges r = { .a = range(a, na), .b = range(b, nb), .chance = 2 };

	r.overlap = r.a.low <= r.b.high && r.b.low <= r.a.high;
	for (size_t i = 1; i <= na; i++)
		r.chance *= (double)i / (double)(nb + i);
	return r;
}
