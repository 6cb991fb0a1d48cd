/* SPDX-License-Identifier: MIT */
/* The clock of all snapshots and deadlines. */
#ifndef SKYOBSERVE_BASE_CLOCK_H
#define SKYOBSERVE_BASE_CLOCK_H

#include "types.h"

/* CLOCK_MONOTONIC, in ns. */
u64 clock_monotonic_ns(void);

/*
 * CLOCK_REALTIME - CLOCK_MONOTONIC, in ns: of some tries the one with the two readings of the
 * latter closest together, so that being interrupted between them does not look like a change.
 */
u64 clock_wall_minus_monotonic_ns(void);

#endif /* SKYOBSERVE_BASE_CLOCK_H */
