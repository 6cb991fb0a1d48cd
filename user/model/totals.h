/* SPDX-License-Identifier: MIT */
/* Totals of a process: what was charged plus what its threads have spent since. */
#ifndef SKYOBSERVE_MODEL_TOTALS_H
#define SKYOBSERVE_MODEL_TOTALS_H

#include "user/model/snapshot.h"

/*
 * The scheduler closes a slice at its own clock, which is older than the tracepoint: on a
 * contended CPU 12-42 us a switch on average, p90 60 us. So time on the CPU between our stamps and
 * by the scheduler part by that much, and so do the two waits; the sum of the scheduler's run and
 * wait does not (wall).
 */
#define IDENTITY_SWITCH_NS 64000ULL

/* A running thread's runtime is as of the last tick; 100 Hz is the slowest that is configured. */
#define TICK_NS 10000000ULL
/* From the birth of a thread to the first event that we see of it. */
#define BIRTH_NS 200000ULL
/* What healing the stamps of a lost switch leaves: the scheduler's clock against ours. */
#define LOST_SWITCH_NS 1000000ULL

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
