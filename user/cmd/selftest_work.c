/* SPDX-License-Identifier: MIT */
/*
 * What the loads of the selftest do. In its window a load uses no stdio, no malloc and no clock of
 * the C library: each call goes through load_call, so that what it claims is what it did.
 */
#include "user/cmd/selftest_loads_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Small enough for a busy disk, large enough that one too many shows. */
#define NR_SYNCS       10
#define SYNC_BYTES     512u
#define NR_BAD_SYNCS   3
#define NR_GETPPID     20000
#define NR_BAD_OPENS   100
#define NR_BAD_CLOSES  50
#define UNKNOWN_NR     510 /* past every table, below the x32 range: counted as nr_510 */
#define NR_UNKNOWN     3
#define NR_SLEEPS      20
#define SLEEP_NS       (20 * NS_PER_MS)
#define NR_THREADS     8
#define THREAD_SPIN_NS (10 * NS_PER_MS)
#define THREAD_GETPPID 500u
#define NR_ROUNDS      2000
#define NR_PAGES       500
#define SPIN_NS	       (200 * NS_PER_MS)
/* Between two looks at the CPU clock, which is a system call. */
#define SPIN_TURNS 500000

/*
 * From being released to the first stamp, and from the last stamp to being off the CPU: some
 * microseconds; more where each page fault and switch is dear (emulated machines).
 */
#define EDGE_NS	    (5 * NS_PER_MS)
#define EDGE_PARTS  20 /* and one in so many of the time itself */
#define EDGE_EVENTS 32

static u64 clock_call_ns(struct load *l, clockid_t clock)
{
	struct timespec ts = { 0, 0 };

	load_must(l, SYS_clock_gettime, clock, (long)&ts, 0, 0);
	return (u64)ts.tv_sec * NS_PER_SEC + (u64)ts.tv_nsec;
}

/* At most so much CPU time for what a load measured itself. */
static u64 latest(u64 cpu_ns)
{
	return cpu_ns + EDGE_NS + cpu_ns / EDGE_PARTS;
}

static void work(u32 turns)
{
	for (volatile u32 i = 0; i < turns; i++)
		;
}

/* --- durable: writes that wait for the disk --- */

static void durable_prepare(struct load *l)
{
	l->file = load_file(l, (size_t)SYNC_BYTES * 3 * NR_SYNCS);
}

static void durable_run(struct load *l)
{
	char block[SYNC_BYTES] = { 0 };
	long at = 0;

	for (int i = 0; i < NR_SYNCS && !load_stopped(l); i++) {
		load_must(l, SYS_pwrite64, l->file, (long)block, SYNC_BYTES, at++ * SYNC_BYTES);
		load_must(l, SYS_fsync, l->file, 0, 0, 0);
		load_must(l, SYS_pwrite64, l->file, (long)block, SYNC_BYTES, at++ * SYNC_BYTES);
		load_must(l, SYS_fdatasync, l->file, 0, 0, 0);
		load_must(l, SYS_pwrite64, l->sync_file, (long)block, SYNC_BYTES,
			  at++ * SYNC_BYTES);
	}
	load_claim(l, QUANTITY_COUNT, CELL_FSYNCS + DURABLE_FSYNC, l->calls_by_nr[SYS_fsync],
		   l->calls_by_nr[SYS_fsync], "durable writes by fsync");
	for (int i = 0; i < NR_BAD_SYNCS; i++)
		load_call(l, SYS_fsync, l->wires->end[0], 0, 0, 0);
	load_claim_error(l, QUANTITY_DURABLE_ERRORS, DURABLE_FSYNC, EINVAL,
			 l->failed_by_nr[SYS_fsync], "fsync that fails with EINVAL");
	load_claim(l, QUANTITY_DURABLE_TIMES, DURABLE_FSYNC, l->calls_by_nr[SYS_fsync],
		   l->calls_by_nr[SYS_fsync], "durations of fsync");
	load_claim(l, QUANTITY_COUNT, CELL_FSYNCS + DURABLE_FDATASYNC,
		   l->calls_by_nr[SYS_fdatasync], l->calls_by_nr[SYS_fdatasync],
		   "durable writes by fdatasync");
	load_claim(l, QUANTITY_COUNT, CELL_FSYNCS + DURABLE_SYNC_WRITE,
		   l->calls_by_nr[SYS_pwrite64] / 3, l->calls_by_nr[SYS_pwrite64] / 3,
		   "durable writes by O_DSYNC");
	load_claim(l, QUANTITY_BYTES, CELL_WRITTEN_BYTES, l->calls_by_nr[SYS_pwrite64] * SYNC_BYTES,
		   l->calls_by_nr[SYS_pwrite64] * SYNC_BYTES, "bytes written");
	load_claim_all_calls(l);
}

