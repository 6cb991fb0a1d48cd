/* SPDX-License-Identifier: GPL-2.0-only */
/* Hook: an io_uring request completes. Group: io_uring. */
#include "vmlinux.h"

#include "threads.bpf.h"

#include "errors.bpf.h"
#include "syscalls.bpf.h"

char LICENSE[] SEC("license") = "GPL";

static __always_inline void on_complete(u64 key, long result)
{
	struct uring_request *found = bpf_map_lookup_elem(&uring_requests, &key);
	struct thread_cell owner = {};
	struct process_hists *h;
	u32 code = call_errno(result, CALL_IO_NONE);
	u64 durable, now;

	if (!found)
		return;
	now = bpf_ktime_get_ns();
	owner.process = found->process;
	owner.account = found->account;
	durable = found->durable;
	h = process_hists(&owner);
	barrier_var(durable);
	if (h && durable < NR_DURABLES)
		hist_add(&h->durable[durable], now - found->begin_ns);
	if (code)
		count_error(owner.process, ERROR_DURABLE, durable, code);
	else
		charge_nth(account_cells(&owner), CELL_FSYNCS, durable, NR_DURABLES, 1);
	bpf_map_delete_elem(&uring_requests, &key);
}

HOOK(io_uring_complete)
int io_uring_complete(void *ctx)
{
	struct io_uring_cqe *cqe;

	/* Which form it is comes from the kernel's BTF (enum uring_complete_form). */
	if (cfg.uring_complete_form == URING_COMPLETE_CQE) {
		cqe = (struct io_uring_cqe *)ARG(ctx, 2);
		on_complete(ARG(ctx, 1), BPF_CORE_READ(cqe, res));
	} else if (cfg.uring_complete_form == URING_COMPLETE_REQ) {
		on_complete(ARG(ctx, 1), (s32)ARG(ctx, 3));
	} else if (cfg.uring_complete_form == URING_COMPLETE_USER_DATA) {
		on_complete(URING_TOKEN_KEY(ARG(ctx, 0), ARG(ctx, 1)), (s32)ARG(ctx, 2));
	}
	return 0;
}
