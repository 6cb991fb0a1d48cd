/* SPDX-License-Identifier: MIT */
/* The canary's process, and the sums over what it tells. */
#define _GNU_SOURCE /* sched_setaffinity, close_range */
#include "user/cmd/canary.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "user/base/clock.h"
#include "user/base/privilege.h"
#include "user/base/seccomp.h"
#include "user/base/signals.h"

/* Long enough that a clock tick does not matter, short enough to cost 0.5 % of each CPU. */
#define LOOP_NS (5 * NS_PER_MS)

/* A machine with more CPUs has its first ones watched: 250 ms a second of one CPU at most. */
#define MAX_CPUS 50

/* 12 hours of two CPUs; what comes later is left out. */
#define MAX_TOLD 100000

struct told {
	u64 begin_ns, cpu_ns;
	u32 cpu, zero;
};

struct canary {
	pid_t pid;
	int fd;
	struct told *told;
	size_t n, cap;
};

/* --- its process --- */

static u64 own_cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (u64)ts.tv_sec * NS_PER_SEC + (u64)ts.tv_nsec;
}

/* xorshift64: each step needs the one before, so no compiler and no CPU shortens it. */
static u64 work(u64 steps)
{
	u64 x = 88172645463325252ULL;

	for (u64 i = 0; i < steps; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
	}
	return x;
}

static u64 timed_ns(u64 steps)
{
	u64 begin = own_cpu_ns();
	volatile u64 keep = work(steps);

	(void)keep;
	return own_cpu_ns() - begin;
}

/* Steps that take LOOP_NS, by the fastest of some tries. */
static u64 calibrate(void)
{
	u64 steps = 100000, best = ~0ULL;

	for (int i = 0; i < 5; i++) {
		u64 ns = timed_ns(steps);

		best = ns < best ? ns : best;
	}
	return best ? steps * LOOP_NS / best : steps;
}

static const struct call_rule rules[] = {
	CALL_RULE(write),	  CALL_RULE(sched_setaffinity),
	CALL_RULE(clock_gettime), CALL_RULE(ppoll),
#ifdef __NR_poll
	CALL_RULE(poll), /* arm64 has only ppoll */
#endif
	CALL_RULES_MEMORY,	  CALL_RULES_END,
};

static void give_up_privileges(int fd)
{
	struct privilege_user user;
	struct privilege_left left;
	struct err err;

	if (fd != 3 && dup2(fd, 3) < 0)
		_exit(1);
	(void)syscall(SYS_close_range, 4, ~0u, 0);
	(void)prctl(PR_SET_NAME, "skyobserve-cana"); /* for who lists processes */
	privilege_choose_user(getenv("SUDO_UID"), getenv("SUDO_GID"), &user);
	if (privilege_drop(&user, 0, &left, &err))
		_exit(1);
	/* Not before: becoming another user clears it. */
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)seccomp_allow_only(rules, sizeof(rules) / sizeof(rules[0]), ENOSYS);
}

/* One loop on @cpu, told. False: nobody reads it any more. */
static bool run_on(u32 cpu, u64 steps)
{
	struct told told = { .cpu = cpu };
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		return true; /* it is offline now */
	told.begin_ns = clock_monotonic_ns();
	told.cpu_ns = timed_ns(steps);
	return write(3, &told, sizeof(told)) == sizeof(told);
}

static bool run_on_all(const cpu_set_t *all, u64 steps)
{
	for (u32 cpu = 0, n = 0; cpu < CPU_SETSIZE && n < MAX_CPUS; cpu++) {
		if (!CPU_ISSET(cpu, all))
			continue;
		n++;
		if (!run_on(cpu, steps))
			return false;
	}
	return true;
}

__attribute__((noreturn)) static void run(int fd)
{
	struct pollfd reader = { .fd = 3 }; /* without an event it tells of the other end's close */
	cpu_set_t all;
	u64 steps;

	signals_leave_to_parent(); /* the pipe's reader ends it */
	if (sched_getaffinity(0, sizeof(all), &all))
		_exit(1);
	give_up_privileges(fd);
	steps = calibrate();
	while (run_on_all(&all, steps) && poll(&reader, 1, 1000) == 0)
		;
	_exit(0);
}

