/* SPDX-License-Identifier: MIT */
/* Work in a process that may die. Knows nothing of what the work is. */
#define _GNU_SOURCE /* pipe2 */
#include "user/runtime/confined.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "user/runtime/confine.h"

#define CHUNK_BYTES 65536

/* In front of the answer. */
struct head {
	s32 result;
	struct err err;
};

__attribute__((noreturn)) static void work(int fd, int pipe_fd, const struct confined_job *job)
{
	struct buf answer = { 0 };
	struct head head = { 0 };
	bool written;

	head.result = confine_begin(fd, pipe_fd);
	if (head.result)
		(void)err_set(&head.err, 0, "the process that reads it could not be confined: %s",
			      strerror(-head.result));
	else
		head.result = job->work(CONFINED_FILE, job->request, &answer, &head.err);
	if (!head.result && answer.failed)
		head.result = err_set(&head.err, -ENOMEM, "no memory for the answer");
	written = confine_answer(&head, sizeof(head)) &&
		  (head.result || confine_answer(answer.bytes, answer.len));
	_exit(written ? 0 : 1);
}

static u64 monotonic_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (u64)t.tv_sec * NS_PER_SEC + (u64)t.tv_nsec;
}

/* All that comes up to the end, or to the deadline. */
static int receive(int fd, const struct confined_job *job, struct buf *received, struct err *err)
{
	u64 deadline_ns = monotonic_ns() + job->max_ns;
	char chunk[CHUNK_BYTES];

	for (;;) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		u64 now_ns = monotonic_ns();
		ssize_t n;

		if (now_ns >= deadline_ns)
			return err_set(err, -ETIMEDOUT, "reading it took longer than %llu s",
				       job->max_ns / NS_PER_SEC);
		if (poll(&p, 1, (int)((deadline_ns - now_ns) / NS_PER_MS) + 1) <= 0)
			continue; /* a signal, or the deadline */
		n = read(fd, chunk, sizeof(chunk));
		if (n < 0)
			return err_set(err, -errno, "the process that reads it: %s",
				       strerror(errno));
		if (!n)
			return 0;
		if ((size_t)n > sizeof(struct head) + job->max_bytes - received->len)
			return err_set(err, -EBADMSG, "the process that read it answered too much");
		buf_add(received, chunk, (size_t)n);
		if (received->failed)
			return err_set(err, -ENOMEM, "no memory for the answer");
	}
}

/* What it sent, and how it ended. */
static int judge(const struct buf *received, int status, struct buf *ret_answer, struct err *err)
{
	struct head head;

	if (WIFSIGNALED(status))
		return err_set(err, -EBADMSG, "the process that read it died of signal %d (%s)",
			       WTERMSIG(status), strsignal(WTERMSIG(status)));
	if (received->len < sizeof(head) || WEXITSTATUS(status))
		return err_set(err, -EBADMSG, "the process that read it gave no answer");
	memcpy(&head, received->bytes, sizeof(head));
	head.err.text[sizeof(head.err.text) - 1] = '\0';
	if (head.result > 0 || head.result < -4095)
		return err_set(err, -EBADMSG, "the process that read it answered nonsense");
	if (head.result)
		return err_set(err, head.result, "%s", head.err.text);
	buf_add(ret_answer, received->bytes + sizeof(head), received->len - sizeof(head));
	return ret_answer->failed ? err_set(err, -ENOMEM, "no memory for the answer") : 0;
}

int confined_run(int fd, const struct confined_job *job, struct buf *ret_answer, struct err *err)
{
	struct buf received = { 0 };
	int pipe_fds[2], status = 0, r;
	pid_t pid;

	if (pipe2(pipe_fds, O_CLOEXEC))
		return err_set(err, -errno, "a pipe to read it through: %s", strerror(errno));
	pid = fork();
	if (!pid)
		work(fd, pipe_fds[1], job);
	r = pid < 0 ? -errno : 0;
	close(pipe_fds[1]);
	if (r) {
		close(pipe_fds[0]);
		return err_set(err, r, "a process to read it in: %s", strerror(-r));
	}
	r = receive(pipe_fds[0], job, &received, err);
	close(pipe_fds[0]);
	if (r)
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	if (!r)
		r = judge(&received, status, ret_answer, err);
	buf_done(&received);
	return r;
}
