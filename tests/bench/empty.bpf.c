/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The floor: programs that do nothing on the hooks that the observer uses, and the same with one
 * reading of the clock, which every observer of durations needs and which costs as much as the
 * machine's clock source makes it cost.
 */
#include "vmlinux.h"

#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

#define EMPTY(hook)                \
	SEC("tp_btf/" #hook)       \
	int empty_##hook(u64 *ctx) \
	{                          \
		return 0;          \
	}

#define CLOCK(hook)                       \
	SEC("tp_btf/" #hook)              \
	int clock_##hook(u64 *ctx)        \
	{                                 \
		(void)bpf_ktime_get_ns(); \
		return 0;                 \
	}

EMPTY(sys_enter)
EMPTY(sys_exit)
EMPTY(sched_switch)
EMPTY(sched_wakeup)
EMPTY(sched_wakeup_new)

CLOCK(sys_enter)
CLOCK(sys_exit)
CLOCK(sched_switch)
CLOCK(sched_wakeup)
CLOCK(sched_wakeup_new)
