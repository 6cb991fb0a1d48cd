/* SPDX-License-Identifier: MIT */
/*
 * Clock readings that make no system call (T3).
 *
 * The truth: N calls of clock_gettime through the vDSO. An observer at the system call border must
 * see (nearly) none of them; that is its documented blindness. Where the clock source cannot be
 * read from user space the vDSO falls back to a real call, and the workload ends with 77.
 */
#include "workload.h"

#include <sys/auxv.h>

static bool clock_is_readable(const char *source)
{
	/* Those with a vDSO clock mode in the kernel's clocksource drivers. */
	const char *const readable[] = { "tsc", "kvm-clock", "hyperv_clocksource_tsc_page",
					 "arch_sys_counter" };
	size_t i;

	for (i = 0; i < WL_N(readable); i++)
		if (wl_same(source, readable[i]))
			return true;
	return false;
}

static void read_clock_source(char *ret_source, size_t max_source)
{
	int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource",
		      O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, ret_source, max_source - 1);

	close(fd);
	ret_source[n > 0 ? n : 0] = '\0';
	ret_source[strcspn(ret_source, "\n")] = '\0';
}

int main(int argc, char **argv)
{
	uint64_t n = 1000000, i, begin_ns, cpu_ns, sum_ns = 0;
	const struct wl_opt opts[] = { WL_NUMBER("n", &n, "clock readings (1000000)") };
	struct timespec ts;
	char source[64];
	struct wl w;

	(void)argc;
	wl_init(&w, "vdso", argv, opts, WL_N(opts));
	read_clock_source(source, sizeof(source));
	if (!getauxval(AT_SYSINFO_EHDR) || !clock_is_readable(source))
		wl_skip("the clock source '%s' is not read through the vDSO", source);
	clock_gettime(CLOCK_MONOTONIC, &ts); /* libc finds the vDSO */

	wl_ready(&w);
	begin_ns = wl_clock_ns(&w.tally, CLOCK_THREAD_CPUTIME_ID);
	for (i = 0; i < n; i++) {
		clock_gettime(CLOCK_MONOTONIC, &ts);
		sum_ns += (uint64_t)ts.tv_nsec;
	}
	cpu_ns = wl_clock_ns(&w.tally, CLOCK_THREAD_CPUTIME_ID) - begin_ns;
	wl_json_begin(&w);
	wl_json_u64(&w, "vdso_calls", n);
	wl_json_text(&w, "clock_source", source);
	wl_json_double(&w, "cpu_ns_per_call", (double)cpu_ns / (double)n);
	wl_json_u64(&w, "checksum", sum_ns);
	wl_json_end(&w);
	wl_finish(&w);
}
