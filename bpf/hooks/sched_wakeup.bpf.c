/* SPDX-License-Identifier: GPL-2.0-only */
/* Hooks: a task is made runnable, for the first time or again. Group: sched. */
#include "vmlinux.h"

#include "threads.bpf.h"

#include "sched.bpf.h"

char LICENSE[] SEC("license") = "GPL";

static __always_inline void on_wakeup(struct task_struct *task)
{
	struct thread_cell *t = thread_known(KREAD(task, pid), KREAD(task, tgid));

	if (t)
		sched_wake(t, account_cells(t), process_hists(t), bpf_ktime_get_ns());
}

HOOK(sched_wakeup)
int sched_wakeup(void *ctx)
{
	on_wakeup((struct task_struct *)ARG(ctx, 0));
	return 0;
}

HOOK(sched_wakeup_new)
int sched_wakeup_new(void *ctx)
{
	on_wakeup((struct task_struct *)ARG(ctx, 0));
	return 0;
}
