/* SPDX-License-Identifier: MIT */
/* Totals are what was charged plus what threads have spent since, by records made by hand. */
#include "tests/lib/check.h"

#include "user/model/totals.h"

#define NOW 1000000000ULL

/* A thread that was charged in full and blocked this very moment. */
static struct task_record quiet(void)
{
	struct task_record rec = { .tid = 7, .tgid = 7, .known = 1, .now_ns = NOW };
	struct thread_cell *c = &rec.cell;

	rec.counts = (struct task_counts){ 1000, 200, 30, 4, 5 };
	c->base = (struct task_counts){ 100, 20, 3, 1, 1 };
	c->charged = rec.counts;
	c->begin_ns = NOW - 9000;
	c->since_ns = NOW;
	c->nr = NO_CALL;
	c->run_state = RUN_BLOCKED;
	return rec;
}

/* It is in @state since NOW - 500. */
static void begin_spell(struct task_record *rec, u8 state)
{
	rec->cell.run_state = state;
	rec->cell.since_ns = NOW - 500;
}

static struct process_totals totals_of_records(struct task_record *recs, size_t n)
{
	struct process_snap p = { .threads = recs, .nr_threads = n };
	struct process_totals t;

	memset(&t, 0xee, sizeof(t));
	totals_of(&p, &t);
	return t;
}

static struct process_totals totals_of_one(struct task_record rec)
{
	return totals_of_records(&rec, 1);
}

static u64 sum_of(const u64 *cells, size_t n)
{
	u64 sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += cells[i];
	return sum;
}

TEST(totals_without_threads_are_what_was_charged)
{
	struct process_snap p = { 0 };
	struct process_totals t;

	for (u32 i = 0; i < NR_CELLS; i++)
		p.cells[i] = 1000 + i;
	totals_of(&p, &t);
	CHECK_MEM(t.cells, sizeof(t.cells), p.cells, sizeof(p.cells));
	CHECK_EQ_U64(t.runtime_ns, p.cells[CELL_ENDED_RUNTIME]);
	CHECK_EQ_U64(t.run_delay_ns, p.cells[CELL_OFF_CPU + REASON_RUN_QUEUE] +
					     p.cells[CELL_OFF_CPU + REASON_PREEMPTED]);
	CHECK_EQ_U64(t.open_wait_ns, 0);
	CHECK_EQ_U64(t.threads, 0);
	CHECK_EQ_U64(t.running, 0);
}

TEST(totals_of_a_quiet_thread_are_its_books)
{
	struct process_totals t = totals_of_one(quiet());

	CHECK_EQ_U64(t.threads, 1);
	CHECK_EQ_U64(t.running, 0);
	CHECK_EQ_U64(t.runtime_ns, 900);
	CHECK_EQ_U64(t.cells[CELL_THREAD_WALL], 9000);
	t.cells[CELL_THREAD_WALL] = 0;
	CHECK_EQ_U64(sum_of(t.cells, NR_CELLS), 0);
}

TEST(totals_count_a_run_that_is_not_over)
{
	struct task_record rec = quiet();
	struct process_totals t;

	begin_spell(&rec, RUN_RUNNING);
	rec.counts.runtime_ns += 480;
	rec.counts.faults += 6;
	t = totals_of_one(rec);
	CHECK_EQ_U64(t.cells[CELL_CPU + MODE_USER], 480);
	CHECK_EQ_U64(t.cells[CELL_CPU + MODE_SYSTEM], 0);
	CHECK_EQ_U64(t.cells[CELL_ON_STAMPS], 500);
	CHECK_EQ_U64(t.cells[CELL_PAGE_FAULTS], 6);
	CHECK_EQ_U64(t.runtime_ns, 900 + 480);
	CHECK_EQ_U64(t.running, 1);
}

