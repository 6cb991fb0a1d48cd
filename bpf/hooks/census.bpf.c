/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hooks: what a profiler inside of a process gets. Group: census.
 *
 * Go starts a CPU profile with setitimer(ITIMER_PROF) and ends it by setting it to 0; in between a
 * timer of each thread (timer_create) sends SIGPROF with SI_TIMER, one for each sample. The signals
 * of setitimer itself (SI_KERNEL) are ignored by threads that have a timer.
 *
 * Source: Go src/runtime/os_linux.go, setThreadCPUProfiler and validSIGPROF (1.18 and later).
 */
#include "vmlinux.h"

#include "threads.bpf.h"

char LICENSE[] SEC("license") = "GPL";

/* include/uapi/linux/time.h, asm-generic/signal.h, siginfo.h */
#define ITIMER_PROF 2
#define SIGPROF	    27
#define SI_TIMER    -2

/* The process that runs, or NULL. */
static __always_inline struct process_cell *process_current(u32 *ret_slot)
{
	u32 tgid = bpf_get_current_pid_tgid() >> 32;

	return is_observed(tgid) ? process_find(tgid, ret_slot) : NULL;
}

/* Linux 5.5 (bd40a175769d) and later pass a timespec64. */
HOOK(itimer_state)
int itimer_state(void *ctx)
{
	const struct itimerspec64 *value = (const struct itimerspec64 *)ARG(ctx, 1);
	struct process_cell *p;
	u64 period;
	u32 slot;

	if ((s32)ARG(ctx, 0) != ITIMER_PROF)
		return 0;
	p = process_current(&slot);
	if (!p || slot == cfg.max_processes - 1)
		return 0;
	period = BPF_CORE_READ(value, it_interval.tv_sec) * 1000000000ULL +
		 BPF_CORE_READ(value, it_interval.tv_nsec);
	if (period) {
		p->census.period_ns = period;
		p->census.begin_signals = p->census.signals;
		p->census.begin_overruns = p->census.overruns;
		p->census.end_ns = 0;
		p->census.begin_ns = bpf_ktime_get_ns();
		p->census.profiles++;
	} else if (p->census.begin_ns && !p->census.end_ns) {
		p->census.end_signals = p->census.signals;
		p->census.end_overruns = p->census.overruns;
		p->census.end_ns = bpf_ktime_get_ns();
	}
	return 0;
}

/* It is charged to the background of the process, at its slot. */
static __always_inline void count_hit(u32 slot)
{
	u32 key = lane() * cfg.max_accounts + slot;

	charge(bpf_map_lookup_elem(&cells, &key), CELL_SIGNAL_HITS, 1);
}

static __always_inline void count_leaf(void *ctx, u32 slot, const struct process_cell *p)
{
	struct leaf_key key = { .process = slot, .profile = p->census.profiles };
	u64 one = 1, *count;

	/* The instruction that was interrupted: the first of the user's stack. */
	if (bpf_get_stack(ctx, &key.address, sizeof(key.address), BPF_F_USER_STACK) !=
	    sizeof(key.address))
		key.address = 0;
	count = bpf_map_lookup_elem(&census_leaves, &key);
	if (!count && !bpf_map_update_elem(&census_leaves, &key, &one, BPF_NOEXIST))
		return;
	if (!count) /* another CPU was faster, or there is no room */
		count = bpf_map_lookup_elem(&census_leaves, &key);
	if (count)
		__sync_fetch_and_add(count, 1);
	else
		drop(DROP_CENSUS_FULL);
}

/* It is the thread that takes the signal that runs, on its way back to user space. */
HOOK(signal_deliver)
int signal_deliver(void *ctx)
{
	struct kernel_siginfo *info = (struct kernel_siginfo *)ARG(ctx, 1);
	struct process_cell *p;
	s32 overruns;
	u32 slot;

	if ((s32)ARG(ctx, 0) != SIGPROF)
		return 0;
	p = process_current(&slot);
	if (!p || slot == cfg.max_processes - 1)
		return 0;
	count_hit(slot);
	if (BPF_CORE_READ(info, si_code) != SI_TIMER) {
		__sync_fetch_and_add(&p->census.other_signals, 1);
		return 0;
	}
	__sync_fetch_and_add(&p->census.signals, 1);
	overruns = BPF_CORE_READ(info, _sifields._timer._overrun);
	if (overruns > 0)
		__sync_fetch_and_add(&p->census.overruns, overruns);
	if (p->census.begin_ns && !p->census.end_ns)
		count_leaf(ctx, slot, p);
	return 0;
}
