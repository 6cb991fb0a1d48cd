/* SPDX-License-Identifier: MIT */
/*
 * CPU time and nothing else (T7, T8).
 *
 * The truth: each of K threads burns S seconds by its own CPU clock (or, with --wall, until S
 * seconds of wall clock have passed, sharing the CPU as it comes), bound to --cpu if given. For
 * each the kernel's own account is printed: thread CPU clock, schedstat (on, run_delay), context
 * switches. on + run_delay = wall for a thread that never blocks. The threads were waiting at a
 * gate when the observer came, and are alive at the end.
 */
#include "workload.h"

/* Work between two looks at the wall clock: about a millisecond on a 3 GHz core. */
enum {
	WALL_BURN_ROUNDS = 2000000
};

enum spinner_step {
	SPINNER_WAITS,
	SPINNER_DONE
};

struct spin_plan {
	uint64_t ns;
	bool wall;
	int gate;
	int n_done; /* a futex: spinners that have finished */
	int end;    /* never woken */
};

struct spinner {
	struct wl_times begin;
	struct wl_times used;
	int schedstat_fd;
};

/* Spin as planned; both times are taken by the spinning thread itself. */
static void spin(struct wl_tally *t, const struct spin_plan *plan, struct spinner *me)
{
	struct wl_times end;

	wl_times_take(t, me->schedstat_fd, &me->begin);
	if (plan->wall)
		while (wl_clock_ns(t, CLOCK_MONOTONIC) - me->begin.wall_ns < plan->ns)
			wl_burn(WALL_BURN_ROUNDS);
	else
		(void)wl_spin_cpu(t, me->begin.thread_cpu_ns, plan->ns);
	wl_times_take(t, me->schedstat_fd, &end);
	me->used = wl_times_diff(&end, &me->begin);
}

struct spin_job {
	struct spin_plan *plan;
	struct spinner *spinners;  /* [0] is the main thread's */
	struct wl_thread *threads; /* threads[i] is spinner i + 1 */
};

static void spinner_main(struct wl_thread *th)
{
	struct spin_job *job = th->arg;
	struct spinner *me = &job->spinners[1 + th->index];
	struct wl_tally after = { 0 };

	me->schedstat_fd = wl_schedstat_open();
	while (!__atomic_load_n(&job->plan->gate, __ATOMIC_ACQUIRE))
		(void)wl_futex_wait(&th->tally, &job->plan->gate, 0);
	spin(&th->tally, job->plan, me);
	__atomic_add_fetch(&job->plan->n_done, 1, __ATOMIC_RELEASE);
	(void)wl_futex_wake(&th->tally, &job->plan->n_done, 1);
	wl_step_set(&th->step, SPINNER_DONE);
	for (;;)
		(void)wl_futex_wait(&after, &job->plan->end, 0);
}

static void start_threads(struct wl *w, struct spin_job *job, size_t n)
{
	struct wl_tally before = { 0 };
	size_t i;

	job->threads = wl_threads_alloc(n, spinner_main, job);
	for (i = 0; i < n; i++)
		wl_thread_start(&before, &job->threads[i]);
	for (i = 0; i < n; i++)
		wl_wait_state(getpid(), job->threads[i].tid, 'S');
	w->entered_before.calls[WL_CALL_futex] = n;
}

/* Wait for the threads and take over their tallies. */
static void await_threads(struct wl *w, struct spin_job *job, size_t n)
{
	size_t i;
	int done;

	while ((done = __atomic_load_n(&job->plan->n_done, __ATOMIC_ACQUIRE)) != (int)n)
		(void)wl_futex_wait(&w->tally, &job->plan->n_done, done);
	for (i = 0; i < n; i++)
		wl_step_await(&job->threads[i].step, SPINNER_DONE);
}

static void tell(struct wl *w, const struct spin_job *job, size_t n_threads)
{
	uint64_t sum_ns = job->spinners[0].used.thread_cpu_ns;
	size_t i;

	for (i = 1; i < n_threads; i++) {
		wl_tally_add(&w->tally, &job->threads[i - 1].tally);
		sum_ns += job->spinners[i].used.thread_cpu_ns;
	}
	wl_json_begin(w);
	wl_json_u64(w, "spun_ns", sum_ns);
	wl_json_open(w, "threads", '[');
	for (i = 0; i < n_threads; i++) {
		wl_json_open(w, NULL, '{');
		wl_json_long(w, "id", i ? job->threads[i - 1].tid : w->pid);
		wl_json_times(w, &job->spinners[i].used);
		wl_json_close(w, '}');
	}
	wl_json_close(w, ']');
	wl_json_end(w);
}

int main(int argc, char **argv)
{
	uint64_t seconds = 1, ms = 0, cpu = UINT64_MAX, n_threads = 1;
	struct spin_plan plan = { 0 };
	struct spin_job job = { .plan = &plan };
	const struct wl_opt opts[] = {
		WL_NUMBER("seconds", &seconds, "seconds of thread CPU time for each thread (1)"),
		WL_NUMBER("ms", &ms, "milliseconds, instead of --seconds"),
		WL_FLAG("wall", &plan.wall, "until so much wall time has passed, not CPU time"),
		WL_NUMBER("cpu", &cpu, "bind to this CPU"),
		WL_NUMBER("threads", &n_threads, "threads that spin, the main one included (1)"),
	};
	struct wl w;

	(void)argc;
	wl_init(&w, "spin", argv, opts, WL_N(opts));
	plan.ns = ms ? ms * WL_NS_PER_MS : seconds * WL_NS_PER_SEC;
	if (!n_threads || n_threads > 64)
		wl_quit(64, "--threads is 1 to 64");
	if (cpu != UINT64_MAX)
		wl_pin(cpu);
	job.spinners = calloc(n_threads, sizeof(*job.spinners));
	if (!job.spinners)
		wl_die("no memory");
	job.spinners[0].schedstat_fd = wl_schedstat_open();
	if (n_threads > 1)
		start_threads(&w, &job, n_threads - 1);

	wl_ready(&w);
	__atomic_store_n(&plan.gate, 1, __ATOMIC_RELEASE);
	if (n_threads > 1)
		(void)wl_futex_wake(&w.tally, &plan.gate, (int)n_threads);
	spin(&w.tally, &plan, &job.spinners[0]);
	if (n_threads > 1)
		await_threads(&w, &job, n_threads - 1);
	tell(&w, &job, n_threads);
	wl_finish(&w);
}
