/* SPDX-License-Identifier: MIT */
/*
 * The BPF side as an object: maps, programs, links. Life cycle, in this order:
 *
 *	bpf_session_open     create the maps, load and attach every probe group this kernel allows
 *	bpf_session_observe  take a process in: seed its threads, then switch it on
 *	bpf_session_scan     who is observed by now (followed children come by themselves), who
 *ended collect_snapshot     (collect.h) read what was counted bpf_session_release  give the slot of
 *an ended process back, once its totals were taken over bpf_session_free     detach everything
 *
 * This folder is the only one that knows libbpf.
 */
#ifndef SKYOBSERVE_BPF_SESSION_H
#define SKYOBSERVE_BPF_SESSION_H

#include <stdbool.h>

#include "layout.h"
#include "user/base/err.h"
#include "user/model/routes.h"
#include "user/model/snapshot.h"

/* Sizes of the maps. All are upper bounds of memory: what does not fit is counted as dropped. */
struct bpf_bounds {
	u32 max_details;   /* processes with per-call counters and histograms */
	u32 max_processes; /* all, above max_details; one more slot is `other` */
	u32 max_threads;
	u32 max_rows;	/* duration histograms of system calls, of all processes */
	u32 max_errors; /* (process, call, errno) triples */
	u32 max_lanes;	/* copies of the counters, at most one per CPU; a power of two */
	u32 max_kinds;	/* kinds of interactions, of all processes, `other` of each included */
	u32 max_flows;	/* connections on which requests are read */
	u32 max_go;	/* processes whose Go collector is counted; at most max_details */
	u32 max_leaves; /* places at which profilers took samples */
	u32 max_pid;	/* largest process id of this machine */
};

extern const struct bpf_bounds bpf_bounds_default;

struct bpf_session;

/*
 * Load and attach. @groups is a mask of enum probe_group that are wanted. @force_raw_tp loads the
 * untyped variant of every hook (for tests; it is chosen by itself where typed ones are refused).
 * @observe_all takes in whatever is executed by a process that is not a child of an observed one.
 *
 * A group that the kernel refuses is down with its reason (bpf_session_groups), and nothing of it
 * is attached; the others are loaded knowing that it is not there. Only the process group is
 * indispensable. Returns 0, or a negative errno with @err saying what is missing:
 * -EPERM without privilege, -EOPNOTSUPP for a kernel without BTF.
 */
struct bpf_session_config {
	struct bpf_bounds bounds;
	u32 groups;
	bool force_raw_tp;
	bool observe_all;
	bool all_syscalls; /* calls by name of all processes, not of those with details only */
	const char *const
		*comms; /* processes that come to be called so, by exec or by themselves, */
	u32 nr_comms;	/* are taken in at that moment; up to MAX_WANTED */
	u32 nr_files;	/* places for bpf_session_want_file, up to MAX_WANTED */
	bool follow;	/* the children of both as well */
	const struct routes *routes;	    /* of interactions; NULL: none */
	const struct good_kind *goods;	    /* when their responses are good ones */
	u32 nr_goods;			    /* up to MAX_GOODS */
	const struct route_name *functions; /* whose calls are interactions, and not requests */
	u32 nr_functions;		    /* up to MAX_FUNCTIONS */
	const char *refused_hook; /* for tests: as if the kernel refused to attach it; or NULL */
};

int bpf_session_open(const struct bpf_session_config *config, struct bpf_session **ret_session,
		     struct err *err);

/*
 * Whether the calling process may, with the capabilities that are effective now, do everything that
 * the functions below and collect_snapshot ask of bpf(2): tried, once each. Kernels before 5.19
 * refuse all of it without CAP_BPF where kernel.unprivileged_bpf_disabled is not 0; later ones
 * only the creation of maps and programs. Leaves the session as it was.
 */
bool bpf_session_may_go_on(const struct bpf_session *s);

/*
 * Have exactly the hooks of the groups in @groups attached, of those that were when the session was
 * opened: links are closed and made again, so that the others cost nothing. For measurements: what
 * happens meanwhile is missed, and the books of who is observed do not close any more. On failure
 * what could not be attached is detached.
 */
int bpf_session_attach_only(struct bpf_session *s, u32 groups, struct err *err);

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

/* How a process is to be observed. */
struct observe_how {
	bool details; /* per-call counters and histograms, while there is room for them */
	bool follow;  /* its children are observed as it is, from their birth */
};

