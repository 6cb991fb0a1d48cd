/* SPDX-License-Identifier: MIT */
/* Each decision of the scheduler group, one at a time: what a switch or a wake-up charges. */
#include "tests/lib/check.h"

#include "tests/sim/host.h"

#include "sched.bpf.h"
#include "waits.bpf.h"

static struct account_cells a;
static struct process_hists h;
static struct thread_cell t;
static struct task_counts k;

/* A thread in @state since 1000, charged up to now, with nothing in its account. */
static void begin(u8 state)
{
	host_ledger_begin();
	memset(&a, 0, sizeof(a));
	memset(&h, 0, sizeof(h));
	k = (struct task_counts){ 5000, 600, 70, 8, 9 };
	t = (struct thread_cell){ .tid = 1, .since_ns = 1000, .nr = NO_CALL, .run_state = state };
	t.base = t.charged = k;
	t.reason = REASON_FUTEX;
	t.wait_reason = REASON_RUN_QUEUE;
}

/* The kernel counted one switch, @on of running and @wait of waiting since the last charge. */
static void kernel_ran(u64 on, u64 wait)
{
	k.runtime_ns += on;
	k.run_delay_ns += wait;
	k.nvcsw++;
}

static void out(u64 now, int reason)
{
	sched_switch_out(&t, &a, &h, &k, now, reason);
}

static u64 cell(u32 id)
{
	return a.cell[id];
}

static u64 off_cpu(u8 reason)
{
	return a.cell[CELL_OFF_CPU + reason];
}

/* Everything that is in the account; a test names what it expects and this nothing else. */
static u64 total(void)
{
	u64 sum = 0;

	for (u32 i = 0; i < NR_CELLS; i++)
		sum += a.cell[i];
	return sum;
}

static u64 spells(u8 reason)
{
	u64 n = 0;

	for (u32 i = 0; i < NR_HIST_BUCKETS; i++)
		n += h.off_cpu[reason].counts[i];
	return n;
}

static u64 all_spells(void)
{
	u64 n = 0;

	for (u8 i = 0; i < NR_REASONS; i++)
		n += spells(i);
	return n;
}

/* --- leaving the CPU --- */

TEST(sched_a_run_that_ends_in_a_block_is_charged)
{
	begin(RUN_RUNNING);
	kernel_ran(480, 0);
	out(1500, REASON_POLL);
	CHECK_EQ_U64(cell(CELL_CPU + MODE_USER), 480);
	CHECK_EQ_U64(cell(CELL_ON_STAMPS), 500);
	CHECK_EQ_U64(cell(CELL_SWITCHES + SWITCH_VOLUNTARY), 1);
	CHECK_EQ_U64(total(), 480 + 500 + 1);
	CHECK_EQ_INT(t.run_state, RUN_BLOCKED);
	CHECK_EQ_INT(t.reason, REASON_POLL);
	CHECK_EQ_U64(t.since_ns, 1500);
	CHECK_MEM(&t.charged, sizeof(t.charged), &k, sizeof(k));
	CHECK_EQ_U64(all_spells(), 0);
}

TEST(sched_a_preempted_thread_waits_for_a_cpu)
{
	begin(RUN_RUNNING);
	k.runtime_ns += 500;
	k.nivcsw++;
	k.faults += 3;
	out(1500, REASON_PREEMPTED);
	CHECK_EQ_INT(t.run_state, RUN_RUNNABLE);
	CHECK_EQ_INT(t.reason, REASON_PREEMPTED);
	CHECK_EQ_INT(t.wait_reason, REASON_PREEMPTED);
	CHECK_EQ_U64(cell(CELL_SWITCHES + SWITCH_INVOLUNTARY), 1);
	CHECK_EQ_U64(cell(CELL_PAGE_FAULTS), 3);
	CHECK_EQ_U64(total(), 500 + 500 + 1 + 3);
}

TEST(sched_run_delay_goes_to_the_wait_that_it_grew_by)
{
	for (u8 reason = 0; reason < NR_WAIT_REASONS; reason++) {
		begin(RUN_RUNNING);
		t.wait_reason = reason;
		kernel_ran(500, 40);
		out(1500, REASON_PREEMPTED);
		CHECK_EQ_U64(off_cpu(reason), 40);
		CHECK_EQ_U64(total(), 500 + 500 + 1 + 40);
	}
}

