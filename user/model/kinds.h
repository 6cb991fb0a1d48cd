/* SPDX-License-Identifier: MIT */
/* Kinds of interactions: brought up to now, and added up by name. */
#ifndef SKYOBSERVE_MODEL_KINDS_H
#define SKYOBSERVE_MODEL_KINDS_H

#include "user/model/snapshot.h"

/* Kinds of one or more processes, by name; a zeroed one is empty. @at is to be freed. */
struct kind_list {
	struct kind_snap *at;
	size_t n;
};

/*
 * Add what the threads of @p have spent since their last charge to the kinds of @p. If it has
 * ended, so have its interactions, unanswered, and its sessions.
 */
void kinds_finish(struct process_snap *p);

/*
 * Raise the counters of @p's kinds that are below those of @last, an earlier result for the same
 * process; then keep them in @last. -ENOMEM: @last is as it was.
 */
int kinds_floor(struct kind_list *last, struct process_snap *p);

/* Add @n kinds to those of the same name in @sum, or put them behind. -ENOMEM. */
int kinds_add(struct kind_list *sum, const struct kind_snap *kinds, size_t n);

/* What a kind is called in a label; an empty name is `background`. Lives as long as @k. */
const char *kind_label(const struct kind_snap *k);

/* Interactions in flight, and open sessions. */
u64 kind_in_flight(const struct kind_snap *k);
u64 kind_sessions(const struct kind_snap *k);

#endif /* SKYOBSERVE_MODEL_KINDS_H */
