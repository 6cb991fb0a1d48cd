/* SPDX-License-Identifier: MIT */
/*
 * The neighbour: what the other workloads do, at a modest rate, for as long as it is wanted.
 *
 * The truth: nothing of it may show in the counts of another process. It makes a round of
 * everything each --ms milliseconds (a getppid burst, an fsync, a durable write, a failing close, a
 * signal to itself, a thread that is born and dies, a spin of a millisecond, a wait in ppoll) until
 * stdin has a line or ends, then says what it did.
 */
#include "workload.h"

#include <poll.h>

enum {
	GETPPIDS_PER_ROUND = 20,
	SPIN_NS = 1000000
};

static int handled;

static void on_signal(int sig)
{
	(void)sig;
	handled++;
}

static void worker_main(struct wl_thread *th)
{
	WL(&th->tally, getppid);
}

struct noise {
	int plain_fd;
	int dsync_fd;
	pid_t pid;
	struct wl_thread *thread;
};

static void run_round(struct wl_tally *t, struct noise *noise)
{
	uint64_t now_ns;
	int i;

	for (i = 0; i < GETPPIDS_PER_ROUND; i++)
		WL(t, getppid);
	WL_OK(t, pwrite64, noise->plain_fd, "x", 1, 0);
	WL_OK(t, fsync, noise->plain_fd);
	WL_OK(t, pwrite64, noise->dsync_fd, "x", 1, 0);
	WL(t, close, -1);
	WL_OK(t, tgkill, noise->pid, noise->pid, SIGUSR1);
	wl_thread_start(t, noise->thread);
	wl_thread_join(t, noise->thread);
	now_ns = wl_clock_ns(t, CLOCK_THREAD_CPUTIME_ID);
	(void)wl_spin_cpu(t, now_ns, SPIN_NS);
}

/* Sleep, but not longer than until stdin has something to say. */
static bool stdin_is_quiet(struct wl_tally *t, uint64_t ms)
{
	struct pollfd one = { .fd = STDIN_FILENO, .events = POLLIN };
	struct timespec left = wl_timespec_ms(ms);

	return WL(t, ppoll, &one, 1, &left, NULL, 0) == 0;
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
	uint64_t ms = 20, rounds = 0;
	const char *dir = ".";
	const struct wl_opt opts[] = {
		WL_NUMBER("ms", &ms, "milliseconds between two rounds (20)"),
		WL_STRING("dir", &dir, "where the scratch files are made (.)"),
	};
	struct noise noise;
	struct wl w;

	(void)argc;
	wl_init(&w, "noise", argv, opts, WL_N(opts));
	noise.pid = w.pid;
	noise.plain_fd = wl_scratch_file(dir, 0);
	noise.dsync_fd = wl_scratch_file(dir, O_DSYNC);
	noise.thread = wl_threads_alloc(1, worker_main, NULL);
	if (sigaction(SIGUSR1, &action, NULL))
		wl_die("sigaction: %s", strerror(errno));

	wl_ready(&w);
	do {
		run_round(&w.tally, &noise);
		rounds++;
	} while (stdin_is_quiet(&w.tally, ms));
	w.tally.calls[WL_CALL_rt_sigreturn] = (uint64_t)handled;
	wl_tally_add(&w.tally, &noise.thread->tally);
	wl_json_begin(&w);
	wl_json_u64(&w, "rounds", rounds);
	wl_json_u64(&w, "fsyncs", rounds);
	wl_json_u64(&w, "sync_writes", rounds);
	wl_json_end(&w);
	(void)wl_read_line(); /* the line that ended it */
	wl_finish(&w);
}
