/* SPDX-License-Identifier: MIT */
/*
 * What every workload shares: options, the protocol with the test that started it, a tally of each
 * system call made, threads whose calls are all known, and the one line of JSON that tells the
 * truth.
 *
 * It must not know any observer. It is a header with code in it, against the style of the rest of
 * the tree, because a workload is one file and one program: nothing else is linked into it.
 *
 * The protocol:
 *
 *   workload                                    test
 *   set up (files, threads, helpers)
 *   write "ready PID[ PID...]\n" to stdout  ->  attach the observer, take the first snapshot
 *   read a line from stdin (or EOF)         <-  write "go\n"
 *   THE WINDOW: do the work
 *   write one line of JSON to stdout        ->  take the last snapshot, compare
 *   read a line from stdin (or EOF)         <-  close
 *   exit                                        (--exit: the workload exits without that last read)
 *
 * The window is what happens after the read of the release has returned and before the write of the
 * JSON begins. In the JSON:
 *
 *   "syscalls"        each call, by name, that returned inside the window, and calls that never
 *                     return (exit); nothing else was called, by any thread of the process
 *   "errors"          how many of them failed, by call and errno
 *   "interrupted"     how many of them failed with EINTR: in these workloads always a call that the
 *                     kernel left with a restart code, which became EINTR on the way back
 *   "entered_before"  those of "syscalls" that a thread had entered before the window began
 *   "protocol"        what the protocol adds when one counts from "ready" to the end of the JSON:
 *                     reads that returned (the release) and writes (the JSON)
 *
 * So that this is exact, the measured part uses no stdio, no malloc and no threads of libc: each
 * call goes through WL() below, straight to the kernel, also those clocks that the vDSO would
 * answer. Before "ready" anything is allowed.
 */
#ifndef SKYOBSERVE_TESTS_WORKLOADS_WORKLOAD_H
#define SKYOBSERVE_TESTS_WORKLOADS_WORKLOAD_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* clone, pwritev2, RUSAGE_THREAD */
#endif

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
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

/* ---- the context of a workload, its options and its JSON ------------------------------------ */

enum wl_opt_kind {
	WL_OPT_NUMBER,
	WL_OPT_STRING,
	WL_OPT_FLAG
};

/* One option: --name VALUE, or --name alone for a flag. What it points to has the default. */
struct wl_opt {
	const char *name;
	enum wl_opt_kind kind;
	union {
		uint64_t *number;
		const char **string;
		bool *flag;
	};
	const char *help;
};

#define WL_NUMBER(opt, var, text)                                                     \
	{                                                                             \
		.name = (opt), .kind = WL_OPT_NUMBER, .number = (var), .help = (text) \
	}
#define WL_STRING(opt, var, text)                                                     \
	{                                                                             \
		.name = (opt), .kind = WL_OPT_STRING, .string = (var), .help = (text) \
	}
#define WL_FLAG(opt, var, text)                                                   \
	{                                                                         \
		.name = (opt), .kind = WL_OPT_FLAG, .flag = (var), .help = (text) \
	}

/* The longest truth is that of spin with 64 threads, about 20 KiB; a pipe takes 64 KiB at once. */
#define WL_MAX_JSON 65536

struct wl {
	const char *name;
	pid_t pid; /* libc's getpid() is a system call */
	bool exit_at_once;
	uint64_t protocol_reads;
	struct wl_tally tally; /* the main thread's; others have their own and are added */
	struct wl_tally entered_before;
	size_t json_len;
	char json[WL_MAX_JSON];
};

static inline bool wl_same(const char *a, const char *b)
{
	return strcmp(a, b) == 0;
}

static inline void wl_usage_exit(const char *name, const struct wl_opt *opts, size_t n_opts,
				 int status)
{
	FILE *to = status ? stderr : stdout;
	size_t i;

	fprintf(to, "usage: %s [options]\n", name);
	for (i = 0; i < n_opts; i++)
		fprintf(to, "  --%-14s %s %s\n", opts[i].name,
			opts[i].kind == WL_OPT_FLAG ? "  " : "V ", opts[i].help);
	fprintf(to, "  --%-14s    exit right after the truth is printed\n", "exit");
	exit(status);
}

