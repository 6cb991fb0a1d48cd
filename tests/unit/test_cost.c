/* SPDX-License-Identifier: MIT */
/* What observing costs: each hit is paid for once, and the ratio is of a window that is over. */
#include "tests/lib/check.h"

#include "user/cmd/observer_cost.h"

static struct cost_prices prices_of_one(void)
{
	struct cost_prices p = { .known = true };

	for (u32 i = 0; i < NR_COSTS; i++)
		p.ns[i] = 1;
	return p;
}

TEST(cost_every_hit_is_paid_for_in_its_group)
{
	const struct cost_prices prices = prices_of_one();
	u64 cells[NR_CELLS] = { 0 }, ns[NR_GROUPS];
	struct cost_hits hits;

	cells[CELL_TRACED_CALLS] = 1000;
	cells[CELL_SWITCHES + SWITCH_VOLUNTARY] = 20;
	cells[CELL_SWITCHES + SWITCH_INVOLUNTARY] = 3;
	cells[CELL_THREADS_BORN] = 2;
	cells[CELL_THREADS_ENDED] = 1;
	cells[CELL_ASKED_CALLS] = 400;
	cells[CELL_ASKED_THREADS] = 50;
	cells[CELL_BEGUN] = 7;
	cells[CELL_GC_ENTRIES] = 30;
	cells[CELL_GC_RETURNS] = 5;
	cells[CELL_URING_HITS] = 6;
	cells[CELL_SIGNAL_HITS] = 8;
	cost_count(cells, &hits);
	cost_by_group(&hits, &prices, ns);
	CHECK_EQ_U64(ns[GROUP_SYSCALLS], 1000);
	CHECK_EQ_U64(ns[GROUP_SCHED], 23);
	CHECK_EQ_U64(ns[GROUP_PROCESS], 3);
	CHECK_EQ_U64(ns[GROUP_INTERACTIONS], 457);
	CHECK_EQ_U64(ns[GROUP_GO_GC], 35);
	CHECK_EQ_U64(ns[GROUP_IO_URING], 6);
	CHECK_EQ_U64(ns[GROUP_CENSUS], 8);
	CHECK_EQ_U64(ns[GROUP_FUNCTIONS], 0);
	CHECK_EQ_U64(ns[GROUP_FSYNC], 0);
}

TEST(cost_of_a_call_of_a_function_is_no_request)
{
	const struct cost_prices prices = prices_of_one();
	u64 cells[NR_CELLS] = { 0 }, ns[NR_GROUPS];
	struct cost_hits hits;

	cells[CELL_BEGUN] = 7;
	cells[CELL_FUNCTION_ENTRIES] = 9;
	cells[CELL_FUNCTION_RETURNS] = 8;
	cost_count(cells, &hits);
	cost_by_group(&hits, &prices, ns);
	CHECK_EQ_U64(ns[GROUP_INTERACTIONS], 0);
	CHECK_EQ_U64(ns[GROUP_FUNCTIONS], 17);
}

/* A process at @at_ns that has entered @calls and used @cpu_ns. */
static void step(struct observed_cost *cost, u64 at_ns, u64 calls, u64 cpu_ns,
		 struct process_snap *ret_snap)
{
	struct cost_prices prices = prices_of_one();
	struct process_totals totals = { 0 };

	*ret_snap = (struct process_snap){ .alive = true, .read_ns = at_ns };
	ret_snap->cells[CELL_SMALL_SYSCALLS] = calls;
	totals.cells[CELL_CPU] = cpu_ns;
	observed_cost_step(cost, &prices, false, ret_snap, &totals);
	CHECK_EQ_U64(totals.cells[CELL_TRACED_CALLS], calls);
}

TEST(cost_window_ends_after_a_second_and_some_cpu_time)
{
	struct observed_cost cost = { 0 };
	struct process_snap snap;

	step(&cost, 5 * NS_PER_SEC, 100, 0, &snap);
	CHECK_EQ_U64(snap.window_cpu_ns, 0);
	step(&cost, 5 * NS_PER_SEC + 1, 200, NS_PER_SEC, &snap); /* too short */
	CHECK_EQ_U64(snap.window_cpu_ns, 0);
	step(&cost, 6 * NS_PER_SEC, 1100, NS_PER_SEC, &snap);
	CHECK_EQ_U64(snap.window_cpu_ns, NS_PER_SEC);
	CHECK_EQ_U64(snap.window_cost_ns, 1000);
	step(&cost, 9 * NS_PER_SEC, 1100, NS_PER_SEC, &snap); /* it slept: the last one stays */
	CHECK_EQ_U64(snap.window_cpu_ns, NS_PER_SEC);
	step(&cost, 10 * NS_PER_SEC, 1105, 2 * NS_PER_SEC, &snap);
	CHECK_EQ_U64(snap.window_cpu_ns, NS_PER_SEC);
	CHECK_EQ_U64(snap.window_cost_ns, 5);
	CHECK_EQ_U64(cost.windows, 2);
}
