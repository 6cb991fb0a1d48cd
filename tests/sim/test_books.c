/* SPDX-License-Identifier: MIT */
/*
 * The books close: random histories of a simulated machine are played through bpf/'s decisions, and
 * what the model makes of the ledger is compared with what really happened.
 *
 * A failure names its seed; SIM_SEED=N plays that history alone, SIM_SEEDS=N that many.
 */
#include "tests/lib/check.h"

#include "tests/sim/machine.h"
#include "user/model/identities.h"

#define EVENTS	      100000
#define WARM_UP	      3000
#define SNAPSHOTS     60 /* of one history, about */
#define DEFAULT_SEEDS 25

static struct machine m;

/* One process as user space sees it. */
static struct {
	struct process_snap p;
	struct process_hists hists;
	u64 calls[NR_CALL_SLOTS];
	struct process_totals totals, last, raw;
	struct task_record records[MAX_TASKS];
	struct proc_books books_begin;
	struct task_counts ended_begin;
} seen[NR_OBSERVED];

static struct snapshot snap;

/* --- snapshots --- */

static u64 cpu_ticks(u32 group)
{
	u64 ns = m.truth[group].released.runtime_ns;

	for (u32 i = 0; i < m.max_tasks; i++) {
		if (m.tasks[i].place != PLACE_NONE && m.tasks[i].group == group)
			ns += m.tasks[i].k.counts.runtime_ns;
	}
	return ns / 10000000;
}

static void add_u64s(void *sum, const void *more, size_t bytes)
{
	for (size_t i = 0; i < bytes / sizeof(u64); i++)
		((u64 *)sum)[i] += ((const u64 *)more)[i];
}

static void take_records(u32 group, struct process_snap *p)
{
	p->nr_threads = 0;
	for (u32 i = 0; i < m.max_tasks; i++) {
		struct task *t = &m.tasks[i];
		struct task_record *rec = &p->threads[p->nr_threads];
		struct thread_cell *cell;

		if (t->place == PLACE_NONE || t->group != group)
			continue;
		p->nr_threads++;
		*rec = (struct task_record){ .tid = t->k.pid, .tgid = t->k.tgid, .process = group };
		rec->now_ns = m.now;
		rec->counts = t->k.counts;
		cell = thread_find(t->k.pid);
		if (!cell)
			continue;
		rec->known = 1;
		rec->cell = *cell;
		p->enters_before += cell->enters;
	}
}

static void take_snapshot(void)
{
	snap.groups[GROUP_SCHED].up = snap.groups[GROUP_SYSCALLS].up = true;
	snap.machine.tick_hz = 100;
	snap.machine.online_cpus = m.nr_cpus;
	for (u32 g = 0; g < NR_OBSERVED; g++) {
		struct process_snap *p = &seen[g].p;

		memset(p, 0, sizeof(*p));
		memset(&seen[g].hists, 0, sizeof(seen[g].hists));
		p->hists = &seen[g].hists;
		p->calls = seen[g].calls;
		p->alive = true;
		p->begin_ns = m.begin_ns;
		p->read_ns = m.now;
		for (u32 i = 0; i < HOST_LANES; i++) {
			add_u64s(p->cells, &host_cells[i][g], sizeof(p->cells));
			add_u64s(p->hists, &host_hists[i][g], sizeof(*p->hists));
		}
		p->threads = seen[g].records;
		p->enters_before = p->cells[CELL_ENTERS];
		take_records(g, p);
		p->enters_after = p->enters_before;
		p->calls[0] = m.truth[g].enters;
		p->books_begin = seen[g].books_begin;
		p->books_now = (struct proc_books){ .valid = true, .read_ns = m.now };
		p->books_now.cpu_ticks = cpu_ticks(g);
		p->ended_begin = seen[g].ended_begin;
		p->ended_now = m.truth[g].released;
		totals_of(p, &seen[g].totals);
	}
}

static void check_identities(u32 g)
{
	struct identity ids[NR_IDENTITIES];

	identities_of(&snap, &seen[g].p, &seen[g].totals, ids);
	for (u32 i = 0; i < NR_IDENTITIES; i++) {
		if (!ids[i].checked)
			FAIL("seed %llu: %s is not checked", m.seed, identity_names[i]);
		if (!identity_holds(&ids[i]))
			FAIL("seed %llu at %llu: %s is off by %lld of %llu, may be %llu", m.seed,
			     m.now - m.begin_ns, identity_names[i], ids[i].residual, ids[i].total,
			     ids[i].tolerance);
	}
}

