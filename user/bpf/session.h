/* SPDX-License-Identifier: MIT */
/*
 * The BPF side as an object: maps, programs, links. Life cycle, in this order:
 *
 *	bpf_session_open     create the maps, load and attach every probe group this kernel allows
 *	bpf_session_observe  take a process in: seed its threads, then switch it on
 *	collect (collect.h)  snapshots
 *	bpf_session_forget   switch a process off; its totals stay
 *	bpf_session_free     detach everything
 *
 * This folder is the only one that knows libbpf.
 */
#ifndef SKYOBSERVE_BPF_SESSION_H
#define SKYOBSERVE_BPF_SESSION_H

#include <stdbool.h>

#include "layout.h"
#include "user/base/err.h"
#include "user/model/snapshot.h"

/* Sizes of the maps. All are upper bounds of memory: what does not fit is counted as dropped. */
struct bpf_bounds {
	u32 max_processes;
	u32 max_threads;
	u32 max_rows;	/* duration histograms of system calls, of all processes */
	u32 max_errors; /* (process, call, errno) triples */
	u32 max_lanes;	/* copies of the counters, at most one per CPU; a power of two */
};

extern const struct bpf_bounds bpf_bounds_default;

struct bpf_session;

/*
 * Load and attach. @groups is a mask of enum probe_group that are wanted. @force_raw_tp loads the
 * untyped variant of every hook (for tests; it is chosen by itself where typed ones are refused).
 *
 * A group that the kernel refuses is down with its reason (bpf_session_groups); only the process
 * group is indispensable. Returns 0, or a negative errno with @err saying what is missing:
 * -EPERM without privilege, -EOPNOTSUPP for a kernel without BTF.
 */
int bpf_session_open(const struct bpf_bounds *bounds, u32 groups, bool force_raw_tp,
		     struct bpf_session **ret_session, struct err *err);

/* Detach and free. NULL is fine. */
void bpf_session_free(struct bpf_session *s);

/* State of each group, NR_GROUPS of them; lives as long as the session. */
const struct group_state *bpf_session_groups(const struct bpf_session *s);

/* Where a process was taken in. */
struct observed_process {
	u32 slot;		  /* its name towards the collector */
	u64 begin_ns;		  /* observed since */
	struct task_counts ended; /* the kernel's sums of its threads that were gone by then */
};

/*
 * Observe the process @tgid from now on; @calls come from /proc. Returns 0, -ENOSPC when
 * max_processes are taken in already, -ESRCH when it has no thread (any more).
 */
int bpf_session_observe(struct bpf_session *s, u32 tgid, const struct thread_call *calls,
			size_t nr_calls, struct observed_process *ret_observed, struct err *err);

/*
 * Stop observing the process in @slot. Its cells keep their totals; the slot is not used again, so
 * counters never fall.
 */
void bpf_session_forget(struct bpf_session *s, u32 slot);

#endif /* SKYOBSERVE_BPF_SESSION_H */
