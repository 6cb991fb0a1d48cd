/* SPDX-License-Identifier: MIT */
/* The life of cells: who is met when, and what is left when a thread ends. */
#include "tests/lib/check.h"

#include "tests/sim/host.h"

#include "threads.bpf.h"

#define TGID	    500
#define BEGIN	    10000
#define MAX_THREADS 4

static void begin(void)
{
	host_maps_begin(MAX_THREADS);
	host_ledger_begin();
	host_observe(TGID, 1, BEGIN);
	host_now = 20000;
}

static struct task_struct task(u32 tid, u64 start_ns)
{
	struct task_struct t = { .pid = tid, .tgid = TGID, .start_time = start_ns };

	t.counts = (struct task_counts){ 5000, 600, 70, 8, 9 };
	return t;
}

static struct thread_cell *current(struct task_struct *t)
{
	host_current = t;
	return thread_current();
}

static u64 cell(u32 id)
{
	u64 sum = 0;

	for (u32 i = 0; i < HOST_LANES; i++)
		sum += host_cells[i][1].cell[id];
	return sum;
}

static void end(struct thread_cell *t, u64 now)
{
	thread_end(t, now);
}

TEST(thread_of_a_stranger_is_not_met)
{
	struct task_struct t = task(600, 15000);

	begin();
	t.tgid = 600;
	CHECK(!current(&t));
	CHECK(!thread_known(600, 600));
	CHECK(!thread_add(600, 600, host_now, &t.counts));
	CHECK_EQ_U64(free_threads.n, MAX_THREADS);
}

TEST(thread_that_was_added_is_known)
{
	struct task_counts none = { 0 };
	struct thread_cell *t;

	begin();
	t = thread_add(501, TGID, 12000, &none);
	CHECK(t != NULL);
	CHECK_EQ_U64(t->tid, 501);
	CHECK_EQ_U64(t->tgid, TGID);
	CHECK_EQ_U64(t->process, 1);
	CHECK_EQ_U64(t->account, 1);
	CHECK_EQ_U64(t->begin_ns, 12000);
	CHECK_EQ_INT(t->nr, NO_CALL);
	CHECK_EQ_INT(t->run_state, RUN_UNKNOWN);
	CHECK(thread_known(501, TGID) == t);
	CHECK(thread_find(501) == t);
	CHECK_EQ_U64(cell(CELL_THREADS_BORN), 1);
}

TEST(thread_born_while_observed_is_charged_from_its_birth)
{
	struct task_struct child = task(501, BEGIN + 1);
	struct thread_cell *t;

	/* Its fork was missed: between seeding and observing. */
	begin();
	t = current(&child);
	CHECK(t != NULL);
	CHECK_EQ_U64(t->begin_ns, BEGIN + 1);
	CHECK_EQ_U64(t->base.runtime_ns, 0);
	CHECK_EQ_U64(t->charged.run_delay_ns, 0);
	CHECK_EQ_U64(t->flags & THREAD_LATE, 0);
	CHECK_EQ_U64(host_drops[DROP_LATE_THREAD], 0);
	CHECK(current(&child) == t);
	CHECK_EQ_U64(cell(CELL_THREADS_BORN), 1);
}

TEST(thread_older_than_the_observation_is_a_loss_when_met_late)
{
	struct task_struct old = task(501, BEGIN - 1);
	struct thread_cell *t;

	begin();
	t = current(&old);
	CHECK(t != NULL);
	CHECK_EQ_U64(t->begin_ns, host_now);
	CHECK_MEM(&t->base, sizeof(t->base), &old.counts, sizeof(old.counts));
	CHECK_EQ_U64(t->flags & THREAD_LATE, THREAD_LATE);
	CHECK_EQ_U64(host_drops[DROP_LATE_THREAD], 1);
	(void)current(&old);
	CHECK_EQ_U64(host_drops[DROP_LATE_THREAD], 1);
}