TEST(totals_split_a_run_at_the_entry_of_its_call)
{
	struct task_record rec = quiet();
	struct process_totals t;

	begin_spell(&rec, RUN_RUNNING);
	rec.cell.nr = 1;
	rec.cell.sys_ns = 50;
	rec.cell.sys_since_ns = NOW - 100;
	rec.counts.runtime_ns += 480;
	t = totals_of_one(rec);
	CHECK_EQ_U64(t.cells[CELL_CPU + MODE_SYSTEM], 150);
	CHECK_EQ_U64(t.cells[CELL_CPU + MODE_USER], 330);

	/* Out of the call, the clock of system time stands still. */
	rec.cell.nr = NO_CALL;
	t = totals_of_one(rec);
	CHECK_EQ_U64(t.cells[CELL_CPU + MODE_SYSTEM], 50);

	/* So it does for a thread that is inside a call but off the CPU. */
	rec.cell.nr = 1;
	begin_spell(&rec, RUN_BLOCKED);
	t = totals_of_one(rec);
	CHECK_EQ_U64(t.cells[CELL_CPU + MODE_SYSTEM], 50);
}

TEST(totals_system_time_is_never_above_cpu_time)
{
	struct task_record rec = quiet();
	struct process_totals t;

	begin_spell(&rec, RUN_RUNNING);
	rec.cell.nr = 1;
	rec.cell.sys_ns = 300;
	rec.cell.sys_since_ns = NOW - 400;
	rec.counts.runtime_ns += 480;
	t = totals_of_one(rec);
	CHECK_EQ_U64(t.cells[CELL_CPU + MODE_SYSTEM], 480);
	CHECK_EQ_U64(t.cells[CELL_CPU + MODE_USER], 0);
}

/* Kernels from 6.12 on let run_delay grow while a thread sleeps. */
TEST(totals_do_not_take_a_sleep_for_a_wait)
{
	struct task_record rec = quiet();
	struct process_totals t;

	begin_spell(&rec, RUN_BLOCKED);
	rec.cell.wait_reason = REASON_RUN_QUEUE;
	rec.cell.reason = REASON_SLEEP;
	rec.counts.run_delay_ns += 400000000;
	t = totals_of_one(rec);
	CHECK_EQ_U64(t.cells[CELL_OFF_CPU + REASON_RUN_QUEUE], 0);
	CHECK_EQ_U64(t.cells[CELL_OFF_CPU + REASON_SLEEP], 500);
}

TEST(totals_count_a_wait_for_a_cpu_that_is_not_over)
{
	for (u8 reason = 0; reason < NR_WAIT_REASONS; reason++) {
		struct task_record rec = quiet();
		struct process_totals t;

		begin_spell(&rec, RUN_RUNNABLE);
		rec.cell.wait_reason = reason;
		rec.cell.reason = REASON_FUTEX; /* of the spell before */
		rec.counts.run_delay_ns +=
			40; /* it ran meanwhile: the switch-in was not reported */
		rec.counts.runtime_ns += 1;
		t = totals_of_one(rec);
		CHECK_EQ_U64(t.cells[CELL_WAIT_STAMPS], 500);
		CHECK_EQ_U64(t.cells[CELL_OFF_CPU + reason], 540);
		CHECK_EQ_U64(sum_of(&t.cells[CELL_OFF_CPU], NR_REASONS), 540);
		CHECK_EQ_U64(t.open_wait_ns, 500);
		CHECK_EQ_U64(t.run_delay_ns, 40);
		CHECK_EQ_U64(t.cells[CELL_ON_STAMPS] + t.cells[CELL_BLOCKED_STAMPS], 0);
	}
}

TEST(totals_count_a_new_thread_as_waiting_since_its_birth)
{
	struct task_record rec = quiet();
	struct process_totals t;

	begin_spell(&rec, RUN_UNKNOWN);
	rec.cell.wait_reason = REASON_RUN_QUEUE;
	t = totals_of_one(rec);
	CHECK_EQ_U64(t.cells[CELL_WAIT_STAMPS], 500);
	CHECK_EQ_U64(t.cells[CELL_OFF_CPU + REASON_RUN_QUEUE], 500);
	CHECK_EQ_U64(t.open_wait_ns, 500);
}

