/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The BPF side of the harness's own check: counts the system calls of one process on the two kinds
 * of hook that skyobserve builds on. It has its own two-line types, so that it tests the guest and
 * not vmlinux/. Needs BPF_PROG_TYPE_TRACING with tp_btf (5.5) and mmapable arrays (5.5).
 */
#include <linux/bpf.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#include "probe.h"

struct task_struct {
	int tgid;
	unsigned int __state; /* since 5.14 */
	volatile long state;  /* before */
} __attribute__((preserve_access_index));

const volatile int target_tgid;

struct probe_counters counters;

/* Reads the tgid through CO-RE, too: it has to be the one that the helper gives. */
static __always_inline int is_target(void)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	int tgid = bpf_get_current_pid_tgid() >> 32;

	if (tgid != target_tgid)
		return 0;
	if (BPF_CORE_READ(task, tgid) != tgid)
		__sync_fetch_and_add(&counters.wrong_tgids, 1);
	return 1;
}

SEC("raw_tp/sys_enter")
int probe_raw_tp(void *ctx)
{
	if (is_target())
		__sync_fetch_and_add(&counters.raw_tp_calls, 1);
	return 0;
}

SEC("tp_btf/sys_enter")
int probe_tp_btf(void *ctx)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	unsigned long long state;

	if (!is_target())
		return 0;
	__sync_fetch_and_add(&counters.tp_btf_calls, 1);
#ifndef PROBE_UNGUARDED
	if (!bpf_core_field_exists(task->__state))
		state = BPF_CORE_READ(task, state);
	else
#endif
		state = BPF_CORE_READ(task, __state);
	__sync_fetch_and_add(&counters.states, state);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
