/* SPDX-License-Identifier: MIT */
/* The process that reads strangers' programs: its answer, its deadline, and answers that make no
 * sense. */
#include "tests/lib/check.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <time.h>

#include "user/elf/file.h"
#include "user/runtime/worker.h"

static u64 now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (u64)t.tv_sec * NS_PER_SEC + (u64)t.tv_nsec;
}

static const struct target_request nothing;

TEST(worker_reads_what_the_process_itself_would)
{
	static struct target confined, direct;
	struct err err = { { 0 } };
	int fd = elf_open_path("/proc/self/exe", &err);

	CHECK(fd >= 0);
	CHECK_EQ_INT(target_read(fd, &nothing, &direct, &err), 0);
	CHECK_EQ_INT(target_read_confined(fd, &nothing, &confined, &err), 0);
	CHECK_EQ_U64(confined.file.n_bytes, direct.file.n_bytes);
	CHECK_EQ_INT(confined.file.machine, direct.file.machine);
	CHECK_STR(confined.file.build_id, direct.file.build_id);
	CHECK_STR(confined.runtime, "");
	close(fd);
}

TEST(worker_hands_on_why_it_refuses)
{
	static struct target target;
	struct err err = { { 0 } };
	int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);

	CHECK(fd >= 0);
	CHECK_EQ_INT(target_read_confined(fd, &nothing, &target, &err), -EINVAL);
	CHECK_STR(err.text, "it is not an ELF file");
	close(fd);
}

/* Stopped, it neither answers nor ends. */
static void start_stopped(struct target_worker *w, u64 start_ns)
{
	struct err err = { { 0 } };
	int fd = elf_open_path("/proc/self/exe", &err);

	CHECK(fd >= 0);
	CHECK_EQ_INT(target_worker_start(fd, &nothing, start_ns, w, &err), 0);
	kill(w->pid, SIGSTOP);
	close(fd);
}

TEST(worker_has_a_deadline)
{
	static struct target target;
	struct err err = { { 0 } };
	struct target_worker w;
	u64 start_ns = now_ns();
	int r;

	start_stopped(&w, start_ns);
	r = target_worker_step(&w, start_ns + TARGET_WORKER_DEADLINE_NS, &target, &err);
	/* It may have answered before it was stopped. */
	if (r)
		CHECK_EQ_INT(r, -ETIMEDOUT);
	target_worker_done(&w);
	target_worker_done(&w); /* twice is once */
}

TEST(worker_that_dies_costs_an_error)
{
	static struct target target;
	struct err err = { { 0 } };
	struct target_worker w;
	u64 start_ns = now_ns();
	int r;

	start_stopped(&w, start_ns);
	kill(w.pid, SIGKILL);
	do {
		struct pollfd p = { .fd = w.fd, .events = POLLIN };

		poll(&p, 1, 1000);
		r = target_worker_step(&w, start_ns, &target, &err);
	} while (r == -EAGAIN);
	if (r) {
		CHECK_EQ_INT(r, -EBADMSG);
		CHECK_STR(err.text, "the process that read it died of signal 9 (Killed)");
	}
	target_worker_done(&w);
}

TEST(worker_answers_are_checked)
{
	static struct target t;

	CHECK(target_check(&t));
	memset(t.go.settings, 'x', sizeof(t.go.settings));
	memcpy(t.go.path, "a\x1b[31m", 7);
	CHECK(target_check(&t));
	CHECK_EQ_U64(strlen(t.go.settings), sizeof(t.go.settings) - 1);
	CHECK_STR(t.go.path, "a?[31m");
	t.go.points[0].nr_returns = TARGET_MAX_RETURNS + 1;
	CHECK(!target_check(&t));
	t.go.points[0].nr_returns = 0;
	t.go.offsets[0] = -2;
	CHECK(!target_check(&t));
}
