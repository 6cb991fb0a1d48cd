/* SPDX-License-Identifier: MIT */
/*
 * Where samples were taken: by the profile, and by the record, which saw the instruction that each
 * signal of its profiler interrupted.
 */
#ifndef SKYOBSERVE_CROSSCHECK_LEAVES_H
#define SKYOBSERVE_CROSSCHECK_LEAVES_H

#include "user/model/profile.h"
#include "user/model/record.h"

/* The samples at each address, in both. A zeroed struct is an empty table. */
struct leaf_table {
	u64 *address, *profile, *ours;
	u32 n;
};

/*
 * Compare @p with profile number @number of the facts (cmd/recorder_profiles.h). The table is empty
 * if the record has no places. -EBADMSG: they are damaged; -ENOMEM. leaves_done in any case.
 */
int leaves_compare(const struct profile *p, const struct record *r, u32 number,
		   struct leaf_table *ret_table, struct err *err);
void leaves_done(struct leaf_table *table);

#endif /* SKYOBSERVE_CROSSCHECK_LEAVES_H */
