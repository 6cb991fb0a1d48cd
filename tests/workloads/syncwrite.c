/* SPDX-License-Identifier: MIT */
/*
 * Writes that are durable by themselves, without any fsync (T13).
 *
 * The truth: write() to a file opened with O_DSYNC and to one opened with O_SYNC, pwritev2() with
 * RWF_DSYNC and with RWF_SYNC to a plain file, all of one byte and durable; plain write() and
 * pwritev2() beside them that are not; and durable writes that fail with EFAULT. The files were
 * open before the observer came.
 */
#include "workload.h"

#include <sys/uio.h>

struct sync_plan {
	uint64_t dsync;
	uint64_t sync;
	uint64_t rwf_dsync;
	uint64_t rwf_sync;
	uint64_t plain_pwritev2;
	uint64_t plain_write;
	uint64_t errors;
};

static void write_bytes(struct wl_tally *t, int fd, uint64_t n)
{
	uint64_t i;

	for (i = 0; i < n; i++)
		WL_OK(t, write, fd, "x", 1);
}

static void pwritev2_bytes(struct wl_tally *t, int fd, uint64_t n, int flags)
{
	char byte = 'x';
	const struct iovec one = { .iov_base = &byte, .iov_len = 1 };
	uint64_t i;

	/* The offset is two arguments, the upper one unused on 64-bit machines. */
	for (i = 0; i < n; i++)
		WL_OK(t, pwritev2, fd, &one, 1, i, 0, flags);
}

static void tell(struct wl *w, const struct sync_plan *plan, uint64_t wall_ns)
{
	wl_json_begin(w);
	wl_json_open(w, "durable", '{');
	wl_json_open(w, "sync_write", '{');
	wl_json_u64(w, "ok", plan->dsync + plan->sync + plan->rwf_dsync + plan->rwf_sync);
	wl_json_call_errors(w, "errors", &w->tally, WL_CALL_write);
	wl_json_close(w, '}');
	wl_json_close(w, '}');
	wl_json_open(w, "durable_by_kind", '{');
	wl_json_u64(w, "o_dsync", plan->dsync);
	wl_json_u64(w, "o_sync", plan->sync);
	wl_json_u64(w, "rwf_dsync", plan->rwf_dsync);
	wl_json_u64(w, "rwf_sync", plan->rwf_sync);
	wl_json_close(w, '}');
	wl_json_open(w, "not_durable", '{');
	wl_json_u64(w, "write", plan->plain_write);
	wl_json_u64(w, "pwritev2", plan->plain_pwritev2);
	wl_json_close(w, '}');
	wl_json_u64(w, "wall_ns", wall_ns);
	wl_json_end(w);
}

int main(int argc, char **argv)
{
	struct sync_plan plan = { .dsync = 200,
				  .sync = 100,
				  .rwf_dsync = 50,
				  .rwf_sync = 20,
				  .plain_pwritev2 = 30,
				  .plain_write = 40,
				  .errors = 5 };
	const char *dir = ".";
	const struct wl_opt opts[] = {
		WL_NUMBER("dsync", &plan.dsync, "writes to an O_DSYNC file (200)"),
		WL_NUMBER("sync", &plan.sync, "writes to an O_SYNC file (100)"),
		WL_NUMBER("rwf-dsync", &plan.rwf_dsync, "pwritev2 with RWF_DSYNC (50)"),
		WL_NUMBER("rwf-sync", &plan.rwf_sync, "pwritev2 with RWF_SYNC (20)"),
		WL_NUMBER("plain-pwritev2", &plan.plain_pwritev2,
			  "pwritev2 without a flag, not durable (30)"),
		WL_NUMBER("plain-write", &plan.plain_write, "plain writes, not durable (40)"),
		WL_NUMBER("errors", &plan.errors, "O_DSYNC writes that fail with EFAULT (5)"),
		WL_STRING("dir", &dir, "where the scratch files are made (.)"),
	};
	int dsync_fd, sync_fd, plain_fd;
	uint64_t i, begin_ns, wall_ns;
	struct wl w;

	(void)argc;
	wl_init(&w, "syncwrite", argv, opts, WL_N(opts));
	dsync_fd = wl_scratch_file(dir, O_DSYNC);
	sync_fd = wl_scratch_file(dir, O_SYNC);
	plain_fd = wl_scratch_file(dir, 0);

	wl_ready(&w);
	begin_ns = wl_clock_ns(&w.tally, CLOCK_MONOTONIC);
	write_bytes(&w.tally, dsync_fd, plan.dsync);
	write_bytes(&w.tally, sync_fd, plan.sync);
	pwritev2_bytes(&w.tally, plain_fd, plan.rwf_dsync, RWF_DSYNC);
	pwritev2_bytes(&w.tally, plain_fd, plan.rwf_sync, RWF_SYNC);
	pwritev2_bytes(&w.tally, plain_fd, plan.plain_pwritev2, 0);
	write_bytes(&w.tally, plain_fd, plan.plain_write);
	for (i = 0; i < plan.errors; i++)
		WL(&w.tally, write, dsync_fd, 1, 1); /* address 1 is never mapped */
	wall_ns = wl_clock_ns(&w.tally, CLOCK_MONOTONIC) - begin_ns;

	tell(&w, &plan, wall_ns);
	wl_finish(&w);
}
