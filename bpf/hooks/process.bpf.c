/* SPDX-License-Identifier: GPL-2.0-only */
/* Hooks: threads and followed children are born, a process executes a program. Group: process. */
#include "vmlinux.h"

#include "threads.bpf.h"

char LICENSE[] SEC("license") = "GPL";

/*
 * Take in a process at its birth (or, with observe_all, at its first exec). A child of a process
 * with details gets details as long as there are slots; beyond the bound it is in `other`.
 */
static __always_inline void process_add(struct task_struct *task, u32 flags, bool details,
					u32 parent_tgid, u64 now)
{
	u32 tgid = KREAD(task, tgid), slot;
	struct process_cell *p;
	u8 *flag;

	if ((!details || bpf_map_pop_elem(&free_details, &slot)) &&
	    bpf_map_pop_elem(&free_processes, &slot))
		slot = cfg.max_processes - 1;
	p = bpf_map_lookup_elem(&processes, &slot);
	if (!p)
		return;
	if (slot != cfg.max_processes - 1) {
		p->account = slot;
		p->flags = 0;
		p->seeding = 0;
		p->live_threads = 0;
		p->begin_ns = now;
		p->end_ns = 0;
		p->start_ns = KREAD(task, start_time);
		p->parent_tgid = parent_tgid;
		p->execs = 0;
		bpf_probe_read_kernel(p->comm, sizeof(p->comm), &task->comm);
		p->tgid = tgid;
	}
	p->flags |= flags; /* also `other`: the children of those in it are followed, too */
	flag = observed_flag(tgid);
	if (!flag || bpf_map_update_elem(&process_slots, &tgid, &slot, BPF_ANY)) {
		drop(DROP_PROCESSES_FULL);
		return;
	}
	*flag = 1;
}

HOOK(sched_process_fork)
int sched_process_fork(void *ctx)
{
	struct task_struct *parent = (struct task_struct *)ARG(ctx, 0);
	struct task_struct *child = (struct task_struct *)ARG(ctx, 1);
	u32 tid = KREAD(child, pid), tgid = KREAD(child, tgid);
	u32 parent_tgid = KREAD(parent, tgid), slot = 0;
	struct task_counts none = {};
	struct thread_cell *stale;
	struct process_cell *p;
	u64 now;

	if (!is_observed(parent_tgid))
		return 0;
	now = bpf_ktime_get_ns();
	if (tgid != parent_tgid) {
		p = process_find(parent_tgid, &slot);
		if (!p || !(p->flags & PROCESS_FOLLOW))
			return 0;
		process_add(child, p->flags, slot < cfg.max_details, parent_tgid, now);
	}
	stale = thread_find(tid);
	if (stale) /* the number is used again, and the end of its last owner was not reported */
		thread_end(stale, account_cells(stale), now);
	thread_add(tid, tgid, now, &none);
	return 0;
}

/* The name of a process is that of what it executes. */
static __always_inline void process_executes(struct task_struct *task)
{
	u32 tgid = KREAD(task, tgid), slot = 0;
	struct process_cell *p;

	if (cfg.observe_all && !is_observed(tgid)) {
		struct task_counts counts;
		u64 now = bpf_ktime_get_ns();

		/* Its past belongs to whatever it was before: charged from here on. */
		compat_task_counts(task, &counts);
		process_add(task, PROCESS_FOLLOW, false, 0, now);
		thread_add(KREAD(task, pid), tgid, now, &counts);
	}
	p = process_find(tgid, &slot);
	if (!p || slot == cfg.max_processes - 1)
		return;
	bpf_probe_read_kernel(p->comm, sizeof(p->comm), &task->comm);
	p->execs++; /* one thread is left: nobody else counts */
}

/*
 * A thread that is not the leader takes over the leader's number when it executes a program
 * (de_thread in fs/exec.c); the leader is dead by then.
 */
HOOK(sched_process_exec)
int sched_process_exec(void *ctx)
{
	struct task_struct *task = (struct task_struct *)ARG(ctx, 0);
	u32 old_tid = ARG(ctx, 1);
	u32 tid = KREAD(task, pid);
	struct thread_cell *t, *leader;
	struct process_cell *p;
	u32 *slot, copy, process_slot = 0;

	process_executes(task);
	if (old_tid == tid || !is_observed(KREAD(task, tgid)))
		return 0;
	slot = bpf_map_lookup_elem(&thread_slots, &old_tid);
	if (!slot)
		return 0;
	copy = *slot;
	t = bpf_map_lookup_elem(&threads, &copy);
	if (!t)
		return 0;
	leader = thread_find(tid);
	if (leader)
		thread_end(leader, account_cells(leader), bpf_ktime_get_ns());
	bpf_map_delete_elem(&thread_slots, &old_tid);
	t->tid = tid;
	bpf_map_update_elem(&thread_slots, &tid, &copy, BPF_ANY);
	p = process_find(tid, &process_slot);
	if (p)
		p->flags &= ~PROCESS_LEADER_ENDED;
	return 0;
}
