/* SPDX-License-Identifier: MIT */
/*
 * Processes that ended, added up by name: a process that ends is folded in here, its slot is given
 * back, and no counter falls. Bounded: beyond so many names the rest is `other`.
 */
#ifndef SKYOBSERVE_CMD_ENDED_H
#define SKYOBSERVE_CMD_ENDED_H

#include "user/model/totals.h"

#define OTHER_NAME "other"

struct ended;

/* NULL when memory runs out. */
struct ended *ended_new(size_t max_names);
void ended_free(struct ended *ended);

/*
 * Add what a process did, at its end, to @name. Takes over the arrays of @p or frees them. 0 or
 * -ENOMEM.
 */
int ended_add(struct ended *ended, const char *name, struct process_snap *p,
	      const struct process_totals *totals);

/* What was added to @name is of OTHER_NAME from now on. 0 or -ENOMEM. */
int ended_move(struct ended *ended, const char *name);

/*
 * Append a copy of each name's sums to the arrays at @ret_processes and @ret_totals, which have
 * room for ended_names() more. Returns 0 or -ENOMEM (what was appended so far is counted in *n).
 */
size_t ended_names(const struct ended *ended);
int ended_copy(const struct ended *ended, struct process_snap *ret_processes,
	       struct process_totals *ret_totals, size_t *n);

#endif /* SKYOBSERVE_CMD_ENDED_H */
