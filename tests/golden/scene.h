/* SPDX-License-Identifier: MIT */
/*
 * A snapshot in which everything is there, written by hand, for the tests of what is published:
 * begin_scene or fill_scene, publish_scene, look at scene.set, end_scene.
 */
#ifndef SKYOBSERVE_TESTS_GOLDEN_SCENE_H
#define SKYOBSERVE_TESTS_GOLDEN_SCENE_H

#include "tests/lib/check.h"

#include <errno.h>

#include "user/model/publish.h"
#include "user/model/syscall_names.h"

#define SECOND	NS_PER_SEC
#define MICRO	1000ULL
#define WALL_NS 1767225600000000000ULL /* when the machine booted */

#define MAX_PROCS 4

/* Three processes, two of one name, and room for their parts. */
struct scene {
	struct snapshot snap;
	struct process_snap procs[MAX_PROCS];
	struct go_gc gcs[2];
	struct process_totals totals[MAX_PROCS];
	u64 calls[MAX_PROCS][NR_CALL_SLOTS];
	struct process_hists hists[MAX_PROCS];
	struct kind_snap kinds[3];
	struct call_hist call_hists[2];
	struct error_count errors[5];
	struct foreign_count foreign[2];
	struct task_record threads[4];
	struct map_fill maps[2];
	struct program_stats programs[2];
	struct exporter_facts facts;
	struct family_set set;
};

/* Large; each case begins it anew. */
static struct scene scene;

/* The number of a call on this machine: the golden files hold names, in the order of numbers. */
static inline u32 nr_of(const char *name)
{
	int nr = syscall_nr(SYSCALL_ARCH_NATIVE, name);

	CHECK(nr >= 0);
	return (u32)nr;
}

static inline void observe(struct hist *h, u64 ns, u64 times)
{
	h->sum += ns * times;
	h->counts[hist_bucket(ns)] += times;
}

static inline void begin_scene(void)
{
	struct snapshot *snap = &scene.snap;

	memset(&scene, 0, sizeof(scene));
	snap->processes = scene.procs;
	snap->begin_ns = 100 * SECOND;
	snap->end_ns = 100 * SECOND + 250 * MICRO;
	snap->wall_minus_mono_ns = WALL_NS;
	snap->machine.tick_hz = 100;
	snap->machine.online_cpus = 2;
	snap->machine.switches = 12345;
	scene.facts = (struct exporter_facts){ .version = "1.2.3",
					       .libbpf_version = "1.1",
					       .arch = "x86_64" };
	snap->prices.known = true;
	for (u32 i = 0; i < NR_COSTS; i++)
		snap->prices.ns[i] = 100 * (i + 1);
	for (u32 i = 0; i < NR_GROUPS; i++) {
		snap->groups[i].up = i != GROUP_FUNCTIONS; /* requests are the interactions */
		snprintf(snap->groups[i].reason, sizeof(snap->groups[i].reason), "%s", "tp_btf");
	}
}

/* A process without a single event. */
static inline struct process_snap *add_process(const char *name, pid_t pid)
{
	struct process_snap *p = &scene.procs[scene.snap.nr_processes++];

	scene.snap.nr_counted++;
	p->id.pid = pid;
	p->id.start_wall_ns = WALL_NS + 10 * SECOND + 500000000;
	snprintf(p->id.name, sizeof(p->id.name), "%s", name);
	snprintf(p->id.comm, sizeof(p->id.comm), "%s", "app");
	p->id.exe = "/usr/bin/app";
	p->calls = scene.calls[p - scene.procs];
	p->hists = &scene.hists[p - scene.procs];
	p->alive = true;
	p->details = true;
	p->incarnations = 1;
	p->begin_ns = 90 * SECOND;
	p->read_ns = 100 * SECOND;
	return p;
}

static inline void publish_scene(void)
{
	for (size_t i = 0; i < scene.snap.nr_processes; i++)
		totals_of(&scene.procs[i], &scene.totals[i]);
	publish(&scene.snap, scene.totals, &scene.facts, &scene.set);
	CHECK(!scene.set.failed);
}

