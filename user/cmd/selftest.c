/* SPDX-License-Identifier: MIT */
/*
 * Runs the loads, observes half of them, and compares. The other half are neighbours: the same
 * loads at the same time that nobody observes, so that what leaks into a count shows.
 */
#include "user/cmd/selftest.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "user/cmd/observer.h"
#include "user/cmd/selftest_loads.h"
#include "user/cmd/selftest_rows.h"
#include "user/proc/procfs.h"

#define MAX_LOADS  16 /* neighbours included */
#define NO_PROCESS SIZE_MAX

/* Limits of the phases; together under 10 s. The last is what a run takes when all goes well. */
#define READY_NS (2 * NS_PER_SEC)
#define STOP_NS	 (3 * NS_PER_SEC) /* then the loads are asked to finish */
#define DONE_NS	 (5 * NS_PER_SEC)
#define QUIET_NS (500 * NS_PER_MS)
#define END_NS	 (1 * NS_PER_SEC)
#define POLL_NS	 (1 * NS_PER_MS)
/* Between two looks at counts that are not there yet. */
#define AGAIN_NS (20 * NS_PER_MS)

struct run_load {
	const struct load_spec *spec;
	struct load_shared *shared;
	pid_t pid;	/* 0: not there (any more) */
	size_t process; /* of the observer, or NO_PROCESS for a neighbour */
	bool is_neighbour;
};

struct shared_page {
	u32 stop;
	struct load_shared loads[MAX_LOADS];
};

struct run {
	const struct selftest_config *config;
	struct selftest_result *result;
	struct observer *observer;
	struct shared_page *page;
	struct load_wires wires;
	struct run_load loads[MAX_LOADS];
	size_t nr_loads;
};

static u64 monotonic_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (u64)ts.tv_sec * NS_PER_SEC + (u64)ts.tv_nsec;
}

static void pause_ns(u64 ns)
{
	const struct timespec ts = { (time_t)(ns / NS_PER_SEC), (long)(ns % NS_PER_SEC) };

	(void)nanosleep(&ts, NULL); /* a signal makes it shorter, which is fine */
}

static enum load_state state_of(const struct run_load *l)
{
	return (enum load_state)__atomic_load_n(&l->shared->state, __ATOMIC_ACQUIRE);
}

/* Take note of a child that is gone; true if it is. */
static bool is_gone(struct run_load *l)
{
	if (l->pid && waitpid(l->pid, NULL, WNOHANG) == l->pid)
		l->pid = 0;
	return !l->pid;
}

/* Whether the child waits for us in @state, or never will. */
static bool waits_in(struct run_load *l, enum load_state state)
{
	struct proc_stat stat;

	if (is_gone(l) || state_of(l) == LOAD_REFUSED)
		return true;
	return state_of(l) == state && !procfs_stat("/proc", l->pid, &stat) && stat.state == 'S';
}

/* Wait until all children wait in @state. At @stop_ns from now they are asked to hurry. */
static void await_all(struct run *run, enum load_state state, u64 stop_ns, u64 give_up_ns)
{
	u64 begin = monotonic_ns(), passed = 0;
	size_t i = 0;

	while (i < run->nr_loads && passed < give_up_ns) {
		if (waits_in(&run->loads[i], state)) {
			i++;
			continue;
		}
		pause_ns(POLL_NS);
		passed = monotonic_ns() - begin;
		if (passed > stop_ns)
			__atomic_store_n(&run->page->stop, 1, __ATOMIC_RELAXED);
	}
}

