/* SPDX-License-Identifier: MIT */
/* The values of a profile, by rules. */
#ifndef SKYOBSERVE_CROSSCHECK_BUCKETS_H
#define SKYOBSERVE_CROSSCHECK_BUCKETS_H

#include "user/crosscheck/rules.h"
#include "user/model/buckets.h"
#include "user/model/profile.h"

/* More unmatched samples than this share of all: the rules do not fit the profile. */
#define BUCKETS_MAX_UNMATCHED 0.01

/*
 * Put every sample of @p into buckets. Values are of type @type; samples are counted, and have
 * intervals, where the profile has a type "samples"/"count". -EINVAL: a value is below 0, as in a
 * difference of profiles; -EOVERFLOW; -ENOMEM. buckets_done afterwards, in any case.
 */
int buckets_of_profile(const struct rules *rules, const struct profile *p, u32 type,
		       struct bucket_table *ret_table, struct err *err);
void buckets_done(struct bucket_table *table);

/* The row of that name in the partition or the sums, or NULL. */
const struct bucket_row *buckets_find(const struct bucket_table *table, const char *name);
/* ... or of those that overlap. */
const struct bucket_row *buckets_find_overlap(const struct bucket_table *table, const char *name);

#endif /* SKYOBSERVE_CROSSCHECK_BUCKETS_H */
