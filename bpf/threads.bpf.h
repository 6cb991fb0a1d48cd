/* SPDX-License-Identifier: GPL-2.0-only */
/* Who is observed: from a task to its cell, and the life of cells. */
#ifndef SKYOBSERVE_THREADS_BPF_H
#define SKYOBSERVE_THREADS_BPF_H

#include "ledger.bpf.h"

static __always_inline u8 *observed_flag(u32 tgid)
{
	u32 key = tgid / PIDS_PER_BLOCK;
	struct pid_block *block = bpf_map_lookup_elem(&observed, &key);

	return block ? &block->observed[tgid % PIDS_PER_BLOCK] : NULL;
}

static __always_inline bool is_observed(u32 tgid)
{
	u8 *flag = observed_flag(tgid);

	return flag && *flag;
}

static __always_inline struct process_cell *process_find(u32 tgid, u32 *ret_slot)
{
	u32 *slot = bpf_map_lookup_elem(&process_slots, &tgid);

	if (!slot)
		return NULL;
	*ret_slot = *slot;
	return bpf_map_lookup_elem(&processes, slot);
}

/*
 * The cell of a thread, if the cache has it: two array reads, no hash. What every hook asks first,
 * for all threads of the machine, so that a system call of a process that is not observed costs
 * next to nothing.
 */
static __always_inline struct thread_cell *thread_cached(u32 tid, u32 tgid)
{
	u32 key = tid & (NR_THREAD_HINTS - 1);
	u32 *hint = bpf_map_lookup_elem(&thread_hints, &key);
	struct thread_cell *t;
	u32 slot;

	if (!hint || !*hint)
		return NULL;
	slot = *hint - 1;
	t = bpf_map_lookup_elem(&threads, &slot);
	/* The number may have been used again, here or by a process that is not a target. */
	return t && t->tid == tid && t->tgid == tgid ? t : NULL;
}

static __always_inline void thread_cache(u32 tid, u32 slot)
{
	u32 key = tid & (NR_THREAD_HINTS - 1);
	u32 *hint = bpf_map_lookup_elem(&thread_hints, &key);

	if (hint)
		*hint = slot + 1;
}

static __always_inline struct thread_cell *thread_find(u32 tid)
{
	u32 *slot = bpf_map_lookup_elem(&thread_slots, &tid);
	struct thread_cell *t = slot ? bpf_map_lookup_elem(&threads, slot) : NULL;

	if (t)
		thread_cache(tid, *slot);
	return t;
}

/* The cell of any thread, or NULL if its process is not a target or the thread was not met yet. */
static __always_inline struct thread_cell *thread_known(u32 tid, u32 tgid)
{
	struct thread_cell *t = thread_cached(tid, tgid);

	return t || !is_observed(tgid) ? t : thread_find(tid);
}

/*
 * A cell for a thread that has none, or NULL with the loss counted. @counts are the kernel's
 * counters from which on it is charged. Only called by the CPU that runs or switches the thread,
 * for a child that has not run yet, or while the process is being seeded: never twice at once.
 */
static __always_inline struct thread_cell *thread_add(u32 tid, u32 tgid, u64 now,
						      const struct task_counts *counts)
{
	u32 process = 0, slot;
	struct process_cell *p = process_find(tgid, &process);
	struct thread_cell *t;

	if (!p)
		return NULL; /* no longer a target */
	if (bpf_map_pop_elem(&free_threads, &slot)) {
		drop(DROP_THREADS_FULL);
		return NULL;
	}
	t = bpf_map_lookup_elem(&threads, &slot);
	if (!t)
		return NULL;

	__builtin_memset(t, 0, sizeof(*t));
	t->tgid = tgid;
	t->process = process;
	t->account = p->account;
	t->begin_ns = now;
	t->since_ns = now;
	t->nr = NO_CALL;
	t->waited_ns = WAIT_NOT_SEEN;
	t->wait_reason = REASON_RUN_QUEUE;
	t->base = *counts;
	t->charged = *counts;
	t->tid = tid;
	bpf_map_update_elem(&thread_slots, &tid, &slot, BPF_ANY);
	thread_cache(tid, slot);
	__sync_fetch_and_add(&p->live_threads, 1);
	charge(account_cells(t), CELL_THREADS_BORN, 1);
	return t;
}

/*
 * The cell of a thread of a target that may have been missed: one that was born between seeding
 * and observing has a start time inside the observation and is charged from its birth; the past
 * of any other is lost, which is counted.
 */
