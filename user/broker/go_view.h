/* SPDX-License-Identifier: MIT */
/*
 * What the serving process knows of the Go program in a process: what the broker said last. It
 * outlives the process, and the broker.
 */
#ifndef SKYOBSERVE_BROKER_GO_VIEW_H
#define SKYOBSERVE_BROKER_GO_VIEW_H

#include "user/broker/client.h"

/* All Go programs of a snapshot together wait no longer than this. */
#define GO_VIEW_DEADLINE_NS (3 * NS_PER_SEC)

/* Zeroed: nothing yet. */
struct go_view {
	struct go_counters last;
	struct program_facts program;
	bool counted, asked;
};

/* State of the group `go` in one snapshot, over all processes. Zeroed at its begin. */
struct go_view_sum {
	u32 read, refused;
	bool silent; /* the broker did not answer; the others are not asked any more */
	char why[160];
};

/* Let the broker begin to read the file that process @pid executes. */
void go_view_begin(struct broker_client *client, pid_t pid);

/*
 * Read a process that is alive now, until @deadline_ns at most. Where that fails, *ret_stats has
 * the counters of the last time and @sum says why. Counters never go down.
 */
void go_view_read(struct go_view *view, struct broker_client *client,
		  const struct process_identity *id, u64 deadline_ns, struct go_view_sum *sum,
		  struct go_stats *ret_stats);

/* Of a process that has ended: its counters stay, and the broker forgets it. */
void go_view_ended(struct go_view *view, struct broker_client *client,
		   const struct process_identity *id, struct go_stats *ret_stats);

void go_view_state(const struct go_view_sum *sum, struct group_state *ret_state);

#endif /* SKYOBSERVE_BROKER_GO_VIEW_H */