/* 0, or -EINVAL if @arg is no option of this workload or its value is not one. */
static inline int wl_opt_take(const struct wl_opt *opt, const char *val)
{
	char *end;

	switch (opt->kind) {
	case WL_OPT_FLAG:
		*opt->flag = true;
		return 0;
	case WL_OPT_STRING:
		if (!val)
			return -EINVAL;
		*opt->string = val;
		return 0;
	case WL_OPT_NUMBER:
		if (!val || *val < '0' || *val > '9')
			return -EINVAL;
		*opt->number = strtoull(val, &end, 10);
		return *end ? -EINVAL : 0;
	}
	return -EINVAL;
}

/* Start a workload: read the options. Prints and exits on --help (0) and on a wrong option (64). */
static inline void wl_init(struct wl *w, const char *name, char **argv, const struct wl_opt *opts,
			   size_t n_opts)
{
	size_t i;

	memset(w, 0, sizeof(*w));
	w->name = name;
	w->pid = getpid();
	for (argv++; *argv; argv++) {
		if (wl_same(*argv, "--help"))
			wl_usage_exit(name, opts, n_opts, 0);
		if (wl_same(*argv, "--exit")) {
			w->exit_at_once = true;
			continue;
		}
		for (i = 0; i < n_opts; i++)
			if (strncmp(*argv, "--", 2) == 0 && wl_same(*argv + 2, opts[i].name))
				break;
		if (i == n_opts || wl_opt_take(&opts[i], argv[1])) {
			fprintf(stderr, "%s: wrong option or value: %s\n", name, *argv);
			wl_usage_exit(name, opts, n_opts, 64);
		}
		if (opts[i].kind != WL_OPT_FLAG)
			argv++;
	}
}

#define WL_N(array) (sizeof(array) / sizeof((array)[0]))

/* ---- JSON: one line, built in place --------------------------------------------------------- */

static inline WL_PRINTF(2, 3) void wl_json_put(struct wl *w, const char *fmt, ...)
{
	size_t room = sizeof(w->json) - w->json_len;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(w->json + w->json_len, room, fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= room)
		wl_die("the truth does not fit its buffer");
	w->json_len += (size_t)n;
}

/* The comma, where one is due, and the key; NULL for an element of a list. */
static inline void wl_json_key(struct wl *w, const char *key)
{
	if (w->json_len && !strchr("{[", w->json[w->json_len - 1]))
		wl_json_put(w, ",");
	if (key)
		wl_json_put(w, "\"%s\":", key);
}

/* @bracket is { or [. */
static inline void wl_json_open(struct wl *w, const char *key, char bracket)
{
	wl_json_key(w, key);
	wl_json_put(w, "%c", bracket);
}

/* @bracket is } or ]. */
static inline void wl_json_close(struct wl *w, char bracket)
{
	wl_json_put(w, "%c", bracket);
}

static inline void wl_json_u64(struct wl *w, const char *key, uint64_t value)
{
	wl_json_key(w, key);
	wl_json_put(w, "%" PRIu64, value);
}

static inline void wl_json_long(struct wl *w, const char *key, long value)
{
	wl_json_key(w, key);
	wl_json_put(w, "%ld", value);
}

static inline void wl_json_double(struct wl *w, const char *key, double value)
{
	wl_json_key(w, key);
	wl_json_put(w, "%.2f", value);
}

static inline void wl_json_bool(struct wl *w, const char *key, bool value)
{
	wl_json_key(w, key);
	wl_json_put(w, "%s", value ? "true" : "false");
}

/* @value has nothing that JSON escapes. */
static inline void wl_json_text(struct wl *w, const char *key, const char *value)
{
	wl_json_key(w, key);
	wl_json_put(w, "\"%s\"", value);
}