TEST(sched_time_inside_a_call_is_system_time)
{
	begin(RUN_RUNNING);
	t.nr = 0;
	t.sys_since_ns = 1200;
	t.sys_ns = 50; /* of a call before */
	kernel_ran(500, 0);
	out(1500, REASON_POLL);
	CHECK_EQ_U64(cell(CELL_CPU + MODE_SYSTEM), 350);
	CHECK_EQ_U64(cell(CELL_CPU + MODE_USER), 150);
	CHECK_EQ_U64(t.sys_ns, 0);
	CHECK_EQ_U64(t.sys_since_ns, 1500);
}

TEST(sched_system_time_is_never_above_cpu_time)
{
	/* The scheduler's clock was behind ours. */
	begin(RUN_RUNNING);
	t.nr = 0;
	t.sys_since_ns = 1000;
	kernel_ran(480, 0);
	out(1500, REASON_POLL);
	CHECK_EQ_U64(cell(CELL_CPU + MODE_SYSTEM), 480);
	CHECK_EQ_U64(cell(CELL_CPU + MODE_USER), 0);
	CHECK_EQ_U64(t.sys_ns, 0);
}

TEST(sched_an_unknown_thread_is_charged_by_the_kernel_only)
{
	begin(RUN_UNKNOWN);
	k.runtime_ns += 700;
	out(1500, REASON_POLL);
	CHECK_EQ_U64(cell(CELL_CPU + MODE_USER), 700);
	CHECK_EQ_U64(total(), 700);
	CHECK_EQ_INT(t.run_state, RUN_BLOCKED);
}

TEST(sched_stamps_of_two_cpus_that_disagree_never_wrap)
{
	begin(RUN_RUNNING);
	kernel_ran(0, 0);
	out(990, REASON_POLL); /* 10 ns before it was switched in */
	CHECK_EQ_U64(total(), 1);
	sched_wake(&t, &a, &h, 980);
	sched_switch_in(&t, &a, &h, 970);
	CHECK_EQ_U64(total(), 1);
	CHECK_EQ_U64(h.off_cpu[REASON_POLL].sum, 0);
}

/* --- waking up and getting a CPU --- */

TEST(sched_a_block_ends_with_the_wake_up)
{
	begin(RUN_BLOCKED);
	sched_wake(&t, &a, &h, 3000);
	CHECK_EQ_U64(cell(CELL_BLOCKED_STAMPS), 2000);
	CHECK_EQ_U64(off_cpu(REASON_FUTEX), 2000);
	CHECK_EQ_U64(total(), 4000);
	CHECK_EQ_U64(spells(REASON_FUTEX), 1);
	CHECK_EQ_U64(h.off_cpu[REASON_FUTEX].sum, 2000);
	CHECK_EQ_U64(h.off_cpu[REASON_FUTEX].counts[hist_bucket(2000)], 1);
	CHECK_EQ_U64(all_spells(), 1);
	CHECK_EQ_INT(t.run_state, RUN_RUNNABLE);
	CHECK_EQ_INT(t.wait_reason, REASON_RUN_QUEUE);
	CHECK_EQ_U64(t.since_ns, 3000);
}

TEST(sched_a_wake_up_of_one_that_runs_or_waits_moves_nothing)
{
	static const u8 states[] = { RUN_RUNNING, RUN_RUNNABLE };

	for (size_t i = 0; i < sizeof(states); i++) {
		struct thread_cell was;

		begin(states[i]);
		t.wait_reason = REASON_PREEMPTED;
		was = t;
		sched_wake(&t, &a, &h, 3000);
		CHECK_MEM(&t, sizeof(t), &was, sizeof(was));
		CHECK_EQ_U64(total(), 0);
		CHECK_EQ_U64(all_spells(), 0);
	}
}

TEST(sched_a_new_thread_waits_since_its_birth)
{
	begin(RUN_UNKNOWN);
	sched_wake(&t, &a, &h, 1010);
	CHECK_EQ_INT(t.run_state, RUN_RUNNABLE);
	CHECK_EQ_U64(t.since_ns, 1000);
	CHECK_EQ_U64(total(), 0);
	sched_switch_in(&t, &a, &h, 1100);
	CHECK_EQ_U64(cell(CELL_WAIT_STAMPS), 100);
	CHECK_EQ_U64(spells(REASON_RUN_QUEUE), 1);
}

