/* SPDX-License-Identifier: MIT */
/*
 * Each identity holds up to its tolerance and not beyond, and is not checked when one side is
 * missing. The tolerances are written out here once more, so that a change of one is a decision.
 */
#include "tests/lib/check.h"

#include "user/model/identities.h"

#define MS NS_PER_MS
#define S  NS_PER_SEC

/* A process whose books close to the last digit. */
struct books {
	struct snapshot snap;
	struct process_snap p;
	u64 calls[NR_CALL_SLOTS];
	struct process_totals t;
	struct task_record thread;
};

static void begin(struct books *b)
{
	u64 *c = b->t.cells;

	memset(b, 0, sizeof(*b));
	b->snap.groups[GROUP_SCHED].up = true;
	b->snap.groups[GROUP_SYSCALLS].up = true;
	b->snap.machine.tick_hz = 100;
	b->snap.machine.online_cpus = 2;

	c[CELL_CPU + MODE_USER] = 6 * S;
	c[CELL_CPU + MODE_SYSTEM] = 4 * S;
	b->t.runtime_ns = 10 * S;
	c[CELL_ON_STAMPS] = 10 * S;
	c[CELL_WAIT_STAMPS] = 2 * S;
	b->t.run_delay_ns = 2 * S - 5 * MS;
	b->t.open_wait_ns = 5 * MS;
	c[CELL_BLOCKED_STAMPS] = 3 * S;
	c[CELL_THREAD_WALL] = 15 * S;
	c[CELL_SWITCHES + SWITCH_VOLUNTARY] = 1000;
	c[CELL_SWITCHES + SWITCH_INVOLUNTARY] = 500;
	c[CELL_THREADS_BORN] = 2;
	c[CELL_THREADS_ENDED] = 1;
	c[CELL_LOST_SWITCHES] = 1;
	b->t.running = 1;
	b->t.threads = 1;

	c[CELL_ENTERS] = 100;
	b->t.open_enters = 5;
	c[CELL_EXITS] = 98;
	c[CELL_NEVER_RETURNED] = 4;
	b->t.in_flight = 3;
	b->p.calls = b->calls;
	b->p.calls[0] = 60;
	b->p.calls[NR_CALL_SLOTS - 1] = 45;
	b->p.enters_before = b->p.enters_after = 105;

	b->p.alive = true;
	b->p.unsettled_ns = 7;
	b->p.read_ns = b->p.books_now.read_ns = 20 * S;
	b->p.books_begin = (struct proc_books){ .valid = true, .cpu_ticks = 100 };
	b->p.books_now.valid = true;
	b->p.books_now.cpu_ticks = 1100;

	b->thread.known = 1;
	b->thread.cell.base = (struct task_counts){ .nvcsw = 11, .nivcsw = 12 };
	b->thread.counts = (struct task_counts){ .nvcsw = 11 + 900, .nivcsw = 12 + 450 };
	b->p.ended_begin = (struct task_counts){ .nvcsw = 7, .nivcsw = 8 };
	b->p.ended_now = (struct task_counts){ .nvcsw = 7 + 100, .nivcsw = 8 + 50 };
	b->p.threads = &b->thread;
	b->p.nr_threads = 1;
}

static struct identity identity_of(const struct books *b, enum identity_id id)
{
	struct identity ids[NR_IDENTITIES];

	memset(ids, 0xee, sizeof(ids));
	identities_of(&b->snap, &b->p, &b->t, ids);
	return ids[id];
}

/* Move @side away from the other one and see where the identity ends, in both directions. */
static void check_edges(struct books *b, enum identity_id id, u64 *side, u64 tolerance)
{
	const u64 even = *side;
	struct identity at;

	at = identity_of(b, id);
	CHECK(at.checked);
	CHECK_EQ_INT(at.residual, 0);
	CHECK_EQ_U64(at.tolerance, tolerance);
	for (int sign = -1; sign <= 1; sign += 2) {
		for (u64 beyond = 0; beyond <= 1; beyond++) {
			*side = even + (u64)sign * (tolerance + beyond);
			at = identity_of(b, id);
			CHECK(at.checked);
			CHECK_EQ_U64(at.tolerance, tolerance);
			CHECK_EQ_U64((u64)(at.residual < 0 ? -at.residual : at.residual),
				     tolerance + beyond);
			CHECK_EQ_INT(identity_holds(&at), !beyond);
		}
	}
	*side = even;
}

/* Of begin(): 2 running or waiting CPUs and one running thread are a tick behind, at 10 ms. */
#define STALE	 (3 * 10 * MS + 7)
#define BORN	 (2 * 200000ULL)
#define LOST	 MS
#define RELEASED 64000ULL /* one thread ended */
#define SWITCHES 1500ULL

