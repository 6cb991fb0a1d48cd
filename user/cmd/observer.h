/* SPDX-License-Identifier: MIT */
/*
 * The observer: wires /proc, the BPF session and the model together for a set of processes. What
 * serve, top, selftest, record and the tests share.
 */
#ifndef SKYOBSERVE_CMD_OBSERVER_H
#define SKYOBSERVE_CMD_OBSERVER_H

#include "user/bpf/session.h"
#include "user/model/family.h"
#include "user/model/totals.h"

struct broker_client;
struct observer;
struct record_frame;

struct observer_config {
	struct bpf_bounds bounds; /* max_pid is cut to that of the machine */
	u32 groups;		  /* mask of enum probe_group */
	bool force_raw_tp;
	bool label_pid;
	u32 max_names;	   /* that have series of their own; 0: bounds.max_processes */
	bool follow;	   /* children of targets are observed as well, from their birth */
	bool all;	   /* the whole machine: observer_add_all */
	bool all_syscalls; /* calls by name of processes without details, too */
	bool calibrate;	   /* measure what hits cost: some 30 ms */
	bool keep_ended;   /* ended processes keep their places (for tests); else they are folded */
	const char *const *comms; /* processes that come to be called so are taken in as targets: */
	size_t nr_comms;	  /* at most MAX_WANTED */
	size_t nr_files;	  /* places for observer_want_file, at most MAX_WANTED */
	const struct routes *routes; /* as in struct bpf_session_config; the caller's */
	const struct good_kind *goods;
	u32 nr_goods;
	/* Functions whose calls are interactions: their kinds, and their whole names. The caller's,
	 * as long as the observer lives. */
	const struct route_name *function_kinds;
	const char *const *function_names;
	u32 nr_functions;
	struct broker_client *broker; /* the caller's; NULL: nobody but us looks at /proc */
	const char *name; /* --name: `process` label of all targets, or NULL for their comm */
};

/* Attach; nothing is observed yet. */
int observer_open(const struct observer_config *config, struct observer **ret_observer,
		  struct err *err);

/* Detach everything; NULL is fine. */
void observer_free(struct observer *o);

/*
 * Observe process @pid as a target from now on. -EEXIST if this incarnation is observed already,
 * -ENOENT if it does not exist, -ENOSPC if there are too many.
 */
int observer_add(struct observer *o, pid_t pid, struct err *err);

/*
 * Take in as targets those that execute a file from now on, at their exec: bpf_session_want_file.
 */
void observer_want_file(struct observer *o, size_t i, u64 inode, u64 device);

/*
 * With functions: whether the program that is open as @fd has all of them, so that a process which
 * executes it can be observed: 0, -ENOTSUP with @err saying why not, or another errno.
 */
int observer_check_program(struct observer *o, int fd, struct err *err);
/* Whether all targets that are alive have probes: 0; -ENOTSUP: one has a program that does not fit;
 * else another errno. */
int observer_check_functions(const struct observer *o, struct err *err);

/*
 * From now on no program can be read or probed: privileges are about to be dropped. Go programs
 * that come later have no probes.
 */
void observer_seal(struct observer *o);

/* Whether a live process of that number is observed by itself. */
bool observer_observes(const struct observer *o, pid_t pid);

/*
 * Process @i began after the observer was opened. If a target like that was found by looking for
 * it (observer_add), its first part is lost: observer_count_late counts it among the drops.
 */
bool observer_began_later(const struct observer *o, size_t i);
void observer_count_late(struct observer *o);

/*
 * A target that the programs took in and that was not returned yet, or NULL. Those that ended
 * before they were seen alive are not.
 */
const struct process_identity *observer_next_come(struct observer *o);

/* Observe every program that runs now, but ourselves; those to come are followed. */
int observer_add_all(struct observer *o, struct err *err);

/*
 * How the interactions of a process are told apart is in its file, which is read by the broker in
 * its own time: wait for it. For the beginning; later it is asked whenever ends are looked for.
 */
void observer_await_owners(struct observer *o, u64 patience_ns);

/*
 * Processes that are observed one by one, followed children included. With keep_ended also those
 * that ended, at their places; else the places change with observer_refresh.
 */
size_t observer_processes(const struct observer *o);
const struct process_identity *observer_identity(const struct observer *o, size_t i);

/* Targets (not children) that are alive. */
size_t observer_alive(const struct observer *o);

/*
 * Take note of children that were born, of programs that were executed (identities are read again),
 * and of processes that ended, and fold these in. Every snapshot does it too; a process that is
 * born and ends between two calls is not lost.
 */
void observer_refresh(struct observer *o);

/*
 * The same for a timer: it may be called often, and folds those that ended in when there are many
 * of them, or after a while.
 */
void observer_tidy(struct observer *o);

/*
 * A child goes by the first program that it executes. Until then, for a second at most, it is in no
 * snapshot; from now on no longer: for the last one.
 */
void observer_name_all(struct observer *o);

/* A descriptor that becomes readable when target @i ends; -1 for others, and after that. */
int observer_pidfd(const struct observer *o, size_t i);

/* Target @i has ended (its descriptor was readable). */
void observer_ended(struct observer *o, size_t i);

/* Readable when any target ends: then call observer_next_ended until it returns NULL. */
int observer_fd(const struct observer *o);
/* Who ended; valid until the next call of any function here. */
const struct process_identity *observer_next_ended(struct observer *o);

/* What the profiler of process @i got so far; false: that is not looked at (group `census`). */
bool observer_census(const struct observer *o, size_t i, struct census *ret_census);
/* Where its profile number @profile took samples; the caller frees *ret_leaves. 0 or -ENOMEM. */
int observer_leaves(const struct observer *o, size_t i, u32 profile, struct leaf_count **ret_leaves,
		    size_t *ret_n);

/* Monotonic ns, the clock of all snapshots. */
u64 observer_now(void);

/* How long something has been observed: since the first process was taken in, 0 before. */
u64 observer_age_ns(const struct observer *o);

const struct group_state *observer_groups(const struct observer *o);

/*
 * Take a snapshot with the totals of each of its processes; counters never go down from one to the
 * next. *ret_snap (snapshot_done) and *ret_totals (free) belong to the caller.
 */
int observer_snapshot(struct observer *o, struct snapshot *ret_snap,
		      struct process_totals **ret_totals, struct err *err);

/* Whether bpf(2) lets a snapshot be taken with the capabilities that are effective now. By trying.
 */
bool observer_may_go_on(const struct observer *o);

/* Snapshot and publish into an empty set (family_set_done). */
int observer_publish(struct observer *o, struct family_set *ret_set, struct err *err);

/* The same as an (empty) frame of a record: with the edge in which it was read, and its time. */
int observer_frame(struct observer *o, struct record_frame *ret_frame, struct err *err);

#endif /* SKYOBSERVE_CMD_OBSERVER_H */
