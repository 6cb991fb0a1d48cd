/* SPDX-License-Identifier: MIT */
/*
 * Our programs on the simulated machine: what the functions in bpf/hooks/ do with their arguments,
 * with the same functions of bpf/.
 */
#ifndef SKYOBSERVE_TESTS_SIM_PROGRAMS_H
#define SKYOBSERVE_TESTS_SIM_PROGRAMS_H

#include "tests/sim/world.h"

#include "sched.bpf.h"
#include "syscalls.bpf.h"
#include "threads.bpf.h"
#include "waits.bpf.h"

static struct thread_cell *cell_of_current(struct task *t)
{
	host_current = &t->k;
	host_cpu = t->cpu;
	return thread_current();
}

static void program_switch_out(struct thread_cell *t, struct task *task, u64 now, bool preempted,
			       long state)
{
	int reason = REASON_PREEMPTED;

	if (!t)
		t = thread_meet(task->k.pid, task->k.tgid, task->k.start_time, now,
				&task->k.counts);
	if (!t)
		return;
	if (!preempted && state)
		reason = block_reason(t, &task->k, task->k.in_iowait, state);
	sched_switch_out(t, account_cells(t), process_hists(t), &task->k.counts, now, reason);
	if (!preempted && state & COMPAT_TASK_DEAD)
		thread_end(t, now);
}

static void program_switch(struct machine *m, u32 cpu, struct task *prev, struct task *next,
			   bool preempted, long state)
{
	struct thread_cell *out = prev ? thread_known(prev->k.pid, prev->k.tgid) : NULL;
	struct thread_cell *in = next ? thread_known(next->k.pid, next->k.tgid) : NULL;

	host_cpu = cpu;
	if (prev && !prev->state) /* a signal kept it runnable; the argument does not know */
		state = 0;
	if (out || (prev && is_observed(prev->k.tgid)))
		program_switch_out(out, prev, m->now, preempted, state);
	if (in)
		sched_switch_in(in, account_cells(in), process_hists(in), m->now);
}

static void program_wake(struct machine *m, struct task *t, bool new)
{
	struct thread_cell *cell = thread_known(t->k.pid, t->k.tgid);

	host_cpu = t->cpu;
	if (!cell && new &&is_observed(t->k.tgid))
		cell = thread_meet(t->k.pid, t->k.tgid, t->k.start_time, m->now,
				   &(struct task_counts){ 0 });
	if (cell)
		sched_wake(cell, account_cells(cell), process_hists(cell), m->now);
}

static void program_enter(struct machine *m, struct task *t)
{
	struct thread_cell *cell = cell_of_current(t);
	const struct call_class *class = &call_classes[t->call].class;

	if (!cell)
		return;
	t->entry_seen = true;
	syscall_begin(cell, t->call, ABI_NATIVE, m->now);
	cell->call_wait = class->wait;
	cell->call_io = class->io;
	cell->call_fd = call_classes[t->call].fd;
	cell->call_durable = call_durable(class->durable, 0, 0, 0);
}

/* Whether anybody looked. */
static bool program_exit(struct machine *m, struct task *t)
{
	struct thread_cell *cell = cell_of_current(t);
	u64 ns;

	if (cell && !syscall_end(cell, m->now, &ns))
		charge(account_cells(cell), CELL_EXITS_UNMATCHED, 1);
	return cell;
}

static void program_dying(struct machine *m, struct task *t)
{
	struct thread_cell *cell = cell_of_current(t);

	if (cell)
		sched_exits(cell, t->k.start_time, m->now);
}

static void program_freed(struct task *t)
{
	struct thread_cell *cell = thread_known(t->k.pid, t->k.tgid);
	u64 end = cell ? sched_freed(cell, account_cells(cell), process_hists(cell),
				     t->k.start_time, &t->k.counts)
		       : 0;

	if (end)
		thread_end(cell, end);
}

static void program_fork(struct machine *m, struct task *child)
{
	struct task_counts none = {};
	struct thread_cell *stale;

	if (!is_observed(child->k.tgid))
		return;
	stale = thread_find(child->k.pid);
	if (stale)
		thread_end(stale, m->now);
	thread_add(child->k.pid, child->k.tgid, m->now, &none);
}

/* What the iterator does with a thread while its process is seeded. */
static void program_seed(struct machine *m, struct task *t)
{
	struct thread_cell *cell = thread_add(t->k.pid, t->k.tgid, m->now, &t->k.counts);

	if (!cell)
		return;
	if (t->call != NO_CALL) {
		cell->nr = t->call;
		cell->flags |= THREAD_SEEDED_CALL;
		cell->enter_ns = m->now;
		cell->sys_since_ns = m->now;
		cell->call_fd = call_classes[t->call].fd;
		cell->call_wait = call_classes[t->call].class.wait;
	}
	if (t->place == PLACE_RUNNING) {
		cell->run_state = RUN_RUNNING;
	} else if (!t->state) {
		cell->run_state = RUN_RUNNABLE;
		cell->reason = REASON_RUN_QUEUE;
		cell->flags |= THREAD_SEEDED_WAIT;
	} else {
		cell->run_state = RUN_BLOCKED;
		cell->reason = block_reason(cell, &t->k, t->k.in_iowait, t->state);
	}
}

#endif /* SKYOBSERVE_TESTS_SIM_PROGRAMS_H */