static inline const char *wl_errno_name(int err)
{
	/* glibc has strerrorname_np() from 2.32 only, other libraries do not have it. */
	static const struct {
		int err;
		const char *name;
	} names[] = {
		{ EAGAIN, "EAGAIN" },	    { EBADF, "EBADF" },	  { ECHILD, "ECHILD" },
		{ EFAULT, "EFAULT" },	    { EINVAL, "EINVAL" }, { EIO, "EIO" },
		{ ENOENT, "ENOENT" },	    { ENOMEM, "ENOMEM" }, { ENOSPC, "ENOSPC" },
		{ ENOSYS, "ENOSYS" },	    { EPERM, "EPERM" },	  { ESRCH, "ESRCH" },
		{ ETIMEDOUT, "ETIMEDOUT" },
	};
	size_t i;

	for (i = 0; i < WL_N(names); i++)
		if (names[i].err == err)
			return names[i].name;
	return "other";
}

/* "KEY":{"call":n,...} with the calls that were made. */
static inline void wl_json_calls(struct wl *w, const char *key, const struct wl_tally *t)
{
	size_t i;

	wl_json_open(w, key, '{');
	for (i = 0; i < WL_CALL_NR; i++)
		if (t->calls[i])
			wl_json_u64(w, wl_call_name(i), t->calls[i]);
	wl_json_close(w, '}');
}

/* "KEY":{"EBADF":n,...} of one call. */
static inline void wl_json_call_errors(struct wl *w, const char *key, const struct wl_tally *t,
				       enum wl_call call)
{
	size_t i;

	wl_json_open(w, key, '{');
	for (i = 0; i < t->n_errors; i++)
		if (t->errors[i].call == call && t->errors[i].err != EINTR)
			wl_json_u64(w, wl_errno_name(t->errors[i].err), t->errors[i].times);
	wl_json_close(w, '}');
}

/* Whether one of the call's errors is to be listed as such. */
static inline bool wl_call_failed(const struct wl_tally *t, enum wl_call call)
{
	size_t i;

	for (i = 0; i < t->n_errors; i++)
		if (t->errors[i].call == call && t->errors[i].err != EINTR)
			return true;
	return false;
}

/* "errors":{"close":{"EBADF":7},...},"interrupted":{"nanosleep":1} */
static inline void wl_json_errors(struct wl *w, const struct wl_tally *t)
{
	size_t call, i;

	wl_json_open(w, "errors", '{');
	for (call = 0; call < WL_CALL_NR; call++)
		if (wl_call_failed(t, call))
			wl_json_call_errors(w, wl_call_name(call), t, call);
	wl_json_close(w, '}');
	wl_json_open(w, "interrupted", '{');
	for (i = 0; i < t->n_errors; i++)
		if (t->errors[i].err == EINTR)
			wl_json_u64(w, wl_call_name(t->errors[i].call), t->errors[i].times);
	wl_json_close(w, '}');
}

/* The members that tell of another process or thread, inside an object of its own. */
static inline void wl_json_task(struct wl *w, const char *role, pid_t id, const struct wl_tally *t,
				const struct wl_tally *entered_before)
{
	wl_json_text(w, "role", role);
	wl_json_long(w, "id", id);
	wl_json_calls(w, "syscalls", t);
	wl_json_errors(w, t);
	wl_json_calls(w, "entered_before", entered_before);
}

/* ---- the protocol --------------------------------------------------------------------------- */

/* Read until a newline or the end of stdin. Returns how many reads that took. */
static inline uint64_t wl_read_line(void)
{
	uint64_t reads = 0;
	char line[256];
	ssize_t n;

	do {
		n = read(STDIN_FILENO, line, sizeof(line));
		reads++;
	} while (n > 0 && !memchr(line, '\n', (size_t)n));
	return reads;
}

static inline void wl_write_all(const char *text, size_t len)
{
	if (write(STDOUT_FILENO, text, len) != (ssize_t)len)
		_exit(1); /* nobody is there to be told */
}