TEST(thread_without_a_free_slot_is_a_loss)
{
	begin();
	for (u32 i = 0; i < MAX_THREADS; i++) {
		struct task_struct t = task(501 + i, 15000);

		CHECK(current(&t) != NULL);
	}
	for (u32 i = 1; i <= 3; i++) {
		struct task_struct t = task(600, 15000);

		CHECK(!current(&t));
		CHECK_EQ_U64(host_drops[DROP_THREADS_FULL], i);
	}
}

TEST(thread_hints_that_are_wrong_do_no_harm)
{
	struct task_counts none = { 0 };
	struct thread_cell *a, *b;
	struct task_struct stranger = task(501, 15000);

	/* Two threads share a place in the cache. */
	begin();
	a = thread_add(501, TGID, 12000, &none);
	b = thread_add(501 + NR_THREAD_HINTS, TGID, 12000, &none);
	CHECK(a && b && a != b);
	for (int i = 0; i < 3; i++) {
		CHECK(thread_known(501, TGID) == a);
		CHECK(thread_known(501 + NR_THREAD_HINTS, TGID) == b);
	}
	/* The number is that of a stranger now. */
	stranger.tgid = 700;
	CHECK(!current(&stranger));
	CHECK(!thread_known(501, 700));
}

TEST(thread_that_ends_leaves_its_books)
{
	struct task_counts base = { 1000, 100, 20, 3, 5 };
	struct thread_cell *t;

	begin();
	t = thread_add(501, TGID, 12000, &base);
	t->charged.runtime_ns = 1800;
	t->enters = 9;
	t->exits = 8;
	t->nr = 231; /* exit_group */
	end(t, 17000);
	CHECK_EQ_U64(cell(CELL_THREAD_WALL), 5000);
	CHECK_EQ_U64(cell(CELL_ENDED_RUNTIME), 800);
	CHECK_EQ_U64(cell(CELL_ENDED_EARLIER_SWITCHES), 23);
	CHECK_EQ_U64(cell(CELL_ENTERS), 9);
	CHECK_EQ_U64(cell(CELL_EXITS), 8);
	CHECK_EQ_U64(cell(CELL_NEVER_RETURNED), 1);
	CHECK_EQ_U64(cell(CELL_THREADS_ENDED), 1);
	CHECK(!thread_find(501));
	CHECK(!thread_cached(501, TGID));
	CHECK_EQ_U64(free_threads.n, MAX_THREADS);
}

TEST(thread_that_ends_in_a_call_older_than_the_observation_never_entered_it)
{
	struct task_counts none = { 0 };
	struct thread_cell *t;

	begin();
	t = thread_add(501, TGID, 12000, &none);
	t->nr = 202;
	t->flags = THREAD_SEEDED_CALL;
	end(t, 17000);
	CHECK_EQ_U64(cell(CELL_NEVER_RETURNED), 0);

	begin();
	t = thread_add(501, TGID, 12000, &none); /* in user mode: killed */
	end(t, 17000);
	CHECK_EQ_U64(cell(CELL_NEVER_RETURNED), 0);
}

TEST(thread_ends_only_once)
{
	struct task_counts none = { 0 };
	struct thread_cell *t;

	begin();
	(void)thread_add(502, TGID, 12000, &none);
	t = thread_add(501, TGID, 12000, &none);
	end(t, 17000);
	end(t, 18000); /* its number is 0 now, which is nobody's */
	CHECK_EQ_U64(cell(CELL_THREADS_ENDED), 1);
	CHECK_EQ_U64(free_threads.n, MAX_THREADS - 1);
}

TEST(thread_numbers_and_slots_are_used_again)
{
	struct task_counts none = { 0 };
	struct thread_cell *keep;

	begin();
	keep = thread_add(999, TGID, 12000, &none);
	for (u32 i = 0; i < 100; i++) {
		struct thread_cell *t = thread_add(501 + i % 3, TGID, 12000 + i, &none);

		CHECK(t && t != keep);
		CHECK_EQ_U64(t->begin_ns, 12000 + i);
		CHECK_EQ_U64(t->enters, 0);
		t->enters = 5;
		t->unsplit_ns = 5;
		CHECK(thread_known(501 + i % 3, TGID) == t);
		end(t, 13000);
	}
	CHECK_EQ_U64(cell(CELL_THREADS_BORN), 101);
	CHECK_EQ_U64(cell(CELL_THREADS_ENDED), 100);
	CHECK_EQ_U64(cell(CELL_ENDS_BEGUN), 100);
	CHECK_EQ_U64(host_drops[DROP_THREADS_FULL], 0);
	CHECK(thread_known(999, TGID) == keep);
}

