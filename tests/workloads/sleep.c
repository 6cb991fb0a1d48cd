/* SPDX-License-Identifier: MIT */
/*
 * Sleeps of a known length (T4).
 *
 * The truth: N sleeps of MS milliseconds by clock_nanosleep or nanosleep; each blocks once. A timer
 * never fires early, so each call lasts at least MS; "slept_ns" is what the calls lasted by the
 * clock read beside them.
 */
#include "workload.h"

int main(int argc, char **argv)
{
	uint64_t n = 10, ms = 100, i, slept_ns = 0, before_ns;
	const char *call = "clock_nanosleep";
	const struct wl_opt opts[] = {
		WL_NUMBER("n", &n, "sleeps (10)"),
		WL_NUMBER("ms", &ms, "milliseconds of each (100)"),
		WL_STRING("call", &call, "clock_nanosleep or nanosleep (clock_nanosleep)"),
	};
	struct wl_times begin, end, used;
	struct timespec length;
	int schedstat_fd;
	struct wl w;

	(void)argc;
	wl_init(&w, "sleep", argv, opts, WL_N(opts));
	length = wl_timespec_ms(ms);
	schedstat_fd = wl_schedstat_open();

	wl_ready(&w);
	wl_times_take(&w.tally, schedstat_fd, &begin);
	for (i = 0; i < n; i++) {
		before_ns = wl_clock_ns(&w.tally, CLOCK_MONOTONIC);
		if (!wl_same(call, "nanosleep"))
			WL_OK(&w.tally, clock_nanosleep, CLOCK_MONOTONIC, 0, &length, NULL);
		else
			WL_OK(&w.tally, nanosleep, &length, NULL);
		slept_ns += wl_clock_ns(&w.tally, CLOCK_MONOTONIC) - before_ns;
	}
	wl_times_take(&w.tally, schedstat_fd, &end);
	used = wl_times_diff(&end, &begin);
	wl_json_begin(&w);
	wl_json_u64(&w, "sleeps", n);
	wl_json_u64(&w, "min_blocked_ns", n * ms * WL_NS_PER_MS);
	wl_json_u64(&w, "slept_ns", slept_ns);
	wl_json_times_object(&w, &used);
	wl_json_end(&w);
	wl_finish(&w);
}
