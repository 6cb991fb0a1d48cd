/* SPDX-License-Identifier: MIT */
/* Totals of a process: what was charged plus what its threads have spent since. */
#ifndef SKYOBSERVE_MODEL_TOTALS_H
#define SKYOBSERVE_MODEL_TOTALS_H

#include "user/model/snapshot.h"

struct process_totals {
	u64 cells[NR_CELLS]; /* as in the metric table, up to the moment of the snapshot */
	u64 runtime_ns;	     /* charged runtime plus open, by the threads' own books (I-3) */
	u64 run_delay_ns;    /* the kernel's run_delay, without the wait that is still open (I-7) */
	u64 open_wait_ns;    /* waits for a CPU that are still open */
	u64 open_enters;     /* entered and not returned, by the threads' counts (I-4) */
	u64 in_flight; /* calls in flight whose entry was seen, by the threads' states (I-4) */
	u32 running;   /* threads on a CPU */
	u32 threads;
};

/* Pure. Open spells count up to now, so that a block of 30 s is seen while it lasts. */
void totals_of(const struct process_snap *p, struct process_totals *ret_totals);

/* The same for one account of it, whose @cells were charged: in place. */
void totals_of_account(const struct process_snap *p, u32 account, u64 cells[NR_CELLS]);

/*
 * Raise the counters of @now that are below @last (an earlier result for the same process) to it.
 * What was estimated for a spell in progress may turn out a few microseconds shorter; a counter
 * must not go down for it.
 */
void totals_floor(const struct process_totals *last, struct process_totals *now);
void totals_floor_cells(const u64 last[NR_CELLS], u64 now[NR_CELLS]);

#endif /* SKYOBSERVE_MODEL_TOTALS_H */