TEST(process_is_over_with_its_last_thread)
{
	struct task_counts none = { 0 };
	struct thread_cell *first, *second;
	u32 slot = 1;
	struct process_cell *p;

	begin();
	p = bpf_map_lookup_elem(&processes, &slot);
	first = thread_add(TGID, TGID, 12000, &none);
	second = thread_add(501, TGID, 12000, &none);
	end(first, 15000); /* the leader may be the first to go */
	CHECK(is_observed(TGID));
	CHECK_EQ_U64(p->end_ns, 0);
	CHECK_EQ_U64(p->live_threads, 1);
	end(second, 16000);
	CHECK(!is_observed(TGID));
	CHECK_EQ_U64(p->end_ns, 16000);
	CHECK_EQ_U64(p->live_threads, 0);
	/* Nobody is met in it any more. */
	CHECK(!thread_add(502, TGID, 17000, &none));
}

/*
 * An exec by a thread that is not the leader, in the kernel's order: the leader's last switch, the
 * change of numbers (de_thread), events under the new number, sched_process_exec.
 */
TEST(thread_that_executes_takes_over_the_leaders_number)
{
	struct task_struct executes = task(TGID, BEGIN - 1);
	struct task_counts none = { 0 };
	struct thread_cell *leader, *t;

	begin();
	leader = thread_add(TGID, TGID, 12000, &none);
	t = thread_add(501, TGID, 12000, &none);
	t->enters = 3;
	end(leader, 15000);
	for (int i = 0; i < 3; i++)
		CHECK(!current(&executes));
	CHECK_EQ_U64(host_drops[DROP_LATE_THREAD], 0);
	thread_take_over(501, TGID, 16000);
	CHECK(current(&executes) == t);
	CHECK_EQ_U64(t->tid, TGID);
	CHECK_EQ_U64(t->enters, 3);
	CHECK(!thread_find(501));
	CHECK_EQ_U64(cell(CELL_THREADS_BORN), 2);
	CHECK_EQ_U64(cell(CELL_THREADS_ENDED), 1);
	end(t, 17000);
	CHECK(!is_observed(TGID));
	CHECK_EQ_U64(free_threads.n, MAX_THREADS);
}

/* The same where the leader's last switch was not reported: its cell is there until the exec. */
TEST(thread_that_executes_ends_a_leader_whose_end_was_lost)
{
	struct task_struct executes = task(TGID, BEGIN - 1);
	struct task_counts none = { 0 };
	struct thread_cell *t;

	begin();
	(void)thread_add(TGID, TGID, 12000, &none);
	t = thread_add(501, TGID, 12000, &none);
	thread_take_over(501, TGID, 16000);
	CHECK(current(&executes) == t);
	CHECK_EQ_U64(cell(CELL_THREADS_ENDED), 1);
	end(t, 17000);
	CHECK(!is_observed(TGID));
	CHECK_EQ_U64(free_threads.n, MAX_THREADS);
}

TEST(process_without_a_slot_of_its_own_is_over_with_its_leader)
{
	struct task_counts none = { 0 };
	struct thread_cell *leader, *stranger;
	const u32 other = HOST_PROCESSES - 1;
	struct process_cell *p;

	begin();
	host_observe(800, other, BEGIN);
	host_observe(900, other, BEGIN);
	p = bpf_map_lookup_elem(&processes, &other);
	leader = thread_add(800, 800, 12000, &none);
	stranger = thread_add(900, 900, 12000, &none);
	CHECK(leader && stranger);
	end(leader, 15000);
	CHECK(!is_observed(800));
	CHECK(is_observed(900));
	CHECK_EQ_U64(p->end_ns, 0);
}
