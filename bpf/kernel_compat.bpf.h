/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Differences between kernels, in one place: each entry names the change that made it. Callers
 * never ask for a version; the answer comes from the running kernel's BTF (CO-RE), or from
 * configuration that user space read out of it.
 *
 * Every hook is compiled twice: with HOOK_TP_BTF the programs get typed arguments and read kernel
 * fields directly; with HOOK_RAW_TP (a kernel that refuses typed tracepoints) through
 * bpf_probe_read_kernel. KREAD() is the one spelling for both.
 */
#ifndef SKYOBSERVE_KERNEL_COMPAT_BPF_H
#define SKYOBSERVE_KERNEL_COMPAT_BPF_H

#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "layout.h"

#if defined(HOOK_RAW_TP)
#define HOOK(name)	    SEC("raw_tp/" #name)
#define KREAD(p, field)	    BPF_CORE_READ(p, field)
#define KREAD_BIT(p, field) BPF_CORE_READ_BITFIELD_PROBED(p, field)
#else
#define HOOK(name)	    SEC("tp_btf/" #name)
#define KREAD(p, field)	    ((p)->field)
#define KREAD_BIT(p, field) BPF_CORE_READ_BITFIELD(p, field)
#endif

/* Arguments of a tracepoint program come as u64 each, in both kinds of hook. */
#define ARG(ctx, i) (((unsigned long long *)(ctx))[i])

/* Stable since Linux 4.14 (include/linux/sched.h). */
#define COMPAT_TASK_UNINTERRUPTIBLE 0x0002
#define COMPAT_TASK_STOPPED	    0x0004
#define COMPAT_TASK_TRACED	    0x0008
#define COMPAT_TASK_DEAD	    0x0080

/* 2f064a59a11f (5.14): task_struct.state became __state. */
struct task_struct___before_5_14 {
	volatile long state;
} __attribute__((preserve_access_index));

static __always_inline long compat_task_state(struct task_struct *task)
{
	struct task_struct___before_5_14 *old = (void *)task;

	if (bpf_core_field_exists(task->__state))
		return BPF_CORE_READ(task, __state);
	return BPF_CORE_READ(old, state);
}

/* It became a byte in 7.x. One byte is right for both: it is 0 or 1, and we are little-endian. */
struct task_struct___byte {
	u8 on_cpu;
} __attribute__((preserve_access_index));

static __always_inline u8 compat_task_on_cpu(struct task_struct *task)
{
	struct task_struct___byte *byte = (void *)task;

	return BPF_CORE_READ(byte, on_cpu);
}

/* TS_COMPAT (x86): the system call came in through the 32-bit table. TIF_32BIT (arm64). */
static __always_inline u32 compat_thread_bits(struct task_struct *task, bool typed)
{
#if defined(__TARGET_ARCH_x86)
	u32 bits = typed ? task->thread_info.status : BPF_CORE_READ(task, thread_info.status);

	return bits & 0x0002;
#else
	u64 bits = typed ? task->thread_info.flags : BPF_CORE_READ(task, thread_info.flags);

	return (bits >> 22) & 1;
#endif
}

/*
 * 3ca1032ab7ab (5.11): bpf_get_current_task_btf. Before, and in untyped hooks, the current task is
 * an address that can only be read through a helper.
 */
#if defined(HOOK_TP_BTF)
#define CURRENT_IS_TYPED bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_get_current_task_btf)
#else
#define CURRENT_IS_TYPED false
#endif

/* Nonzero: the call in flight came through the 32-bit table. */
static __always_inline u32 compat_current_is_32bit(void)
{
	if (CURRENT_IS_TYPED)
		return compat_thread_bits(bpf_get_current_task_btf(), true);
	return compat_thread_bits((struct task_struct *)bpf_get_current_task(), false);
}

/* Where io_uring reports completions by the user's token: the token, in its ring. */
#define URING_TOKEN_KEY(ring, token) ((u64)(ring) ^ (u64)(token))

