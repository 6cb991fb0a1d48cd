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

u64 clock_wall_minus_monotonic_ns(void)
{
	u64 width = ~0ULL, result = 0;

	for (int i = 0; i < 5; i++) {
		u64 before = clock_monotonic_ns(), after;
		struct timespec wall;

		clock_gettime(CLOCK_REALTIME, &wall);
		after = clock_monotonic_ns();
		if (after - before >= width)
			continue;
		width = after - before;
		result = (u64)wall.tv_sec * NS_PER_SEC + (u64)wall.tv_nsec -
			 (before + (after - before) / 2);
	}
	return result;
}
