/* SPDX-License-Identifier: MIT */
/* Reading the clock. */
#include "user/base/clock.h"

#include <time.h>

u64 clock_monotonic_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (u64)ts.tv_sec * NS_PER_SEC + (u64)ts.tv_nsec;
}
