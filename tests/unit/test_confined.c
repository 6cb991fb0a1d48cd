/* SPDX-License-Identifier: MIT */
/* Work in a process that may die: its answer, what it may not do, and every way in which it fails.
 */
#include "tests/lib/check.h"

#include <errno.h>
#include <fcntl.h>

#include "user/base/seccomp.h"
#include "user/runtime/confined.h"

/* What the process of a job does. */
static int answer(int fd, const void *request, struct buf *ret_answer, struct err *err)
{
	char text[8] = "";

	(void)err;
	if (read(fd, text, 4) != 4)
		return -EIO;
	buf_printf(ret_answer, "%s of %s", text, (const char *)request);
	return 0;
}

static int refuse(int fd, const void *request, struct buf *ret_answer, struct err *err)
{
	(void)fd, (void)request;
	buf_str(ret_answer, "never seen");
	return err_set(err, -EBADMSG, "it is %s", "nothing");
}

static int die(int fd, const void *request, struct buf *ret_answer, struct err *err)
{
	(void)fd, (void)request, (void)ret_answer, (void)err;
	signal(SIGSEGV, SIG_DFL);
	raise(SIGSEGV);
	_exit(1);
}

static int leave(int fd, const void *request, struct buf *ret_answer, struct err *err)
{
	(void)fd, (void)request, (void)ret_answer, (void)err;
	_exit(0);
}

static int hang(int fd, const void *request, struct buf *ret_answer, struct err *err)
{
	volatile bool forever = true;

	(void)fd, (void)request, (void)ret_answer, (void)err;
	while (forever)
		continue;
	return 0;
}

static int talk(int fd, const void *request, struct buf *ret_answer, struct err *err)
{
	(void)fd, (void)request, (void)err;
	for (int i = 0; i < 1001; i++)
		buf_char(ret_answer, 'x');
	return 0;
}

static int nonsense(int fd, const void *request, struct buf *ret_answer, struct err *err)
{
	(void)fd, (void)request, (void)ret_answer, (void)err;
	return 7;
}

static int open_a_file(int fd, const void *request, struct buf *ret_answer, struct err *err)
{
	(void)fd, (void)request, (void)err;
	buf_printf(ret_answer, "%d", open("/proc/self/status", O_RDONLY) < 0 ? errno : 0);
	return 0;
}

/* A file that begins with "root". */
static int run(int (*work)(int, const void *, struct buf *, struct err *), u64 max_ns,
	       struct buf *ret_answer, struct err *err)
{
	struct confined_job job = {
		.work = work, .request = "it", .max_bytes = 1000, .max_ns = max_ns
	};
	int fds[2], r;

	CHECK_EQ_INT(pipe(fds), 0);
	CHECK_EQ_INT(write(fds[1], "root", 4), 4);
	r = confined_run(fds[0], &job, ret_answer, err);
	close(fds[0]);
	close(fds[1]);
	return r;
}

TEST(confined_work_answers)
{
	struct buf got = { 0 };
	struct err err = { { 0 } };

	CHECK_EQ_INT(run(answer, 30 * NS_PER_SEC, &got, &err), 0);
	CHECK_STR(got.bytes, "root of it");
	buf_done(&got);
}

TEST(confined_work_fails_with_its_words_or_ours)
{
	static const struct {
		int (*work)(int, const void *, struct buf *, struct err *);
		u64 max_ns;
		int code;
		const char *words;
	} rows[] = {
		{ refuse, 30 * NS_PER_SEC, -EBADMSG, "it is nothing" },
		{ die, 30 * NS_PER_SEC, -EBADMSG, "that read it" }, /* a sanitizer exits instead */
		{ leave, 30 * NS_PER_SEC, -EBADMSG, "gave no answer" },
		{ hang, NS_PER_SEC / 10, -ETIMEDOUT, "took longer" },
		{ talk, 30 * NS_PER_SEC, -EBADMSG, "answered too much" },
		{ nonsense, 30 * NS_PER_SEC, -EBADMSG, "nonsense" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct buf got = { 0 };
		struct err err = { { 0 } };
		int r = run(rows[i].work, rows[i].max_ns, &got, &err);

		if (r != rows[i].code || !strstr(err.text, rows[i].words))
			FAIL("%zu: %d, %s", i, r, err.text);
		CHECK_EQ_U64(got.len, 0);
		buf_done(&got);
	}
}

TEST(confined_work_can_open_nothing)
{
	struct buf got = { 0 };
	struct err err = { { 0 } };

	if (!seccomp_is_in_use())
		return; /* this build has no filter */
	CHECK_EQ_INT(run(open_a_file, 30 * NS_PER_SEC, &got, &err), 0);
	CHECK_STR(got.bytes, "1"); /* EPERM */
	buf_done(&got);
}