static __always_inline struct file *compat_file_at(struct file **slots, u32 max, s32 fd)
{
	struct file *file = NULL;

	if (!slots || fd < 0 || (u32)fd >= max ||
	    bpf_probe_read_kernel(&file, sizeof(file), slots + (u32)fd))
		return NULL;
	return file;
}

/* The open file behind a descriptor of a task, or NULL. Only reads; holds no reference. */
static __always_inline struct file *compat_fd_file(struct task_struct *task, s32 fd)
{
	struct fdtable *table = BPF_CORE_READ(task, files, fdt);

	if (!table)
		return NULL;
	return compat_file_at(BPF_CORE_READ(table, fd), BPF_CORE_READ(table, max_fds), fd);
}

/* The same of the current task. */
static __always_inline struct file *compat_current_fd_file(s32 fd)
{
	struct fdtable *table;

	if (!CURRENT_IS_TYPED)
		return compat_fd_file((struct task_struct *)bpf_get_current_task(), fd);
	table = bpf_get_current_task_btf()->files->fdt;
	return compat_file_at(table->fd, table->max_fds, fd);
}

/* Kernel's counters of a task; the trusted pointers of typed hooks are read directly. */
static __always_inline void compat_task_counts(struct task_struct *task, struct task_counts *ret)
{
	ret->runtime_ns = KREAD(task, se.sum_exec_runtime);
	ret->run_delay_ns = KREAD(task, sched_info.run_delay);
	ret->nvcsw = KREAD(task, nvcsw);
	ret->nivcsw = KREAD(task, nivcsw);
	ret->faults = KREAD(task, min_flt) + KREAD(task, maj_flt);
}

/* The same for an address that only a helper may read. */
static __always_inline void compat_task_counts_probed(struct task_struct *task,
						      struct task_counts *ret)
{
	ret->runtime_ns = BPF_CORE_READ(task, se.sum_exec_runtime);
	ret->run_delay_ns = BPF_CORE_READ(task, sched_info.run_delay);
	ret->nvcsw = BPF_CORE_READ(task, nvcsw);
	ret->nivcsw = BPF_CORE_READ(task, nivcsw);
	ret->faults = BPF_CORE_READ(task, min_flt) + BPF_CORE_READ(task, maj_flt);
}

/* What the current task has waited and faulted; no more of *@ret is set. */
static __always_inline void compat_current_counts(struct task_counts *ret)
{
	struct task_struct *task;

	if (CURRENT_IS_TYPED) {
		task = bpf_get_current_task_btf();
		ret->run_delay_ns = task->sched_info.run_delay;
		ret->faults = task->min_flt + task->maj_flt;
		return;
	}
	task = (struct task_struct *)bpf_get_current_task();
	ret->run_delay_ns = BPF_CORE_READ(task, sched_info.run_delay);
	ret->faults = BPF_CORE_READ(task, min_flt) + BPF_CORE_READ(task, maj_flt);
}

/*
 * Argument @n (1..6) of a system call, from the registers at its entry. Typed hooks read the
 * registers directly.
 */
#if defined(__TARGET_ARCH_x86)
#define CALL_REG_1	  di
#define CALL_REG_2	  si
#define CALL_REG_3	  dx
#define CALL_REG_6	  r9
#define CALL_ARG(regs, n) KREAD(regs, CALL_REG_##n)
#else
/* arm64 keeps the first argument apart: regs[0] is the return value's place. */
#define CALL_ARG_1(regs)  KREAD(regs, orig_x0)
#define CALL_ARG_2(regs)  KREAD(regs, regs[1])
#define CALL_ARG_3(regs)  KREAD(regs, regs[2])
#define CALL_ARG_6(regs)  KREAD(regs, regs[5])
#define CALL_ARG(regs, n) CALL_ARG_##n(regs)
#endif

#endif /* SKYOBSERVE_KERNEL_COMPAT_BPF_H */
