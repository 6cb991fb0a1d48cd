/* SPDX-License-Identifier: GPL-2.0-only */
/* Hook: a CPU goes from one task to another. Group: sched; the chain check for all tasks. */
#include "vmlinux.h"

#include "threads.bpf.h"

#include "interactions.bpf.h"
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

/* @t may be NULL: a thread of a target that was not met yet. */
static __always_inline void switch_out(struct thread_cell *t, struct task_struct *task, u64 now,
				       bool preempted, long state)
{
	struct task_counts counts;
	struct account_cells *a;
	u8 reason = REASON_PREEMPTED;

	compat_task_counts(task, &counts);
	if (!t)
		t = thread_meet(KREAD(task, pid), KREAD(task, tgid), KREAD(task, start_time), now,
				&counts);
	if (!t)
		return;
	if (group_on(GROUP_INTERACTIONS) && t->nr == NO_CALL)
		current_leaves_user_mode(now);
	if (group_on(GROUP_INTERACTIONS) && t->flow)
		current_spends(elapsed(counts.runtime_ns, t->charged.runtime_ns));
	a = account_cells(t);
	if (!preempted && state)
		reason = block_reason(t, task, KREAD_BIT(task, in_iowait), state);
	sched_switch_out(t, a, process_hists(t), &counts, now, reason);
	if (!preempted && state & COMPAT_TASK_DEAD)
		thread_end(t, now);
}

HOOK(sched_switch)
int sched_switch(void *ctx)
{
	bool preempted = ARG(ctx, 0);
	struct task_struct *prev = (struct task_struct *)ARG(ctx, 1);
	struct task_struct *next = (struct task_struct *)ARG(ctx, 2);
	u32 prev_tid = KREAD(prev, pid), next_tid = KREAD(next, pid);
	struct thread_cell *out = thread_known(prev_tid, KREAD(prev, tgid));
	struct thread_cell *in = thread_known(next_tid, KREAD(next, tgid));
	bool out_observed = out ? !out->probing : is_observed(KREAD(prev, tgid));
	u64 now;
	long state;

	if (in && in->probing)
		in = NULL; /* as it left: see functions.bpf.h */
	check_chain(prev_tid, next_tid);
	if (!out_observed && !in)
		return 0;
	now = bpf_ktime_get_ns();
	if (out_observed) {
		/*
		 * fa2c3254d7cf (5.18): the state is an argument, safe from wake-ups. Before
		 * 8feb053d5319 (6.16) it is stale if a signal kept the task runnable in the last
		 * moment: then the task's own state is 0 by now, which no wake-up can have made it
		 * before the switch is over.
		 */
		state = compat_task_state(prev);
		if (state && cfg.switch_has_state)
			state = (u32)ARG(ctx, 3);
		switch_out(out, prev, now, preempted, state);
	}
	if (in && group_on(GROUP_INTERACTIONS) && in->flow)
		flow_rests(in->flow, in->flow_begin_ns, in->out_ns, now);
	if (in)
		sched_switch_in(in, account_cells(in), process_hists(in), now);
	return 0;
}