TEST(totals_split_a_spell_whose_wake_up_was_not_seen)
{
	static const struct {
		u64 delay, waited, blocked;
	} cases[] = { { 0, 0, 300 }, { 100, 100, 200 }, { 300, 300, 0 }, { 350, 300, 0 } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct task_record rec = quiet();
		struct process_totals t;

		begin_spell(&rec, RUN_RUNNING);
		rec.cell.reason = REASON_FUTEX;
		rec.cell.wait_reason = REASON_RUN_QUEUE;
		rec.cell.unsplit_ns = 300;
		rec.counts.run_delay_ns += cases[i].delay;
		t = totals_of_one(rec);
		CHECK_EQ_U64(t.cells[CELL_WAIT_STAMPS], cases[i].waited);
		CHECK_EQ_U64(t.cells[CELL_BLOCKED_STAMPS], cases[i].blocked);
		CHECK_EQ_U64(t.cells[CELL_OFF_CPU + REASON_FUTEX], cases[i].blocked);
		CHECK_EQ_U64(t.cells[CELL_OFF_CPU + REASON_RUN_QUEUE], cases[i].delay);
		CHECK_EQ_U64(t.cells[CELL_ON_STAMPS], 500);
	}
}

/* 30 ms on the CPU by our stamps, of which the scheduler counted @ran_ns; it runs on if @running.
 */
static u64 steal_of(u64 ran_ns, bool running)
{
	struct process_snap p = { .nr_threads = 1 };
	struct task_record rec = quiet();
	struct process_totals t;

	p.threads = &rec;
	if (running) {
		rec.cell.run_state = RUN_RUNNING;
		rec.cell.since_ns = rec.now_ns - 30000000;
		rec.counts.runtime_ns += ran_ns;
	} else {
		p.cells[CELL_ON_STAMPS] = 30000000;
		p.cells[CELL_CPU + MODE_USER] = ran_ns;
	}
	totals_of(&p, &t);
	return t.cells[CELL_STEAL];
}

TEST(totals_know_steal_only_beyond_what_the_clocks_may_part_by)
{
	struct process_totals last = { 0 }, now = { 0 };

	/* A running thread's runtime is as of its last tick: that is not steal. */
	CHECK_EQ_U64(steal_of(20000000, true), 0);
	CHECK_EQ_U64(steal_of(0, true), 20000000);
	CHECK_EQ_U64(steal_of(20000000, false), 30000000 - 20000000 - 20000000 / 1000);
	CHECK_EQ_U64(steal_of(30000000, false), 0);
	/* What was stolen stays so, whatever is taken off for what came later. */
	last.cells[CELL_STEAL] = 5;
	totals_floor(&last, &now);
	CHECK_EQ_U64(now.cells[CELL_STEAL], 5);
}

TEST(totals_leave_out_the_wait_before_the_observation)
{
	struct task_record rec = quiet();
	struct process_totals t;

	/* It waited when observing began: 120 of its wait were observed, 1000 are in run_delay. */
	begin_spell(&rec, RUN_RUNNING);
	rec.cell.flags = THREAD_SEEDED_WAIT;
	rec.cell.waited_ns = 120;
	rec.counts.run_delay_ns += 1000;
	t = totals_of_one(rec);
	CHECK_EQ_U64(t.run_delay_ns, 120);
	CHECK_EQ_U64(t.cells[CELL_OFF_CPU + REASON_RUN_QUEUE], 120);
}

TEST(totals_believe_run_delay_of_a_thread_that_was_preempted)
{
	static const struct {
		u8 reason;
		u64 waited;
	} cases[] = { { REASON_RUN_QUEUE, 120 }, { REASON_PREEMPTED, 120 + 1306000 } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct task_record rec = quiet();
		struct process_totals t;

		begin_spell(&rec, RUN_RUNNING);
		rec.cell.wait_reason = cases[i].reason;
		rec.cell.waited_ns = 120;
		rec.counts.runtime_ns += 100;
		rec.counts.run_delay_ns += 120 + 1306000;
		t = totals_of_one(rec);
		CHECK_EQ_U64(t.cells[CELL_OFF_CPU + cases[i].reason], cases[i].waited);
	}
}

TEST(totals_count_a_block_that_is_not_over)
{
	for (u8 reason = NR_WAIT_REASONS; reason < NR_REASONS; reason++) {
		struct task_record rec = quiet();
		struct process_totals t;

		begin_spell(&rec, RUN_BLOCKED);
		rec.cell.reason = reason;
		rec.cell.wait_reason = REASON_PREEMPTED;
		t = totals_of_one(rec);
		CHECK_EQ_U64(t.cells[CELL_BLOCKED_STAMPS], 500);
		CHECK_EQ_U64(t.cells[CELL_OFF_CPU + reason], 500);
		CHECK_EQ_U64(sum_of(&t.cells[CELL_OFF_CPU], NR_REASONS), 500);
		CHECK_EQ_U64(t.open_wait_ns, 0);
		CHECK_EQ_U64(t.run_delay_ns, 0);
	}
}

