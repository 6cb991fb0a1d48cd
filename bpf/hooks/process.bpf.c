/* SPDX-License-Identifier: GPL-2.0-only */
/* Hooks: threads are born, and a process executes another program. Group: process. */
#include "vmlinux.h"

#include "threads.bpf.h"

char LICENSE[] SEC("license") = "GPL";

HOOK(sched_process_fork)
int sched_process_fork(void *ctx)
{
	struct task_struct *child = (struct task_struct *)ARG(ctx, 1);
	u32 tid = KREAD(child, pid), tgid = KREAD(child, tgid);
	struct task_counts none = {};
	struct thread_cell *stale;
	u64 now;

	if (!is_observed(tgid))
		return 0;
	now = bpf_ktime_get_ns();
	stale = thread_find(tid);
	if (stale) /* the number is used again, and the end of its last owner was not reported */
		thread_end(stale, account_cells(stale), now);
	thread_add(tid, tgid, now, &none);
	return 0;
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
	u32 *slot, copy;

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
	return 0;
}
