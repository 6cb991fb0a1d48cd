/* SPDX-License-Identifier: MIT */
/* A profile's values by bucket: a plain value between who counted them and who prints them. */
#ifndef SKYOBSERVE_MODEL_BUCKETS_H
#define SKYOBSERVE_MODEL_BUCKETS_H

#include <stdbool.h>

#include "types.h"
#include "user/base/arena.h"

struct bucket_row {
	const char *name;
	u64 samples; /* how often the profiler sampled it; 0 where the profile does not say */
	u64 value;
	/* Where its true share of the samples is, with 95 %: of this row, and of all rows at once.
	 * Each is 0 to 1. Only where samples are counted. */
	double low, high, all_low, all_high;
};

/* A line of the rules, and how many stacks it took. */
struct bucket_line {
	u32 line;
	u64 stacks;
};

struct bucket_table {
	/* The partition: sums to the total. The last row is what no rule took. */
	struct bucket_row *buckets;
	/* Sums of buckets, and rows that overlap: neither may be added to anything. */
	struct bucket_row *sums, *overlaps;
	struct bucket_line *lines;
	u32 nr_buckets, nr_sums, nr_overlaps, nr_lines;
	u64 samples, value; /* of the partition */
	bool counted;	    /* the profile says how many samples there are */
	struct arena arena;
};

#endif /* SKYOBSERVE_MODEL_BUCKETS_H */
