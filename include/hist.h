/* SPDX-License-Identifier: GPL-2.0-only OR MIT */
/*
 * Histogram arithmetic, shared so that the kernel and every reader agree on a bucket's bounds.
 *
 * 54 buckets: two per octave (2^k and 1.5 * 2^k) from 1.024 us to 68.7 s, the last one open. A
 * value equal to a bound belongs to the bucket that the bound closes, as Prometheus' `le` demands.
 * A quantile read as the upper bound of its bucket is at most 50 % high.
 */
#ifndef SKYOBSERVE_HIST_H
#define SKYOBSERVE_HIST_H

#include "types.h"

#define HIST_MIN_SHIFT 10 /* first bound: 2^10 ns = 1.024 us */
#define HIST_MAX_SHIFT 36 /* last bound:  2^36 ns = 68.7 s */
/* Small counts are observed in 1024ths: 1 is the first bound then. */
#define HIST_ONE	(1ULL << HIST_MIN_SHIFT)
#define NR_HIST_BOUNDS	(2 * (HIST_MAX_SHIFT - HIST_MIN_SHIFT) + 1)
#define NR_HIST_BUCKETS (NR_HIST_BOUNDS + 1)

/* Counts per bucket (not cumulative) and the sum of what was observed, in the unit observed. */
struct hist {
	u64 sum;
	u64 counts[NR_HIST_BUCKETS];
};

/* The upper bound of bucket @i < NR_HIST_BOUNDS, inclusive. */
static inline u64 hist_bound(u32 i)
{
	u64 octave = 1ULL << (HIST_MIN_SHIFT + i / 2);

	return i % 2 ? octave + octave / 2 : octave;
}

/*
 * The bucket of @value, always < NR_HIST_BUCKETS.
 *
 * The position of the highest bit by halving: no loop for old verifiers, and no
 * __builtin_clz, which clang 14 cannot compile for BPF.
 */
static inline u32 hist_bucket(u64 value)
{
	u64 below = value - 1; /* makes the bounds inclusive */
	u64 rest;
	u32 shift = HIST_MIN_SHIFT;

	if (value <= (1ULL << HIST_MIN_SHIFT))
		return 0;
	if (value > (1ULL << HIST_MAX_SHIFT))
		return NR_HIST_BUCKETS - 1;

	rest = below >> HIST_MIN_SHIFT; /* 1 .. 2^26 - 1 */
	if (rest >> 16) {
		rest >>= 16;
		shift += 16;
	}
	if (rest >> 8) {
		rest >>= 8;
		shift += 8;
	}
	if (rest >> 4) {
		rest >>= 4;
		shift += 4;
	}
	if (rest >> 2) {
		rest >>= 2;
		shift += 2;
	}
	if (rest >> 1)
		shift += 1;

	/* below is in [2^shift, 2^(shift+1)): the next bit chooses the half of the octave. */
	return 2 * (shift - HIST_MIN_SHIFT) + 1 + ((below >> (shift - 1)) & 1);
}

#endif /* SKYOBSERVE_HIST_H */