/*
 * Without the floor, too, counters never go down when all is reported and read between two events;
 * only how CPU time divides is an estimate while it is spent, and a new thread's first wait, which
 * counts from its birth until the kernel says how long it was.
 */
static void check_raw(u32 g)
{
	const u64 *now = seen[g].totals.cells, *last = seen[g].raw.cells;

	for (u32 i = 0; i < NR_CELLS; i++) {
		u64 slack = i == CELL_OFF_CPU + REASON_RUN_QUEUE
				    ? m.truth[g].unborn + m.moves * NS_PER_MS
				    : 0;

		if (i != CELL_CPU + MODE_USER && i != CELL_CPU + MODE_SYSTEM &&
		    now[i] + slack < last[i])
			FAIL("seed %llu: cell %u went down from %llu to %llu", m.seed, i, last[i],
			     now[i]);
	}
	if (now[CELL_CPU] + now[CELL_CPU + 1] < last[CELL_CPU] + last[CELL_CPU + 1])
		FAIL("seed %llu: CPU time went down", m.seed);
	seen[g].raw = seen[g].totals;
}

/* What a scrape does: identities of the totals as they are, and totals that never go down. */
static void scrape(bool with_identities)
{
	take_snapshot();
	for (u32 g = 0; g < NR_OBSERVED; g++) {
		if (with_identities)
			check_identities(g);
		if (with_identities && !m.lose_per_million && !m.max_lag_ns)
			check_raw(g);
		totals_floor(&seen[g].last, &seen[g].totals);
		for (u32 i = 0; i < NR_CELLS; i++) {
			if (seen[g].totals.cells[i] < seen[g].last.cells[i])
				FAIL("seed %llu: cell %u went down from %llu to %llu", m.seed, i,
				     seen[g].last.cells[i], seen[g].totals.cells[i]);
		}
		seen[g].last = seen[g].totals;
	}
}

static void scrape_in_switch(struct machine *machine)
{
	(void)machine;
	scrape(false);
}

/* --- what must be exact --- */

#define WANT(what, got, want)                                                                   \
	do {                                                                                    \
		u64 got_ = (got), want_ = (want);                                               \
		if (got_ != want_)                                                              \
			FAIL("seed %llu, process %u: %s is %llu, want %llu (%+lld)", m.seed, g, \
			     what, got_, want_, (s64)(got_ - want_));                           \
	} while (0)

/* The kernel's own counters of a process since it is observed. */
static struct task_counts kernel_counts(u32 g)
{
	struct task_counts sum = m.truth[g].counts;

	for (u32 i = 0; i < m.max_tasks; i++) {
		struct task *t = &m.tasks[i];

		if (t->place != PLACE_NONE && t->group == g)
			add_counts_since(&sum, &t->k.counts, &t->base);
	}
	return sum;
}

/* Whatever the kernel did not report: its counters are what is charged. */
static void check_kernel_totals(u32 g)
{
	const struct process_totals *t = &seen[g].totals;
	struct task_counts k = kernel_counts(g);

	WANT("CPU time", t->cells[CELL_CPU + MODE_USER] + t->cells[CELL_CPU + MODE_SYSTEM],
	     k.runtime_ns);
	WANT("voluntary switches", t->cells[CELL_SWITCHES + SWITCH_VOLUNTARY], k.nvcsw);
	WANT("involuntary switches", t->cells[CELL_SWITCHES + SWITCH_INVOLUNTARY], k.nivcsw);
	WANT("page faults", t->cells[CELL_PAGE_FAULTS], k.faults);
}

static void check_calls(u32 g)
{
	const struct process_totals *t = &seen[g].totals;
	const struct truth *truth = &m.truth[g];
	u64 in_flight = 0, threads_here = 0;

	for (u32 i = 0; i < m.max_tasks; i++) {
		const struct task *task = &m.tasks[i];

		if (task->place == PLACE_NONE || task->group != g)
			continue;
		threads_here++;
		in_flight += task->call != NO_CALL && task->entry_seen;
	}
	WANT("entries", seen[g].p.enters_before, truth->enters);
	WANT("calls in flight", t->in_flight, in_flight);
	WANT("open entries", t->open_enters, in_flight);
	WANT("exits without an entry", t->cells[CELL_EXITS_UNMATCHED], truth->unmatched);
	WANT("calls that never returned", t->cells[CELL_NEVER_RETURNED], truth->never_returned);
	WANT("threads", t->threads, threads_here);
	WANT("threads ended", t->cells[CELL_THREADS_ENDED], truth->ended);
}

