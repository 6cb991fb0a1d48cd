/* SPDX-License-Identifier: MIT */
/*
 * Threads that are born and die inside the window (T9), once or in waves.
 *
 * The truth: W waves of K threads; each burns MS milliseconds by its own CPU clock, which began at
 * its birth, makes one getppid and dies. "threads_cpu_ns" is the sum of those clocks at the last
 * instruction that each thread controls: the kernel's end of a thread is not in it. All are dead
 * and waited for when it is printed.
 *
 * "clone" counts calls. At the border each one is left twice: by the parent, and by the new thread,
 * which has never entered it.
 */
#include "workload.h"

struct wave_plan {
	uint64_t cpu_ns;
	uint64_t sum_ns;
	uint64_t least_ns;
	uint64_t most_ns;
};

struct worker {
	struct wave_plan *plan;
	uint64_t cpu_ns; /* of the last life */
};

static void worker_main(struct wl_thread *th)
{
	struct worker *me = th->arg;

	WL(&th->tally, getppid);
	me->cpu_ns = wl_spin_cpu(&th->tally, 0, me->plan->cpu_ns);
}

static void run_wave(struct wl_tally *t, struct wl_thread *threads, struct worker *workers,
		     size_t n)
{
	struct wave_plan *plan = workers[0].plan;
	size_t i;

	for (i = 0; i < n; i++)
		wl_thread_start(t, &threads[i]);
	for (i = 0; i < n; i++) {
		wl_thread_join(t, &threads[i]);
		plan->sum_ns += workers[i].cpu_ns;
		if (workers[i].cpu_ns < plan->least_ns)
			plan->least_ns = workers[i].cpu_ns;
		if (workers[i].cpu_ns > plan->most_ns)
			plan->most_ns = workers[i].cpu_ns;
	}
}

int main(int argc, char **argv)
{
	uint64_t n_threads = 8, ms = 50, waves = 1, i;
	struct wave_plan plan = { .least_ns = UINT64_MAX };
	const struct wl_opt opts[] = {
		WL_NUMBER("threads", &n_threads, "threads alive at once (8)"),
		WL_NUMBER("ms", &ms, "milliseconds of CPU time that each burns; 0 is none (50)"),
		WL_NUMBER("waves", &waves, "how often (1)"),
	};
	struct wl_times begin, end, used;
	struct wl_thread *threads;
	struct worker *workers;
	int schedstat_fd;
	struct wl w;

	(void)argc;
	wl_init(&w, "threads", argv, opts, WL_N(opts));
	if (!n_threads || n_threads > 10000)
		wl_quit(64, "--threads is 1 to 10000");
	plan.cpu_ns = ms * WL_NS_PER_MS;
	threads = wl_threads_alloc(n_threads, worker_main, NULL);
	workers = calloc(n_threads, sizeof(*workers));
	if (!workers)
		wl_die("no memory");
	for (i = 0; i < n_threads; i++) {
		workers[i].plan = &plan;
		threads[i].arg = &workers[i];
	}
	schedstat_fd = wl_schedstat_open();

	wl_ready(&w);
	wl_times_take(&w.tally, schedstat_fd, &begin);
	for (i = 0; i < waves; i++)
		run_wave(&w.tally, threads, workers, n_threads);
	wl_times_take(&w.tally, schedstat_fd, &end);
	used = wl_times_diff(&end, &begin);
	for (i = 0; i < n_threads; i++)
		wl_tally_add(&w.tally, &threads[i].tally);
	wl_json_begin(&w);
	wl_json_u64(&w, "threads_born", waves * n_threads);
	wl_json_u64(&w, "threads_cpu_ns", plan.sum_ns);
	wl_json_u64(&w, "thread_cpu_least_ns", plan.least_ns);
	wl_json_u64(&w, "thread_cpu_most_ns", plan.most_ns);
	wl_json_times_object(&w, &used);
	wl_json_end(&w);
	wl_finish(&w);
}