TEST(sched_a_new_thread_whose_wake_up_was_lost_waits_since_its_birth)
{
	begin(RUN_UNKNOWN);
	sched_switch_in(&t, &a, &h, 1100);
	CHECK_EQ_INT(t.run_state, RUN_RUNNING);
	CHECK_EQ_U64(cell(CELL_WAIT_STAMPS), 100);
	CHECK_EQ_U64(total(), 100);
}

TEST(sched_a_wait_ends_on_a_cpu)
{
	for (u8 reason = 0; reason < NR_WAIT_REASONS; reason++) {
		begin(RUN_RUNNABLE);
		t.wait_reason = reason;
		sched_switch_in(&t, &a, &h, 1700);
		/* run_delay itself is charged when it is known, at the next switch-out. */
		CHECK_EQ_U64(cell(CELL_WAIT_STAMPS), 700);
		CHECK_EQ_U64(total(), 700);
		CHECK_EQ_U64(spells(reason), 1);
		CHECK_EQ_U64(all_spells(), 1);
		CHECK_EQ_INT(t.run_state, RUN_RUNNING);
		CHECK_EQ_U64(t.since_ns, 1700);
		CHECK_EQ_U64(t.sys_since_ns, 1700);
	}
}

TEST(sched_without_histograms_and_accounts_nothing_is_lost)
{
	begin(RUN_RUNNING);
	kernel_ran(500, 0);
	sched_switch_out(&t, NULL, NULL, &k, 1500, REASON_POLL);
	sched_wake(&t, NULL, NULL, 1600);
	sched_switch_in(&t, NULL, NULL, 1700);
	CHECK_EQ_INT(t.run_state, RUN_RUNNING);
	CHECK_EQ_U64(t.since_ns, 1700);
}

/* --- reports that the kernel did not make --- */

TEST(sched_a_lost_switch_out_is_found_by_the_number_of_switches)
{
	begin(RUN_RUNNING);
	/* It ran 300, blocked 900 (lost, and so its wake-up is ignored), waited 100, ran 200. */
	sched_wake(&t, &a, &h, 2200);
	sched_switch_in(&t, &a, &h, 2300);
	CHECK_EQ_U64(total(), 0);
	CHECK_EQ_U64(t.since_ns, 1000);
	kernel_ran(300, 0);
	kernel_ran(200, 100);
	out(2500, REASON_POLL);
	CHECK_EQ_U64(cell(CELL_LOST_SWITCHES), 1);
	CHECK_EQ_U64(cell(CELL_ON_STAMPS), 500);
	CHECK_EQ_U64(cell(CELL_WAIT_STAMPS), 100);
	CHECK_EQ_U64(cell(CELL_BLOCKED_STAMPS), 900);
	CHECK_EQ_U64(off_cpu(REASON_OTHER), 900); /* nobody saw why */
	CHECK_EQ_U64(off_cpu(REASON_RUN_QUEUE), 100);
	CHECK_EQ_U64(cell(CELL_CPU + MODE_USER), 500);
	CHECK_EQ_U64(cell(CELL_SWITCHES + SWITCH_VOLUNTARY), 2);
}

TEST(sched_a_healed_spell_does_not_count_the_wait_before_it)
{
	begin(RUN_RUNNABLE);
	sched_switch_in(&t, &a, &h, 1400); /* waited 400 */
	CHECK_EQ_U64(cell(CELL_WAIT_STAMPS), 400);
	/* Ran 300, preempted (lost), waited 100, ran 200. */
	kernel_ran(300, 400);
	kernel_ran(200, 100);
	out(2000, REASON_POLL);
	CHECK_EQ_U64(cell(CELL_ON_STAMPS), 500);
	CHECK_EQ_U64(cell(CELL_WAIT_STAMPS), 400 + 100);
	CHECK_EQ_U64(cell(CELL_BLOCKED_STAMPS), 0);
}

