/* SPDX-License-Identifier: MIT */
/*
 * Calls that were entered before the observer came (T11).
 *
 * The truth: six threads sit in read(pipe), futex, poll, nanosleep(1 h), accept4 on a Unix socket
 * and epoll_wait before "ready" is printed. After the release (and --hold milliseconds) the main
 * thread ends each wait; each call returns once, and its thread dies. The sleeper is ended by a
 * signal: its call fails with EINTR (the kernel's own code for that is a restart code), and there
 * is one rt_sigreturn. The observer sees six returns without an entry, and no duration may be
 * invented for them.
 */
#include "workload.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>

enum wait_kind {
	WAIT_READ,
	WAIT_FUTEX,
	WAIT_POLL,
	WAIT_NANOSLEEP,
	WAIT_ACCEPT,
	WAIT_EPOLL,
	WAIT_NR
};

struct waits {
	int pipe_fds[2];
	int word; /* the futex */
	int poll_fd;
	int listen_fd;
	int connect_fd;
	struct sockaddr_un address;
	socklen_t address_len;
	int epoll_fd;
	int epoll_event_fd;
	struct wl_thread *threads;
};

static void on_signal(int sig)
{
	(void)sig; /* its thread has no storage of its own: nothing is allowed here */
}

static enum wl_call wait_call(enum wait_kind kind)
{
	static const enum wl_call calls[WAIT_NR] = {
		[WAIT_READ] = WL_CALL_read,	      [WAIT_FUTEX] = WL_CALL_futex,
#ifdef SYS_poll
		[WAIT_POLL] = WL_CALL_poll,	      [WAIT_EPOLL] = WL_CALL_epoll_wait,
#else
		[WAIT_POLL] = WL_CALL_ppoll,	      [WAIT_EPOLL] = WL_CALL_epoll_pwait,
#endif
		[WAIT_NANOSLEEP] = WL_CALL_nanosleep, [WAIT_ACCEPT] = WL_CALL_accept4,
	};

	return calls[kind];
}

static long wait_poll(struct wl_tally *t, int fd)
{
	struct pollfd one = { .fd = fd, .events = POLLIN };

#ifdef SYS_poll
	return WL(t, poll, &one, 1, -1);
#else
	return WL(t, ppoll, &one, 1, NULL, NULL, 0);
#endif
}

static long wait_epoll(struct wl_tally *t, int fd)
{
	struct epoll_event one;

#ifdef SYS_epoll_wait
	return WL(t, epoll_wait, fd, &one, 1, -1);
#else
	return WL(t, epoll_pwait, fd, &one, 1, -1, NULL, 0);
#endif
}

static long wait_one(struct wl_tally *t, struct waits *waits, enum wait_kind kind)
{
	const struct timespec hour = { .tv_sec = 3600 };
	char byte;

	switch (kind) {
	case WAIT_READ:
		return WL(t, read, waits->pipe_fds[0], &byte, 1);
	case WAIT_FUTEX:
		return wl_futex_wait(t, &waits->word, 0);
	case WAIT_POLL:
		return wait_poll(t, waits->poll_fd);
	case WAIT_NANOSLEEP:
		return WL(t, nanosleep, &hour, NULL);
	case WAIT_ACCEPT:
		return WL(t, accept4, waits->listen_fd, NULL, NULL, SOCK_CLOEXEC);
	case WAIT_EPOLL:
		return wait_epoll(t, waits->epoll_fd);
	case WAIT_NR:
		break;
	}
	return -EINVAL;
}

static void waiter_main(struct wl_thread *th)
{
	struct waits *waits = th->arg;
	enum wait_kind kind = (enum wait_kind)th->index;

	wl_step_set(&th->step, 1);
	th->result = wait_one(&th->tally, waits, kind);
	if (kind == WAIT_NANOSLEEP)
		th->tally.calls[WL_CALL_rt_sigreturn]++; /* the handler has returned */
}

