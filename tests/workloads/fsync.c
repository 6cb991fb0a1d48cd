/* SPDX-License-Identifier: MIT */
/*
 * Every call that makes data durable, a known number of times each, with known failures (T1).
 *
 * The truth: N fsync that succeed and --errors that fail with EBADF, N/2 fdatasync, and a few of
 * each of the others; of msync only those with MS_SYNC are durable. The file is scratch and has no
 * name.
 */
#include "workload.h"

struct durable_plan {
	uint64_t fsyncs;
	uint64_t errors;
	uint64_t other_errors;
	uint64_t ranges;
	uint64_t msyncs;
	uint64_t msyncs_async;
	bool dirty;
	bool no_sync;
};

/* What msync did, which one number in the tally cannot tell apart. */
struct msync_truth {
	uint64_t sync_ok;
	uint64_t sync_failed;
	uint64_t async_ok;
};

static void run_fsyncs(struct wl_tally *t, const struct durable_plan *plan, int fd)
{
	uint64_t i;

	for (i = 0; i < plan->fsyncs; i++) {
		if (plan->dirty)
			WL_OK(t, pwrite64, fd, "x", 1, i);
		WL_OK(t, fsync, fd);
	}
	for (i = 0; i < plan->fsyncs / 2; i++) {
		if (plan->dirty)
			WL_OK(t, pwrite64, fd, "y", 1, i);
		WL_OK(t, fdatasync, fd);
	}
	for (i = 0; i < plan->errors; i++)
		WL(t, fsync, -1);
}

static void run_others(struct wl_tally *t, const struct durable_plan *plan, int fd, char *page,
		       struct msync_truth *ret_msync)
{
	const long bytes = sysconf(_SC_PAGESIZE); /* known to libc without a call */
	uint64_t i;

	for (i = 0; i < plan->ranges; i++)
		WL_OK(t, sync_file_range, fd, 0, 0,
		      SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE |
			      SYNC_FILE_RANGE_WAIT_AFTER);
	for (i = 0; i < plan->msyncs; i++, ret_msync->sync_ok++) {
		*page = (char)i;
		WL_OK(t, msync, page, bytes, MS_SYNC);
	}
	for (i = 0; i < plan->msyncs_async; i++, ret_msync->async_ok++)
		WL_OK(t, msync, page, bytes, MS_ASYNC);
	for (i = 0; i < plan->other_errors; i++, ret_msync->sync_failed++) {
		WL(t, fdatasync, -1);
		WL(t, sync_file_range, -1, 0, 0, 0);
		WL(t, syncfs, -1);
		/* Page 0 is never mapped. */
		WL(t, msync, NULL, bytes, MS_SYNC);
	}
	if (plan->no_sync)
		return;
	WL_OK(t, syncfs, fd);
	WL_OK(t, sync);
}

static void tell_call(struct wl *w, enum wl_call call, uint64_t ok)
{
	wl_json_open(w, wl_call_name(call), '{');
	wl_json_u64(w, "ok", ok);
	wl_json_call_errors(w, "errors", &w->tally, call);
	wl_json_close(w, '}');
}

static uint64_t successes(const struct wl_tally *t, enum wl_call call)
{
	uint64_t n = t->calls[call];
	size_t i;

	for (i = 0; i < t->n_errors; i++)
		if (t->errors[i].call == call)
			n -= t->errors[i].times;
	return n;
}

static void tell(struct wl *w, const struct msync_truth *msyncs, uint64_t wall_ns)
{
	const enum wl_call plain[] = { WL_CALL_fsync, WL_CALL_fdatasync, WL_CALL_sync_file_range,
				       WL_CALL_syncfs, WL_CALL_sync };
	size_t i;

	wl_json_begin(w);
	wl_json_open(w, "durable", '{');
	for (i = 0; i < WL_N(plain); i++)
		tell_call(w, plain[i], successes(&w->tally, plain[i]));
	tell_call(w, WL_CALL_msync, msyncs->sync_ok);
	wl_json_close(w, '}');
	wl_json_open(w, "not_durable", '{');
	wl_json_u64(w, "msync_async", msyncs->async_ok);
	wl_json_close(w, '}');
	wl_json_u64(w, "wall_ns", wall_ns);
	wl_json_end(w);
}

int main(int argc, char **argv)
{
	struct durable_plan plan = {
		.fsyncs = 1000, .errors = 10, .ranges = 20, .msyncs = 30, .msyncs_async = 40
	};
	struct msync_truth msyncs = { 0 };
	const char *dir = ".";
	const struct wl_opt opts[] = {
		WL_NUMBER("n", &plan.fsyncs, "fsyncs that succeed; half as many fdatasyncs (1000)"),
		WL_NUMBER("errors", &plan.errors, "fsyncs that fail with EBADF (10)"),
		WL_NUMBER("other-errors", &plan.other_errors, "failures of each other call (0)"),
		WL_NUMBER("ranges", &plan.ranges, "sync_file_range calls (20)"),
		WL_NUMBER("msyncs", &plan.msyncs, "msync calls with MS_SYNC (30)"),
		WL_NUMBER("msyncs-async", &plan.msyncs_async, "msync calls with MS_ASYNC (40)"),
		WL_FLAG("dirty", &plan.dirty, "write a byte before each fsync and fdatasync"),
		WL_FLAG("no-sync", &plan.no_sync,
			"neither syncfs nor sync: they flush the neighbours' data too"),
		WL_STRING("dir", &dir, "where the scratch file is made (.)"),
	};
	struct wl w;
	uint64_t begin_ns;
	char *page;
	int fd;

	(void)argc;
	wl_init(&w, "fsync", argv, opts, WL_N(opts));
	fd = wl_scratch_file(dir, 0);
	if (ftruncate(fd, sysconf(_SC_PAGESIZE)))
		wl_die("ftruncate: %s", strerror(errno));
	page = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		wl_die("mmap: %s", strerror(errno));

	wl_ready(&w);
	begin_ns = wl_clock_ns(&w.tally, CLOCK_MONOTONIC);
	run_fsyncs(&w.tally, &plan, fd);
	run_others(&w.tally, &plan, fd, page, &msyncs);
	tell(&w, &msyncs, wl_clock_ns(&w.tally, CLOCK_MONOTONIC) - begin_ns);
	wl_finish(&w);
}