static inline void end_scene(void)
{
	family_set_done(&scene.set);
}

/* The first of two processes: much happened. */
static inline void fill_busy(struct process_snap *p)
{
	u64 *c = p->cells;

	c[CELL_CPU + MODE_USER] = 3 * SECOND + 1;
	c[CELL_CPU + MODE_SYSTEM] = 2 * SECOND;
	c[CELL_ENDED_RUNTIME] = 5 * SECOND + 1;
	for (u32 i = 0; i < NR_REASONS; i++) {
		c[CELL_OFF_CPU + i] = (i + 1) * SECOND / 10;
		observe(&p->hists->off_cpu[i], MICRO << i, i + 1);
	}
	c[CELL_ON_STAMPS] = 5 * SECOND + 200 * 1000 * MICRO;
	c[CELL_SWITCHES + SWITCH_VOLUNTARY] = 500;
	c[CELL_SWITCHES + SWITCH_INVOLUNTARY] = 20;
	c[CELL_TRACED_CALLS] = 1116;
	c[CELL_PAGE_FAULTS] = 77;
	c[CELL_READ_BYTES] = 123456789012;
	c[CELL_FSYNCS + DURABLE_FSYNC] = 4;
	c[CELL_FSYNCS + DURABLE_URING_FSYNC] = 5;
	observe(&p->hists->durable[DURABLE_FSYNC], 1500 * MICRO, 4);
	observe(&p->hists->durable[DURABLE_FSYNC], 90 * SECOND, 1);
	observe(&p->hists->durable[DURABLE_URING_FSYNC], 2000 * MICRO, 5);
	c[CELL_ENTERS] = 1116;
	c[CELL_EXITS] = 1116;
	p->calls[nr_of("read")] = 1000;
	p->calls[nr_of("write")] = 100;
	p->calls[nr_of("fsync")] = 5;
	p->calls[NR_CALL_SLOTS - 1] = 4; /* newer than our table */
	scene.call_hists[0].nr = nr_of("read");
	observe(&scene.call_hists[0].hist, 900, 990);
	observe(&scene.call_hists[0].hist, 3 * SECOND, 10);
	p->call_hists = scene.call_hists;
	p->nr_call_hists = 1;
	scene.errors[0] = (struct error_count){ ERROR_SYSCALL, (u16)nr_of("read"), EAGAIN, 3 };
	scene.errors[1] =
		(struct error_count){ ERROR_SYSCALL, (u16)nr_of("read"), ERRNO_RESTART, 2 };
	scene.errors[2] = (struct error_count){ ERROR_SYSCALL, (u16)nr_of("write"), 3999, 1 };
	scene.errors[3] = (struct error_count){ ERROR_DURABLE, DURABLE_FSYNC, EIO, 1 };
	p->errors = scene.errors;
	p->nr_errors = 4;
	scene.foreign[0] = (struct foreign_count){ ABI_COMPAT, 4, 6 };
	scene.foreign[1] = (struct foreign_count){ ABI_X32, 1, 1 };
	p->foreign = scene.foreign;
	p->nr_foreign = 2;
	p->enters_before = p->enters_after = 1116;
	p->books_begin = (struct proc_books){ .valid = true, .read_ns = 90 * SECOND };
	p->books_now = (struct proc_books){ .valid = true,
					    .read_ns = 100 * SECOND,
					    .cpu_ticks = 500,
					    .resident_bytes = 4096 * 1000 };
}

static inline struct task_record thread_in(const char *call, u64 since_ns)
{
	struct task_record rec = { .known = 1, .now_ns = 100 * SECOND };
	struct thread_cell *c = &rec.cell;

	c->begin_ns = 90 * SECOND;
	c->run_state = RUN_BLOCKED;
	c->reason = REASON_FUTEX;
	c->since_ns = since_ns;
	c->enter_ns = since_ns;
	c->nr = (s32)nr_of(call);
	c->enters = 1;
	return rec;
}