/* Say that everything is set up, then wait to be released. @peers are pids that belong to it. */
static inline void wl_ready_with(struct wl *w, const pid_t *peers, size_t n_peers)
{
	char line[256];
	size_t i, len;

	len = (size_t)snprintf(line, sizeof(line), "ready %d", w->pid);
	for (i = 0; i < n_peers && len < sizeof(line) - 16; i++)
		len += (size_t)snprintf(line + len, sizeof(line) - len, " %d", peers[i]);
	line[len++] = '\n';
	wl_write_all(line, len);
	w->protocol_reads = wl_read_line();
}

static inline void wl_ready(struct wl *w)
{
	wl_ready_with(w, NULL, 0);
}

/* Begin the truth; what the workload adds follows the head. */
static inline void wl_json_begin(struct wl *w)
{
	w->json_len = 0;
	wl_json_open(w, NULL, '{');
	wl_json_text(w, "workload", w->name);
	wl_json_long(w, "pid", w->pid);
	wl_json_open(w, "protocol", '{');
	wl_json_u64(w, "read", w->protocol_reads);
	wl_json_u64(w, "write", 1);
	wl_json_close(w, '}');
	wl_json_calls(w, "syscalls", &w->tally);
	wl_json_errors(w, &w->tally);
	wl_json_calls(w, "entered_before", &w->entered_before);
}

static inline void wl_json_end(struct wl *w)
{
	wl_json_put(w, "}\n");
	wl_write_all(w->json, w->json_len);
}

/* Stay until the test has taken its last snapshot, then go. */
static inline WL_NORETURN void wl_finish(struct wl *w)
{
	if (!w->exit_at_once)
		wl_read_line();
	_exit(0);
}

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
 * asked about 20 times, however long it takes: each piece of work is nine tenths of what is
 * missing, by the speed seen so far. Returns the clock's value at the end.
 */
static inline uint64_t wl_spin_cpu(struct wl_tally *t, uint64_t from_ns, uint64_t ns)
{
	/* About 10 us at 3 GHz: a small first step, yet large beside the call that follows. */
	const uint64_t least = 20000;
	uint64_t begin_ns = wl_clock_ns(t, CLOCK_THREAD_CPUTIME_ID), now_ns = begin_ns;
	uint64_t rounds = least, done = 0;

	while (now_ns - from_ns < ns) {
		wl_burn(rounds);
		done += rounds;
		now_ns = wl_clock_ns(t, CLOCK_THREAD_CPUTIME_ID);
		if (now_ns - from_ns >= ns || now_ns == begin_ns)
			continue;
		rounds = (uint64_t)(0.9 * (double)(ns - (now_ns - from_ns)) * (double)done /
				    (double)(now_ns - begin_ns));
		if (rounds < least)
			rounds = least;
	}
	return now_ns;
}

/* ---- threads of which every system call is known -------------------------------------------- */

/* No thread calls anything deep; one page would do. Guard pages would be a mapping each. */
#define WL_STACK_BYTES 65536

/*
 * A thread made by clone(2), not by libc, whose own calls at a thread's birth and death differ
 * between versions. It shares the main thread's thread-local storage, so it must not use errno,
 * stdio or malloc: it lives on WL() alone. Its only calls of its own are "clone" in the parent and
 * "exit" at the end.
 */
struct wl_thread {
	int tid;      /* set by the kernel at birth, cleared with a futex wake at death */
	int step;     /* free for the workload: how far it is */
	long result;  /* free for the workload */
	size_t index; /* its place among those allocated together */
	void (*run)(struct wl_thread *th);
	void *arg;
	char *stack;
	struct wl_tally tally;
};

