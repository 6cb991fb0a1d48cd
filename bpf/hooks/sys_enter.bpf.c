/* SPDX-License-Identifier: GPL-2.0-only */
/* Hook: a system call is entered. Groups: syscalls, fsync, interactions; marks the call for sched.
 */
#include "vmlinux.h"

#include "threads.bpf.h"

#include "interactions.bpf.h"
#include "syscalls.bpf.h"

char LICENSE[] SEC("license") = "GPL";

#define X32_BIT 0x40000000

static __always_inline u8 abi_of(u64 nr)
{
	if (compat_current_is_32bit())
		return ABI_COMPAT;
#if defined(__TARGET_ARCH_x86)
	if (nr & X32_BIT)
		return ABI_X32;
#endif
	return ABI_NATIVE;
}

static __always_inline void count_foreign(const struct thread_cell *t, u8 abi, u32 nr)
{
	struct foreign_key key = { .account = t->account, .abi = abi, .nr = nr };
	u64 *n = bpf_map_lookup_elem(&foreign_calls, &key);
	u64 zero = 0;

	if (!n) {
		bpf_map_update_elem(&foreign_calls, &key, &zero, BPF_NOEXIST);
		n = bpf_map_lookup_elem(&foreign_calls, &key);
	}
	if (n)
		add(n, 1);
	else
		drop(DROP_FOREIGN_FULL);
}

static __always_inline void count_call(const struct thread_cell *t, u32 nr)
{
	u32 stride = cfg.max_named + cfg.max_kinds, slot = t->account, key;
	struct account_calls *c;

	if (slot >= cfg.max_processes) /* of a kind: behind those of processes */
		slot -= cfg.max_processes - cfg.max_named;
	else if (slot >= cfg.max_named)
		slot = stride;
	key = (bpf_get_smp_processor_id() & cfg.call_lane_mask) * stride + slot;
	if (slot >= stride) {
		charge(account_cells(t), CELL_SMALL_SYSCALLS, 1);
		return;
	}
	c = bpf_map_lookup_elem(&calls, &key);
	if (c && nr < NR_CALL_SLOTS)
		add(&c->enters[nr], 1);
}

/* Flags of the file that descriptor @fd of the current task is open on. */
static __always_inline u32 file_flags(s32 fd)
{
	struct file *file = compat_current_fd_file(fd);

	return file ? BPF_CORE_READ(file, f_flags) : 0;
}

static __always_inline void classify(struct thread_cell *t, struct pt_regs *regs, u32 nr)
{
	u8 rule = cfg.calls[nr].durable;
	u32 flags = 0;
	u64 third, sixth;

	t->call_wait = cfg.calls[nr].wait;
	t->call_io = cfg.calls[nr].io;
	t->call_durable = 0;
	if (t->call_wait != WAIT_FILE && rule == RULE_NONE)
		return;
	t->call_fd = (s32)CALL_ARG(regs, 1);
	if (rule == RULE_NONE || !group_on(GROUP_FSYNC))
		return;
	third = CALL_ARG(regs, 3);
	sixth = CALL_ARG(regs, 6);
	if (rule == RULE_WRITE || rule == RULE_WRITE_FLAGS)
		flags = file_flags(t->call_fd);
	t->call_durable = call_durable(rule, third, sixth, flags);
}

static __always_inline void on_sys_enter(struct pt_regs *regs, u64 id)
{
	struct thread_cell *t = thread_current();
	u64 now;
	u8 abi;

	if (!t)
		return;
	now = bpf_ktime_get_ns();
	abi = abi_of(id);
	if (abi == ABI_X32)
		id &= ~X32_BIT;
	if (abi == ABI_NATIVE && id < NR_CALL_SLOTS && group_on(GROUP_INTERACTIONS)) {
		t->call_fd = (s32)CALL_ARG(regs, 1);
		interactions_enter(t, id, now);
	}
	syscall_begin(t, (s32)id, abi, now);
	if (abi == ABI_NATIVE && id < NR_CALL_SLOTS) {
		classify(t, regs, id);
		count_call(t, id);
	} else {
		t->call_wait = WAIT_OTHER;
		t->call_io = CALL_IO_NONE;
		t->call_durable = 0;
		count_foreign(t, abi, id);
	}
}

HOOK(sys_enter)
int sys_enter(void *ctx)
{
	on_sys_enter((struct pt_regs *)ARG(ctx, 0), ARG(ctx, 1));
	return 0;
}
