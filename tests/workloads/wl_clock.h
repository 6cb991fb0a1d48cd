/* SPDX-License-Identifier: MIT */
/*
 * Clocks, the kernel's own account of a thread, and work that takes a known time.
 */
#ifndef SKYOBSERVE_TESTS_WORKLOADS_WL_CLOCK_H
#define SKYOBSERVE_TESTS_WORKLOADS_WL_CLOCK_H

#include "wl_call.h"
#include "wl_truth.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <time.h>

/* ---- clocks and the kernel's own account of a thread ---------------------------------------- */

static inline uint64_t wl_clock_ns(struct wl_tally *t, clockid_t clock)
{
	struct timespec ts = { 0 };

	WL_OK(t, clock_gettime, clock, &ts);
	return (uint64_t)ts.tv_sec * WL_NS_PER_SEC + (uint64_t)ts.tv_nsec;
}

/*
 * What the kernel says about the calling thread, from four sources that the observer does not use.
 * on_ns and run_delay_ns are those of /proc/thread-self/schedstat and 0 where the kernel has no
 * such file.
 */
struct wl_times {
	uint64_t wall_ns; /* CLOCK_MONOTONIC */
	uint64_t thread_cpu_ns;
	uint64_t process_cpu_ns;
	uint64_t on_ns;
	uint64_t run_delay_ns;
	uint64_t slices;
	uint64_t nvcsw;
	uint64_t nivcsw;
	uint64_t minflt; /* of the process */
	uint64_t majflt;
};

/* To be called by the thread itself, before "ready". -1 where the kernel has no schedstat. */
static inline int wl_schedstat_open(void)
{
	return open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
}

static inline uint64_t wl_parse_u64(const char **at)
{
	uint64_t value = 0;

	while (**at == ' ')
		(*at)++;
	for (; **at >= '0' && **at <= '9'; (*at)++)
		value = value * 10 + (uint64_t)(**at - '0');
	return value;
}

/*
 * Take the times of the calling thread. The thread's CPU clock is read just before schedstat,
 * because reading that clock makes the scheduler account for the current slice; schedstat alone
 * would be as old as the last tick.
 */
static inline void wl_times_take(struct wl_tally *t, int schedstat_fd, struct wl_times *ret_times)
{
	struct rusage thread = { 0 }, process = { 0 };
	char line[128];
	const char *at = line;
	long n = 0;

	WL_OK(t, getrusage, RUSAGE_THREAD, &thread);
	WL_OK(t, getrusage, RUSAGE_SELF, &process);
	ret_times->wall_ns = wl_clock_ns(t, CLOCK_MONOTONIC);
	ret_times->process_cpu_ns = wl_clock_ns(t, CLOCK_PROCESS_CPUTIME_ID);
	ret_times->thread_cpu_ns = wl_clock_ns(t, CLOCK_THREAD_CPUTIME_ID);
	if (schedstat_fd >= 0)
		n = WL_OK(t, pread64, schedstat_fd, line, sizeof(line) - 1, 0);
	line[n] = '\0';
	ret_times->on_ns = wl_parse_u64(&at);
	ret_times->run_delay_ns = wl_parse_u64(&at);
	ret_times->slices = wl_parse_u64(&at);
	ret_times->nvcsw = (uint64_t)thread.ru_nvcsw;
	ret_times->nivcsw = (uint64_t)thread.ru_nivcsw;
	ret_times->minflt = (uint64_t)process.ru_minflt;
	ret_times->majflt = (uint64_t)process.ru_majflt;
}

static inline struct wl_times wl_times_diff(const struct wl_times *end,
					    const struct wl_times *begin)
{
	return (struct wl_times){
		.wall_ns = end->wall_ns - begin->wall_ns,
		.thread_cpu_ns = end->thread_cpu_ns - begin->thread_cpu_ns,
		.process_cpu_ns = end->process_cpu_ns - begin->process_cpu_ns,
		.on_ns = end->on_ns - begin->on_ns,
		.run_delay_ns = end->run_delay_ns - begin->run_delay_ns,
		.slices = end->slices - begin->slices,
		.nvcsw = end->nvcsw - begin->nvcsw,
		.nivcsw = end->nivcsw - begin->nivcsw,
		.minflt = end->minflt - begin->minflt,
		.majflt = end->majflt - begin->majflt,
	};
}

/* The members of a times object. */
static inline void wl_json_times(struct wl *w, const struct wl_times *d)
{
	wl_json_u64(w, "wall_ns", d->wall_ns);
	wl_json_u64(w, "thread_cpu_ns", d->thread_cpu_ns);
	wl_json_u64(w, "process_cpu_ns", d->process_cpu_ns);
	wl_json_u64(w, "on_ns", d->on_ns);
	wl_json_u64(w, "run_delay_ns", d->run_delay_ns);
	wl_json_u64(w, "slices", d->slices);
	wl_json_u64(w, "nvcsw", d->nvcsw);
	wl_json_u64(w, "nivcsw", d->nivcsw);
	wl_json_u64(w, "minflt", d->minflt);
	wl_json_u64(w, "majflt", d->majflt);
}

/* The same as an object. */
static inline void wl_json_times_object(struct wl *w, const struct wl_times *d)
{
	wl_json_open(w, "times", '{');
	wl_json_times(w, d);
	wl_json_close(w, '}');
}

static inline struct timespec wl_timespec_ms(uint64_t ms)
{
	return (struct timespec){ .tv_sec = (time_t)(ms / 1000),
				  .tv_nsec = (long)(ms % 1000 * WL_NS_PER_MS) };
}

/* Work that no compiler removes and that makes no call. */
static inline void wl_burn(uint64_t rounds)
{
	uint64_t i;

	for (i = 0; i < rounds; i++)
		__asm__ volatile("" ::: "memory");
}

/*
 * Burn CPU until the calling thread's CPU clock has advanced by @ns since @from_ns. The clock is
 * asked about once in a millisecond, and more often towards the end: each piece of work is nine
 * tenths of what is missing, by the speed seen so far, which on a shared machine may be wrong.
 * Returns the clock's value at the end.
 */
static inline uint64_t wl_spin_cpu(struct wl_tally *t, uint64_t from_ns, uint64_t ns)
{
	/* About 10 us at 3 GHz: a small first step, yet large beside the call that follows. */
	const uint64_t least = 20000;
	uint64_t begin_ns = wl_clock_ns(t, CLOCK_THREAD_CPUTIME_ID), now_ns = begin_ns;
	uint64_t rounds = least, done = 0, piece_ns;

	while (now_ns - from_ns < ns) {
		wl_burn(rounds);
		done += rounds;
		now_ns = wl_clock_ns(t, CLOCK_THREAD_CPUTIME_ID);
		if (now_ns - from_ns >= ns || now_ns == begin_ns)
			continue;
		piece_ns = ns - (now_ns - from_ns);
		if (piece_ns > WL_NS_PER_MS)
			piece_ns = WL_NS_PER_MS;
		rounds = (uint64_t)(0.9 * (double)piece_ns * (double)done /
				    (double)(now_ns - begin_ns));
		if (rounds < least)
			rounds = least;
	}
	return now_ns;
}

#endif
