/* SPDX-License-Identifier: GPL-2.0-only */
/* Hooks: a task is made runnable, for the first time or again. Group: sched. */
#include "vmlinux.h"

#include "threads.bpf.h"

#include "sched.bpf.h"

char LICENSE[] SEC("license") = "GPL";

static __always_inline void on_wakeup(struct thread_cell *t)
{
	if (t)
		sched_wake(t, account_cells(t), process_hists(t), bpf_ktime_get_ns());
}

HOOK(sched_wakeup)
int sched_wakeup(void *ctx)
{
	struct task_struct *task = (struct task_struct *)ARG(ctx, 0);

	on_wakeup(thread_known(KREAD(task, pid), KREAD(task, tgid)));
	return 0;
}

/* The first of a task. io_uring's workers are born without sched_process_fork: they are met here.
 */
HOOK(sched_wakeup_new)
int sched_wakeup_new(void *ctx)
{
	struct task_struct *task = (struct task_struct *)ARG(ctx, 0);
	u32 tid = KREAD(task, pid), tgid = KREAD(task, tgid);
	struct thread_cell *t = thread_known(tid, tgid);
	struct task_counts none = {};

	if (!t && is_observed(tgid))
		t = thread_meet(tid, tgid, KREAD(task, start_time), bpf_ktime_get_ns(), &none);
	on_wakeup(t);
	return 0;
}