/* The second one: its threads wait. */
static inline void fill_waiting(struct process_snap *p)
{
	scene.threads[0] = thread_in("futex", 99 * SECOND);
	scene.threads[1] = thread_in("futex", 95 * SECOND);
	p->threads = scene.threads;
	p->nr_threads = 2;
	p->calls[nr_of("futex")] = 2;
	p->enters_before = p->enters_after = 2;
	p->begin_ns = 85 * SECOND; /* the name is observed since then */
	p->books_now = (struct proc_books){ .valid = true, .resident_bytes = 4096 };
}

/* The other one of the name has no stops. */
static inline void fill_collectors(void)
{
	scene.gcs[0] = (struct go_gc){
		.stops_known = true,
		.workers_known = true,
		.cells = { .stops = { [STOP_MARK_TERM] = { 2 * NS_PER_MS, { [10] = 40 } },
				      [STOP_READ_MEM_STATS] = { 9000, { [4] = 1 } } },
			   .stop_cpu_ns = NS_PER_MS,
			   .worker_ns = { 1900 * NS_PER_MS, 90 * NS_PER_MS, 30 * NS_PER_MS },
			   .worker_cpu_ns = { 1800 * NS_PER_MS, 80 * NS_PER_MS, 20 * NS_PER_MS },
			   .workers = { 40, 9, 3 } }
	};
	scene.gcs[1] = (struct go_gc){ .workers_known = true, .cells = { .worker_ns = { 7 } } };
	scene.procs[0].gc = &scene.gcs[0];
	scene.procs[2].gc = &scene.gcs[1];
}

static inline void fill_programs(void)
{
	scene.procs[0].program = (struct program_facts){ .runtime = "go",
							 .runtime_version = "go1.24.4",
							 .build_id = "c0ffee",
							 .known = 1,
							 .stripped = 1 };
	scene.procs[2].program = (struct program_facts){ .known = 1 };
}

/* One of the two of the name is over, and its counters stay. */
static inline void fill_go(void)
{
	scene.procs[0].go = (struct go_stats){
		.counted = true,
		.current = true,
		.begin_wall_ns = WALL_NS + 10 * SECOND,
		.counters = { .allocated_objects = 1000000,
			      .allocated_bytes = 48000000,
			      .freed_objects = 900000,
			      .freed_bytes = 43200000,
			      .gc_cycles = { [GO_GC_AUTOMATIC] = 40, [GO_GC_FORCED] = 2 },
			      .programs = 1,
			      .pauses_known = 1,
			      .pauses = { .sum = 3 * NS_PER_MS,
					  .counts = { [10] = 60, [12] = 24 } },
			      .cpu_known = 1,
			      .cpu_ns = { 100 * NS_PER_MS, 2000 * NS_PER_MS, 30 * NS_PER_MS,
					  4 * NS_PER_MS, 5000, 6000, 70 * SECOND, 8 * SECOND } },
		.gauges = { .heap_live_bytes = 5000000,
			    .heap_goal_bytes = 10000000,
			    .goroutines = 12,
			    .max_procs = 2,
			    .memory_limit_bytes = ~0ULL >> 1,
			    .gc_percent = -1,
			    .memory_bytes = { 6000000, 1000000, 2000000, 500000, 400000, 100000 } },
	};
	scene.procs[2].go = (struct go_stats){ .counted = true,
					       .begin_wall_ns = WALL_NS + 20 * SECOND,
					       .counters = { .allocated_objects = 5 } };
}

