/* SPDX-License-Identifier: GPL-2.0-only */
/* Hook: a CPU goes from one task to another. Group: sched; the chain check for all tasks. */
#include "vmlinux.h"

#include "threads.bpf.h"

#include "sched.bpf.h"
#include "waits.bpf.h"

char LICENSE[] SEC("license") = "GPL";

/* I-17: switches that the kernel did not report. */
static __always_inline void check_chain(u32 prev_tid, u32 next_tid)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct chain_cell *c = bpf_map_lookup_elem(&chain, &cpu);

	if (!c)
		return;
	c->switches++;
	if (c->begun && c->next_tid != prev_tid)
		c->breaks++;
	c->begun = 1;
	c->next_tid = next_tid;
}

static __always_inline void switch_out(struct task_struct *task, u32 tid, u32 tgid, u64 now,
				       bool preempted, long state)
{
	struct task_counts counts;
	struct account_cells *a;
	struct thread_cell *t;
	bool runnable = preempted || !state;

	compat_task_counts(task, &counts);
	t = thread_meet(tid, tgid, KREAD(task, start_time), now, &counts);
	if (!t)
		return;
	a = account_cells(t);
	sched_switch_out(t, a, &counts, now, runnable,
			 runnable ? REASON_PREEMPTED :
				    block_reason(t, task, KREAD_BIT(task, in_iowait), state));
	if (!preempted && state & COMPAT_TASK_DEAD)
		thread_end(t, a, now);
}

static __always_inline void switch_in(struct task_struct *task, u32 tid, u64 now)
{
	struct thread_cell *t = thread_find(tid);

	if (t)
		sched_switch_in(t, account_cells(t), process_hists(t), now);
}

HOOK(sched_switch)
int sched_switch(void *ctx)
{
	bool preempted = ARG(ctx, 0);
	struct task_struct *prev = (struct task_struct *)ARG(ctx, 1);
	struct task_struct *next = (struct task_struct *)ARG(ctx, 2);
	u32 prev_tid = KREAD(prev, pid), next_tid = KREAD(next, pid);
	u32 prev_tgid = KREAD(prev, tgid), next_tgid = KREAD(next, tgid);
	bool out = is_observed(prev_tgid), in = is_observed(next_tgid);
	u64 now;
	long state;

	check_chain(prev_tid, next_tid);
	if (!out && !in)
		return 0;
	now = bpf_ktime_get_ns();
	if (out) {
		/* fa2c3254d7cf, 9c2136be0878 (5.18): the state is an argument, safe from wake-ups. */
		state = cfg.switch_has_state ? (u32)ARG(ctx, 3) : compat_task_state(prev);
		switch_out(prev, prev_tid, prev_tgid, now, preempted, state);
	}
	if (in)
		switch_in(next, next_tid, now);
	return 0;
}
