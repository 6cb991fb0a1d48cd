/* SPDX-License-Identifier: MIT */
/* The clock of all snapshots and deadlines. */
#ifndef SKYOBSERVE_BASE_CLOCK_H
#define SKYOBSERVE_BASE_CLOCK_H

#include "types.h"

/* CLOCK_MONOTONIC, in ns. */
u64 clock_monotonic_ns(void);

#endif /* SKYOBSERVE_BASE_CLOCK_H */
