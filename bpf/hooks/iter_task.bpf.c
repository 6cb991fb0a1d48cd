/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Task iterator: reads the kernel's own books of every thread of a target, together with ours.
 * While a process is being seeded it also takes its threads in: nothing else writes them then.
 * Group: process.
 */
#include "vmlinux.h"

#include "processes.bpf.h"

#include "waits.bpf.h"

char LICENSE[] SEC("license") = "GPL";

/* What the thread was doing before: its state, and the call that /proc said it was in. */
static __always_inline void seed(struct task_struct *task, struct thread_cell *t, bool on_cpu,
				 u64 now)
{
	struct seed_call *call = bpf_map_lookup_elem(&seed_calls, &t->tid);
	bool in_iowait = BPF_CORE_READ_BITFIELD_PROBED(task, in_iowait);
	long state = compat_task_state(task);

	if (call && call->nr >= 0) {
		u64 nr = (u32)call->nr;

		t->nr = nr;
		t->flags |= THREAD_SEEDED_CALL;
		t->enter_ns = now;
		t->sys_since_ns = now;
		t->call_fd = call->fd;
		barrier_var(nr);
		if (nr < NR_CALL_SLOTS)
			t->call_wait = cfg.calls[nr].wait;
	}
	if (on_cpu) {
		t->run_state = RUN_RUNNING;
	} else if (!state) {
		t->run_state = RUN_RUNNABLE;
		t->reason = REASON_RUN_QUEUE;
		t->flags |= THREAD_SEEDED_WAIT;
	} else {
		t->run_state = RUN_BLOCKED;
		t->reason = block_reason(t, task, in_iowait, state);
	}
}

SEC("iter/task")
int iter_task(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct task_record rec = {};
	struct process_cell *p;
	struct thread_cell *t;
	u32 *slot;

	if (!task)
		return 0;
	rec.tgid = task->tgid;
	slot = bpf_map_lookup_elem(&process_slots, &rec.tgid);
	if (!slot)
		return 0;
	p = bpf_map_lookup_elem(&processes, slot);
	if (!p)
		return 0;

	rec.tid = task->pid;
	rec.process = *slot;
	rec.now_ns = bpf_ktime_get_ns();
	rec.start_ns = task->start_time;
	rec.leader = rec.tid == rec.tgid;
	rec.on_cpu = compat_task_on_cpu(task);
	compat_task_counts_probed(task, &rec.counts);
	if (rec.leader) {
		ended_counts(task, &rec.ended);
		bpf_probe_read_kernel(rec.comm, sizeof(rec.comm), task->comm);
	}

	t = thread_find(rec.tid);
	if (!t && p->seeding && !task->exit_state) {
		t = thread_add(rec.tid, rec.tgid, rec.now_ns, &rec.counts);
		if (t)
			seed(task, t, rec.on_cpu, rec.now_ns);
	}
	if (t) {
		rec.known = 1;
		rec.cell = *t;
	}
	bpf_seq_write(ctx->meta->seq, &rec, sizeof(rec));
	return 0;
}
