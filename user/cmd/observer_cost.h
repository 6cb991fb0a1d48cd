/* SPDX-License-Identifier: MIT */
/* What observing costs each process: hits that user space counts, and windows. */
#ifndef SKYOBSERVE_CMD_OBSERVER_COST_H
#define SKYOBSERVE_CMD_OBSERVER_COST_H

#include "user/model/snapshot.h"
#include "user/model/totals.h"

/* Of one process. Zeroed at its begin. */
struct observed_cost {
	/* Entered; at how many it was asked which goroutine, or which thread, they are for. */
	u64 calls, asked_calls, asked_threads;
	bool begun;
	u64 window_begin_ns;
	u64 begin_ns[NR_GROUPS], begin_cpu_ns;	 /* at the begin of the window */
	u64 window_ns[NR_GROUPS], window_cpu_ns; /* the last one that is over; cpu 0: none */
	u64 windows;				 /* that are over */
};

/*
 * Bring @cost up to @snap: fill the cells of @totals that user space makes, and the window of
 * @snap. @asked: the calls since last time were asked for whose work they are.
 */
void observed_cost_step(struct observed_cost *cost, const struct cost_prices *prices, bool asked,
			struct process_snap *snap, struct process_totals *totals);

#endif /* SKYOBSERVE_CMD_OBSERVER_COST_H */
