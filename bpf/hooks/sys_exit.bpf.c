/* SPDX-License-Identifier: GPL-2.0-only */
/* Hook: a system call returns. Groups: syscalls, fsync, interactions. */
#include "vmlinux.h"

#include "threads.bpf.h"

#include "errors.bpf.h"
#include "interactions.bpf.h"
#include "syscalls.bpf.h"

char LICENSE[] SEC("license") = "GPL";

/*
 * The histogram row of a call, taken from the pool at its first return. Two threads may race for
 * it: the claim in the hash decides, the loser gives its row back. No atomic exchange: 5.10 has
 * none for BPF.
 */
static __always_inline u32 row_of(u32 process, u32 nr)
{
	struct call_rows *rows = bpf_map_lookup_elem(&call_rows, &process);
	struct row_key key = { .process = process, .nr = nr };
	u32 row, *claimed;

	if (!rows || nr >= NR_CALL_SLOTS)
		return 0;
	row = rows->row[nr];
	if (row)
		return row;
	if (bpf_map_pop_elem(&free_rows, &row))
		return 0;
	if (bpf_map_update_elem(&row_claims, &key, &row, BPF_NOEXIST)) {
		bpf_map_push_elem(&free_rows, &row, BPF_ANY);
		claimed = bpf_map_lookup_elem(&row_claims, &key);
		if (!claimed)
			return 0;
		row = *claimed;
	}
	rows->row[nr] = row;
	return row;
}

static __always_inline void observe_duration(u32 process, u32 nr, u64 ns)
{
	u32 row = row_of(process, nr);
	u32 key = lane() * cfg.max_rows + row;
	struct hist *hist = row ? bpf_map_lookup_elem(&row_hists, &key) : NULL;

	if (hist)
		hist_add(hist, ns);
	else
		drop(DROP_ROWS_FULL);
}

static __always_inline void end_durable(struct thread_cell *t, u64 ns, u32 code)
{
	u64 call = t->call_durable - 1;
	struct process_hists *h = process_hists(t);
	struct flow *f;

	barrier_var(call);
	if (call >= NR_DURABLES)
		return;
	if (h)
		hist_add(&h->durable[call], ns);
	if (code)
		count_error(t->process, ERROR_DURABLE, call, code);
	else
		charge_nth(account_cells(t), CELL_FSYNCS, call, NR_DURABLES, 1);
	if (!code && group_on(GROUP_INTERACTIONS)) {
		f = flow_of(t);
		if (f)
			add(&f->fsyncs, 1);
	}
}

static __always_inline void on_sys_exit(struct pt_regs *regs, long ret)
{
	struct thread_cell *t = thread_current();
	u64 ns = 0, now;
	u32 code, nr;

	if (!t)
		return;
	nr = t->nr;
	now = bpf_ktime_get_ns();
	if (!syscall_end(t, now, &ns)) {
		charge(account_cells(t), CELL_EXITS_UNMATCHED, 1);
		return;
	}
	if (t->abi != ABI_NATIVE || nr >= NR_CALL_SLOTS)
		return;

	if (t->process < cfg.max_details)
		observe_duration(t->process, nr, ns);
	code = call_errno(ret, t->call_io);
	if (code && t->process < cfg.max_details)
		count_error(t->process, ERROR_SYSCALL, nr, code);
	if (t->call_durable)
		end_durable(t, ns, code);
	if (ret > 0 && t->call_io == CALL_IO_READ)
		charge(account_cells(t), CELL_READ_BYTES, ret);
	else if (ret > 0 && t->call_io == CALL_IO_WRITE)
		charge(account_cells(t), CELL_WRITTEN_BYTES, ret);
	interactions_exit(t, regs, nr, ret, now);
}

HOOK(sys_exit)
int sys_exit(void *ctx)
{
	on_sys_exit((struct pt_regs *)ARG(ctx, 0), (long)ARG(ctx, 1));
	return 0;
}
