/* SPDX-License-Identifier: GPL-2.0-only */
/* Hooks: threads and followed children are born, a process executes a program. Group: process. */
#include "vmlinux.h"

#include "processes.bpf.h"

#include "sched.bpf.h"

char LICENSE[] SEC("license") = "GPL";

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
		process_add(child, p->flags & PROCESS_FOLLOW, slot < cfg.max_details, parent_tgid,
			    &child->comm, now);
	}
	stale = thread_find(tid);
	if (stale) /* the number is used again, and the end of its last owner was not reported */
		thread_end(stale, now);
	thread_add(tid, tgid, now, &none);
	return 0;
}

/* The name of a process that we took in is that of the first program that it executes. */
static __always_inline void process_executes(struct task_struct *task)
{
	u32 tgid = KREAD(task, tgid), slot = 0;
	struct process_cell *p;

	if (!is_observed(tgid)) {
		if (is_wanted(task, &task->comm, true))
			process_add_running(task, cfg.wanted_flags, true, &task->comm);
		else if (cfg.observe_all)
			process_add_running(task, PROCESS_FOLLOW, false, &task->comm);
		return;
	}
	p = process_find(tgid, &slot);
	if (!p || slot == cfg.max_processes - 1)
		return;
	p->owner.mode = OWNER_NONE; /* what is known is of another program */
	p->execs++;		    /* one thread is left: nobody else counts */
	if (p->flags & PROCESS_EXECUTED)
		return;
	bpf_probe_read_kernel_str(p->comm, sizeof(p->comm), &task->comm);
	p->flags |= PROCESS_EXECUTED;
}

HOOK(sched_process_exit)
int sched_process_exit(void *ctx)
{
	struct task_struct *task = (struct task_struct *)ARG(ctx, 0);
	struct thread_cell *t = thread_current();

	if (!t)
		return 0;
	/* It makes no call any more, but switches; and is freed when many others have ended. */
	if (group_on(GROUP_SCHED))
		sched_exits(t, KREAD(task, start_time), bpf_ktime_get_ns());
	else
		thread_end(t, bpf_ktime_get_ns());
	return 0;
}

HOOK(sched_process_free)
int sched_process_free(void *ctx)
{
	struct task_struct *task = (struct task_struct *)ARG(ctx, 0);
	u32 tid = KREAD(task, pid);
	struct thread_cell *t = thread_known(tid, KREAD(task, tgid));
	struct task_counts counts;
	u64 end;

	if (!t)
		return 0;
	compat_task_counts(task, &counts);
	end = sched_freed(t, account_cells(t), process_hists(t), KREAD(task, start_time), &counts);
	if (end)
		thread_end(t, end);
	return 0;
}

HOOK(sched_process_exec)
int sched_process_exec(void *ctx)
{
	struct task_struct *task = (struct task_struct *)ARG(ctx, 0);
	u32 old_tid = ARG(ctx, 1);
	u32 tid = KREAD(task, pid);

	process_executes(task);
	if (old_tid != tid && is_observed(KREAD(task, tgid)))
		thread_take_over(old_tid, tid, bpf_ktime_get_ns());
	return 0;
}

/*
 * A process calls itself what is wanted (prctl, /proc/self/comm). One with more threads is left to
 * user space, which can take them all in. An exec renames, too, but is not over yet.
 */
HOOK(task_rename)
int task_rename(void *ctx)
{
	struct task_struct *task = (struct task_struct *)ARG(ctx, 0);
	const char *comm = (const char *)ARG(ctx, 1);
	struct signal_struct *sig;

	if (!cfg.nr_wanted_comms || is_observed(KREAD(task, tgid)) ||
	    (u32)KREAD(task, pid) != (u32)bpf_get_current_pid_tgid())
		return 0;
	sig = KREAD(task, signal);
	if (BPF_CORE_READ(sig, nr_threads) != 1 || !is_wanted(task, comm, false))
		return 0;
	process_add_running(task, cfg.wanted_flags, true, comm);
	return 0;
}