static inline void fill_scene(void)
{
	struct process_snap *p;

	begin_scene();
	fill_busy(add_process("app", 4242));
	p = add_process("weird \"\\\n\xff\x1b[31m \xc3\xa9", 17);
	p->details = false; /* the small set */
	p->cells[CELL_SMALL_SYSCALLS] = 12;
	p->cells[CELL_ENTERS] = p->cells[CELL_EXITS] = 12;
	p->enters_before = p->enters_after = 12;
	p->alive = false;
	snprintf(p->id.comm, sizeof(p->id.comm), "%s", "\xc3\xa9\n");
	p->id.exe = "/tmp/a \"b\" (deleted)";
	fill_waiting(add_process("app", 4243));
	fill_go();
	fill_programs();
	fill_collectors();

	scene.snap.machine.steal_ticks = 5;
	scene.snap.drops[DROP_ROWS_FULL] = 2;
	scene.maps[0] = (struct map_fill){ "threads", 2, 16384 };
	scene.maps[1] = (struct map_fill){ "errors", 0, 4096 };
	scene.snap.maps = scene.maps;
	scene.snap.nr_maps = 2;
	scene.programs[0] = (struct program_stats){ "sys_enter", 123456, 789 };
	scene.programs[1] = (struct program_stats){ "sched_switch", 0, 0 };
	scene.snap.programs = scene.programs;
	scene.snap.nr_programs = 2;
	scene.snap.bpf_stats_on = true;
	scene.facts.scrape_ns = 420 * MICRO;
	scene.facts.start_wall_ns = WALL_NS + 80 * SECOND;
	scene.facts.broker_cpu_ticks = 7;
	scene.facts.broker_resident_bytes = 2048000;
	scene.facts.cpu_ticks = 12;
	scene.facts.open_fds = 30;
	scene.facts.max_fds = 1024;
	scene.facts.virtual_bytes = 1 << 30;
	scene.facts.max_virtual_bytes = ~0ULL;
	scene.facts.resident_bytes = 1 << 24;
}

/* A process whose interactions are told apart: what was charged to each, and to the background. */
static inline void fill_served(struct process_snap *p)
{
	struct kind_snap *k = scene.kinds;

	p->details = false;
	p->goroutines = true;
	snprintf(k[1].name, sizeof(k[1].name), "%s", "other");
	snprintf(k[2].name, sizeof(k[2].name), "%s", "POST /user/:id");
	k[0].cells[CELL_CPU] = 3 * SECOND;
	k[0].cells[CELL_SMALL_SYSCALLS] = 20;
	k[0].cells[CELL_SPLIT_CPU] = 11 * NS_PER_MS;
	k[2].cells[CELL_CPU] = SECOND;
	k[2].cells[CELL_CPU + MODE_SYSTEM] = 250 * NS_PER_MS;
	k[2].cells[CELL_SMALL_SYSCALLS] = 14;
	k[2].cells[CELL_FSYNCS] = 2;
	k[2].cells[CELL_BEGUN] = 5;
	k[2].cells[CELL_COMPLETED] = 4;
	k[2].cells[CELL_SESSIONS_OPENED] = 3;
	k[2].cells[CELL_SESSIONS_CLOSED] = 1;
	k[2].cells[CELL_UNOWNED_WALL] = 7 * NS_PER_MS;
	k[2].codes[k[2].nr_codes++] = (struct code_count){ 200, OUTCOME_NONE, 2 };
	k[2].codes[k[2].nr_codes++] = (struct code_count){ INTERACTION_ABORTED, OUTCOME_NONE, 1 };
	k[2].codes[k[2].nr_codes++] = (struct code_count){ CODE_OTHER, OUTCOME_NONE, 1 };
	observe(&k[2].hists.duration, 3 * NS_PER_MS, 2);
	observe(&k[2].hists.enters, 7 * HIST_ONE, 2);
	observe(&k[2].hists.fsyncs, HIST_ONE, 2);
	p->kinds = k;
	p->nr_kinds = 3;
	for (size_t i = 0; i < 3; i++) {
		for (size_t c = 0; c < NR_CELLS; c++)
			p->cells[c] += k[i].cells[c];
	}
	p->enters_before = p->enters_after = 34;
	p->cells[CELL_ENTERS] = p->cells[CELL_EXITS] = 34;
}

#endif /* SKYOBSERVE_TESTS_GOLDEN_SCENE_H */
