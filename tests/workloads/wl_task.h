/* SPDX-License-Identifier: MIT */
/*
 * Threads of which every system call is known, waiting for other tasks, and what is set up before
 * "ready" on their behalf.
 */
#ifndef SKYOBSERVE_TESTS_WORKLOADS_WL_TASK_H
#define SKYOBSERVE_TESTS_WORKLOADS_WL_TASK_H

#include "wl_call.h"
#include "wl_clock.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

/* ---- threads of which every system call is known -------------------------------------------- */

/* No thread calls anything deep; one page would do. Guard pages would be a mapping each. */
#define WL_STACK_BYTES 65536

/*
 * A thread made by clone(2), not by libc, whose own calls at a thread's birth and death differ
 * between versions. It shares the main thread's thread-local storage, so it must not use errno,
 * stdio or malloc: it lives on WL() alone. Its only calls of its own are "clone" in the parent and
 * "exit" at the end.
 */
struct wl_thread {
	int tid;      /* set by the kernel at birth, cleared with a futex wake at death */
	int step;     /* free for the workload: how far it is */
	long result;  /* free for the workload */
	size_t index; /* its place among those allocated together */
	void (*run)(struct wl_thread *th);
	void *arg;
	char *stack;
	struct wl_tally tally;
};

/* Allocate @n threads with stacks, before "ready". */
static inline struct wl_thread *wl_threads_alloc(size_t n, void (*run)(struct wl_thread *th),
						 void *arg)
{
	struct wl_thread *threads = calloc(n, sizeof(*threads));
	char *stacks = mmap(NULL, n * WL_STACK_BYTES, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
	size_t i;

	if (!threads || stacks == MAP_FAILED)
		wl_die("no memory for %zu threads", n);
	for (i = 0; i < n; i++) {
		threads[i].index = i;
		threads[i].run = run;
		threads[i].arg = arg;
		threads[i].stack = stacks + i * WL_STACK_BYTES;
	}
	return threads;
}

static inline int wl_thread_main(void *arg)
{
	struct wl_thread *th = arg;

	th->run(th);
	th->tally.calls[WL_CALL_exit]++;
	return 0; /* clone()'s tail makes the exit call of this thread alone */
}

static inline void wl_thread_start(struct wl_tally *t, struct wl_thread *th)
{
	const int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
			  CLONE_SYSVSEM | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;
	int pid;

	t->calls[WL_CALL_clone]++;
	pid = clone(wl_thread_main, th->stack + WL_STACK_BYTES, flags, th, &th->tid, NULL,
		    &th->tid);
	if (pid < 0)
		wl_die("clone: %s", strerror(errno));
}

static inline long wl_futex_wait(struct wl_tally *t, int *word, int expected)
{
	return WL(t, futex, word, FUTEX_WAIT, expected, NULL);
}

static inline long wl_futex_wake(struct wl_tally *t, int *word, int n)
{
	return WL(t, futex, word, FUTEX_WAKE, n);
}

/* Wait until the thread is dead; the calls that this takes are in @t. */
static inline void wl_thread_join(struct wl_tally *t, struct wl_thread *th)
{
	int tid;

	while ((tid = __atomic_load_n(&th->tid, __ATOMIC_ACQUIRE)) != 0)
		(void)wl_futex_wait(t, &th->tid, tid); /* EAGAIN: it died in between */
}

/*
 * Wait, without a call, until another thread or process says in shared memory that it is at @step.
 * For the last few instructions between what was waited for with calls and the end of a tally.
 */
static inline void wl_step_await(const int *word, int step)
{
	while (__atomic_load_n(word, __ATOMIC_ACQUIRE) != step)
		wl_burn(100);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): __atomic_store_n() writes to it */
static inline void wl_step_set(int *word, int step)
{
	__atomic_store_n(word, step, __ATOMIC_RELEASE);
}

/* ---- before "ready": see that somebody sleeps ----------------------------------------------- */

/* The state letter of a thread, from /proc/PID/task/TID/stat; 0 if there is none. */
static inline char wl_task_state(pid_t pid, pid_t tid)
{
	char path[64], line[256];
	const char *paren;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, line, sizeof(line) - 1);
	close(fd);
	if (n <= 0)
		return 0;
	line[n] = '\0';
	paren = strrchr(line, ')');
	return paren && paren[1] == ' ' ? paren[2] : 0;
}

/* Bind the calling thread (and what it starts later) to one CPU. */
static inline void wl_pin(uint64_t cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		wl_skip("cannot run on CPU %llu: %s", (unsigned long long)cpu, strerror(errno));
}

/* Poll until the thread is in @state. Not for use inside a window. False if it never comes. */
static inline bool wl_state_comes(pid_t pid, pid_t tid, char state)
{
	const struct timespec step = { .tv_nsec = 200000 };
	int tries = 100000; /* 20 s: a stuck machine, not a slow one */

	while (wl_task_state(pid, tid) != state) {
		if (!--tries)
			return false;
		nanosleep(&step, NULL);
	}
	return true;
}

static inline void wl_wait_state(pid_t pid, pid_t tid, char state)
{
	if (!wl_state_comes(pid, tid, state))
		wl_die("task %d never came to state %c", tid, state);
}

/*
 * An open, empty, already unlinked file in @dir: nothing is left behind however the workload ends.
 * @flags are added to O_RDWR.
 */
static inline int wl_scratch_file(const char *dir, int flags)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/workload-%d-XXXXXX", dir, getpid());
	fd = mkostemp(path, flags | O_CLOEXEC);
	if (fd < 0)
		wl_die("cannot create a file in %s: %s", dir, strerror(errno));
	unlink(path);
	return fd;
}

/* Memory shared with processes forked later. */
static inline void *wl_shared(size_t bytes)
{
	void *mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (mem == MAP_FAILED)
		wl_die("no shared memory");
	return mem;
}

#endif
