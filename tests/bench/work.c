/* SPDX-License-Identifier: MIT */
/*
 * Work that is told what to do, line by line, so that one process is measured under every arm:
 *
 *	getppid CPU MS	 getppid() in a loop on that CPU, until it has used so much CPU time
 *	read CPU MS	 the same with a read of one byte from /dev/zero
 *	pingpong CPU MS	 round trips of a byte over two pipes, to a child on the same CPU and back
 *
 * The work is done in pieces; each piece is timed by the CPU clocks of those who did it. A line of
 * JSON answers: how often, the CPU and wall time of everything, and the median over the pieces of
 * the CPU time per call or round trip, which a timer interrupt or a neighbour's cache misses in one
 * piece do not move.
 *
 * It begins with "PID PID" of itself and the child. At the end of its input everything ends.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sched_setaffinity */
#endif

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "types.h"

/* A piece takes 1-3 ms without an observer: some dozen of them fit between two timer ticks. */
#define CALLS_PER_PIECE	 2000
#define ROUNDS_PER_PIECE 300
#define MAX_PIECES	 4096
/* Work that is held up from outside (ptrace) ends by the wall clock, after so many times MS. */
#define MAX_WALL_TIMES 8

struct work {
	int zero_fd;
	pid_t child;
	int to_child_fd;
	int from_child_fd;
	clockid_t child_clock;
};

struct kind {
	const char *name;
	u32 per_piece;
	int with_child;
	void (*piece)(const struct work *w, u32 n);
};

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static u64 clock_ns(clockid_t clock)
{
	struct timespec ts;

	if (clock_gettime(clock, &ts))
		fail("clock_gettime");
	return (u64)ts.tv_sec * NS_PER_SEC + (u64)ts.tv_nsec;
}

static void piece_getppid(const struct work *w, u32 n)
{
	(void)w;
	while (n--)
		(void)syscall(SYS_getppid); /* it has no error */
}

static void piece_read(const struct work *w, u32 n)
{
	char byte;

	while (n--) {
		if (syscall(SYS_read, w->zero_fd, &byte, 1) != 1)
			fail("read");
	}
}

static void piece_pingpong(const struct work *w, u32 n)
{
	char ball = 'b';

	while (n--) {
		if (write(w->to_child_fd, &ball, 1) != 1 || read(w->from_child_fd, &ball, 1) != 1)
			fail("pipe");
	}
}

static const struct kind kinds[] = {
	{ "getppid", CALLS_PER_PIECE, 0, piece_getppid },
	{ "read", CALLS_PER_PIECE, 0, piece_read },
	{ "pingpong", ROUNDS_PER_PIECE, 1, piece_pingpong },
};

static void pin(pid_t pid, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(pid, sizeof(set), &set))
		fail("sched_setaffinity");
}

/* The child is blocked in its read whenever this is called, so its clock stands still. */
static u64 used_ns(const struct work *w, const struct kind *k)
{
	u64 ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	return k->with_child ? ns + clock_ns(w->child_clock) : ns;
}

static int compare_u64(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return (x > y) - (x < y);
}

static void do_slice(const struct work *w, const struct kind *k, u64 slice_ns)
{
	static u64 pieces[MAX_PIECES];
	u64 begin_wall_ns = clock_ns(CLOCK_MONOTONIC), wall_ns = 0;
	u64 begin_ns = used_ns(w, k), last_ns = begin_ns;
	size_t n = 0;

	while (n < MAX_PIECES && last_ns - begin_ns < slice_ns &&
	       wall_ns < MAX_WALL_TIMES * slice_ns) {
		u64 now_ns;

		k->piece(w, k->per_piece);
		now_ns = used_ns(w, k);
		pieces[n++] = now_ns - last_ns;
		last_ns = now_ns;
		wall_ns = clock_ns(CLOCK_MONOTONIC) - begin_wall_ns;
	}
	if (!n)
		return;
	qsort(pieces, n, sizeof(pieces[0]), compare_u64);
	printf("{\"n\":%zu,\"cpu_ns\":%llu,\"wall_ns\":%llu,\"median_ns\":%.3f,\"low_ns\":%.3f}\n",
	       n * k->per_piece, last_ns - begin_ns, wall_ns, (double)pieces[n / 2] / k->per_piece,
	       (double)pieces[n / 10] / k->per_piece);
}

static void obey(const struct work *w, const char *line)
{
	char name[16] = "";
	unsigned int cpu = 0, ms = 0;

	if (sscanf(line, "%15s %u %u", name, &cpu, &ms) != 3 || !ms) {
		fprintf(stderr, "work: what? %s", line);
		exit(64);
	}
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(kinds[i].name, name))
			continue;
		pin(0, (int)cpu);
		pin(w->child, (int)cpu);
		do_slice(w, &kinds[i], ms * NS_PER_MS);
	}
	(void)fflush(stdout); /* the reader finds out */
}

static void start_child(struct work *w)
{
	int there[2], back[2];
	char ball;

	if (pipe2(there, O_CLOEXEC) || pipe2(back, O_CLOEXEC))
		fail("pipe2");
	w->child = fork();
	if (w->child < 0)
		fail("fork");
	if (!w->child) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* the pipe ends it, too */
		close(there[1]);
		while (read(there[0], &ball, 1) == 1 && write(back[1], &ball, 1) == 1)
			;
		_exit(0);
	}
	close(there[0]);
	close(back[1]);
	w->to_child_fd = there[1];
	w->from_child_fd = back[0];
	if (clock_getcpuclockid(w->child, &w->child_clock))
		fail("clock_getcpuclockid");
}

int main(void)
{
	struct work work = { 0 };
	char line[128];

	work.zero_fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	if (work.zero_fd < 0)
		fail("/dev/zero");
	start_child(&work);
	printf("%d %d\n", (int)getpid(), (int)work.child);
	(void)fflush(stdout);
	while (fgets(line, sizeof(line), stdin))
		obey(&work, line);
	return 0;
}