static void set_up(struct waits *waits)
{
	struct sigaction action = { .sa_handler = on_signal };
	struct epoll_event one = { .events = EPOLLIN };
	int on = 1;

	waits->poll_fd = eventfd(0, EFD_CLOEXEC);
	waits->epoll_event_fd = eventfd(0, EFD_CLOEXEC);
	waits->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	waits->listen_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	waits->connect_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	waits->address.sun_family = AF_UNIX;
	waits->address_len = sizeof(waits->address);
	(void)setsockopt(waits->listen_fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	/* An address of only the family makes the kernel choose a free abstract name. */
	if (pipe2(waits->pipe_fds, O_CLOEXEC) || sigaction(SIGUSR1, &action, NULL) ||
	    epoll_ctl(waits->epoll_fd, EPOLL_CTL_ADD, waits->epoll_event_fd, &one) ||
	    bind(waits->listen_fd, (struct sockaddr *)&waits->address, sizeof(sa_family_t)) ||
	    listen(waits->listen_fd, 1) ||
	    getsockname(waits->listen_fd, (struct sockaddr *)&waits->address, &waits->address_len))
		wl_die("cannot set up the waits: %s", strerror(errno));
}

static void start_waiters(struct wl *w, struct waits *waits)
{
	struct wl_tally before = { 0 };
	int kind;

	waits->threads = wl_threads_alloc(WAIT_NR, waiter_main, waits);
	for (kind = 0; kind < WAIT_NR; kind++)
		wl_thread_start(&before, &waits->threads[kind]);
	for (kind = 0; kind < WAIT_NR; kind++) {
		wl_step_await(&waits->threads[kind].step, 1);
		wl_wait_state(getpid(), waits->threads[kind].tid, 'S');
		w->entered_before.calls[wait_call(kind)]++;
	}
}

static void release_all(struct wl_tally *t, struct waits *waits, pid_t pid)
{
	const uint64_t one = 1;

	WL_OK(t, write, waits->pipe_fds[1], "x", 1);
	__atomic_store_n(&waits->word, 1, __ATOMIC_RELEASE);
	wl_futex_wake(t, &waits->word, 1);
	WL_OK(t, write, waits->poll_fd, &one, sizeof(one));
	WL_OK(t, tgkill, pid, waits->threads[WAIT_NANOSLEEP].tid, SIGUSR1);
	WL_OK(t, connect, waits->connect_fd, &waits->address, waits->address_len);
	WL_OK(t, write, waits->epoll_event_fd, &one, sizeof(one));
}

static void tell(struct wl *w, const struct waits *waits, const int *tids)
{
	int kind;

	for (kind = 0; kind < WAIT_NR; kind++)
		wl_tally_add(&w->tally, &waits->threads[kind].tally);
	wl_json_begin(w);
	wl_json_open(w, "blocked", '[');
	for (kind = 0; kind < WAIT_NR; kind++) {
		wl_json_open(w, NULL, '{');
		wl_json_text(w, "call", wl_call_name(wait_call(kind)));
		wl_json_long(w, "tid", tids[kind]);
		wl_json_u64(w, "returns", 1);
		wl_json_long(w, "ret", waits->threads[kind].result);
		wl_json_close(w, '}');
	}
	wl_json_close(w, ']');
	wl_json_end(w);
}

int main(int argc, char **argv)
{
	struct waits waits = { 0 };
	uint64_t hold_ms = 0;
	const struct wl_opt opts[] = {
		WL_NUMBER("hold", &hold_ms,
			  "milliseconds between the release and the end of the waits (0)"),
	};
	struct timespec hold;
	int kind, tids[WAIT_NR];
	struct wl w;

	(void)argc;
	wl_init(&w, "blocked", argv, opts, WL_N(opts));
	hold = wl_timespec_ms(hold_ms);
	set_up(&waits);
	start_waiters(&w, &waits);
	for (kind = 0; kind < WAIT_NR; kind++)
		tids[kind] = waits.threads[kind].tid;

	wl_ready(&w);
	if (hold_ms)
		WL_OK(&w.tally, clock_nanosleep, CLOCK_MONOTONIC, 0, &hold, NULL);
	release_all(&w.tally, &waits, w.pid);
	for (kind = 0; kind < WAIT_NR; kind++)
		wl_thread_join(&w.tally, &waits.threads[kind]);
	tell(&w, &waits, tids);
	wl_finish(&w);
}