/*
 * Observe the process @tgid from now on; @calls come from /proc. Returns 0, -ENOSPC when
 * max_processes are taken in already, -EEXIST if it is observed (say, as somebody's child), -ESRCH
 * when it has no thread (any more).
 */
int bpf_session_observe(struct bpf_session *s, u32 tgid, const struct observe_how *how,
			const struct thread_calls *calls, struct observed_process *ret_observed,
			struct err *err);

/*
 * The same for a process that there is no place for: it is counted in the slot of the others.
 */
int bpf_session_observe_other(struct bpf_session *s, u32 tgid, bool follow,
			      const struct thread_calls *calls, struct err *err);

/*
 * Take in, from now on, whoever executes this file, at its exec. @i < nr_files; a file that was
 * wanted at that place before no longer is. @inode and @device as stat(2) has them, or @inode 0.
 */
void bpf_session_want_file(struct bpf_session *s, u32 i, u64 inode, u64 device);

/* Count a loss that only user space can see. */
void bpf_session_drop(struct bpf_session *s, enum drop_reason reason);

/* A slot in use. */
struct process_slot {
	u32 slot;
	u32 tgid;
	u32 parent_tgid; /* of a followed child, else 0 */
	u32 live_threads;
	u32 flags; /* PROCESS_* */
	u32 execs; /* programs that it executed while it was observed */
	u64 begin_ns;
	u64 end_ns;   /* 0 while it lives */
	u64 start_ns; /* of the process */
	struct task_counts ended;
	char comm[COMM_BYTES]; /* of one that the programs took in; else empty */
};

/* Fill @ret_slots with up to @n slots in use, ascending. Returns how many there are. */
size_t bpf_session_scan(const struct bpf_session *s, struct process_slot *ret_slots, size_t n);

/*
 * Look for interactions of the process in @slot from now on. Its kind `other` is there from the
 * beginning. -ENOSPC: there are too many kinds.
 */
int bpf_session_set_owner(struct bpf_session *s, u32 slot, const struct owner_how *how,
			  struct err *err);

/* --- probes in programs --- */

/* A BPF program, by its name, and where it belongs: an offset in a file. */
struct probe_place {
	const char *program;
	u64 offset;
};

#define BPF_MAX_PROBES 40

struct probe_target {
	pid_t pid; /* in this process only, in all its threads */
	int fd;	   /* its file, whatever its name leads to by now */
	const struct probe_place *places;
	size_t n;
};

struct bpf_probes;

/*
 * Attach to @target in the order of its places; all or nothing. That a place is passed for no other
 * reason than a call of its function is the caller's business; a return address is never touched.
 * Needs CAP_PERFMON. Returns 0 or a negative errno.
 */
int bpf_session_probe(struct bpf_session *s, const struct probe_target *target,
		      struct bpf_probes **ret_probes, struct err *err);

/* Detach. NULL is fine. */
void bpf_probes_free(struct bpf_probes *probes);

/* What probes counted of the Go collector in this slot's process. */
void bpf_session_read_go_gc(const struct bpf_session *s, u32 slot, struct go_gc_cells *ret_cells);

/* Whether what probes see of a Go collector in this slot's process is counted. */
bool bpf_session_counts_go_gc(const struct bpf_session *s, u32 slot);
/*
 * What the profiler of the process in @slot got so far. False: the group `census` is down. Costs
 * nothing: it is memory that we have.
 */
bool bpf_session_census(const struct bpf_session *s, u32 slot, struct census *ret_census);

/* An instruction that samples of a profile interrupted, and how many did. */
struct leaf_count {
	u64 address, n;
};

/*
 * All of profile number @profile (of the census) of the process in @slot, by address. 0: the caller
 * frees *ret_leaves; -ENOMEM.
 */
int bpf_session_leaves(const struct bpf_session *s, u32 slot, u32 profile,
		       struct leaf_count **ret_leaves, size_t *ret_n);

/* The slot that stands for all processes beyond max_processes. */
u32 bpf_session_other_slot(const struct bpf_session *s);

/*
 * Stop observing the process in @slot: it has ended, whatever the programs saw of it. Its totals
 * stay until it is released.
 */
void bpf_session_end(struct bpf_session *s, u32 slot);

/* Forget the totals of an ended process and give its slot back. */
void bpf_session_release(struct bpf_session *s, u32 slot);

#endif /* SKYOBSERVE_BPF_SESSION_H */
