/* SPDX-License-Identifier: MIT */
/*
 * The books close: the same total from two independent sources.
 *
 * | identity   | one side                                   | other side                        |
 * |------------|--------------------------------------------|-----------------------------------|
 * | cpu        | our CPU time (scheduler's clock, charged)  | utime + stime of /proc/PID/stat   |
 * | cpu_stamps | our CPU time                               | time between our switch stamps    |
 * | modes      | user + system                              | runtime by the threads' own books |
 * | in_flight  | entries - exits of all threads             | calls that threads are in         |
 * | syscalls   | sum over the calls by name                 | entries by the threads' counts    |
 * | stamps     | on + waiting + blocked between our stamps  | wall time of the threads          |
 * | run_queue  | waiting between our stamps                 | the kernel's run_delay            |
 * | wall       | CPU time + run_delay + blocked             | wall time of the threads          |
 * | switches   | voluntary + involuntary (charged)          | the kernel's sums of all threads  |
 *
 * They are I-2, I-1, I-3, I-4, I-5, I-6, I-7, I-8 of docs/MEASUREMENT.md and one more; the chain
 * of context switches (I-17) is the machine's, not a process's.
 */
#ifndef SKYOBSERVE_MODEL_IDENTITIES_H
#define SKYOBSERVE_MODEL_IDENTITIES_H

#include "user/model/totals.h"

enum identity_id {
	IDENTITY_CPU,
	IDENTITY_CPU_STAMPS,
	IDENTITY_MODES,
	IDENTITY_IN_FLIGHT,
	IDENTITY_SYSCALLS,
	IDENTITY_STAMPS,
	IDENTITY_RUN_QUEUE,
	IDENTITY_WALL,
	IDENTITY_SWITCHES,
	NR_IDENTITIES
};

extern const char *const identity_names[NR_IDENTITIES];

struct identity {
	bool checked;  /* both sides were there */
	s64 residual;  /* one side minus the other, ns or counts */
	u64 total;     /* of the other side */
	u64 tolerance; /* largest residual that is not a fault */
};

/* Pure. @tick_ns is the kernel's tick (an upper bound will do), @user_hz that of /proc. */
void identities_of(const struct snapshot *snap, const struct process_snap *p,
		   const struct process_totals *t, struct identity ret_identities[NR_IDENTITIES]);

/* The residuals of two processes do not cancel: |a| + |b|, as far as it can be held. */
void identity_add(struct identity *sum, const struct identity *more);

/* |residual| / total, 0 if both are 0. */
double identity_ratio(const struct identity *identity);

bool identity_holds(const struct identity *identity);

/* What it means when the chain does not hold: for people. */
extern const char chain_meaning[];

/* I-17: breaks of the chain of switches, at most one in a thousand. */
bool chain_holds(const struct machine_snap *machine);

#endif /* SKYOBSERVE_MODEL_IDENTITIES_H */