TEST(totals_take_switches_from_the_kernel)
{
	struct task_record rec = quiet();
	struct process_totals t;

	rec.counts.nvcsw += 3;
	rec.counts.nivcsw += 2;
	t = totals_of_one(rec);
	CHECK_EQ_U64(t.cells[CELL_SWITCHES + SWITCH_VOLUNTARY], 3);
	CHECK_EQ_U64(t.cells[CELL_SWITCHES + SWITCH_INVOLUNTARY], 2);
}

TEST(totals_count_calls_in_flight_whose_entry_was_seen)
{
	struct task_record recs[4] = { quiet(), quiet(), quiet(), quiet() };
	struct process_totals t;

	recs[0].cell.nr = 0; /* read, entered */
	recs[0].cell.enters = 10;
	recs[0].cell.exits = 9;
	recs[1].cell.enters = 4; /* in user mode */
	recs[1].cell.exits = 4;
	recs[2].cell.nr = 202; /* in it before it was observed */
	recs[2].cell.flags = THREAD_SEEDED_CALL;
	recs[3].cell.nr = 35; /* after that one, another */
	recs[3].cell.enters = 1;
	t = totals_of_records(recs, 4);
	CHECK_EQ_U64(t.open_enters, 2);
	CHECK_EQ_U64(t.in_flight, 2);
}

TEST(totals_leave_out_threads_that_are_not_known)
{
	struct task_record recs[2] = { quiet(), quiet() };
	struct process_totals t;

	recs[0].known = 0;
	begin_spell(&recs[0], RUN_RUNNING);
	recs[0].counts.runtime_ns += 1000000;
	t = totals_of_records(recs, 2);
	CHECK_EQ_U64(t.threads, 1);
	CHECK_EQ_U64(t.running, 0);
	CHECK_EQ_U64(t.runtime_ns, 900);
	CHECK_EQ_U64(t.cells[CELL_THREAD_WALL], 9000);
}

TEST(totals_add_threads_and_cells)
{
	struct task_record recs[2] = { quiet(), quiet() };
	struct process_snap p = { .threads = recs, .nr_threads = 2 };
	struct process_totals t;

	p.cells[CELL_CPU + MODE_USER] = 10000;
	p.cells[CELL_ENDED_RUNTIME] = 70000;
	p.cells[CELL_OFF_CPU + REASON_RUN_QUEUE] = 600;
	recs[0].counts.runtime_ns += 1;
	recs[1].counts.runtime_ns += 2;
	recs[1].cell.run_state = RUN_RUNNING;
	recs[1].cell.waited_ns = WAIT_NOT_SEEN;
	recs[1].counts.run_delay_ns += 4;
	recs[1].cell.wait_reason = REASON_PREEMPTED;
	totals_of(&p, &t);
	CHECK_EQ_U64(t.cells[CELL_CPU + MODE_USER], 10003);
	CHECK_EQ_U64(t.runtime_ns, 70000 + 901 + 902);
	CHECK_EQ_U64(t.cells[CELL_OFF_CPU + REASON_RUN_QUEUE], 600);
	CHECK_EQ_U64(t.cells[CELL_OFF_CPU + REASON_PREEMPTED], 4);
	CHECK_EQ_U64(t.run_delay_ns, 604);
	CHECK_EQ_U64(t.cells[CELL_THREAD_WALL], 18000);
}

/* A record that another CPU wrote while it was read: times of the future, counters of the past. */
TEST(totals_of_a_torn_record_never_wrap)
{
	for (u8 state = RUN_UNKNOWN; state <= RUN_BLOCKED; state++) {
		struct task_record rec = quiet();
		struct process_totals t;

		begin_spell(&rec, state);
		rec.cell.nr = 1;
		rec.cell.since_ns = NOW + 1;
		rec.cell.begin_ns = NOW + 1;
		rec.cell.sys_since_ns = NOW + 1;
		rec.counts = (struct task_counts){ 999, 199, 29, 3, 4 };
		t = totals_of_one(rec);
		CHECK_EQ_U64(sum_of(t.cells, NR_CELLS), 0);
		CHECK_EQ_U64(t.open_wait_ns, 0);
		CHECK_EQ_U64(t.run_delay_ns, 0);
		CHECK_EQ_U64(t.runtime_ns, 900);
	}
}