TEST(sched_a_lost_switch_in_is_healed)
{
	begin(RUN_RUNNABLE);
	kernel_ran(300, 400);
	out(1700, REASON_POLL);
	CHECK_EQ_U64(cell(CELL_LOST_SWITCHES), 1);
	CHECK_EQ_U64(cell(CELL_ON_STAMPS), 300);
	CHECK_EQ_U64(cell(CELL_WAIT_STAMPS), 400);
	CHECK_EQ_U64(off_cpu(REASON_RUN_QUEUE), 400);

	begin(RUN_BLOCKED); /* and its wake-up too */
	kernel_ran(300, 400);
	out(2000, REASON_POLL);
	CHECK_EQ_U64(cell(CELL_ON_STAMPS), 300);
	CHECK_EQ_U64(cell(CELL_WAIT_STAMPS), 400);
	CHECK_EQ_U64(cell(CELL_BLOCKED_STAMPS), 300);
	CHECK_EQ_U64(off_cpu(REASON_FUTEX), 300);
}

TEST(sched_a_healed_spell_is_never_longer_than_it_was)
{
	static const u8 states[] = { RUN_RUNNING, RUN_RUNNABLE, RUN_BLOCKED };

	for (size_t i = 0; i < sizeof(states); i++) {
		for (u64 on = 0; on <= 900; on += 300) {
			for (u64 wait = 0; wait <= 900; wait += 300) {
				begin(states[i]);
				kernel_ran(on, wait);
				kernel_ran(0, 0);
				out(1500, REASON_POLL);
				CHECK_EQ_U64(cell(CELL_ON_STAMPS) + cell(CELL_WAIT_STAMPS) +
						     cell(CELL_BLOCKED_STAMPS),
					     500);
			}
		}
	}
}

TEST(sched_a_lost_wake_up_is_split_by_run_delay)
{
	static const struct {
		u64 delay, waited, blocked;
	} cases[] = { { 0, 0, 700 }, { 200, 200, 500 }, { 700, 700, 0 }, { 750, 700, 0 } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin(RUN_BLOCKED);
		sched_switch_in(&t, &a, &h, 1700);
		CHECK_EQ_U64(t.unsplit_ns, 700);
		CHECK_EQ_U64(cell(CELL_LOST_SWITCHES), 1);
		CHECK_EQ_U64(total(), 1);
		kernel_ran(100, cases[i].delay);
		out(1800, REASON_POLL);
		CHECK_EQ_U64(t.unsplit_ns, 0);
		CHECK_EQ_U64(cell(CELL_ON_STAMPS), 100);
		CHECK_EQ_U64(cell(CELL_WAIT_STAMPS), cases[i].waited);
		CHECK_EQ_U64(cell(CELL_BLOCKED_STAMPS), cases[i].blocked);
		CHECK_EQ_U64(off_cpu(REASON_FUTEX), cases[i].blocked);
		CHECK_EQ_U64(off_cpu(REASON_RUN_QUEUE), cases[i].delay);
		CHECK_EQ_U64(h.off_cpu[REASON_FUTEX].sum, cases[i].blocked);
		CHECK_EQ_INT(t.reason, REASON_POLL);
	}
}

/* --- the beginning of the observation --- */

TEST(sched_a_wait_that_began_before_is_charged_from_the_beginning)
{
	begin(RUN_RUNNABLE);
	t.flags = THREAD_SEEDED_WAIT;
	sched_switch_in(&t, &a, &h, 1300);
	kernel_ran(200, 5000); /* of which 300 were observed */
	out(1500, REASON_POLL);
	CHECK_EQ_U64(off_cpu(REASON_RUN_QUEUE), 300);
	CHECK_EQ_U64(cell(CELL_WAIT_STAMPS), 300);
	CHECK_EQ_U64(t.charged.run_delay_ns - t.base.run_delay_ns, 300);
	CHECK_EQ_U64(t.flags & THREAD_SEEDED_WAIT, 0);

	/* Only once. */
	sched_wake(&t, &a, &h, 1600);
	sched_switch_in(&t, &a, &h, 1700);
	kernel_ran(100, 130);
	out(1800, REASON_POLL);
	CHECK_EQ_U64(off_cpu(REASON_RUN_QUEUE), 430);
}

TEST(sched_a_wait_that_began_before_is_not_cut_when_a_report_was_lost)
{
	begin(RUN_RUNNABLE);
	t.flags = THREAD_SEEDED_WAIT;
	sched_switch_in(&t, &a, &h, 1300);
	kernel_ran(100, 300);
	kernel_ran(100, 70); /* the switch-out between was lost */
	out(1600, REASON_POLL);
	CHECK_EQ_U64(off_cpu(REASON_RUN_QUEUE), 370);
	CHECK_EQ_U64(t.flags & THREAD_SEEDED_WAIT, 0);
}