TEST(identity_cpu_edge)
{
	struct books b;

	begin(&b);
	check_edges(&b, IDENTITY_CPU, &b.t.cells[CELL_CPU + MODE_USER],
		    2 * 10 * MS + STALE + RELEASED);
	/* One millisecond between the two readings, on two CPUs; either may be the later one. */
	b.p.books_now.read_ns += MS;
	check_edges(&b, IDENTITY_CPU, &b.t.cells[CELL_CPU + MODE_USER],
		    2 * 10 * MS + STALE + RELEASED + 2 * MS);
	b.p.books_now.read_ns -= 2 * MS;
	check_edges(&b, IDENTITY_CPU, &b.t.cells[CELL_CPU + MODE_USER],
		    2 * 10 * MS + STALE + RELEASED + 2 * MS);
}

TEST(identity_cpu_stamps_edge)
{
	struct books b;

	begin(&b);
	check_edges(&b, IDENTITY_CPU_STAMPS, &b.t.cells[CELL_ON_STAMPS],
		    BORN + LOST + STALE + SWITCHES * 64000 + 10 * MS);
}

TEST(identity_modes_edge)
{
	struct books b;

	begin(&b);
	check_edges(&b, IDENTITY_MODES, &b.t.runtime_ns, 7);
	b.p.unsettled_ns = 0;
	check_edges(&b, IDENTITY_MODES, &b.t.runtime_ns, 0);
}

TEST(identity_in_flight_edge)
{
	struct books b;

	begin(&b);
	check_edges(&b, IDENTITY_IN_FLIGHT, &b.t.in_flight, 0);
	check_edges(&b, IDENTITY_IN_FLIGHT, &b.t.open_enters, 0);
	check_edges(&b, IDENTITY_IN_FLIGHT, &b.t.cells[CELL_NEVER_RETURNED], 0);
}

TEST(identity_syscalls_edge)
{
	struct foreign_count foreign[2] = { { ABI_COMPAT, 4, 2 }, { ABI_X32, 1, 3 } };
	struct books b;

	begin(&b);
	check_edges(&b, IDENTITY_SYSCALLS, &b.p.calls[0], 0);
	/* Calls through another ABI belong to it too. */
	b.p.foreign = foreign;
	b.p.nr_foreign = 2;
	b.p.calls[0] -= 5;
	check_edges(&b, IDENTITY_SYSCALLS, &b.p.calls[0], 0);
}