/* --- calls: many, and some that fail --- */

static void calls_run(struct load *l)
{
	for (int i = 0; i < NR_GETPPID && !load_stopped(l); i++)
		load_call(l, SYS_getppid, 0, 0, 0, 0);
	for (int i = 0; i < NR_BAD_OPENS; i++)
		load_call(l, SYS_openat, AT_FDCWD, (long)"/nonexistent/selftest", O_RDONLY, 0);
	for (int i = 0; i < NR_BAD_CLOSES; i++)
		load_call(l, SYS_close, -1, 0, 0, 0);
	for (int i = 0; i < NR_UNKNOWN; i++)
		load_call(l, UNKNOWN_NR, 0, 0, 0, 0);
	load_claim_calls(l, SYS_getppid, "getppid");
	load_claim_error(l, QUANTITY_ERRORS, SYS_openat, ENOENT, NR_BAD_OPENS,
			 "openat that fails with ENOENT");
	load_claim_error(l, QUANTITY_ERRORS, SYS_close, EBADF, NR_BAD_CLOSES,
			 "close that fails with EBADF");
	load_claim_error(l, QUANTITY_ERRORS, UNKNOWN_NR, ENOSYS, NR_UNKNOWN,
			 "unknown call 510, ENOSYS");
	load_claim_all_calls(l);
}

/* --- sleep: off the CPU for a known time --- */

static void sleep_run(struct load *l)
{
	const struct timespec ts = { 0, SLEEP_NS };
	u64 begin_ns = clock_call_ns(l, CLOCK_MONOTONIC), elapsed_ns, n;

	for (int i = 0; i < NR_SLEEPS && !load_stopped(l); i++)
		load_must(l, SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, (long)&ts, 0);
	elapsed_ns = clock_call_ns(l, CLOCK_MONOTONIC) - begin_ns;
	n = l->calls_by_nr[SYS_clock_nanosleep];
	load_claim_calls(l, SYS_clock_nanosleep, "clock_nanosleep of 20 ms");
	/*
	 * Not longer than what passed; shorter than asked for by what a loaded machine takes away
	 * between arming the timer and leaving the CPU.
	 */
	load_claim(l, QUANTITY_NS, CELL_OFF_CPU + REASON_SLEEP, n * SLEEP_NS / 10 * 9, elapsed_ns,
		   "off the CPU, asleep");
	load_claim_all_calls(l);
}

/* --- threads: born and dead in the window --- */

/* Not through load_call: its counts are for one thread. Returns NULL, or an errno as a pointer. */
static void *thread_main(void *unused)
{
	struct timespec ts = { 0, 0 };

	(void)unused;
	for (u32 i = 0; i < THREAD_GETPPID; i++)
		syscall(SYS_getppid);
	while (!ts.tv_sec && (u64)ts.tv_nsec < THREAD_SPIN_NS) {
		work(SPIN_TURNS);
		if (syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &ts))
			break;
	}
	return NULL;
}

static void threads_run(struct load *l)
{
	u64 begin_ns = clock_call_ns(l, CLOCK_PROCESS_CPUTIME_ID), cpu_ns;
	pthread_t threads[NR_THREADS];

	for (int i = 0; i < NR_THREADS; i++) {
		int e = pthread_create(&threads[i], NULL, thread_main, NULL);

		if (e)
			load_refuse(l, "cannot start a thread", e);
	}
	for (int i = 0; i < NR_THREADS; i++)
		pthread_join(threads[i], NULL);
	cpu_ns = clock_call_ns(l, CLOCK_PROCESS_CPUTIME_ID) - begin_ns;
	load_claim(l, QUANTITY_COUNT, CELL_THREADS_ENDED, NR_THREADS, NR_THREADS,
		   "threads that ended");
	load_claim(l, QUANTITY_CALLS, SYS_getppid, (u64)NR_THREADS * THREAD_GETPPID,
		   (u64)NR_THREADS * THREAD_GETPPID, "getppid of threads that are gone");
	/* A thread that was joined may still have its last steps to do. */
	load_claim(l, QUANTITY_CPU, 0, cpu_ns, latest(cpu_ns) + NR_THREADS * NS_PER_MS,
		   "CPU time, mostly of dead threads");
}

/* --- pipe: ping-pong with a partner --- */

static void partner(int in, int out) __attribute__((noreturn));

static void partner(int in, int out)
{
	char ball;

	while (read(in, &ball, 1) == 1 && write(out, &ball, 1) == 1)
		;
	_exit(0);
}

