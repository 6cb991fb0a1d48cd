/* SPDX-License-Identifier: MIT */
/*
 * A child that is another program (T10), and an exec by a thread that is not the leader.
 *
 * The truth: the parent forks, the child execs this program again, makes N fsyncs, reports its own
 * tally and exits; the parent makes no fsync. With --vfork the child shares the parent's memory
 * until its exec, as posix_spawn does it. An observer that follows children has N fsyncs, one that
 * does not has none.
 *
 * --exec-from-thread: a second thread, there before the observer, makes N getppid and then calls
 * execve. The kernel kills the leader, gives the thread its id and runs the new program, which
 * makes N getppid again and prints the truth of the whole life. The leader burns CPU until then, so
 * that it makes no call.
 *
 * What a new program's loader and libc do before main() is not in any tally ("startup":"not
 * counted").
 */
#include "workload.h"

#include <sys/wait.h>

/* How the program is called by itself: forkexec MODE N A B. */
#define MODE_CHILD	"--as-child"	  /* A: the file to sync, B: where to report */
#define MODE_AFTER_EXEC "--as-after-exec" /* A: reads of the protocol, B: exit at once */

extern char **environ;

struct exec_call {
	char path[4096];
	char name[16];
	char mode[32];
	char number[3][24];
	char *argv[6];
};

static void exec_call_make(struct exec_call *call, const char *mode, const uint64_t number[3])
{
	ssize_t n = readlink("/proc/self/exe", call->path, sizeof(call->path) - 1);
	size_t i;

	if (n < 0)
		wl_die("/proc/self/exe: %s", strerror(errno));
	call->path[n] = '\0';
	snprintf(call->name, sizeof(call->name), "forkexec");
	snprintf(call->mode, sizeof(call->mode), "%s", mode);
	call->argv[0] = call->name;
	call->argv[1] = call->mode;
	for (i = 0; i < 3; i++) {
		snprintf(call->number[i], sizeof(call->number[i]), "%llu",
			 (unsigned long long)number[i]);
		call->argv[2 + i] = call->number[i];
	}
	call->argv[5] = NULL;
}

/* ---- a child --------------------------------------------------------------------------------- */

/* The second program: N fsyncs on the inherited file, then its tally through the inherited pipe. */
static WL_NORETURN void child_program(uint64_t n, int file_fd, int report_fd)
{
	struct wl_tally tally = { .calls = { [WL_CALL_execve] = 1 } }, unused = { 0 };
	uint64_t i;

	for (i = 0; i < n; i++)
		WL_OK(&tally, fsync, file_fd);
	tally.calls[WL_CALL_write]++;	   /* the next one, */
	tally.calls[WL_CALL_exit_group]++; /* and the last */
	WL_OK(&unused, write, report_fd, &tally, sizeof(tally));
	_exit(0);
}

/* Runs in the forked child; with --vfork in the parent's memory, where only calls are safe. */
static int child_main(void *arg)
{
	struct exec_call *call = arg;
	struct wl_tally unused = { 0 };

	WL(&unused, execve, call->path, call->argv, environ);
	_exit(127);
}

static pid_t start_child(struct wl_tally *t, struct exec_call *call, char *vfork_stack)
{
	long pid;

	t->calls[WL_CALL_clone]++;
	if (vfork_stack)
		return clone(child_main, vfork_stack, CLONE_VM | CLONE_VFORK | SIGCHLD, call);
	pid = wl_raw(SYS_clone, (const long[6]){ SIGCHLD });
	if (!pid)
		child_main(call);
	return (pid_t)pid;
}

static void run_child(struct wl *w, uint64_t n, bool vfork_like, const char *dir)
{
	static char stack[WL_STACK_BYTES] __attribute__((aligned(16)));
	int file_fd = wl_scratch_file(dir, 0), report[2], status = 0;
	struct wl_tally child = { 0 }, none = { 0 };
	struct exec_call call;
	pid_t pid;

	/* The child's ends go through the exec, the others do not. */
	if (pipe2(report, O_CLOEXEC) || fcntl(report[1], F_SETFD, 0) || fcntl(file_fd, F_SETFD, 0))
		wl_die("cannot prepare descriptors: %s", strerror(errno));
	exec_call_make(&call, MODE_CHILD,
		       (const uint64_t[3]){ n, (uint64_t)file_fd, (uint64_t)report[1] });

	wl_ready(w);
	pid = start_child(&w->tally, &call, vfork_like ? stack + sizeof(stack) : NULL);
	if (pid <= 0)
		wl_die("no child");
	if (WL_OK(&w->tally, read, report[0], &child, sizeof(child)) != sizeof(child))
		wl_die("the child's report is short");
	WL_OK(&w->tally, wait4, pid, &status, 0, NULL);

	wl_json_begin(w);
	wl_json_text(w, "startup", "not counted");
	wl_json_open(w, "child", '{');
	wl_json_task(w, "child", pid, &child, &none);
	wl_json_u64(w, "fsyncs", child.calls[WL_CALL_fsync]);
	wl_json_long(w, "status", status);
	wl_json_close(w, '}');
	wl_json_end(w);
}

