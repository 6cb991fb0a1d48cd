/* SPDX-License-Identifier: MIT */
/* All processes of one name, added up. */
#ifndef SKYOBSERVE_MODEL_MERGE_H
#define SKYOBSERVE_MODEL_MERGE_H

#include "user/model/identities.h"
#include "user/model/kinds.h"

#define NR_ABIS 3

/* Calls in flight of one kind. */
struct flight {
	u32 abi;
	u32 nr;
	u64 n;
	u64 oldest_ns;
};

/* A sum over processes. Large (about 250 KB): one, zeroed, is used again for every name. */
struct merged {
	const char *name; /* of the first process */
	pid_t pid;
	u32 nr_processes, nr_alive, nr_threads;
	bool has_details;	   /* one of them has per-call counters and histograms */
	bool has_names;		   /* one of them has its calls by name */
	bool has_calls, has_hists; /* there is something in @calls, in @hists */
	bool goroutines;	   /* kinds of one of them are of goroutines */
	bool has_resident;
	u64 begin_wall_ns; /* the earliest observation */
	u64 cells[NR_CELLS];
	struct error_count *errors;
	size_t nr_errors;
	struct kind_list kinds; /* the background first; none: not told apart */
	struct foreign_count *foreign;
	size_t nr_foreign;
	struct flight *flights;
	size_t nr_flights;
	u64 resident_bytes;
	u64 window_cost_ns, window_cpu_ns;
	struct go_stats go;
	struct go_gc gc;
	struct identity identities[NR_IDENTITIES]; /* residuals and bounds added up */
	bool identities_hold[NR_IDENTITIES];
	bool has_call_hist[NR_CALL_SLOTS];

	/* Large, and of most names nothing: cleared only when something was put there. */
	u64 calls[NR_CALL_SLOTS];
	struct process_hists hists;
	struct hist call_hists[NR_CALL_SLOTS]; /* valid where @has_call_hist */
};

/* Add process @i of @snap. Returns 0 or -ENOMEM. */
int merged_add(struct merged *m, const struct snapshot *snap, size_t i,
	       const struct process_totals *totals);

/* Forget the contents, so that the struct can be used for another name. */
void merged_clear(struct merged *m);

#endif /* SKYOBSERVE_MODEL_MERGE_H */
