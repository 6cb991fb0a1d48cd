/* SPDX-License-Identifier: MIT */
/*
 * The observer: wires /proc, the BPF session and the model together for a set of processes. What
 * serve, top, record and the tests share.
 */
#ifndef SKYOBSERVE_CMD_OBSERVER_H
#define SKYOBSERVE_CMD_OBSERVER_H

#include "user/bpf/session.h"
#include "user/model/family.h"
#include "user/model/totals.h"

struct observer;

struct observer_config {
	struct bpf_bounds bounds;
	u32 groups;	      /* mask of enum probe_group */
	bool force_raw_tp;
	bool label_pid;
	const char *name;     /* --name: `process` label of all targets, or NULL for their comm */
};

/* Attach; nothing is observed yet. */
int observer_open(const struct observer_config *config, struct observer **ret_observer,
		  struct err *err);

/* Detach everything; NULL is fine. */
void observer_free(struct observer *o);

/*
 * Observe process @pid from now on. -EEXIST if this incarnation is observed already, -ENOENT if it
 * does not exist, -ENOSPC if there are too many.
 */
int observer_add(struct observer *o, pid_t pid, struct err *err);

/* Observed processes, ended ones included, and those alive. */
size_t observer_processes(const struct observer *o);
size_t observer_alive(const struct observer *o);

/*
 * A descriptor that becomes readable when process @i < observer_processes() ends, or -1 once that
 * was taken note of. Owned by the observer.
 */
int observer_pidfd(const struct observer *o, size_t i);

/*
 * Process @i has ended (its descriptor was readable). Its last thread may still be on its way off
 * the CPU, so it is observed until observer_settle, a moment later.
 */
void observer_ended(struct observer *o, size_t i);

/* Stop observing the processes that ended. Their totals stay. */
void observer_settle(struct observer *o);

/* How long something has been observed: since the first process was taken in, 0 before. */
u64 observer_age_ns(const struct observer *o);

const struct process_identity *observer_identity(const struct observer *o, size_t i);
const struct group_state *observer_groups(const struct observer *o);

/*
 * Take a snapshot with the totals of each of its processes; counters never go down from one to the
 * next. *ret_snap (snapshot_done) and *ret_totals (free) belong to the caller.
 */
int observer_snapshot(struct observer *o, struct snapshot *ret_snap,
		      struct process_totals **ret_totals, struct err *err);

/* Snapshot and publish into an empty set (family_set_done). */
int observer_publish(struct observer *o, struct family_set *ret_set, struct err *err);

#endif /* SKYOBSERVE_CMD_OBSERVER_H */