/* --- sleeps that the scheduler takes for waits --- */

TEST(sched_run_delay_is_believed_up_to_what_two_clocks_can_part)
{
	static const struct {
		u64 delay, charged;
	} cases[] = {
		{ 300, 300 },
		{ 300 + 1000000, 300 + 1000000 },
		{ 300 + 1000001, 300 }, /* part of a sleep: our stamps */
		{ 300 + 488000000, 300 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin(RUN_RUNNABLE);
		sched_switch_in(&t, &a, &h, 1300);
		kernel_ran(200, cases[i].delay);
		out(1500, REASON_POLL);
		CHECK_EQ_U64(off_cpu(REASON_RUN_QUEUE), cases[i].charged);
		CHECK_EQ_U64(t.charged.run_delay_ns - t.base.run_delay_ns, cases[i].charged);
		CHECK_EQ_U64(cell(CELL_WAIT_STAMPS), 300);
	}
}

TEST(sched_run_delay_of_a_thread_that_was_preempted_is_believed)
{
	begin(RUN_RUNNING);
	kernel_ran(100, 0);
	out(1100, REASON_PREEMPTED);
	sched_switch_in(&t, &a, &h, 1300);
	kernel_ran(200, 200 + 1306000); /* the hypervisor took the CPU between the two clocks */
	out(1500, REASON_POLL);
	CHECK_EQ_U64(off_cpu(REASON_PREEMPTED), 200 + 1306000);
	CHECK_EQ_U64(cell(CELL_WAIT_STAMPS), 200);
}

TEST(sched_run_delay_of_a_thread_that_was_not_seen_to_wait_is_believed)
{
	begin(RUN_RUNNING);
	t.waited_ns = WAIT_NOT_SEEN;
	kernel_ran(200, 50000000);
	out(1500, REASON_POLL);
	CHECK_EQ_U64(off_cpu(REASON_RUN_QUEUE), 50000000);
	CHECK_EQ_U64(t.waited_ns, 0);
}

/* --- why a thread blocks --- */

TEST(sched_block_reasons)
{
	static const struct {
		bool in_call;
		u8 wait;
		bool durable, on_pipe, in_iowait;
		long state;
		u8 reason;
	} cases[] = {
		{ true, WAIT_FUTEX, false, false, false, 1, REASON_FUTEX },
		{ true, WAIT_POLL, false, false, false, 1, REASON_POLL },
		{ true, WAIT_SLEEP, false, false, false, 1, REASON_SLEEP },
		{ true, WAIT_SOCKET, false, false, false, 1, REASON_SOCKET },
		{ true, WAIT_DURABLE, false, false, false, 2, REASON_FSYNC },
		{ true, WAIT_OTHER, false, false, false, 1, REASON_OTHER },
		{ true, WAIT_FILE, false, false, false, 1, REASON_OTHER },
		{ true, 99, false, false, false, 1, REASON_OTHER },
		{ true, WAIT_FILE, false, true, false, 1, REASON_PIPE },
		{ true, WAIT_FILE, false, false, true, 2, REASON_BLOCK_IO },
		/* a durable write, whatever it waits for */
		{ true, WAIT_FILE, true, false, true, 2, REASON_FSYNC },
		{ true, WAIT_FILE, true, false, false, 2, REASON_FSYNC },
		{ true, WAIT_FILE, true, true, false, 1, REASON_FSYNC },
		/* any other call that waits for a disk */
		{ true, WAIT_FUTEX, false, false, true, 2, REASON_BLOCK_IO },
		{ true, WAIT_DURABLE, false, false, true, 2, REASON_FSYNC },
		/* in user mode */
		{ false, WAIT_FUTEX, false, false, false, 2, REASON_PAGE_FAULT },
		{ false, WAIT_FUTEX, false, false, true, 1, REASON_PAGE_FAULT },
		{ false, WAIT_FUTEX, true, true, false, 1, REASON_OTHER },
		{ false, WAIT_OTHER, false, false, false, 0x102, REASON_PAGE_FAULT },
		/* stopped or traced, before everything else */
		{ true, WAIT_FUTEX, true, true, true, 4, REASON_STOPPED },
		{ false, WAIT_OTHER, false, false, false, 8, REASON_STOPPED },
		{ true, WAIT_POLL, false, false, false, 0x104, REASON_STOPPED },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		u8 got = sched_block_reason(cases[i].in_call, cases[i].wait, cases[i].durable,
					    cases[i].on_pipe, cases[i].in_iowait, cases[i].state);

		if (got != cases[i].reason)
			FAIL("row %zu: reason %d, want %d", i, got, cases[i].reason);
	}
}

TEST(sched_block_reason_of_a_file_depends_on_what_it_is)
{
	static const struct {
		u32 mode;
		bool in_iowait;
		u8 reason;
	} cases[] = {
		{ FILE_TYPE_SOCK | 0777, false, REASON_SOCKET },
		{ FILE_TYPE_FIFO | 0600, false, REASON_PIPE },
		{ 0100644, true, REASON_BLOCK_IO },
		{ 0100644, false, REASON_OTHER },
		{ 0020620, false, REASON_OTHER }, /* a terminal */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct inode inode = { cases[i].mode };
		struct file file = { &inode, 0 };
		struct task_struct task = { .files = { [3] = &file } };

		begin(RUN_RUNNING);
		t.nr = 0;
		t.call_wait = WAIT_FILE;
		t.call_fd = 3;
		CHECK_EQ_INT(block_reason(&t, &task, cases[i].in_iowait, 1), cases[i].reason);
		t.call_fd = 4; /* not open */
		CHECK_EQ_INT(block_reason(&t, &task, false, 1), REASON_OTHER);
		t.call_fd = -1;
		CHECK_EQ_INT(block_reason(&t, &task, false, 1), REASON_OTHER);
	}
}

TEST(sched_block_reason_of_io_uring_workers_is_the_disk)
{
	struct task_struct task = { .flags = TASK_IO_WORKER };

	begin(RUN_RUNNING);
	CHECK_EQ_INT(block_reason(&t, &task, true, 1), REASON_BLOCK_IO);
	CHECK_EQ_INT(block_reason(&t, &task, false, 2), REASON_BLOCK_IO);
	CHECK_EQ_INT(block_reason(&t, &task, false, 1), REASON_OTHER); /* idle */
}

TEST(sched_block_reason_without_syscalls_tells_only_the_disk)
{
	struct task_struct task = { 0 };

	begin(RUN_RUNNING);
	cfg.groups = 1u << GROUP_SCHED;
	t.nr = 0;
	t.call_wait = WAIT_FUTEX;
	CHECK_EQ_INT(block_reason(&t, &task, false, 1), REASON_OTHER);
	CHECK_EQ_INT(block_reason(&t, &task, true, 2), REASON_BLOCK_IO);
}

/* --- threads whose last switch was not reported --- */

static struct task_struct gone;

static u64 freed(void)
{
	return sched_freed(&t, &a, &h, gone.start_time, &k);
}

TEST(sched_a_freed_thread_is_charged_what_it_ran)
{
	begin(RUN_RUNNING);
	sched_exits(&t, gone.start_time, 1100);
	kernel_ran(400, 0);
	CHECK_EQ_U64(freed(), 1400);
	CHECK_EQ_U64(cell(CELL_CPU + MODE_USER), 400);
	CHECK_EQ_U64(cell(CELL_ON_STAMPS), 400);
	CHECK_EQ_U64(cell(CELL_SWITCHES + SWITCH_VOLUNTARY), 1);
	CHECK_EQ_U64(total(), 400 + 400 + 1);
}

TEST(sched_a_freed_thread_ended_after_it_was_in_do_exit)
{
	/* Its last switch in was not reported either: nobody knows when it ran. */
	begin(RUN_BLOCKED);
	sched_exits(&t, gone.start_time, 5000);
	kernel_ran(300, 0);
	kernel_ran(100, 0);
	CHECK_EQ_U64(freed(), 5000);
	CHECK_EQ_U64(cell(CELL_CPU + MODE_USER), 400);
}

TEST(sched_a_cell_of_a_number_that_is_used_again_is_left_alone)
{
	begin(RUN_RUNNING);
	CHECK_EQ_U64(freed(), 0); /* it lives */
	t.exiting = task_mark(gone.start_time) ^ 2;
	CHECK_EQ_U64(freed(), 0);
	CHECK_EQ_U64(total(), 0);
}
