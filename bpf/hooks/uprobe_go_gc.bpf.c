/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hooks: functions of Go's collector, in the programs that user space attaches to. Group: go_gc.
 *
 * Probes stand behind the prologue, where the stack does not grow any more and the arguments are
 * still in their registers, and at returns; never on a return address: Go's stacks move.
 */
#include "vmlinux.h"

#include "threads.bpf.h"

#include "go_gc.bpf.h"

char LICENSE[] SEC("license") = "GPL";

/* The thread that hit a probe, and that it did (@cell); NULL: its process is not observed. */
static __always_inline struct thread_cell *hit_by(u32 cell)
{
	struct thread_cell *t = thread_current();

	if (t)
		charge(account_cells(t), cell, 1);
	return t;
}

/* stopTheWorldWithSema(reason, ...): before the runtime looks at its clock. */
SEC("uprobe/gc.stop_world")
int gc_stop_world(struct pt_regs *regs)
{
	struct thread_cell *t = hit_by(CELL_GC_ENTRIES);

	if (t)
		t->stop_cpu_ns = go_gc_cpu_mark(t, bpf_ktime_get_ns());
	return 0;
}

/* startTheWorldWithSema(now, worldStop{reason, startedStopping, ...}) */
SEC("uprobe/gc.start_world")
int gc_start_world(struct pt_regs *regs)
{
	struct thread_cell *t = hit_by(CELL_GC_ENTRIES);

	if (!t)
		return 0;
	t->stop_reason = go_stop_reason(GO_ARG1(regs));
	t->stop_begin_ns = GO_ARG2(regs);
	return 0;
}

/* It returns when the world was started. The thread is the same: it holds its M all the time. */
SEC("uprobe/gc.started_world")
int gc_started_world(struct pt_regs *regs)
{
	struct thread_cell *t = hit_by(CELL_GC_RETURNS);

	if (t)
		go_gc_started(t, GO_ARG0(regs), bpf_ktime_get_ns());
	return 0;
}

/*
 * gcDrain: a worker begins; again for one that was asked to yield. Nothing but workers calls it,
 * and each holds its thread until it stops.
 */
SEC("uprobe/gc.worker_drain")
int gc_worker_drain(struct pt_regs *regs)
{
	struct thread_cell *t = hit_by(CELL_GC_ENTRIES);

	if (t && !t->worker_cpu_ns)
		t->worker_cpu_ns = go_gc_cpu_mark(t, bpf_ktime_get_ns());
	return 0;
}

/* (*gcControllerState).markWorkerStop(mode, duration) */
SEC("uprobe/gc.worker_stop")
int gc_worker_stop(struct pt_regs *regs)
{
	struct thread_cell *t = hit_by(CELL_GC_ENTRIES);

	if (t)
		go_gc_worker_stopped(t, GO_ARG1(regs), (s64)GO_ARG2(regs), bpf_ktime_get_ns());
	return 0;
}
