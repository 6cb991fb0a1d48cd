/* SPDX-License-Identifier: MIT */
/*
 * The process: gives up what it does not need, then answers one request after the other. Whoever
 * asks may have been taken over: what is no request ends it, and what it may say is in protocol.h.
 */
#define _GNU_SOURCE /* close_range */
#include "user/broker/broker.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "user/base/clock.h"
#include "user/base/signals.h"
#include "user/broker/calls.h"
#include "user/broker/watches.h"
#include "user/proc/sock_diag.h"
#include "user/proc/sockets.h"
#include "user/proc/store_files.h"

#define SOCKET 3 /* behind 0 to 2 */

struct broker {
	const struct broker_config *config;
	struct watches *watches; /* NULL: Go programs are not read */
	int diag;		 /* -1: none */
	struct broker_reply reply;
};

static bool send_reply(struct broker *b)
{
	ssize_t n;

	do {
		n = send(SOCKET, &b->reply, sizeof(b->reply), MSG_NOSIGNAL);
	} while (n < 0 && errno == EINTR);
	return n == sizeof(b->reply);
}

/* Elements @from to the end of a list, or as many as fit. Returns how many. */
static size_t batch(struct broker *b, size_t from, size_t n)
{
	size_t fit = n - from < BROKER_BATCH ? n - from : BROKER_BATCH;

	b->reply.n = (u32)fit;
	b->reply.more = from + fit < n;
	return fit;
}

static bool answer_calls(struct broker *b, pid_t pid)
{
	struct thread_calls calls = { 0 };
	size_t done = 0;
	bool good;

	b->reply.result = procfs_thread_calls("/proc", pid, &calls);
	do {
		size_t n = batch(b, done, calls.n);

		if (n)
			memcpy(b->reply.calls, calls.at + done, n * sizeof(*calls.at));
		done += n;
		good = send_reply(b);
	} while (good && b->reply.more);
	free(calls.at);
	return good;
}

static bool answer_find(struct broker *b)
{
	struct pid_list list = { 0 };
	size_t done = 0;
	bool good;

	b->reply.result = look_find(&b->config->wanted, &list);
	do {
		size_t n = batch(b, done, list.n);

		for (size_t i = 0; i < n; i++)
			b->reply.pids[i] = list.pids[done + i];
		done += n;
		good = send_reply(b);
	} while (good && b->reply.more);
	free(list.pids);
	return good;
}

static int get_books(pid_t pid, struct broker_books *ret)
{
	struct proc_books books;

	procfs_books("/proc", pid, clock_monotonic_ns(), &books);
	if (!books.valid)
		return -ENOENT;
	*ret = (struct broker_books){ .cpu_ticks = books.cpu_ticks,
				      .children_ticks = books.children_ticks,
				      .minflt = books.minflt,
				      .majflt = books.majflt,
				      .resident_bytes = books.resident_bytes,
				      .nr_threads = books.nr_threads };
	return 0;
}

static int go(struct broker *b, const struct broker_request *r)
{
	if (!b->watches)
		return -EOPNOTSUPP;
	switch (r->op) {
	case BROKER_OWNER:
		return watches_owner(b->watches, r->pid, &b->reply.owner);
	case BROKER_GO_BEGIN:
		watches_begin(b->watches, r->pid);
		return 0;
	case BROKER_GO_READ:
		return watches_read(b->watches, r->pid, r->start_ticks, r->patience_ms * NS_PER_MS,
				    &b->reply.go);
	default:
		watches_done(b->watches, r->pid, r->start_ticks);
		return 0;
	}
}

/* False when nobody listens any more. */
static bool answer(struct broker *b, const struct broker_request *r)
{
	memset(&b->reply, 0, sizeof(b->reply));
	b->reply.seq = r->seq;
	b->reply.op = r->op;
	switch (r->op) {
	case BROKER_CALLS:
		return answer_calls(b, r->pid);
	case BROKER_FIND:
		return answer_find(b);
	case BROKER_FILES:
		b->reply.n = look_files(&b->config->wanted, b->reply.files);
		break;
	case BROKER_IDENTIFY:
		b->reply.result = look_identity(r->pid, &b->reply.identity);
		break;
	case BROKER_SOCKETS:
		b->reply.result = procfs_sockets("/proc", r->pid, b->diag, &b->reply.sockets);
		break;
	case BROKER_STORE:
		b->reply.result = b->config->store_path ? procfs_store_files("/proc", r->pid,
									     b->config->store_path,
									     &b->reply.store)
							: -EOPNOTSUPP;
		break;
	case BROKER_BOOKS:
		b->reply.result = get_books(r->pid, &b->reply.books);
		break;
	default:
		b->reply.result = go(b, r);
		break;
	}
	return send_reply(b);
}

/* Nothing of what the parent has open, but stderr for the reports of sanitizers. */
static int keep_only(int fd)
{
	int null;

	if (fd != SOCKET && dup2(fd, SOCKET) < 0)
		return -errno;
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0 ||
	    syscall(SYS_close_range, SOCKET + 1, ~0u, 0))
		return -errno;
	return 0;
}

static int begin(struct broker *b, int fd)
{
	struct broker_hello *hello = &b->reply.hello;
	struct privilege_left left;
	struct err err;
	int r = keep_only(fd);

	if (r)
		return r;
	/* The serving process closes its end when it is over: its last summary is still to be made.
	 */
	signals_leave_to_parent();
	(void)prctl(PR_SET_NAME, "skyobserve-brok"); /* for who lists processes */
	if (b->config->counts_sent)
		b->diag = sock_diag_open(); /* without it, what was sent is not known */
	if (b->config->max_go) {
		b->watches = watches_new(b->config->max_go);
		if (!b->watches)
			return -ENOMEM;
	}
	r = privilege_drop(&b->config->user, b->config->capabilities, &left, &err);
	if (r)
		return r;
	hello->capabilities = left.capabilities;
	hello->uid = geteuid();
	r = broker_limit_calls();
	hello->calls_limited = !r;
	return r == -ENOSYS ? 0 : r; /* the serving process says it, as of itself */
}

void broker_run(const struct broker_config *config, int fd)
{
	struct broker b = { .config = config, .diag = -1 };
	struct broker_request request;
	char bytes[sizeof(request) + 1]; /* one more, to see that a packet is too long */

	b.reply.op = BROKER_HELLO;
	b.reply.result = begin(&b, fd);
	if (!send_reply(&b) || b.reply.result)
		_exit(1);
	for (;;) {
		ssize_t n = recv(SOCKET, bytes, sizeof(bytes), 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0 || !broker_request_check(bytes, (size_t)n, &request) ||
		    !answer(&b, &request))
			break;
	}
	watches_free(b.watches);
	_exit(0);
}
