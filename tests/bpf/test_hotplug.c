/* SPDX-License-Identifier: MIT */
/*
 * A CPU goes away and comes back under an observed program: nothing of what it counted is lost.
 * Takes a CPU of the machine away, so it runs in the guests of tests/vm only.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/lib/check.h"
#include "user/cmd/observer.h"
#include "user/model/identities.h"
#include "user/model/syscall_names.h"

#define ONLINE	   "/sys/devices/system/cpu/cpu1/online"
#define NR_THREADS 2
#define NR_ROUNDS  400 /* per thread */
#define NAP_NS	   (2 * NS_PER_MS)
#define DEADLINE_S 90

static void *rounds(void *ctx)
{
	struct timespec nap = { 0, NAP_NS };

	(void)ctx;
	for (int i = 0; i < NR_ROUNDS; i++) {
		(void)syscall(SYS_getppid);
		(void)nanosleep(&nap, NULL);
	}
	return NULL;
}

/* Works when the other end of its input closes; says "d" at the end, and stays. */
static void child(int in, int out)
{
	pthread_t threads[NR_THREADS];
	char c;

	(void)!read(in, &c, 1);
	for (int i = 0; i < NR_THREADS; i++) {
		if (pthread_create(&threads[i], NULL, rounds, NULL))
			_exit(1);
	}
	for (int i = 0; i < NR_THREADS; i++)
		pthread_join(threads[i], NULL);
	if (write(out, "d", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

static bool set_online(bool on)
{
	int fd = open(ONLINE, O_WRONLY | O_CLOEXEC);
	bool done = fd >= 0 && write(fd, on ? "1" : "0", 1) == 1;

	if (fd >= 0)
		close(fd);
	return done;
}

static void look(struct observer *o, u64 *ret_getppid, struct process_totals *ret_totals)
{
	int nr = syscall_nr(SYSCALL_ARCH_NATIVE, "getppid");
	struct process_totals *totals;
	struct identity ids[NR_IDENTITIES];
	struct err err = { { 0 } };
	struct snapshot snap;

	if (observer_snapshot(o, &snap, &totals, &err))
		FAIL("%s", err.text);
	*ret_getppid = snap.processes[0].calls[nr];
	*ret_totals = totals[0];
	identities_of(&snap, &snap.processes[0], &totals[0], ids);
	if (!identity_holds(&ids[IDENTITY_SYSCALLS]))
		FAIL("system calls: residual %lld of %llu", ids[IDENTITY_SYSCALLS].residual,
		     ids[IDENTITY_SYSCALLS].total);
	snapshot_done(&snap);
	free(totals);
}

static void toggle_until_done(struct observer *o, int done)
{
	struct timespec pause = { 0, 100 * NS_PER_MS };
	struct process_totals before = { 0 }, now;
	bool on = true;
	int times = 0;
	u64 calls;
	char c;

	CHECK(!fcntl(done, F_SETFL, O_NONBLOCK));
	while (read(done, &c, 1) != 1) { /* the deadline is the alarm */
		on = !on;
		if (!set_online(on))
			FAIL("cpu1 does not go %s: %s", on ? "on" : "off", strerror(errno));
		times++;
		nanosleep(&pause, NULL);
		look(o, &calls, &now);
		for (u32 i = 0; i < NR_CELLS; i++) {
			if (now.cells[i] < before.cells[i])
				FAIL("cell %u fell from %llu to %llu", i, before.cells[i],
				     now.cells[i]);
		}
		before = now;
	}
	CHECK(on || set_online(true));
	CHECK(times >= 2);
}

TEST(a_cpu_goes_away_and_comes_back)
{
	struct observer_config config = { .bounds = bpf_bounds_default,
					  .keep_ended = true,
					  .groups = (1u << NR_GROUPS) - 1 };
	struct process_totals totals;
	struct err err = { { 0 } };
	struct observer *o;
	int go[2], done[2];
	u64 calls;
	pid_t pid;

	if (access("/vm/command", F_OK))
		SKIP("takes a CPU away: only in a guest of tests/vm");
	if (access(ONLINE, W_OK))
		SKIP("this kernel cannot take cpu1 away");
	alarm(DEADLINE_S);
	CHECK(!pipe(go) && !pipe(done));
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		close(go[1]);
		child(go[0], done[1]);
	}
	if (observer_open(&config, &o, &err) || observer_add(o, pid, &err))
		FAIL("%s", err.text);
	close(go[1]);
	toggle_until_done(o, done[0]);
	look(o, &calls, &totals);
	CHECK_EQ_U64(calls, (u64)NR_THREADS * NR_ROUNDS);
	CHECK_EQ_U64(totals.cells[CELL_THREADS_ENDED], NR_THREADS);
	CHECK(totals.cells[CELL_OFF_CPU + REASON_SLEEP] >=
	      (u64)NR_THREADS * NR_ROUNDS * NAP_NS / 2);
	observer_free(o);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	alarm(0);
}
