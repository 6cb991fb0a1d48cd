/* SPDX-License-Identifier: MIT */
/* Loops of known work, in processes of their own. */
#define _GNU_SOURCE /* sched_setaffinity, dl_iterate_phdr */
#include "user/cmd/calibrate_loops.h"

#include <errno.h>
#include <link.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <asm/prctl.h>
#endif

/* What disturbs only makes it longer: the shortest batch counts. */
#define NR_BATCHES 3

static const u32 turns[NR_LOOPS] = {
	[LOOP_CALLS] = 200,
	[LOOP_SWITCHES] = 20,
	[LOOP_REQUESTS] =
		50, /* what a socket's buffer holds: nobody reads the responses meanwhile */
	[LOOP_FUNCTION] = 60,
};

static const char request[] = "GET /skyobserve HTTP/1.1\r\nHost: localhost\r\n\r\n";
static const char response[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

#define REQUEST_BYTES  (sizeof(request) - 1)
#define RESPONSE_BYTES (sizeof(response) - 1)

/* --- what a Go program would have --- */

/* As runtime.g and runtime.m, as far as the programs look. */
struct fake_m {
	u64 g0, curg;
};

struct fake_g {
	u64 stack_lo, stack_hi, m, goid, status;
};

#if defined(__x86_64__)

/* A function like those of Go: entered with a push. Its places are symbols. */
__asm__(".text\n"
	".globl calibrate_function\n"
	".hidden calibrate_function\n"
	".type calibrate_function, @function\n"
	"calibrate_function:\n"
	"	push %rbp\n"
	"	mov %rsp, %rbp\n"
	"	pop %rbp\n"
	".globl calibrate_function_return\n"
	".hidden calibrate_function_return\n"
	"calibrate_function_return:\n"
	"	ret\n"
	".size calibrate_function, . - calibrate_function\n");
extern char calibrate_function_return[];
void calibrate_function(void);

#define BELOW_BYTES                                                                  \
	1024 /* of the thread pointer; what else the C library has there is not used \
	      */
#define ABOVE_BYTES 512

/*
 * A thread pointer of our own, with a goroutine below it. The C library goes on to find what it
 * keeps there (the canary of stacks, errno), in a copy.
 */
static void pretend_goroutine(void)
{
	static struct fake_g g, g0;
	static struct fake_m m;
	static char area[BELOW_BYTES + ABOVE_BYTES] __attribute__((aligned(64)));
	const char *base = NULL;
	u64 here = (u64)(uintptr_t)&base;
	u64 *own = (u64 *)(void *)(area + BELOW_BYTES);

	if (syscall(SYS_arch_prctl, ARCH_GET_FS, &base))
		return;
	memcpy(area, base - BELOW_BYTES, sizeof(area));
	m = (struct fake_m){ .g0 = (u64)(uintptr_t)&g0, .curg = (u64)(uintptr_t)&g };
	g = (struct fake_g){ .stack_lo = here - (1 << 20),
			     .stack_hi = here + (1 << 16),
			     .m = (u64)(uintptr_t)&m,
			     .goid = 1,
			     .status = 2 /* running */ };
	own[-1] = (u64)(uintptr_t)&g;
	(void)syscall(SYS_arch_prctl, ARCH_SET_FS, own); /* else it is no goroutine, and dearer */
}

bool loops_goroutine(struct loop_goroutine *ret_where)
{
	*ret_where = (struct loop_goroutine){ .g_m = offsetof(struct fake_g, m),
					      .m_g0 = offsetof(struct fake_m, g0),
					      .m_curg = offsetof(struct fake_m, curg),
					      .g_goid = offsetof(struct fake_g, goid),
					      .g_status = offsetof(struct fake_g, status) };
	return true;
}

struct own_place {
	u64 address, offset;
	bool found;
};

/* The first object is the program itself. */
static int find_offset(struct dl_phdr_info *object, size_t size, void *ctx)
{
	struct own_place *place = ctx;

	(void)size;
	for (u32 i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *ph = &object->dlpi_phdr[i];
		u64 begin = object->dlpi_addr + ph->p_vaddr;

		if (ph->p_type != PT_LOAD || place->address < begin ||
		    place->address - begin >= ph->p_filesz)
			continue;
		place->offset = place->address - begin + ph->p_offset;
		place->found = true;
	}
	return 1;
}

int loops_function(u64 *ret_entry, u64 *ret_return)
{
	struct own_place entry = { .address = (u64)(uintptr_t)calibrate_function };
	struct own_place end = { .address = (u64)(uintptr_t)calibrate_function_return };

	dl_iterate_phdr(find_offset, &entry);
	dl_iterate_phdr(find_offset, &end);
	if (!entry.found || !end.found)
		return -ENOTSUP;
	*ret_entry = entry.offset;
	*ret_return = end.offset;
	return 0;
}

#else

static void calibrate_function(void)
{
}

static void pretend_goroutine(void)
{
}

bool loops_goroutine(struct loop_goroutine *ret_where)
{
	(void)ret_where;
	return false;
}

int loops_function(u64 *ret_entry, u64 *ret_return)
{
	(void)ret_entry;
	(void)ret_return;
	return -ENOTSUP;
}

#endif

/* --- in the two processes; what fails ends them --- */

static void must(bool good)
{
	if (!good)
		_exit(1);
}

static u64 cpu_ns(clockid_t clock)
{
	struct timespec t;

	must(!clock_gettime(clock, &t));
	return (u64)t.tv_sec * NS_PER_SEC + (u64)t.tv_nsec;
}

/* Turns of LOOP_SWITCHES or LOOP_REQUESTS, for the partner. */
struct task {
	u32 kind, n;
};

/* Whom the worker talks to. Ends with the worker's socket. */
static void partner(int tasks)
{
	struct task task;
	char c, got[RESPONSE_BYTES];

	while (read(tasks, &task, sizeof(task)) == sizeof(task)) {
		for (u32 i = 0; i < task.n && task.kind == LOOP_SWITCHES; i++)
			must(read(tasks, &c, 1) == 1 && write(tasks, &c, 1) == 1);
		for (u32 i = 0; i < task.n && task.kind == LOOP_REQUESTS; i++)
			must(write(tasks, request, REQUEST_BYTES) == REQUEST_BYTES);
		for (u32 i = 0; i < task.n && task.kind == LOOP_REQUESTS; i++)
			must(recv(tasks, got, sizeof(got), MSG_WAITALL) == (ssize_t)sizeof(got));
	}
	_exit(0);
}

static void switches(int other, u32 n)
{
	char c = 0;

	for (u32 i = 0; i < n; i++)
		must(write(other, &c, 1) == 1 && read(other, &c, 1) == 1);
}

static void requests(int other, u32 n)
{
	char got[REQUEST_BYTES];

	for (u32 i = 0; i < n; i++) {
		must(read(other, got, sizeof(got)) == (ssize_t)sizeof(got));
		must(write(other, response, RESPONSE_BYTES) == RESPONSE_BYTES);
	}
}

/* CPU time of a batch: of the worker, and where they go to and fro also of the partner. */
static u64 batch(enum loop_kind kind, int other, clockid_t theirs)
{
	const struct task task = { kind, turns[kind] };
	bool both = kind == LOOP_SWITCHES;
	int there = 0;
	u64 begin;

	if (kind == LOOP_SWITCHES || kind == LOOP_REQUESTS)
		must(write(other, &task, sizeof(task)) == sizeof(task));
	/* All requests are there before the first one is read. */
	while (kind == LOOP_REQUESTS && there < (int)(task.n * REQUEST_BYTES)) {
		(void)sched_yield(); /* cannot fail */
		must(!ioctl(other, FIONREAD, &there));
	}
	begin = cpu_ns(CLOCK_PROCESS_CPUTIME_ID) + (both ? cpu_ns(theirs) : 0);
	for (u32 i = 0; i < task.n && kind == LOOP_CALLS; i++)
		(void)syscall(SYS_getppid); /* cannot fail */
	for (u32 i = 0; i < task.n && kind == LOOP_FUNCTION; i++)
		calibrate_function();
	if (kind == LOOP_SWITCHES)
		switches(other, task.n);
	if (kind == LOOP_REQUESTS)
		requests(other, task.n);
	return cpu_ns(CLOCK_PROCESS_CPUTIME_ID) + (both ? cpu_ns(theirs) : 0) - begin;
}

static u64 lesser(u64 a, u64 b)
{
	return a < b ? a : b;
}

static void worker(int orders, int other, pid_t partner_pid)
{
	clockid_t theirs;
	u32 kind;

	must(!clock_getcpuclockid(partner_pid, &theirs));
	pretend_goroutine();
	while (read(orders, &kind, sizeof(kind)) == sizeof(kind) && kind < NR_LOOPS) {
		u64 least = ~0ULL;
		double turn;

		for (u32 i = 0; i < NR_BATCHES; i++)
			least = lesser(least, batch(kind, other, theirs));
		turn = (double)least / turns[kind];
		must(write(orders, &turn, sizeof(turn)) == sizeof(turn));
	}
	_exit(0);
}

/* --- here --- */

/* The same CPU for both, so that each byte is a switch. */
static void share_cpu(void)
{
	cpu_set_t mine;

	if (sched_getaffinity(0, sizeof(mine), &mine))
		return;
	for (int cpu = 0, first = 1; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &mine))
			continue;
		if (!first)
			CPU_CLR(cpu, &mine);
		first = 0;
	}
	(void)sched_setaffinity(0, sizeof(mine), &mine); /* else a switch looks cheaper */
}