/* ---- an exec from a thread ------------------------------------------------------------------- */

struct exec_job {
	struct exec_call call;
	uint64_t n;
	int gate;
};

static void exec_thread_main(struct wl_thread *th)
{
	struct exec_job *job = th->arg;
	uint64_t i;

	while (!__atomic_load_n(&job->gate, __ATOMIC_ACQUIRE))
		(void)wl_futex_wait(&th->tally, &job->gate, 0);
	for (i = 0; i < job->n; i++)
		WL(&th->tally, getppid);
	WL_OK(&th->tally, execve, job->call.path, job->call.argv, environ);
}

static WL_NORETURN void run_exec_from_thread(struct wl *w, uint64_t n)
{
	static struct exec_job job;
	struct wl_tally before = { 0 };
	struct wl_thread *th = wl_threads_alloc(1, exec_thread_main, &job);

	job.n = n;
	exec_call_make(&job.call, MODE_AFTER_EXEC, (const uint64_t[3]){ n, 1, w->exit_at_once });
	wl_thread_start(&before, th);
	wl_wait_state(w->pid, th->tid, 'S');

	wl_ready(w);
	__atomic_store_n(&job.gate, 1, __ATOMIC_RELEASE);
	(void)wl_futex_wake(&w->tally, &job.gate, 1);
	for (;;)
		wl_burn(1000);
}

/* The new program of --exec-from-thread. */
static WL_NORETURN void after_exec_program(uint64_t n, uint64_t protocol_reads, bool exit_at_once)
{
	struct wl w = { .name = "forkexec",
			.exit_at_once = exit_at_once,
			.protocol_reads = protocol_reads };
	uint64_t i;

	w.pid = getpid(); /* one more call of the startup */
	for (i = 0; i < n; i++)
		WL(&w.tally, getppid);
	/* What the old program did; its thread had entered one of its futex calls before. */
	w.tally.calls[WL_CALL_getppid] += n;
	w.tally.calls[WL_CALL_futex] = 2;
	w.tally.calls[WL_CALL_execve] = 1;
	w.entered_before.calls[WL_CALL_futex] = 1;
	wl_json_begin(&w);
	wl_json_text(&w, "startup", "not counted");
	wl_json_u64(&w, "getppid_before_exec", n);
	wl_json_u64(&w, "getppid_after_exec", n);
	wl_json_end(&w);
	wl_finish(&w);
}

/* Returns if this is not the second program. */
static void run_second_program(int argc, char **argv)
{
	uint64_t number[3];
	int i;

	if (argc != 5)
		return;
	for (i = 0; i < 3; i++)
		number[i] = strtoull(argv[2 + i], NULL, 10);
	if (wl_same(argv[1], MODE_CHILD))
		child_program(number[0], (int)number[1], (int)number[2]);
	if (wl_same(argv[1], MODE_AFTER_EXEC))
		after_exec_program(number[0], number[1], number[2]);
}

int main(int argc, char **argv)
{
	uint64_t n = 100;
	bool vfork_like = false, exec_from_thread = false;
	const char *dir = ".";
	const struct wl_opt opts[] = {
		WL_NUMBER("n", &n,
			  "fsyncs of the child, or getppids on each side of the exec (100)"),
		WL_FLAG("vfork", &vfork_like,
			"the child shares the parent's memory until its exec"),
		WL_FLAG("exec-from-thread", &exec_from_thread,
			"no child: a thread execs this program"),
		WL_STRING("dir", &dir, "where the scratch file is made (.)"),
	};
	struct wl w;

	run_second_program(argc, argv);
	wl_init(&w, "forkexec", argv, opts, WL_N(opts));
	if (exec_from_thread)
		run_exec_from_thread(&w, n);
	run_child(&w, n, vfork_like, dir);
	wl_finish(&w);
}
