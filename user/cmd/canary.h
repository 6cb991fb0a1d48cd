/* SPDX-License-Identifier: MIT */
/*
 * The canary: a loop of fixed work, run on each CPU once a second by a process of its own, whose
 * CPU time is compared. A machine that runs slower than before (frequency, a burst that is used up,
 * a neighbour on the same core, steal that nobody tells of) is seen by it, and by nothing else.
 */
#ifndef SKYOBSERVE_CMD_CANARY_H
#define SKYOBSERVE_CMD_CANARY_H

#include <stdbool.h>

#include "types.h"
#include "user/base/err.h"

struct canary;

/* What the loops that began in a window took. */
struct canary_result {
	u64 loops, cpu_ns;		     /* how many, and all of them together */
	u64 mean_ns;			     /* of one */
	u64 spread_permille, drift_permille; /* see gates.h; of the CPU where it is largest */
};

/*
 * Start it; for a process that has one thread. It gives up its privileges and ends when its pipe
 * does. Returns 0 or a negative errno with @err.
 */
int canary_start(struct canary **ret_canary, struct err *err);

/* Take what it has told so far. It waits when nobody does for long. */
void canary_poll(struct canary *canary);

/* Loops that began from @begin_ns to @end_ns (monotonic). False if there were fewer than three. */
bool canary_result(struct canary *canary, u64 begin_ns, u64 end_ns,
		   struct canary_result *ret_result);

/* Let it end; NULL is fine. */
void canary_free(struct canary *canary);

#endif /* SKYOBSERVE_CMD_CANARY_H */
