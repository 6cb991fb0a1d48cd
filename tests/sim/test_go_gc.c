/* SPDX-License-Identifier: MIT */
/* Stops of the world and workers of Go's collector: what is counted of what a program says. */
#include "tests/lib/check.h"

#include "tests/sim/host.h"

#include "threads.bpf.h"

/* Of a uprobe's registers nothing is looked at here. */
#define PT_REGS_PARM1(regs) 0
#define PT_REGS_PARM2(regs) 0
#define PT_REGS_PARM3(regs) 0

static struct host_map go_gc;

#include "go_gc.bpf.h"

#define SLOT 1
#define NOW  1000000000ULL

static struct thread_cell thread;

static void begin(void)
{
	host_ledger_begin();
	host_map_begin(&go_gc, HOST_ARRAY, HOST_LANES * HOST_PROCESSES, 0,
		       sizeof(struct go_gc_cells));
	cfg.max_go = HOST_PROCESSES;
	host_cpu = 2;
	host_now = NOW;
	thread = (struct thread_cell){ .process = SLOT,
				       .run_state = RUN_RUNNING,
				       .since_ns = NOW,
				       .charged = { .runtime_ns = 5000 } };
}

static const struct go_gc_cells *counted(void)
{
	u32 key = 2 * HOST_PROCESSES + SLOT;

	return bpf_map_lookup_elem(&go_gc, &key);
}

static void stop(u8 reason, u64 begin_ns)
{
	thread.stop_cpu_ns = go_gc_cpu_mark(&thread, begin_ns);
	thread.stop_reason = go_stop_reason(reason);
	thread.stop_begin_ns = begin_ns;
}

TEST(stop_is_as_long_as_the_runtime_says)
{
	begin();
	stop(1, NOW + 100);
	/* Our clock is later: the runtime looked at its own before. */
	go_gc_started(&thread, NOW + 5100, NOW + 90000);
	CHECK_EQ_U64(counted()->stops[STOP_MARK_TERM].sum, 5000);
	CHECK_EQ_U64(counted()->stops[STOP_MARK_TERM].counts[hist_bucket(5000)], 1);
	CHECK_EQ_U64(counted()->stop_cpu_ns, 5000); /* not more than it lasted */
	CHECK_EQ_U64(thread.stop_begin_ns, 0);
	go_gc_started(&thread, NOW + 9000, NOW + 95000); /* one that was not seen to begin */
	CHECK_EQ_U64(counted()->stops[STOP_MARK_TERM].sum, 5000);
}

TEST(stop_reasons_are_those_of_the_runtime)
{
	static const u8 want[] = { STOP_OTHER,
				   STOP_MARK_TERM,
				   STOP_SWEEP_TERM,
				   STOP_OTHER,
				   STOP_GOROUTINE_PROFILE,
				   STOP_GOROUTINE_PROFILE,
				   STOP_ALL_STACKS,
				   STOP_READ_MEM_STATS,
				   STOP_OTHER,
				   STOP_MAX_PROCS,
				   STOP_TRACE,
				   STOP_TRACE,
				   STOP_OTHER,
				   STOP_OTHER };

	for (u32 i = 0; i < sizeof(want); i++)
		CHECK_EQ_U64(go_stop_reason((u8)i), want[i]);
	CHECK_EQ_U64(go_stop_reason(255), STOP_OTHER);
}

TEST(stop_without_its_thread_on_a_cpu_has_no_cpu_time)
{
	begin();
	stop(2, NOW + 100);
	thread.run_state = RUN_RUNNABLE; /* preempted at once ... */
	thread.charged.runtime_ns += 100;
	thread.run_state = RUN_RUNNING; /* ... and back at the end */
	thread.since_ns = NOW + 7000;
	go_gc_started(&thread, NOW + 7500, NOW + 7500);
	CHECK_EQ_U64(counted()->stops[STOP_SWEEP_TERM].sum, 7400);
	CHECK_EQ_U64(counted()->stop_cpu_ns, 500);
}

TEST(worker_has_its_time_and_its_cpu_time)
{
	begin();
	thread.worker_cpu_ns = go_gc_cpu_mark(&thread, NOW + 100);
	go_gc_worker_stopped(&thread, 2, 3000, NOW + 2100);
	CHECK_EQ_U64(counted()->worker_ns[GC_WORKER_FRACTIONAL], 3000);
	CHECK_EQ_U64(counted()->worker_cpu_ns[GC_WORKER_FRACTIONAL], 2000);
	CHECK_EQ_U64(counted()->workers[GC_WORKER_FRACTIONAL], 1);
	/* One that was at work already. */
	go_gc_worker_stopped(&thread, 1, 4000, NOW + 9100);
	CHECK_EQ_U64(counted()->worker_ns[GC_WORKER_DEDICATED], 4000);
	CHECK_EQ_U64(counted()->worker_cpu_ns[GC_WORKER_DEDICATED], 0);
}

TEST(worker_without_the_scheduler_has_no_cpu_time)
{
	begin();
	cfg.groups &= ~(1u << GROUP_SCHED);
	thread.worker_cpu_ns = go_gc_cpu_mark(&thread, NOW + 100);
	CHECK_EQ_U64(thread.worker_cpu_ns, 0);
	go_gc_worker_stopped(&thread, 3, 3000, NOW + 2100);
	CHECK_EQ_U64(counted()->worker_ns[GC_WORKER_IDLE], 3000);
	CHECK_EQ_U64(counted()->worker_cpu_ns[GC_WORKER_IDLE], 0);
}

TEST(what_cannot_be_is_counted_as_lost)
{
	static const struct {
		u64 mode;
		s64 ns;
	} workers[] = { { 0, 5 },
			{ 4, 5 },
			{ ~0ULL, 5 },
			{ 1ULL << 32 | 1, 5 },
			{ 1, -1 },
			{ 1, (s64)NOW * 2 },
			{ 1, (s64)(1ULL << 63) } };
	static const u64 ends[] = { 1, NOW - 1, 3 * NOW, ~0ULL, 1ULL << 63 };
	struct go_gc_cells none = { 0 };

	begin();
	for (u32 i = 0; i < sizeof(workers) / sizeof(workers[0]); i++)
		go_gc_worker_stopped(&thread, workers[i].mode, workers[i].ns, NOW);
	CHECK_EQ_U64(host_drops[DROP_GO_ARGUMENTS], sizeof(workers) / sizeof(workers[0]));
	for (u32 i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		stop(1, NOW);
		go_gc_started(&thread, ends[i], NOW);
	}
	CHECK_EQ_U64(host_drops[DROP_GO_ARGUMENTS],
		     sizeof(workers) / sizeof(workers[0]) + sizeof(ends) / sizeof(ends[0]));
	CHECK(!memcmp(counted(), &none, sizeof(none)));
}

TEST(process_without_room_is_not_counted)
{
	struct go_gc_cells none = { 0 };

	begin();
	cfg.max_go = SLOT;
	stop(1, NOW);
	go_gc_started(&thread, NOW + 10, NOW + 10);
	go_gc_worker_stopped(&thread, 1, 10, NOW + 10);
	CHECK(!memcmp(counted(), &none, sizeof(none)));
}
