/* SPDX-License-Identifier: MIT */
/* Starting the broker and waiting for its replies, for a bounded time. Knows not what they mean. */
#include "user/broker/client.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "user/base/clock.h"
#include "user/broker/client_impl.h"

/* It has to be scheduled, and to give up its privileges. */
#define START_NS (10 * NS_PER_SEC)

struct broker_client {
	pid_t pid; /* 0: it was waited for */
	int fd, pidfd;
	u64 seq;
	struct broker_request asked; /* the last one */
	u64 asked_ns;
	bool owed; /* @asked is not answered, or not to the end */
	bool broken;
	char why[96]; /* it is broken */
	struct broker_hello hello;
	struct broker_reply reply;
};

/* The socket goes with it, so the broker ends if it lives. */
static int break_up(struct broker_client *c, const char *why)
{
	if (!c->broken)
		snprintf(c->why, sizeof(c->why), "%s", why);
	c->broken = true;
	c->owed = false;
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
	return -EPIPE;
}

/* Wait for the next reply to @asked; -ETIMEDOUT or -EPIPE, else 0. */
static int receive(struct broker_client *c, u64 deadline_ns)
{
	char bytes[sizeof(c->reply) + 1];
	struct pollfd poll_fd = { .fd = c->fd, .events = POLLIN };

	for (;;) {
		u64 now_ns = clock_monotonic_ns();
		u64 left_ns = deadline_ns > now_ns ? deadline_ns - now_ns : 0;
		ssize_t n = recv(c->fd, bytes, sizeof(bytes), MSG_DONTWAIT);

		if (n < 0 && errno == EAGAIN && !left_ns)
			return -ETIMEDOUT;
		if (n < 0 && errno == EAGAIN)
			(void)poll(&poll_fd, 1, (int)(left_ns / NS_PER_MS) + 1);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (n <= 0)
			return break_up(c, "it has ended");
		if (!broker_reply_check(bytes, (size_t)n, &c->asked, &c->reply))
			return break_up(c, "it said what is no answer");
		c->owed = c->reply.more;
		return 0;
	}
}

/* Throw away what came too late. */
static int settle(struct broker_client *c, struct err *err)
{
	int r = 0;

	while (c->owed && !r)
		r = receive(c, 0);
	if (r == -ETIMEDOUT)
		return err_set(
			err, -EBUSY, "the broker has not answered for %llu s",
			(unsigned long long)((clock_monotonic_ns() - c->asked_ns) / NS_PER_SEC));
	return r;
}

static int say_broken(const struct broker_client *c, struct err *err)
{
	return err_set(err, -EPIPE, "the broker: %s", c ? c->why : "there is none");
}

int broker_ask(struct broker_client *c, const struct broker_request *request, u64 deadline_ns,
	       const struct broker_reply **ret_reply, struct err *err)
{
	int r;

	if (!c || c->broken)
		return say_broken(c, err);
	r = settle(c, err);
	if (r)
		return r == -EPIPE ? say_broken(c, err) : r;
	c->asked = *request;
	c->asked.seq = ++c->seq;
	c->asked_ns = clock_monotonic_ns();
	/* There is room: everything earlier was answered. */
	if (send(c->fd, &c->asked, sizeof(c->asked), MSG_DONTWAIT | MSG_NOSIGNAL) !=
	    sizeof(c->asked)) {
		(void)break_up(c, "it has ended");
		return say_broken(c, err);
	}
	c->owed = true;
	return broker_next_reply(c, deadline_ns, ret_reply, err);
}

int broker_next_reply(struct broker_client *c, u64 deadline_ns,
		      const struct broker_reply **ret_reply, struct err *err)
{
	int r = receive(c, deadline_ns);

	if (r == -EPIPE)
		return say_broken(c, err);
	if (r)
		return err_set(err, r, "the broker did not answer in time");
	*ret_reply = &c->reply;
	return c->reply.result;
}

static int wait_for_hello(struct broker_client *c, struct err *err)
{
	int r = receive(c, clock_monotonic_ns() + START_NS); /* @asked is zeroed: BROKER_HELLO */

	if (!r)
		r = c->reply.result;
	if (r)
		return err_set(err, r, "the broker could not give up its privileges: %s",
			       c->broken ? c->why : strerror(-r));
	c->hello = c->reply.hello;
	return 0;
}

int broker_start(const struct broker_config *config, struct broker_client **ret_client,
		 struct err *err)
{
	struct broker_client *c = calloc(1, sizeof(*c));
	int fds[2] = { -1, -1 }, r = 0;

	if (!c)
		return err_set(err, -ENOMEM, "no memory for the broker");
	c->fd = c->pidfd = -1;
	if (!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds)) {
		c->fd = fds[0];
		c->pid = fork();
		if (!c->pid) {
			close(fds[0]);
			broker_run(config, fds[1]);
		}
	}
	if (c->fd < 0 || c->pid < 0) {
		r = -errno;
		c->pid = 0;
	}
	if (fds[1] >= 0)
		close(fds[1]);
	if (!r) {
		c->pidfd = (int)syscall(SYS_pidfd_open, c->pid, 0);
		r = c->pidfd < 0 ? -errno : 0;
	}
	r = r ? err_set(err, r, "cannot start the broker: %s", strerror(-r))
	      : wait_for_hello(c, err);
	if (r) {
		broker_client_free(c);
		return r;
	}
	*ret_client = c;
	return 0;
}

void broker_client_free(struct broker_client *c)
{
	struct pollfd end;

	if (!c)
		return;
	if (c->fd >= 0)
		close(c->fd);
	end = (struct pollfd){ .fd = c->pidfd, .events = POLLIN };
	if (c->pid && c->pidfd >= 0)
		(void)poll(&end, 1, (int)(BROKER_DEADLINE_NS / NS_PER_MS));
	broker_client_reap(c);
	if (c->pidfd >= 0)
		close(c->pidfd);
	free(c);
}

pid_t broker_client_pid(const struct broker_client *c)
{
	return c ? c->pid : 0;
}

const struct broker_hello *broker_client_hello(const struct broker_client *c)
{
	return &c->hello;
}

int broker_client_fd(const struct broker_client *c)
{
	return c->pidfd;
}

void broker_client_reap(struct broker_client *c)
{
	char why[sizeof(c->why)];
	int status;

	if (!c->pid || waitpid(c->pid, &status, WNOHANG) != c->pid)
		return;
	c->pid = 0;
	if (WIFSIGNALED(status))
		snprintf(why, sizeof(why), "it has ended by signal %d", WTERMSIG(status));
	else
		snprintf(why, sizeof(why), "it has ended with status %d", WEXITSTATUS(status));
	(void)break_up(c, why);
}

const char *broker_client_trouble(const struct broker_client *c)
{
	return c->broken ? c->why : NULL;
}