static void check_losses(void)
{
	for (u32 i = 0; i < NR_DROPS; i++) {
		if (host_drops[i])
			FAIL("seed %llu: %llu drops of kind %u", m.seed, host_drops[i], i);
	}
}

/* With what the kernel takes for a wait, as long as that is believable. */
static void check_wait(u32 g, u64 got, u64 want)
{
	if (got < want || got > want + m.moves * NS_PER_MS)
		FAIL("seed %llu, process %u: waits are %llu, want %llu (%+lld) with %llu moves",
		     m.seed, g, got, want, (s64)(got - want), m.moves);
}

/* Every cell is the truth, when the kernel reports all and its two clocks are one. */
static void check_truth(u32 g)
{
	const struct truth *truth = &m.truth[g];
	const u64 *c = seen[g].totals.cells;
	u64 blocked = 0, waited = 0, born_waiting = 0;

	/* A thread that never ran yet is said to wait since its birth; then run_delay knows better.
	 */
	for (u32 i = 0; i < m.max_tasks; i++) {
		const struct task *task = &m.tasks[i];

		if (task->place == PLACE_QUEUED && task->group == g &&
		    task->spell_begin == task->k.start_time)
			born_waiting += task->unborn_ns;
	}
	WANT("user time", c[CELL_CPU + MODE_USER], truth->user);
	WANT("system time", c[CELL_CPU + MODE_SYSTEM], truth->system);
	for (u32 i = 0; i < NR_REASONS; i++) {
		u64 want = i < NR_WAIT_REASONS ? truth->wait[i] : truth->blocked[i];
		u64 n = 0;

		if (i < NR_WAIT_REASONS && m.moves)
			check_wait(g, c[CELL_OFF_CPU + i], want);
		else
			WANT("off-CPU time of a reason", c[CELL_OFF_CPU + i],
			     want + (i == REASON_RUN_QUEUE ? born_waiting : 0));
		*(i < NR_WAIT_REASONS ? &waited : &blocked) += want;
		for (u32 b = 0; b < NR_HIST_BUCKETS; b++)
			n += seen[g].hists.off_cpu[i].counts[b];
		WANT("off-CPU spells of a reason", n, truth->spells[i]);
		WANT("length of off-CPU spells", seen[g].hists.off_cpu[i].sum, truth->spells_ns[i]);
	}
	WANT("time between stamps on a CPU", c[CELL_ON_STAMPS], truth->user + truth->system);
	WANT("time between stamps waiting", c[CELL_WAIT_STAMPS], waited + truth->unborn);
	WANT("time between stamps blocked", c[CELL_BLOCKED_STAMPS], blocked);
	WANT("wall time", c[CELL_THREAD_WALL], truth->wall);
	WANT("stamps and wall time",
	     c[CELL_ON_STAMPS] + c[CELL_WAIT_STAMPS] + c[CELL_BLOCKED_STAMPS], truth->wall);
	WANT("lost switches", c[CELL_LOST_SWITCHES], 0);
}

/* --- histories --- */

struct kind {
	u64 max_lag_ns;
	u32 lose_per_million, signals_per_million, moves_per_million;
	u32 warm_up;
	u32 unmarked; /* events between seeding and observing */
	bool scrape_anywhere;
	bool in_a_row; /* losses may follow one another: only what is exact holds then */
};

static void play(u64 seed, const struct kind *kind)
{
	machine_begin(&m, seed);
	m.max_lag_ns = kind->max_lag_ns;
	m.signals_per_million = kind->signals_per_million;
	m.moves_per_million = kind->moves_per_million;
	memset(seen, 0, sizeof(seen));
	for (u32 i = 0; i < kind->warm_up; i++)
		machine_step(&m);
	machine_take_in(&m);
	m.nobody_dies = true;
	for (u32 i = 0; i < kind->unmarked; i++)
		machine_step(&m);
	machine_mark(&m);
	m.lose_per_million = kind->lose_per_million;
	m.losses_apart = !kind->in_a_row;
	for (u32 g = 0; g < NR_OBSERVED; g++) {
		seen[g].books_begin = (struct proc_books){ .valid = true, .read_ns = m.now };
		seen[g].books_begin.cpu_ticks = cpu_ticks(g);
		seen[g].ended_begin = m.truth[g].released;
	}
	m.in_switch = kind->scrape_anywhere ? scrape_in_switch : NULL;
	for (u32 i = 0; i < EVENTS; i++) {
		machine_step(&m);
		if (one_in(&m, EVENTS / SNAPSHOTS))
			scrape(!kind->in_a_row);
	}
	m.in_switch = NULL;
	/* Books are compared at one moment, for which the kernel's have to be brought up to date.
	 */
	m.lose_per_million = 0;
	m.max_lag_ns = 0;
	update_all(&m);
	for (u32 i = 0; i < m.max_tasks; i++) {
		if (m.tasks[i].place != PLACE_NONE)
			settle(&m, &m.tasks[i]);
	}
	take_snapshot();
	check_losses();
}

