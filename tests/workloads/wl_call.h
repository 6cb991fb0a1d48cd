/* SPDX-License-Identifier: MIT */
/*
 * System calls of a workload: made straight to the kernel, and counted by name and errno. How it
 * gives up, too, since that can happen anywhere.
 */
#ifndef SKYOBSERVE_TESTS_WORKLOADS_WL_CALL_H
#define SKYOBSERVE_TESTS_WORKLOADS_WL_CALL_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* clone, pwritev2, RUSAGE_THREAD; so this header comes before any of libc */
#endif

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The exit status of a test that could not be run here, as automake and TAP harnesses know it. */
#define WL_EXIT_SKIP 77

#define WL_NORETURN	     __attribute__((noreturn))
#define WL_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

#define WL_NS_PER_SEC 1000000000ull
#define WL_NS_PER_MS  1000000ull

/* ---- system calls, and the tally of them ---------------------------------------------------- */

/* Calls that only the older architectures have. */
#ifdef SYS_poll
#define WL_CALLS_OLD(X) X(poll) X(epoll_wait)
#else
#define WL_CALLS_OLD(X)
#endif

/* Every call that some workload makes in its window. A name is both SYS_name and the JSON key. */
#define WL_CALLS(X)        \
	X(accept4)         \
	X(clock_gettime)   \
	X(clock_nanosleep) \
	X(clone)           \
	X(close)           \
	X(connect)         \
	X(epoll_pwait)     \
	X(execve)          \
	X(exit)            \
	X(exit_group)      \
	X(fdatasync)       \
	X(fsync)           \
	X(futex)           \
	X(getppid)         \
	X(getrusage)       \
	X(io_uring_enter)  \
	X(kill)            \
	X(madvise)         \
	X(msync)           \
	X(nanosleep)       \
	X(openat)          \
	X(ppoll)           \
	X(prctl)           \
	X(pread64)         \
	X(pwrite64)        \
	X(pwritev2)        \
	X(read)            \
	X(recvfrom)        \
	X(rt_sigreturn)    \
	X(sync)            \
	X(sync_file_range) \
	X(syncfs)          \
	X(tgkill)          \
	X(unlinkat)        \
	X(wait4)           \
	X(write)           \
	WL_CALLS_OLD(X)

/* A number that no kernel so far gives a meaning: past the table, below the x32 range (512-547). */
#define WL_UNKNOWN_NR	510
#define WL_UNKNOWN_NAME "nr_510"

enum wl_call {
#define WL_ENUM(name) WL_CALL_##name,
	WL_CALLS(WL_ENUM)
#undef WL_ENUM
	WL_CALL_unknown,
	WL_CALL_NR,
};

/* Distinct (call, errno) pairs of one thread; the richest workload has 8. */
#define WL_MAX_ERRORS 24

struct wl_error {
	enum wl_call call;
	int err;
	uint64_t times;
};

struct wl_tally {
	uint64_t calls[WL_CALL_NR];
	struct wl_error errors[WL_MAX_ERRORS];
	size_t n_errors;
};

static inline WL_NORETURN WL_PRINTF(2, 3) void wl_quit(int status, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	_exit(status);
}

#define wl_die(...)  wl_quit(1, __VA_ARGS__)
#define wl_skip(...) wl_quit(WL_EXIT_SKIP, __VA_ARGS__)

/* One system call, with the kernel's own answer: errors are -4095..-1, errno is not touched. */
static inline long wl_raw(long nr, const long arg[6])
{
#if defined(__x86_64__)
	register long r10 __asm__("r10");
	register long r8 __asm__("r8");
	register long r9 __asm__("r9");
	long ret;

	r10 = arg[3];
	r8 = arg[4];
	r9 = arg[5];
	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(nr), "D"(arg[0]), "S"(arg[1]), "d"(arg[2]), "r"(r10), "r"(r8),
			   "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
#elif defined(__aarch64__)
	register long x8 __asm__("x8");
	register long x0 __asm__("x0");
	register long x1 __asm__("x1");
	register long x2 __asm__("x2");
	register long x3 __asm__("x3");
	register long x4 __asm__("x4");
	register long x5 __asm__("x5");

	x8 = nr;
	x0 = arg[0];
	x1 = arg[1];
	x2 = arg[2];
	x3 = arg[3];
	x4 = arg[4];
	x5 = arg[5];
	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
	return x0;
#else
#error "no system call instruction known for this architecture"
#endif
}

static inline void wl_tally_error(struct wl_tally *t, enum wl_call call, int err, uint64_t times)
{
	size_t i;

	for (i = 0; i < t->n_errors; i++) {
		if (t->errors[i].call == call && t->errors[i].err == err) {
			t->errors[i].times += times;
			return;
		}
	}
	if (t->n_errors == WL_MAX_ERRORS)
		wl_die("more kinds of errors than the tally holds");
	t->errors[t->n_errors++] = (struct wl_error){ .call = call, .err = err, .times = times };
}

/* Make a system call and count it in @t when it has returned. */
static inline long wl_call(struct wl_tally *t, enum wl_call call, long nr, const long arg[6])
{
	long ret = wl_raw(nr, arg);

	t->calls[call]++;
	if (ret < 0 && ret >= -4095)
		wl_tally_error(t, call, (int)-ret, 1);
	return ret;
}

/* WL(&tally, fsync, fd) makes and counts the call; missing arguments are 0. */
#define WL_SIX(t, call, nr, a, b, c, d, e, f, ...)                                      \
	wl_call((t), (call), (nr),                                                      \
		(const long[6]){ (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), \
				 (long)(f) })
#define WL(t, name, ...) WL_SIX(t, WL_CALL_##name, SYS_##name, ##__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)
#define WL_UNKNOWN(t)	 WL_SIX(t, WL_CALL_unknown, WL_UNKNOWN_NR, 0, 0, 0, 0, 0, 0, 0)

/* A call whose failure would make the truth a lie. */
#define WL_OK(t, name, ...)                                              \
	({                                                               \
		long wl_ok_ret = WL(t, name, ##__VA_ARGS__);             \
		if (wl_ok_ret < 0)                                       \
			wl_die(#name ": %s", strerror((int)-wl_ok_ret)); \
		wl_ok_ret;                                               \
	})

/* Failures of one call with one errno, so far. */
static inline uint64_t wl_tally_errors(const struct wl_tally *t, enum wl_call call, int err)
{
	size_t i;

	for (i = 0; i < t->n_errors; i++)
		if (t->errors[i].call == call && t->errors[i].err == err)
			return t->errors[i].times;
	return 0;
}

static inline void wl_tally_add(struct wl_tally *to, const struct wl_tally *from)
{
	size_t i;

	for (i = 0; i < WL_CALL_NR; i++)
		to->calls[i] += from->calls[i];
	for (i = 0; i < from->n_errors; i++)
		wl_tally_error(to, from->errors[i].call, from->errors[i].err,
			       from->errors[i].times);
}

static inline const char *wl_call_name(enum wl_call call)
{
	static const char *const names[WL_CALL_NR] = {
#define WL_NAME(name) [WL_CALL_##name] = #name,
		WL_CALLS(WL_NAME)
#undef WL_NAME
			[WL_CALL_unknown] = WL_UNKNOWN_NAME,
	};

	return names[call];
}

#endif