static __always_inline struct thread_cell *thread_meet(u32 tid, u32 tgid, u64 start_ns, u64 now,
						       const struct task_counts *counts)
{
	struct thread_cell *t = thread_find(tid);
	struct task_counts zero = {};
	struct process_cell *p;
	u32 slot = 0;
	bool late;

	if (t)
		return t;
	p = process_find(tgid, &slot);
	if (!p)
		return NULL;
	/*
	 * Another thread takes over the leader's number in an exec and is not unknown: its cell is
	 * still under its own number, until sched_process_exec. What happens in between is found by
	 * the kernel's counters.
	 */
	if (tid == tgid && (p->flags & PROCESS_LEADER_ENDED))
		return NULL;
	late = start_ns < p->begin_ns;
	t = thread_add(tid, tgid, now, late ? counts : &zero);
	if (t && late) {
		t->flags |= THREAD_LATE;
		drop(DROP_LATE_THREAD);
	} else if (t) {
		t->begin_ns = start_ns;
	}
	return t;
}

/* The cell of the thread that runs now, or NULL if its process is not a target. */
static __always_inline struct thread_cell *thread_current(void)
{
	u64 pid_tgid = bpf_get_current_pid_tgid();
	u32 tid = pid_tgid, tgid = pid_tgid >> 32;
	struct thread_cell *t = thread_cached(tid, tgid);
	struct task_counts counts;
	struct task_struct *task;

	if (t || !is_observed(tgid))
		return t;
	t = thread_find(tid);
	if (t)
		return t;
	task = (struct task_struct *)bpf_get_current_task();
	compat_task_counts_probed(task, &counts);
	return thread_meet(tid, tgid, BPF_CORE_READ(task, start_time), bpf_ktime_get_ns(), &counts);
}

/*
 * A thread of @t's process ended. After the last one the process is over: nothing is charged to its
 * slot any more, and user space may take the totals over. Two last threads may both see 0; that
 * does no harm. The `other` slot is many processes: there the leader's end unmaps its number.
 */
static __always_inline void process_thread_ended(u32 tid, u32 tgid, u32 slot, u64 now)
{
	struct process_cell *p = bpf_map_lookup_elem(&processes, &slot);
	bool other = slot == cfg.max_processes - 1;
	u8 *flag;

	if (!p)
		return;
	if (tid == tgid && !other)
		p->flags |= PROCESS_LEADER_ENDED;
	__sync_fetch_and_add(&p->live_threads, -1);
	if (other ? tid != tgid : p->live_threads != 0)
		return;
	flag = observed_flag(tgid);
	if (flag)
		*flag = 0;
	bpf_map_delete_elem(&process_slots, &tgid);
	if (!other)
		p->end_ns = now;
}

/*
 * Close the books of a thread and give its slot back. The books are kept in the background,
 * whatever it worked for last. A reader of the books sees by the first and the last counter that an
 * end overlapped with it.
 */
static __always_inline void thread_end(struct thread_cell *t, u64 now)
{
	u32 tid = t->tid, tgid = t->tgid, process = t->process;
	u32 *slot = bpf_map_lookup_elem(&thread_slots, &tid);
	struct account_cells *a;
	u32 copy;

	if (!slot)
		return;
	copy = *slot;
	t->account = t->process;
	a = account_cells(t);
	charge(a, CELL_ENDS_BEGUN, 1);
	charge(a, CELL_THREAD_WALL, now - t->begin_ns);
	charge(a, CELL_ENDED_RUNTIME, t->charged.runtime_ns - t->base.runtime_ns);
	charge(a, CELL_ENDED_EARLIER_SWITCHES, t->base.nvcsw + t->base.nivcsw);
	charge(a, CELL_ENTERS, t->enters);
	charge(a, CELL_EXITS, t->exits);
	if (t->nr != NO_CALL && !(t->flags & THREAD_SEEDED_CALL))
		charge(a, CELL_NEVER_RETURNED, 1);
	t->tid = 0;
	bpf_map_delete_elem(&thread_slots, &tid);
	charge(a, CELL_THREADS_ENDED, 1);
	process_thread_ended(tid, tgid, process, now); /* then its account may be given away */
	bpf_map_push_elem(&free_threads, &copy, BPF_ANY);
}

/*
 * A thread that is not the leader takes over the leader's number when it executes a program
 * (de_thread in fs/exec.c); the leader is dead by then.
 */
static __always_inline void thread_take_over(u32 old_tid, u32 tid, u64 now)
{
	u32 *slot = bpf_map_lookup_elem(&thread_slots, &old_tid);
	u32 copy, process_slot = 0;
	struct thread_cell *t, *leader;
	struct process_cell *p;

	if (!slot)
		return;
	copy = *slot;
	t = bpf_map_lookup_elem(&threads, &copy);
	if (!t)
		return;
	leader = thread_find(tid);
	if (leader)
		thread_end(leader, now);
	bpf_map_delete_elem(&thread_slots, &old_tid);
	t->tid = tid;
	bpf_map_update_elem(&thread_slots, &tid, &copy, BPF_ANY);
	p = process_find(tid, &process_slot);
	if (p)
		p->flags &= ~PROCESS_LEADER_ENDED;
}

#endif /* SKYOBSERVE_THREADS_BPF_H */