static u64 seeds(u64 *ret_first)
{
	const char *one = getenv("SIM_SEED"), *many = getenv("SIM_SEEDS");
	u64 n = one ? 1 : many ? strtoull(many, NULL, 0) : DEFAULT_SEEDS;

	*ret_first = one ? strtoull(one, NULL, 0) : 1;
	return n;
}

/* Play all seeds, and check what holds for every kind of history. */
static void play_all(const struct kind *kind, void (*check)(u32 process))
{
	u64 first, n = seeds(&first);

	printf("# seeds %llu to %llu, %u events each\n", first, first + n - 1, EVENTS);
	for (u64 seed = first; seed < first + n; seed++) {
		play(seed, kind);
		for (u32 g = 0; g < NR_OBSERVED; g++) {
			check_kernel_totals(g);
			check_calls(g);
			if (check)
				check(g);
		}
	}
}

/* The kernel's run_delay; what threads waited before they were observed may be in it. */
static void check_run_delay(u32 g)
{
	WANT("waits for a CPU", seen[g].totals.run_delay_ns, kernel_counts(g).run_delay_ns);
}

/*
 * A wait around a lost report can look like the part of a sleep that kernels with delayed dequeue
 * count as waiting, and is cut (sched_cut_wait): never too much is charged, and little is missing.
 */
static void check_run_delay_after_losses(u32 g)
{
	u64 kernel = kernel_counts(g).run_delay_ns, ours = seen[g].totals.run_delay_ns;

	u64 may_miss = kernel / (m.losses_apart ? 50 : 20);

	if (ours > kernel || kernel - ours > may_miss)
		FAIL("seed %llu, process %u: waits are %llu of %llu", m.seed, g, ours, kernel);
}

TEST(books_are_the_truth_when_all_is_reported)
{
	play_all(&(struct kind){ 0 }, check_truth);
}

TEST(books_are_the_truth_from_the_middle_of_a_history)
{
	play_all(&(struct kind){ .warm_up = WARM_UP }, check_truth);
}

TEST(books_are_the_truth_however_often_they_are_read)
{
	play_all(&(struct kind){ .scrape_anywhere = true }, check_truth);
}

TEST(books_are_the_truth_when_signals_come_in_the_last_moment)
{
	play_all(&(struct kind){ .signals_per_million = 50000 }, check_truth);
}

TEST(books_do_not_take_a_sleep_for_a_wait)
{
	play_all(&(struct kind){ .moves_per_million = 500 }, check_truth);
}

TEST(books_close_with_threads_that_were_born_before_anybody_looked)
{
	play_all(&(struct kind){ .warm_up = WARM_UP, .unmarked = 500, .in_a_row = true }, NULL);
}

TEST(books_close_with_two_clocks)
{
	play_all(&(struct kind){ .max_lag_ns = 40000 }, check_run_delay);
}

TEST(books_close_with_two_clocks_from_the_middle_of_a_history)
{
	play_all(&(struct kind){ .max_lag_ns = 40000, .warm_up = WARM_UP }, NULL);
}

TEST(books_close_when_switches_and_wake_ups_are_not_reported)
{
	play_all(&(struct kind){ .lose_per_million = 300 }, check_run_delay_after_losses);
}

TEST(books_close_when_many_switches_are_not_reported)
{
	play_all(&(struct kind){ .lose_per_million = 30000, .in_a_row = true },
		 check_run_delay_after_losses);
}

TEST(books_close_when_nothing_is_perfect)
{
	play_all(&(struct kind){ .lose_per_million = 1000,
				 .max_lag_ns = 40000,
				 .signals_per_million = 20000,
				 .warm_up = WARM_UP,
				 .scrape_anywhere = true },
		 NULL);
}
