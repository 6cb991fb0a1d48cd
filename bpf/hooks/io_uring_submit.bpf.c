/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hook: an io_uring request is submitted. Group: io_uring.
 *
 * The submitter is the current task: the one in io_uring_enter, or the kernel's polling thread,
 * which belongs to the same process. Whoever completes the request is looked up by its address.
 */
#include "vmlinux.h"

#include "threads.bpf.h"

char LICENSE[] SEC("license") = "GPL";

/* include/uapi/linux/io_uring.h; numbers of the user interface. */
#define OP_FSYNC	   3
#define OP_SYNC_FILE_RANGE 8
#define FSYNC_DATASYNC	   1

/* io_uring/sync.c (6.0, fs/io_uring.c before): the request begins with it for these opcodes. */
struct io_sync___any {
	int flags;
} __attribute__((preserve_access_index));

static __always_inline int durable_of(u8 opcode, void *req)
{
	struct io_sync___any *sync = req;

	if (opcode == OP_SYNC_FILE_RANGE)
		return DURABLE_URING_SYNC_FILE_RANGE;
	if (opcode != OP_FSYNC)
		return -1;
	/* Before 5.19 the tracepoint does not pass the request: fdatasync counts as fsync. */
	if (req && bpf_core_field_exists(sync->flags) &&
	    BPF_CORE_READ(sync, flags) & FSYNC_DATASYNC)
		return DURABLE_URING_FDATASYNC;
	return DURABLE_URING_FSYNC;
}

/* Up to 5.18 the request carries the user's token, and its completion is reported by that alone. */
struct io_kiocb___with_token {
	u64 user_data;
} __attribute__((preserve_access_index));

static __always_inline u64 request_key(void *ctx, struct io_kiocb *req)
{
	struct io_kiocb___with_token *old = (void *)req;

	if (cfg.uring_complete_form == URING_COMPLETE_USER_DATA &&
	    bpf_core_field_exists(old->user_data))
		return URING_TOKEN_KEY(ARG(ctx, 0), BPF_CORE_READ(old, user_data));
	return (u64)req;
}

static __always_inline void on_submit(u64 key, u8 opcode, void *req)
{
	struct thread_cell *t = thread_current();
	struct uring_request request = {};
	int durable;

	if (!t)
		return;
	charge(account_cells(t), CELL_URING_HITS, 1);
	durable = durable_of(opcode, req);
	if (durable < 0)
		return;
	request.begin_ns = bpf_ktime_get_ns();
	request.process = t->process;
	request.account = t->account;
	request.durable = durable;
	if (bpf_map_update_elem(&uring_requests, &key, &request, BPF_ANY))
		drop(DROP_URING_FULL);
}

/*
 * From 5.19 on the request is passed; before, only its opcode and the
 * user's token, which is then the key. Which form it is comes from the kernel's BTF.
 */
static __always_inline void on_any_submit(void *ctx)
{
	struct io_kiocb *req = NULL;

	/* The barriers keep each load at its constant place: one from ctx + x is refused. */
	if (cfg.uring_submit_form == URING_SUBMIT_CTX_OP) {
		on_submit(URING_TOKEN_KEY(ARG(ctx, 0), ARG(ctx, 2)), ARG(ctx, 1), NULL);
	} else if (cfg.uring_submit_form == URING_SUBMIT_REQ) {
		req = (struct io_kiocb *)ARG(ctx, 0);
		barrier_var(req);
	} else if (cfg.uring_submit_form == URING_SUBMIT_CTX_REQ) {
		req = (struct io_kiocb *)ARG(ctx, 1);
		barrier_var(req);
	}
	if (req)
		on_submit(request_key(ctx, req), BPF_CORE_READ(req, opcode), req);
}

HOOK(io_uring_submit_req)
int io_uring_submit_req(void *ctx)
{
	on_any_submit(ctx);
	return 0;
}

/* Its name before 6.4. */
HOOK(io_uring_submit_sqe)
int io_uring_submit_sqe(void *ctx)
{
	on_any_submit(ctx);
	return 0;
}
