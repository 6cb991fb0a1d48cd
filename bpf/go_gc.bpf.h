/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The collector of a Go program, by the arguments of its own functions. Go passes integers in
 * registers (its ABIInternal, from 1.17 on); what each function gets has been the same in all
 * releases that user space attaches to.
 *
 * Nothing of it is measured by the probes' own clock, which their cost would be in: times are the
 * runtime's. Only CPU time is ours.
 */
#ifndef SKYOBSERVE_GO_GC_BPF_H
#define SKYOBSERVE_GO_GC_BPF_H

#include "sched.bpf.h"

#if defined(__TARGET_ARCH_x86)
#define GO_ARG0(regs) ((regs)->ax)
#define GO_ARG1(regs) ((regs)->bx)
#define GO_ARG2(regs) ((regs)->cx)
#else
#define GO_ARG0(regs) PT_REGS_PARM1(regs)
#define GO_ARG1(regs) PT_REGS_PARM2(regs)
#define GO_ARG2(regs) PT_REGS_PARM3(regs)
#endif

/* runtime.stwReason, the same from Go 1.22 to 1.27 (src/runtime/proc.go). */
static __always_inline u32 go_stop_reason(u8 reason)
{
	switch (reason) {
	case 1:
		return STOP_MARK_TERM;
	case 2:
		return STOP_SWEEP_TERM;
	case 4:
	case 5:
		return STOP_GOROUTINE_PROFILE;
	case 6:
		return STOP_ALL_STACKS;
	case 7:
		return STOP_READ_MEM_STATS;
	case 9:
		return STOP_MAX_PROCS;
	case 10:
	case 11:
		return STOP_TRACE;
	default:
		return STOP_OTHER;
	}
}

/* A duration that the target says; the machine has run for @now. */
static __always_inline bool go_is_duration(s64 ns, u64 now)
{
	return ns >= 0 && (u64)ns <= now;
}

/*
 * The CPU time of the current thread, plus 1; 0 if its switches are not seen. The handler of a
 * probe may be preempted: then the parts are of two moments, and are read again.
 */
static __always_inline u64 go_gc_cpu_mark(const struct thread_cell *t, u64 now)
{
	const volatile u64 *since = &t->since_ns;
	u64 cpu, before;

	if (!group_on(GROUP_SCHED))
		return 0;
	before = *since;
	cpu = sched_cpu_so_far(t, now);
	if (*since != before)
		cpu = sched_cpu_so_far(t, bpf_ktime_get_ns());
	return cpu + 1;
}

/* CPU time since @mark; at most @wall, whatever was not reported. */
static __always_inline u64 go_gc_cpu_since(const struct thread_cell *t, u64 mark, u64 wall, u64 now)
{
	u64 cpu = mark ? elapsed(go_gc_cpu_mark(t, now), mark) : 0;

	return cpu < wall ? cpu : wall;
}

/* NULL for a process whose collector is not counted. */
static __always_inline struct go_gc_cells *go_gc_cells_of(const struct thread_cell *t)
{
	u32 key = lane() * cfg.max_go + t->process;

	if (t->process >= cfg.max_go)
		return NULL;
	return bpf_map_lookup_elem(&go_gc, &key);
}

/* The world has been started: the stop that began in this thread is over, at @end by the runtime.
 */
static __always_inline void go_gc_started(struct thread_cell *t, u64 end, u64 now)
{
	struct go_gc_cells *c = go_gc_cells_of(t);
	s64 ns = (s64)(end - t->stop_begin_ns);
	u64 reason = t->stop_reason, mark = t->stop_cpu_ns;

	if (!t->stop_begin_ns)
		return; /* it began before it was probed */
	t->stop_begin_ns = 0;
	t->stop_cpu_ns = 0;
	barrier_var(reason);
	if (!c || reason >= NR_STOP_REASONS)
		return;
	if (!go_is_duration(ns, now)) {
		drop(DROP_GO_ARGUMENTS);
		return;
	}
	hist_add(&c->stops[reason], ns);
	add(&c->stop_cpu_ns, go_gc_cpu_since(t, mark, ns, now));
}

/* A background worker of @mode has worked for @ns, by the runtime. */
static __always_inline void go_gc_worker_stopped(struct thread_cell *t, u64 mode, s64 ns, u64 now)
{
	struct go_gc_cells *c = go_gc_cells_of(t);
	u64 mark = t->worker_cpu_ns;

	t->worker_cpu_ns = 0;
	mode--; /* 0 is none */
	barrier_var(mode);
	if (!c)
		return;
	if (mode >= NR_GC_WORKERS || !go_is_duration(ns, now)) {
		drop(DROP_GO_ARGUMENTS);
		return;
	}
	add(&c->worker_ns[mode], ns);
	add(&c->worker_cpu_ns[mode], go_gc_cpu_since(t, mark, ns, now));
	add(&c->workers[mode], 1);
}

#endif /* SKYOBSERVE_GO_GC_BPF_H */