/* Allocate @n threads with stacks, before "ready". */
static inline struct wl_thread *wl_threads_alloc(size_t n, void (*run)(struct wl_thread *th),
						 void *arg)
{
	struct wl_thread *threads = calloc(n, sizeof(*threads));
	char *stacks = mmap(NULL, n * WL_STACK_BYTES, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
	size_t i;

	if (!threads || stacks == MAP_FAILED)
		wl_die("no memory for %zu threads", n);
	for (i = 0; i < n; i++) {
		threads[i].index = i;
		threads[i].run = run;
		threads[i].arg = arg;
		threads[i].stack = stacks + i * WL_STACK_BYTES;
	}
	return threads;
}

static inline int wl_thread_main(void *arg)
{
	struct wl_thread *th = arg;

	th->run(th);
	th->tally.calls[WL_CALL_exit]++;
	return 0; /* clone()'s tail makes the exit call of this thread alone */
}

static inline void wl_thread_start(struct wl_tally *t, struct wl_thread *th)
{
	const int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
			  CLONE_SYSVSEM | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;
	int pid;

	t->calls[WL_CALL_clone]++;
	pid = clone(wl_thread_main, th->stack + WL_STACK_BYTES, flags, th, &th->tid, NULL,
		    &th->tid);
	if (pid < 0)
		wl_die("clone: %s", strerror(errno));
}

static inline long wl_futex_wait(struct wl_tally *t, int *word, int expected)
{
	return WL(t, futex, word, FUTEX_WAIT, expected, NULL);
}

static inline long wl_futex_wake(struct wl_tally *t, int *word, int n)
{
	return WL(t, futex, word, FUTEX_WAKE, n);
}

/* Wait until the thread is dead; the calls that this takes are in @t. */
static inline void wl_thread_join(struct wl_tally *t, struct wl_thread *th)
{
	int tid;

	while ((tid = __atomic_load_n(&th->tid, __ATOMIC_ACQUIRE)) != 0)
		(void)wl_futex_wait(t, &th->tid, tid); /* EAGAIN: it died in between */
}

/*
 * Wait, without a call, until another thread or process says in shared memory that it is at @step.
 * For the last few instructions between what was waited for with calls and the end of a tally.
 */
static inline void wl_step_await(const int *word, int step)
{
	while (__atomic_load_n(word, __ATOMIC_ACQUIRE) != step)
		wl_burn(100);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): __atomic_store_n() writes to it */
static inline void wl_step_set(int *word, int step)
{
	__atomic_store_n(word, step, __ATOMIC_RELEASE);
}

/* ---- before "ready": see that somebody sleeps ----------------------------------------------- */

/* The state letter of a thread, from /proc/PID/task/TID/stat; 0 if there is none. */
static inline char wl_task_state(pid_t pid, pid_t tid)
{
	char path[64], line[256];
	const char *paren;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, line, sizeof(line) - 1);
	close(fd);
	if (n <= 0)
		return 0;
	line[n] = '\0';
	paren = strrchr(line, ')');
	return paren && paren[1] == ' ' ? paren[2] : 0;
}

/* Bind the calling thread (and what it starts later) to one CPU. */
static inline void wl_pin(uint64_t cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		wl_skip("cannot run on CPU %llu: %s", (unsigned long long)cpu, strerror(errno));
}

/* Poll until the thread is in @state. Not for use inside a window. False if it never comes. */
static inline bool wl_state_comes(pid_t pid, pid_t tid, char state)
{
	const struct timespec step = { .tv_nsec = 200000 };
	int tries = 100000; /* 20 s: a stuck machine, not a slow one */

	while (wl_task_state(pid, tid) != state) {
		if (!--tries)
			return false;
		nanosleep(&step, NULL);
	}
	return true;
}

static inline void wl_wait_state(pid_t pid, pid_t tid, char state)
{
	if (!wl_state_comes(pid, tid, state))
		wl_die("task %d never came to state %c", tid, state);
}

/*
 * An open, empty, already unlinked file in @dir: nothing is left behind however the workload ends.
 * @flags are added to O_RDWR.
 */
static inline int wl_scratch_file(const char *dir, int flags)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/workload-%d-XXXXXX", dir, getpid());
	fd = mkostemp(path, flags | O_CLOEXEC);
	if (fd < 0)
		wl_die("cannot create a file in %s: %s", dir, strerror(errno));
	unlink(path);
	return fd;
}

/* Memory shared with processes forked later. */
static inline void *wl_shared(size_t bytes)
{
	void *mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (mem == MAP_FAILED)
		wl_die("no shared memory");
	return mem;
}

#endif