/* What else we have open is theirs as well: they go with us. */
static void prepare(void)
{
	must(!prctl(PR_SET_PDEATHSIG, SIGKILL));
	share_cpu();
}

int loops_start(struct loops *ret_loops, struct err *err)
{
	struct loops l = { .orders = -1 };
	int orders[2] = { -1, -1 }, between[2] = { -1, -1 };
	int r = 0;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, orders) ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, between))
		r = -errno;
	if (!r) {
		l.partner = fork();
		r = l.partner < 0 ? -errno : 0;
	}
	if (!r && !l.partner) {
		prepare();
		partner(between[1]);
	}
	if (!r) {
		l.worker = fork();
		r = l.worker < 0 ? -errno : 0;
	}
	if (!r && !l.worker) {
		prepare();
		close(between[1]);
		worker(orders[1], between[0], l.partner);
	}
	if (orders[1] >= 0)
		close(orders[1]);
	for (int i = 0; i < 2; i++) {
		if (between[i] >= 0)
			close(between[i]);
	}
	l.orders = orders[0];
	if (r) {
		loops_stop(&l);
		return err_set(err, r, "cannot start the loops: %s", strerror(-r));
	}
	*ret_loops = l;
	return 0;
}

int loops_run(const struct loops *l, enum loop_kind kind, double *ret_ns)
{
	u32 order = kind;

	if (send(l->orders, &order, sizeof(order), MSG_NOSIGNAL) != sizeof(order) ||
	    read(l->orders, ret_ns, sizeof(*ret_ns)) != sizeof(*ret_ns))
		return -EPIPE;
	return 0;
}

void loops_stop(struct loops *l)
{
	const pid_t pids[] = { l->worker, l->partner };

	for (size_t i = 0; i < 2; i++) {
		if (pids[i] <= 0)
			continue;
		kill(pids[i], SIGKILL);
		while (waitpid(pids[i], NULL, 0) < 0 && errno == EINTR)
			;
	}
	if (l->orders >= 0)
		close(l->orders);
	*l = (struct loops){ .orders = -1 };
}