TEST(totals_of_a_reason_that_is_none_touch_no_other_cell)
{
	static const u8 states[] = { RUN_RUNNABLE, RUN_BLOCKED, RUN_BLOCKED + 1, 255 };

	for (size_t i = 0; i < sizeof(states); i++) {
		struct task_record rec = quiet();
		struct process_totals t;

		begin_spell(&rec, states[i]);
		rec.cell.reason = NR_REASONS;
		rec.cell.wait_reason = NR_WAIT_REASONS;
		rec.counts.run_delay_ns += 77;
		t = totals_of_one(rec);
		CHECK_EQ_U64(sum_of(&t.cells[CELL_OFF_CPU], NR_REASONS), 0);
		CHECK_EQ_U64(sum_of(&t.cells[CELL_SWITCHES], NR_SWITCH_KINDS), 0);
		CHECK_EQ_U64(t.run_delay_ns, 0);
	}
}

TEST(totals_floor_keeps_counters_from_going_down)
{
	struct process_totals last = { 0 }, now = { 0 };

	for (u32 i = 0; i < NR_CELLS; i++) {
		last.cells[i] = 100;
		now.cells[i] = 99 + i % 3;
	}
	now.threads = 3;
	last.threads = 5;
	now.cells[CELL_CPU + MODE_USER] = 150;
	now.cells[CELL_CPU + MODE_SYSTEM] = 101;
	totals_floor(&last, &now);
	for (u32 i = 0; i < NR_CELLS; i++) {
		if (i > CELL_CPU_LAST)
			CHECK_EQ_U64(now.cells[i], i % 3 == 2 ? 101 : 100);
	}
	CHECK_EQ_U64(now.cells[CELL_CPU + MODE_USER], 150);
	CHECK_EQ_U64(now.cells[CELL_CPU + MODE_SYSTEM], 101);
	CHECK_EQ_U64(now.threads, 3); /* no counter */
}

TEST(totals_floor_of_nothing_changes_nothing)
{
	struct process_totals none = { 0 }, now = totals_of_one(quiet()), was = now;

	totals_floor(&none, &now);
	CHECK_MEM(&now, sizeof(now), &was, sizeof(was));
	totals_floor(&was, &now);
	CHECK_MEM(&now, sizeof(now), &was, sizeof(was));
}

TEST(totals_floor_keeps_the_sum_of_cpu_time)
{
	/* The split of a run in progress was 60:40; one tick later it is known to be 50:70. */
	static const struct {
		u64 last[NR_MODES], now[NR_MODES], want[NR_MODES];
	} cases[] = {
		{ { 60, 40 }, { 50, 70 }, { 60, 60 } },
		{ { 40, 60 }, { 70, 50 }, { 60, 60 } },
		{ { 60, 40 }, { 60, 40 }, { 60, 40 } },
		{ { 60, 40 }, { 50, 50 }, { 60, 40 } },
		{ { 60, 40 }, { 61, 41 }, { 61, 41 } },
		/* A thread ended unseen: what it had spent is no longer anywhere. */
		{ { 60, 40 }, { 50, 45 }, { 60, 40 } },
		{ { 60, 40 }, { 30, 20 }, { 60, 40 } },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct process_totals last = { 0 }, now = { 0 };

		memcpy(&last.cells[CELL_CPU], cases[i].last, sizeof(cases[i].last));
		memcpy(&now.cells[CELL_CPU], cases[i].now, sizeof(cases[i].now));
		totals_floor(&last, &now);
		CHECK_EQ_U64(now.cells[CELL_CPU + MODE_USER], cases[i].want[MODE_USER]);
		CHECK_EQ_U64(now.cells[CELL_CPU + MODE_SYSTEM], cases[i].want[MODE_SYSTEM]);
	}
}
