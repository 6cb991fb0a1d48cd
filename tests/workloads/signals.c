/* SPDX-License-Identifier: MIT */
/*
 * Signals with a handler (T12).
 *
 * The truth: N times tgkill of SIGUSR1 to itself, the handler runs N times, so there are N
 * rt_sigreturn. An rt_sigreturn has no result of its own: what it seems to return is the
 * interrupted code's register.
 *
 * --eintr M adds M ppoll calls that a pending signal interrupts: the process sees EINTR, the
 * kernel's exit sees a restart code (ERESTARTNOHAND), so they are in "interrupted", not in
 * "errors"; and the rt_sigreturn seems to return -EINTR, which is no error of it.
 * --restarts M adds M reads of a pipe that a signal interrupts and the kernel starts again by
 * itself (ERESTARTSYS with SA_RESTART): one call in the program is two entries and two exits at the
 * border, and "syscalls" has both; "restarted" says how many of them the process never saw.
 */
#include "workload.h"

#include <poll.h>

struct signal_counts {
	int handled; /* also watched by the helper */
};

/* What a handler may use; in memory that the helper process shares. */
static struct signal_counts *counts;

static void on_signal(int sig)
{
	(void)sig;
	__atomic_add_fetch(&counts->handled, 1, __ATOMIC_RELEASE);
}

/* The main thread's id is that of the process. */
static void run_self_signals(struct wl_tally *t, pid_t pid, uint64_t n)
{
	uint64_t i;

	for (i = 0; i < n; i++)
		WL_OK(t, tgkill, pid, pid, SIGUSR1);
}

/* SIGUSR2 is blocked, so it stays pending until ppoll lets it in. */
static void run_interrupted_polls(struct wl_tally *t, pid_t pid, uint64_t n)
{
	const uint64_t nothing_blocked = 0;
	uint64_t i;

	for (i = 0; i < n; i++) {
		WL_OK(t, tgkill, pid, pid, SIGUSR2);
		WL(t, ppoll, NULL, 0, NULL, &nothing_blocked, sizeof(nothing_blocked));
	}
}

/* For each byte on @order_fd: signal the parent in its read, see it read again, answer it. */
static WL_NORETURN void interrupt_reads(pid_t parent, int order_fd, int give_fd)
{
	int before;
	char order;

	while (read(order_fd, &order, 1) == 1) {
		wl_wait_state(parent, parent, 'S');
		before = __atomic_load_n(&counts->handled, __ATOMIC_ACQUIRE);
		kill(parent, SIGUSR1);
		wl_step_await(&counts->handled, before + 1);
		wl_wait_state(parent, parent, 'S');
		(void)!write(give_fd, "x", 1);
	}
	_exit(0);
}

static void run_restarted_reads(struct wl_tally *t, uint64_t n, int order_fd, int take_fd)
{
	uint64_t i;
	char byte;

	for (i = 0; i < n; i++) {
		WL_OK(t, write, order_fd, "x", 1);
		WL_OK(t, read, take_fd, &byte, 1);
		t->calls[WL_CALL_read]++; /* the kernel went in a second time by itself */
	}
}

static void handle(int sig, int flags)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = flags };

	if (sigaction(sig, &action, NULL))
		wl_die("sigaction: %s", strerror(errno));
}

static void start_helper(int *ret_order_fd, int *ret_take_fd)
{
	int order[2], give[2];
	pid_t parent = getpid(), pid;

	if (pipe2(order, O_CLOEXEC) || pipe2(give, O_CLOEXEC))
		wl_die("pipe2: %s", strerror(errno));
	pid = fork();
	if (pid < 0)
		wl_die("fork: %s", strerror(errno));
	if (!pid) {
		close(order[1]);
		interrupt_reads(parent, order[0], give[1]);
	}
	close(order[0]);
	close(give[1]);
	*ret_order_fd = order[1];
	*ret_take_fd = give[0];
}

int main(int argc, char **argv)
{
	uint64_t n = 1000, n_eintr = 0, n_restarts = 0;
	const struct wl_opt opts[] = {
		WL_NUMBER("n", &n, "signals to itself (1000)"),
		WL_NUMBER("eintr", &n_eintr, "calls ended by a signal (0)"),
		WL_NUMBER("restarts", &n_restarts,
			  "calls that the kernel restarts after a signal (0)"),
	};
	int order_fd = -1, take_fd = -1;
	sigset_t usr2;
	struct wl w;

	(void)argc;
	wl_init(&w, "signals", argv, opts, WL_N(opts));
	counts = wl_shared(sizeof(*counts));
	if (n_restarts)
		start_helper(&order_fd, &take_fd);
	handle(SIGUSR1, SA_RESTART);
	handle(SIGUSR2, 0);
	sigemptyset(&usr2);
	sigaddset(&usr2, SIGUSR2);
	sigprocmask(SIG_BLOCK, &usr2, NULL);

	wl_ready(&w);
	run_self_signals(&w.tally, w.pid, n);
	run_interrupted_polls(&w.tally, w.pid, n_eintr);
	run_restarted_reads(&w.tally, n_restarts, order_fd, take_fd);
	w.tally.calls[WL_CALL_rt_sigreturn] = (uint64_t)counts->handled;
	wl_json_begin(&w);
	wl_json_long(&w, "signals_handled", counts->handled);
	wl_json_open(&w, "restarted", '{');
	if (n_restarts)
		wl_json_u64(&w, "read", n_restarts);
	wl_json_close(&w, '}');
	wl_json_end(&w);
	wl_finish(&w);
}