static int open_wires(struct run *run, struct err *err)
{
	run->page = mmap(NULL, sizeof(*run->page), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (run->page == MAP_FAILED) {
		run->page = NULL;
		return err_set(err, -errno, "no shared memory: %s", strerror(errno));
	}
	run->wires.stop = &run->page->stop;
	run->wires.folder = run->config->folder;
	if (pipe(run->wires.go) || pipe(run->wires.end))
		return err_set(err, -errno, "no pipe: %s", strerror(errno));
	return 0;
}

/* Before anything of BPF is open: a child must not hold it. */
static int start_loads(struct run *run, struct err *err)
{
	for (size_t i = 0; i < 2 * nr_load_specs && i < MAX_LOADS; i++) {
		struct run_load *l = &run->loads[i];
		pid_t pid;

		*l = (struct run_load){ .spec = &load_specs[i / 2],
					.shared = &run->page->loads[i],
					.process = NO_PROCESS,
					.is_neighbour = i % 2 };
		pid = load_start(l->spec, &run->wires, l->shared, err);
		if (pid < 0)
			return (int)pid;
		l->pid = pid;
		run->nr_loads++;
	}
	await_all(run, LOAD_READY, READY_NS, READY_NS);
	return 0;
}

static int observe_loads(struct run *run, struct err *err)
{
	const struct observer_config config = {
		.bounds = bpf_bounds_default,
		.keep_ended = true,
		.groups = run->config->groups,
		.force_raw_tp = run->config->force_raw_tp,
	};
	int r = observer_open(&config, &run->observer, err);

	for (size_t i = 0; i < run->nr_loads && !r; i++) {
		struct run_load *l = &run->loads[i];

		if (is_gone(l) || state_of(l) != LOAD_READY)
			continue;
		if (l->is_neighbour) {
			run->result->nr_neighbours++;
			continue;
		}
		l->process = observer_processes(run->observer);
		r = observer_add(run->observer, l->pid, err);
		run->result->nr_loads++;
	}
	return r;
}

/* Let all of them do their work at once. */
static int release(struct run *run, struct err *err)
{
	static const char bytes[MAX_LOADS] = { 0 };
	ssize_t n = write(run->wires.go[1], bytes, run->nr_loads);

	if (n != (ssize_t)run->nr_loads)
		return err_set(err, -EIO, "cannot release the loads");
	await_all(run, LOAD_DONE, STOP_NS, DONE_NS);
	return 0;
}

/* One comparison of everything; the rows are those of @snap. */
static void compare(struct run *run, const struct snapshot *snap,
		    const struct process_totals *totals)
{
	rows_cut(run->result, 0);
	for (size_t i = 0; i < run->nr_loads; i++) {
		const struct run_load *l = &run->loads[i];

		if (l->is_neighbour)
			continue;
		if (state_of(l) == LOAD_REFUSED)
			rows_skip(run->result, l->spec->name, SELFTEST_SKIPPED, l->shared->why);
		else if (state_of(l) != LOAD_DONE || l->process == NO_PROCESS)
			rows_skip(run->result, l->spec->name, SELFTEST_FAILED,
				  l->pid ? "the load did not finish in time" : "the load died");
		else
			rows_claims(run->result, l->spec->name, l->shared, snap, l->process,
				    totals);
	}
	rows_identities(run->result, snap, totals);
}

/*
 * Compare until all is well or nothing moves any more: the last thread of a load may still be on
 * its way off the CPU, and a completion on its way to us. What is wrong stays wrong.
 */
static int compare_quiet(struct run *run, struct err *err)
{
	u64 begin = monotonic_ns();
	int r;

	for (;;) {
		struct process_totals *totals;
		struct snapshot snap;

		r = observer_snapshot(run->observer, &snap, &totals, err);
		if (r)
			return r;
		compare(run, &snap, totals);
		snapshot_done(&snap);
		free(totals);
		if (!run->result->verdicts[SELFTEST_FAILED] || monotonic_ns() - begin > QUIET_NS)
			return 0;
		pause_ns(AGAIN_NS);
	}
}

/* Let the loads exit, and take note of each end. */
static void await_ends(struct run *run)
{
	u64 begin = monotonic_ns();

	close(run->wires.end[1]);
	run->wires.end[1] = -1;
	for (size_t i = 0; i < observer_processes(run->observer); i++) {
		u64 passed = monotonic_ns() - begin;
		struct pollfd end = { .fd = observer_pidfd(run->observer, i), .events = POLLIN };

		if (passed < END_NS && poll(&end, 1, (int)((END_NS - passed) / NS_PER_MS)) == 1)
			observer_ended(run->observer, i);
	}
}

static int compare_ends(struct run *run, struct err *err)
{
	size_t had = run->result->nr_rows;
	u32 failed = run->result->verdicts[SELFTEST_FAILED];
	u64 begin = monotonic_ns();
	int r;

	await_ends(run);
	for (;;) {
		struct process_totals *totals;
		struct snapshot snap;

		r = observer_snapshot(run->observer, &snap, &totals, err);
		if (r)
			return r;
		rows_cut(run->result, had);
		rows_end(run->result, &snap, totals);
		snapshot_done(&snap);
		free(totals);
		if (run->result->verdicts[SELFTEST_FAILED] == failed ||
		    monotonic_ns() - begin > END_NS)
			return 0;
		pause_ns(AGAIN_NS);
	}
}

static void close_run(struct run *run)
{
	const int fds[] = { run->wires.go[0], run->wires.go[1], run->wires.end[0],
			    run->wires.end[1] };

	observer_free(run->observer);
	for (size_t i = 0; i < run->nr_loads; i++) {
		struct run_load *l = &run->loads[i];

		if (is_gone(l))
			continue;
		kill(l->pid, SIGKILL);
		waitpid(l->pid, NULL, 0);
	}
	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
		if (fds[i] >= 0)
			close(fds[i]);
	}
	if (run->page)
		munmap(run->page, sizeof(*run->page));
}

int selftest_run(const struct selftest_config *config, struct selftest_result *ret_result,
		 struct err *err)
{
	struct selftest_result result = { 0 };
	struct run run = { .config = config,
			   .result = &result,
			   .wires = { .go = { -1, -1 }, .end = { -1, -1 } } };
	u64 begin = monotonic_ns();
	int r;

	r = open_wires(&run, err);
	if (!r)
		r = start_loads(&run, err);
	if (!r)
		r = observe_loads(&run, err);
	if (!r)
		r = release(&run, err);
	if (!r)
		r = compare_quiet(&run, err);
	if (!r)
		r = compare_ends(&run, err);
	close_run(&run);
	if (r)
		return r;
	result.elapsed_ns = monotonic_ns() - begin;
	*ret_result = result;
	return 0;
}