TEST(identity_syscalls_allows_what_was_entered_while_reading)
{
	static const struct {
		u64 before, after;
		s64 residual;
	} cases[] = {
		{ 105, 105, 0 }, { 100, 105, 0 },  { 105, 110, 0 },
		{ 90, 200, 0 },	 { 106, 110, -1 }, { 90, 104, 1 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct identity at;
		struct books b;

		begin(&b);
		b.p.enters_before = cases[i].before;
		b.p.enters_after = cases[i].after;
		at = identity_of(&b, IDENTITY_SYSCALLS);
		CHECK_EQ_INT(at.residual, cases[i].residual);
		CHECK_EQ_INT(identity_holds(&at), !cases[i].residual);
	}
}

TEST(identity_stamps_edge)
{
	struct books b;

	begin(&b);
	check_edges(&b, IDENTITY_STAMPS, &b.t.cells[CELL_BLOCKED_STAMPS],
		    BORN + LOST + 7 + 10 * SWITCHES + 15 * S / 10000);
}

TEST(identity_run_queue_edge)
{
	struct books b;

	begin(&b);
	check_edges(&b, IDENTITY_RUN_QUEUE, &b.t.cells[CELL_WAIT_STAMPS],
		    BORN + LOST + STALE + SWITCHES * 64000 + 2 * S / 1000);
}

TEST(identity_wall_edge)
{
	struct books b;

	begin(&b);
	check_edges(&b, IDENTITY_WALL, &b.t.cells[CELL_BLOCKED_STAMPS],
		    BORN + LOST + STALE + SWITCHES * 5000 + 15 * S / 2000);
}

TEST(identity_switches_edge)
{
	struct books b;

	begin(&b);
	check_edges(&b, IDENTITY_SWITCHES, &b.thread.counts.nvcsw, 2 * 1 + 64);
	check_edges(&b, IDENTITY_SWITCHES, &b.p.ended_now.nivcsw, 2 * 1 + 64);
	b.p.unsettled_ns = 10 * 64000;
	check_edges(&b, IDENTITY_SWITCHES, &b.thread.counts.nivcsw, 2 * 1 + 64 + 10);
}

TEST(identity_switches_knows_what_ended_threads_did_before)
{
	struct books b;

	begin(&b);
	/* A thread that was there before: its 5000 earlier switches are in the kernel's sums. */
	b.p.ended_now.nvcsw += 5000;
	b.t.cells[CELL_ENDED_EARLIER_SWITCHES] = 5000;
	CHECK_EQ_INT(identity_of(&b, IDENTITY_SWITCHES).residual, 0);
}

TEST(identity_switches_leaves_out_threads_that_are_not_known)
{
	struct task_record threads[2];
	struct books b;

	begin(&b);
	threads[0] = b.thread;
	threads[1] = (struct task_record){ .counts = { .nvcsw = 100000 } };
	b.p.threads = threads;
	b.p.nr_threads = 2;
	CHECK_EQ_INT(identity_of(&b, IDENTITY_SWITCHES).residual, 0);
}

static void check_checked(const struct books *b, u32 want)
{
	for (u32 i = 0; i < NR_IDENTITIES; i++) {
		struct identity at = identity_of(b, i);

		if (at.checked != (want >> i & 1))
			FAIL("%s is %schecked", identity_names[i], at.checked ? "" : "not ");
		/* Whoever does not ask sees nothing wrong. */
		if (!at.checked)
			CHECK(identity_holds(&at) && !at.residual && !at.total);
	}
}

#define BIT(id)	 (1u << IDENTITY_##id)
#define ALL	 ((1u << NR_IDENTITIES) - 1)
#define OF_CALLS (BIT(IN_FLIGHT) | BIT(SYSCALLS))

TEST(identity_is_not_checked_when_a_side_is_missing)
{
	struct books b;

	begin(&b);
	check_checked(&b, ALL);
	b.snap.groups[GROUP_SCHED].up = false;
	check_checked(&b, OF_CALLS);
	b.snap.groups[GROUP_SYSCALLS].up = false;
	check_checked(&b, 0);
	b.snap.groups[GROUP_SCHED].up = true;
	check_checked(&b, ALL & ~OF_CALLS);

	begin(&b);
	b.p.books_begin.valid = false;
	check_checked(&b, ALL & ~BIT(CPU));

	begin(&b);
	b.p.books_now.valid = false;
	check_checked(&b, ALL & ~BIT(CPU));

	begin(&b); /* the books are of another incarnation */
	b.p.books_now.cpu_ticks = 99;
	check_checked(&b, ALL & ~BIT(CPU));

	begin(&b);
	b.p.alive = false;
	check_checked(&b, ALL & ~BIT(SWITCHES));

	begin(&b);
	b.p.nr_threads = 0;
	check_checked(&b, ALL & ~BIT(SWITCHES));
}

TEST(identity_names_are_distinct_words)
{
	for (u32 i = 0; i < NR_IDENTITIES; i++) {
		CHECK(identity_names[i] && identity_names[i][0]);
		for (u32 k = i + 1; k < NR_IDENTITIES; k++)
			CHECK(strcmp(identity_names[i], identity_names[k]) != 0);
	}
}

TEST(identity_ratio_is_relative_to_the_total)
{
	static const struct {
		s64 residual;
		u64 total;
		double ratio;
	} cases[] = {
		{ 0, 0, 0 },
		{ 0, 10, 0 },
		{ 5, 10, 0.5 },
		{ -5, 10, 0.5 },
		{ 20, 10, 2 },
		{ -3, 0, 3 },
		{ -9223372036854775807LL - 1, 1, 9223372036854775808.0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct identity at = { true, cases[i].residual, cases[i].total, 0 };

		CHECK_NEAR(identity_ratio(&at), cases[i].ratio, 1e-9);
		CHECK_EQ_INT(identity_holds(&at), !cases[i].residual);
	}
}

TEST(identity_of_an_empty_process_holds)
{
	struct books b;

	memset(&b, 0, sizeof(b));
	b.snap.groups[GROUP_SCHED].up = b.snap.groups[GROUP_SYSCALLS].up = true;
	for (u32 i = 0; i < NR_IDENTITIES; i++) {
		struct identity at = identity_of(&b, i);

		CHECK(identity_holds(&at));
		CHECK_NEAR(identity_ratio(&at), 0, 0);
	}
}

TEST(chain_holds_up_to_one_break_in_a_thousand)
{
	struct machine_snap m = { .switches = 10000, .chain_breaks = 10 };

	CHECK(chain_holds(&m));
	m.chain_breaks = 11;
	CHECK(!chain_holds(&m));
	CHECK(chain_holds(&(struct machine_snap){ 0 }));
	CHECK(!chain_holds(&(struct machine_snap){ .switches = 999, .chain_breaks = 1 }));
}