/* --- its reader --- */

int canary_start(struct canary **ret_canary, struct err *err)
{
	struct canary *c = calloc(1, sizeof(*c));
	int ends[2];

	if (!c)
		return err_set(err, -ENOMEM, "no memory for the canary");
	if (pipe2(ends, O_CLOEXEC)) {
		free(c);
		return err_set(err, -errno, "the canary: %s", strerror(errno));
	}
	c->fd = ends[0];
	c->pid = fork();
	if (!c->pid)
		run(ends[1]);
	close(ends[1]);
	if (c->pid < 0 || fcntl(c->fd, F_SETFL, O_NONBLOCK)) {
		int e = errno;

		canary_free(c);
		return err_set(err, -e, "the canary: %s", strerror(e));
	}
	*ret_canary = c;
	return 0;
}

void canary_free(struct canary *canary)
{
	if (!canary)
		return;
	close(canary->fd);
	if (canary->pid > 0)
		(void)waitpid(canary->pid, NULL, 0); /* one round of its loops at most */
	free(canary->told);
	free(canary);
}

void canary_poll(struct canary *canary)
{
	struct told told;

	while (read(canary->fd, &told, sizeof(told)) == sizeof(told)) {
		if (canary->n == MAX_TOLD)
			continue;
		if (canary->n == canary->cap) {
			size_t cap = canary->cap ? 2 * canary->cap : 64;
			struct told *grown = realloc(canary->told, cap * sizeof(*grown));

			if (!grown)
				continue; /* one loop less */
			canary->told = grown;
			canary->cap = cap;
		}
		canary->told[canary->n++] = told;
	}
}

/* Of one CPU, or of all (@cpu is CPU_SETSIZE). */
struct series {
	u64 n, sum;
	double squares;
	u64 first_n, first_sum, last_n, last_sum; /* its first and last third of the window */
};

static void add(struct series *s, const struct told *told, u64 begin_ns, u64 end_ns)
{
	u64 third = (end_ns - begin_ns) / 3;

	s->n++;
	s->sum += told->cpu_ns;
	s->squares += (double)told->cpu_ns * (double)told->cpu_ns;
	if (told->begin_ns < begin_ns + third) {
		s->first_n++;
		s->first_sum += told->cpu_ns;
	} else if (told->begin_ns > end_ns - third) {
		s->last_n++;
		s->last_sum += told->cpu_ns;
	}
}

static void raise_to(u64 *most, double permille)
{
	u64 n = (u64)(permille + 0.5);

	*most = n > *most ? n : *most;
}

static void judge(const struct series *s, struct canary_result *result)
{
	double n = (double)s->n, mean, variance;

	if (s->n < 3)
		return;
	mean = (double)s->sum / n;
	variance = s->squares / n - mean * mean;
	raise_to(&result->spread_permille, variance > 0 ? 1000 * sqrt(variance) / mean : 0);
	if (s->first_n && s->last_n)
		raise_to(&result->drift_permille,
			 1000 *
				 fabs((double)s->last_sum / (double)s->last_n -
				      (double)s->first_sum / (double)s->first_n) /
				 mean);
}

bool canary_result(struct canary *canary, u64 begin_ns, u64 end_ns,
		   struct canary_result *ret_result)
{
	struct canary_result result = { 0 };
	u32 highest = 0;

	canary_poll(canary);
	for (size_t i = 0; i < canary->n; i++)
		highest = canary->told[i].cpu > highest ? canary->told[i].cpu : highest;
	for (u32 cpu = 0; cpu <= highest; cpu++) {
		struct series s = { 0 };

		for (size_t i = 0; i < canary->n; i++) {
			const struct told *t = &canary->told[i];

			if (t->cpu == cpu && t->begin_ns >= begin_ns && t->begin_ns <= end_ns)
				add(&s, t, begin_ns, end_ns);
		}
		judge(&s, &result);
		result.loops += s.n;
		result.cpu_ns += s.sum;
	}
	if (result.loops < 3)
		return false;
	result.mean_ns = result.cpu_ns / result.loops;
	*ret_result = result;
	return true;
}
