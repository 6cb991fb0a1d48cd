/* SPDX-License-Identifier: MIT */
/*
 * System calls in known numbers, good and bad (T2), and a loop of one call for the benchmark.
 *
 * The truth: N getppid, --writes one-byte writes to /dev/null, and failures whose errno is certain:
 * close(-1) EBADF x7, openat of a missing path ENOENT x5, read of an empty non-blocking pipe EAGAIN
 * x11, and a number that no kernel knows, ENOSYS x3. --noop does none of that: what the twin is
 * seen to do is the protocol.
 *
 * --loop SECONDS and --batch N repeat one call (--call) and nothing else; the first ends by the
 * wall clock, which it reads every 4096 calls, the second after exactly N.
 */
#include "workload.h"

enum {
	CLOSE_EBADF = 7,
	OPENAT_ENOENT = 5,
	READ_EAGAIN = 11,
	UNKNOWN_ENOSYS = 3,
	LOOP_STRIDE = 4096,
};

struct syscalls_plan {
	uint64_t getppids;
	uint64_t writes;
	uint64_t loop_seconds;
	uint64_t batch;
	const char *call;
	bool noop;
};

static void run_mixture(struct wl_tally *t, const struct syscalls_plan *plan, int null_fd,
			int pipe_fd)
{
	uint64_t i;
	char byte;

	for (i = 0; i < plan->getppids; i++)
		WL(t, getppid);
	for (i = 0; i < plan->writes; i++)
		WL_OK(t, write, null_fd, "x", 1);
	for (i = 0; i < CLOSE_EBADF; i++)
		WL(t, close, -1);
	for (i = 0; i < OPENAT_ENOENT; i++)
		WL(t, openat, AT_FDCWD, "/nonexistent/skyobserve", O_RDONLY);
	for (i = 0; i < READ_EAGAIN; i++)
		WL(t, read, pipe_fd, &byte, 1);
	for (i = 0; i < UNKNOWN_ENOSYS; i++)
		WL_UNKNOWN(t);
}

static void repeat(struct wl_tally *t, enum wl_call call, int zero_fd, uint64_t n)
{
	char byte;
	uint64_t i;

	if (call == WL_CALL_read)
		for (i = 0; i < n; i++)
			WL(t, read, zero_fd, &byte, 1);
	else
		for (i = 0; i < n; i++)
			WL(t, getppid);
}

/* Returns how many calls were made. */
static uint64_t run_loop(struct wl_tally *t, const struct syscalls_plan *plan, int zero_fd)
{
	enum wl_call call = !wl_same(plan->call, "read") ? WL_CALL_getppid : WL_CALL_read;
	uint64_t end_ns;

	if (plan->batch) {
		repeat(t, call, zero_fd, plan->batch);
		return t->calls[call];
	}
	end_ns = wl_clock_ns(t, CLOCK_MONOTONIC) + plan->loop_seconds * WL_NS_PER_SEC;
	while (wl_clock_ns(t, CLOCK_MONOTONIC) < end_ns)
		repeat(t, call, zero_fd, LOOP_STRIDE);
	return t->calls[call];
}

static int open_or_die(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC);

	if (fd < 0)
		wl_die("%s: %s", path, strerror(errno));
	return fd;
}

static void tell_loop(struct wl *w, const char *call, uint64_t calls, const struct wl_times *used)
{
	wl_json_open(w, "loop", '{');
	wl_json_text(w, "call", call);
	wl_json_u64(w, "calls", calls);
	wl_json_double(w, "calls_per_second",
		       (double)calls * (double)WL_NS_PER_SEC / (double)used->wall_ns);
	wl_json_double(w, "cpu_ns_per_call", (double)used->thread_cpu_ns / (double)calls);
	wl_json_close(w, '}');
}

int main(int argc, char **argv)
{
	struct syscalls_plan plan = { .getppids = 100000, .writes = 1000, .call = "getppid" };
	const struct wl_opt opts[] = {
		WL_NUMBER("n", &plan.getppids, "getppid calls (100000)"),
		WL_NUMBER("writes", &plan.writes, "one-byte writes to /dev/null (1000)"),
		WL_FLAG("noop", &plan.noop, "do nothing: the twin"),
		WL_NUMBER("loop", &plan.loop_seconds, "repeat one call for so many seconds"),
		WL_NUMBER("batch", &plan.batch, "repeat one call so many times"),
		WL_STRING("call", &plan.call, "getppid, or read: one byte of /dev/zero (getppid)"),
	};
	int null_fd, zero_fd, pipe_fds[2], schedstat_fd;
	struct wl_times begin, end, used;
	uint64_t looped = 0;
	struct wl w;

	(void)argc;
	wl_init(&w, "syscalls", argv, opts, WL_N(opts));
	if (!wl_same(plan.call, "getppid") && !wl_same(plan.call, "read"))
		wl_quit(64, "--call is getppid or read, not %s", plan.call);
	null_fd = open_or_die("/dev/null", O_WRONLY);
	zero_fd = open_or_die("/dev/zero", O_RDONLY);
	if (pipe2(pipe_fds, O_NONBLOCK | O_CLOEXEC))
		wl_die("pipe2: %s", strerror(errno));
	schedstat_fd = wl_schedstat_open();

	wl_ready(&w);
	if (!plan.noop) {
		wl_times_take(&w.tally, schedstat_fd, &begin);
		if (plan.loop_seconds || plan.batch)
			looped = run_loop(&w.tally, &plan, zero_fd);
		else
			run_mixture(&w.tally, &plan, null_fd, pipe_fds[0]);
		wl_times_take(&w.tally, schedstat_fd, &end);
	}
	wl_json_begin(&w);
	if (!plan.noop) {
		used = wl_times_diff(&end, &begin);
		wl_json_times_object(&w, &used);
		if (looped)
			tell_loop(&w, plan.call, looped, &used);
	}
	wl_json_end(&w);
	wl_finish(&w);
}
