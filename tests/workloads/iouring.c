/* SPDX-License-Identifier: MIT */
/*
 * Fsyncs that are no system call: io_uring's IORING_OP_FSYNC (T14).
 *
 * The truth: N requests on a good file and --errors on a bad descriptor, every second one with
 * IORING_FSYNC_DATASYNC. They are handed over --batch at a time, with one io_uring_enter per batch
 * (on old kernels one per bad request) that also waits for the completions. The process makes no
 * fsync or fdatasync call. The kernel may do the work in a thread of its own inside this process,
 * which makes no system calls either.
 *
 * Ends with 77 where io_uring is not there or not permitted.
 */
#include "workload.h"

#include <liburing.h>

struct ring_truth {
	uint64_t ok[2]; /* [1]: with IORING_FSYNC_DATASYNC */
	uint64_t ebadf[2];
};

static void submit_batch(struct wl_tally *t, struct io_uring *ring, int fd, uint64_t n)
{
	struct io_uring_sqe *sqe;
	uint64_t i;
	int taken;

	for (i = 0; i < n; i++) {
		sqe = io_uring_get_sqe(ring);
		if (!sqe)
			wl_die("the submission queue is full");
		io_uring_prep_fsync(sqe, fd, i % 2 ? IORING_FSYNC_DATASYNC : 0);
		sqe->user_data = i % 2;
	}
	/* 5.10 stops at a request that fails at once: the rest needs another call. */
	for (i = 0; i < n; i += (uint64_t)taken) {
		t->calls[WL_CALL_io_uring_enter]++;
		taken = io_uring_submit_and_wait(ring, (unsigned)n);
		if (taken <= 0)
			wl_die("io_uring_submit_and_wait: %s", strerror(-taken));
	}
}

static void reap_batch(struct io_uring *ring, uint64_t n, struct ring_truth *truth)
{
	struct io_uring_cqe *cqe;

	for (; n; n--) {
		if (io_uring_peek_cqe(ring, &cqe))
			wl_die("a completion is missing");
		if (cqe->res == 0)
			truth->ok[cqe->user_data]++;
		else if (cqe->res == -EBADF)
			truth->ebadf[cqe->user_data]++;
		else
			wl_die("io_uring fsync: %s", strerror(-cqe->res));
		io_uring_cqe_seen(ring, cqe);
	}
}

static void run(struct wl_tally *t, struct io_uring *ring, int fd, uint64_t n, uint64_t batch,
		struct ring_truth *truth)
{
	uint64_t now;

	for (; n; n -= now) {
		now = n < batch ? n : batch;
		submit_batch(t, ring, fd, now);
		reap_batch(ring, now, truth);
	}
}

static void tell_kind(struct wl *w, const char *name, uint64_t ok, uint64_t ebadf)
{
	wl_json_open(w, name, '{');
	wl_json_u64(w, "ok", ok);
	wl_json_open(w, "errors", '{');
	if (ebadf)
		wl_json_u64(w, "EBADF", ebadf);
	wl_json_close(w, '}');
	wl_json_close(w, '}');
}

int main(int argc, char **argv)
{
	uint64_t n = 100, n_errors = 20, batch = 10;
	struct ring_truth truth = { 0 };
	const char *dir = ".";
	const struct wl_opt opts[] = {
		WL_NUMBER("n", &n, "fsync requests, half of them data only (100)"),
		WL_NUMBER("errors", &n_errors, "requests on a bad descriptor (20)"),
		WL_NUMBER("batch", &batch, "requests in one io_uring_enter; even (10)"),
		WL_STRING("dir", &dir, "where the scratch file is made (.)"),
	};
	struct io_uring ring;
	struct wl w;
	int fd, r;

	(void)argc;
	wl_init(&w, "iouring", argv, opts, WL_N(opts));
	if (!batch || batch % 2 || batch > 128)
		wl_quit(64, "--batch is 2 to 128 and even");
	r = io_uring_queue_init(128, &ring, 0);
	if (r)
		wl_skip("no io_uring here: %s", strerror(-r));
	fd = wl_scratch_file(dir, 0);
	if (write(fd, "x", 1) != 1)
		wl_die("write: %s", strerror(errno));

	wl_ready(&w);
	run(&w.tally, &ring, fd, n, batch, &truth);
	run(&w.tally, &ring, -1, n_errors, batch, &truth);
	wl_json_begin(&w);
	wl_json_open(&w, "durable_io_uring", '{');
	tell_kind(&w, "fsync", truth.ok[0], truth.ebadf[0]);
	tell_kind(&w, "fdatasync", truth.ok[1], truth.ebadf[1]);
	wl_json_close(&w, '}');
	wl_json_end(&w);
	wl_finish(&w);
}
