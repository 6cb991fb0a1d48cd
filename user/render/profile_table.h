/* SPDX-License-Identifier: MIT */
/* A profile for people. */
#ifndef SKYOBSERVE_RENDER_PROFILE_TABLE_H
#define SKYOBSERVE_RENDER_PROFILE_TABLE_H

#include "user/base/buf.h"
#include "user/model/profile_top.h"

/*
 * Append what the profile is, how much it holds, how many of its stacks may be cut, and the first
 * @max_rows rows of @top, whose values are of type @type and sum to @sums. Texts are cleaned.
 */
void profile_table_head(const struct profile *p, u32 type, const struct profile_sums *sums,
			struct buf *out);
void profile_table_top(const struct profile *p, u32 type, const struct profile_sums *sums,
		       const struct profile_top *top, u32 max_rows, struct buf *out);

#define PROFILE_PERCENT_CHARS 32

/* "42.70%", as pprof prints shares: "  100%" from 99.95 %, two digits below 1 %. */
void profile_percent(u64 part, u64 total, char ret_text[PROFILE_PERCENT_CHARS]);

/* The largest unit in which every value is whole: *ret_size of the profile's own. */
const char *profile_unit(const char *unit, const struct profile_top *top, u64 *ret_size);

#endif /* SKYOBSERVE_RENDER_PROFILE_TABLE_H */