static void pipe_prepare(struct load *l)
{
	int there[2], back[2];
	pid_t pid;

	if (pipe(there) || pipe(back))
		load_refuse(l, "pipe", errno);
	pid = fork();
	if (pid < 0)
		load_refuse(l, "fork", errno);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(there[1]); /* or the end of the load would not be the end of the file */
		close(back[0]);
		partner(there[0], back[1]);
	}
	close(there[0]);
	close(back[1]);
	l->out = there[1];
	l->in = back[0];
}

static void pipe_run(struct load *l)
{
	struct rusage begin = { 0 }, end = { 0 };
	u64 voluntary, n;
	char ball = 'b';

	load_must(l, SYS_getrusage, RUSAGE_SELF, (long)&begin, 0, 0);
	for (int i = 0; i < NR_ROUNDS && !load_stopped(l); i++) {
		load_must(l, SYS_write, l->out, (long)&ball, 1, 0);
		load_must(l, SYS_read, l->in, (long)&ball, 1, 0);
	}
	load_must(l, SYS_getrusage, RUSAGE_SELF, (long)&end, 0, 0);
	load_claim_calls(l, SYS_write, "write to a pipe");
	load_claim(l, QUANTITY_CALLS, SYS_read, l->calls_by_nr[SYS_read] + 1,
		   l->calls_by_nr[SYS_read] + 1, "read from a pipe");
	n = l->calls_by_nr[SYS_write];
	load_claim(l, QUANTITY_BYTES, CELL_READ_BYTES, n, n, "bytes read");
	load_claim(l, QUANTITY_BYTES, CELL_WRITTEN_BYTES, n, n, "bytes written");
	/* And the one by which it comes to wait for the end. */
	voluntary = (u64)(end.ru_nvcsw - begin.ru_nvcsw) + 1;
	load_claim(l, QUANTITY_COUNT, CELL_SWITCHES + SWITCH_VOLUNTARY, voluntary, voluntary,
		   "voluntary context switches");
	load_claim_all_calls(l);
}

/* --- pages: first touches --- */

static void pages_prepare(struct load *l)
{
	size_t bytes = NR_PAGES * (size_t)sysconf(_SC_PAGESIZE);

	l->pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (l->pages == MAP_FAILED)
		load_refuse(l, "mmap", errno);
	(void)madvise(l->pages, bytes, MADV_NOHUGEPAGE); /* fails where there are none */
}

static void pages_run(struct load *l)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE); /* from the auxiliary vector */
	struct rusage begin = { 0 }, end = { 0 };
	u64 faults;

	load_must(l, SYS_getrusage, RUSAGE_SELF, (long)&begin, 0, 0);
	for (size_t i = 0; i < NR_PAGES; i++)
		*(volatile char *)&l->pages[i * page] = 1;
	load_must(l, SYS_getrusage, RUSAGE_SELF, (long)&end, 0, 0);
	faults = (u64)(end.ru_minflt + end.ru_majflt - begin.ru_minflt - begin.ru_majflt);
	load_claim(l, QUANTITY_COUNT, CELL_PAGE_FAULTS, faults, faults + EDGE_EVENTS,
		   "page faults, 500 first touches");
	load_claim_all_calls(l);
}

/* --- spin: a known time on the CPU --- */

static void spin_run(struct load *l)
{
	u64 begin_ns = clock_call_ns(l, CLOCK_THREAD_CPUTIME_ID), cpu_ns;

	do {
		work(SPIN_TURNS);
		cpu_ns = clock_call_ns(l, CLOCK_THREAD_CPUTIME_ID) - begin_ns;
	} while (cpu_ns < SPIN_NS && !load_stopped(l));
	load_claim(l, QUANTITY_CPU, 0, cpu_ns, latest(cpu_ns), "CPU time");
	/* Hardly anything of it is inside system calls. */
	load_claim(l, QUANTITY_NS, CELL_CPU + MODE_USER, cpu_ns / 100 * 95, latest(cpu_ns),
		   "CPU time in user mode");
	load_claim_all_calls(l);
}

/* --- all of them --- */

static void nothing(struct load *l)
{
	(void)l;
}

const struct load_spec load_specs[] = {
	{ "durable", "fsync, fdatasync and O_DSYNC writes of a temporary file", durable_prepare,
	  durable_run },
	{ "io_uring", "fsync by io_uring", load_uring_prepare, load_uring_run },
	{ "calls", "getppid, and calls that fail with a known errno", nothing, calls_run },
	{ "sleep", "sleeps of 20 ms", nothing, sleep_run },
	{ "threads", "threads that are born, work and end", nothing, threads_run },
	{ "pipe", "a byte back and forth between two processes", pipe_prepare, pipe_run },
	{ "pages", "first touches of memory", pages_prepare, pages_run },
	{ "spin", "200 ms of CPU time", nothing, spin_run },
};

const size_t nr_load_specs = sizeof(load_specs) / sizeof(load_specs[0]);
