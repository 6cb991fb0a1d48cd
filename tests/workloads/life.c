/* SPDX-License-Identifier: MIT */
/*
 * How a process can end or change its name.
 *
 * The truth: N getppid after the release, then by --mode
 *
 *   exit, abort, segv, kill   print the truth, wait --after milliseconds, die that way (exit with
 *                             --status); "after" names the calls made after the JSON
 *   prctl-rename              wait, take the name that --name or --name-hex says, N getppid more,
 *                             print
 *   execrename                wait, exec this program under another file name, N getppid more,
 *                             print; what loader and libc do before main() is not in any tally
 *   leader-exit               the first thread exits, a second one lives on: N getppid more, wait,
 *                             print
 *
 * The names of --name are those that break a careless output: quotes, newline, backslash, utf8
 * (bytes that are none), cut (a character cut in its middle by the limit of 15 bytes), empty,
 * braces, long.
 */
#include "workload.h"

#include <sys/prctl.h>

#define MODE_AFTER_EXEC "--as-after-exec"

/* The longest name that the kernel keeps: TASK_COMM_LEN less the end. */
enum {
	MAX_COMM = 15
};

extern char **environ;

struct life {
	const char *mode;
	const char *name;
	const char *name_hex;
	const char *dir;
	uint64_t n;
	uint64_t after_ms;
	uint64_t status;
	int gate;
	struct wl *w;
};

static const struct {
	const char *key;
	const char *comm;
} names[] = {
	{ "quotes", "a\"b'c`d" },
	{ "newline", "two\nlines" },
	{ "backslash", "back\\s\\" },
	{ "utf8", "bad\xff\xfe\x80\xc3(" },
	{ "cut", "12345678901234\xc3\xa9" },
	{ "empty", "" },
	{ "braces", "{x=\"1\"} 2" },
	{ "long", "a name longer than the limit" },
};

static void repeat_getppid(struct wl_tally *t, uint64_t n)
{
	uint64_t i;

	for (i = 0; i < n; i++)
		WL(t, getppid);
}

static void wait_after(struct wl_tally *t, uint64_t ms)
{
	const struct timespec length = wl_timespec_ms(ms);

	if (ms)
		WL_OK(t, clock_nanosleep, CLOCK_MONOTONIC, 0, &length, NULL);
}

static void tell_name(struct wl *w, const char *comm)
{
	char hex[2 * MAX_COMM + 1] = "";
	size_t i;

	for (i = 0; i < MAX_COMM && comm[i]; i++)
		snprintf(hex + 2 * i, 3, "%02x", (unsigned char)comm[i]);
	wl_json_text(w, "comm_hex", hex);
}

/* ---- death ----------------------------------------------------------------------------------- */

static int death_signal(const char *mode)
{
	if (wl_same(mode, "abort"))
		return SIGABRT;
	if (wl_same(mode, "segv"))
		return SIGSEGV;
	if (wl_same(mode, "kill"))
		return SIGKILL;
	return 0;
}

static WL_NORETURN void run_death(struct life *life)
{
	int *volatile nowhere = MAP_FAILED; /* in no user's half of memory */
	int sig = death_signal(life->mode);
	struct wl_tally after = { 0 };
	struct wl *w = life->w;

	setrlimit(RLIMIT_CORE, &(struct rlimit){ 0 }); /* leave nothing behind */

	wl_ready(w);
	repeat_getppid(&w->tally, life->n);
	if (life->after_ms)
		after.calls[WL_CALL_clock_nanosleep] = 1;
	after.calls[sig && sig != SIGSEGV ? WL_CALL_kill : WL_CALL_exit_group] = sig != SIGSEGV;
	wl_json_begin(w);
	wl_json_text(w, "mode", life->mode);
	wl_json_long(w, "signal", sig);
	wl_json_u64(w, "status", sig ? 0 : life->status);
	wl_json_calls(w, "after", &after);
	wl_json_end(w);

	wait_after(&after, life->after_ms);
	if (sig == SIGSEGV)
		*nowhere = 0;
	if (sig)
		WL(&after, kill, w->pid, sig);
	for (;;)
		WL(&after, exit_group, life->status);
}

/* ---- another name ---------------------------------------------------------------------------- */

/* The value of a hexadecimal digit; ends the program if it is none. */
static unsigned hex_digit(char c)
{
	const char *digits = "0123456789abcdef", *at = c ? strchr(digits, c | 0x20) : NULL;

	if (!at)
		wl_quit(64, "--name-hex has a wrong digit");
	return (unsigned)(at - digits);
}

/* The name to take: at most MAX_COMM bytes and a zero. */
static void choose_name(const struct life *life, char ret_comm[MAX_COMM + 1])
{
	const char *hex = life->name_hex;
	size_t i, len = strlen(hex);

	memset(ret_comm, 0, MAX_COMM + 1);
	if (len % 2 || len / 2 > MAX_COMM)
		wl_quit(64, "--name-hex is 1 to 15 pairs of digits");
	for (i = 0; i < len / 2; i++)
		ret_comm[i] = (char)(hex_digit(hex[2 * i]) << 4 | hex_digit(hex[2 * i + 1]));
	if (len)
		return;
	for (i = 0; i < WL_N(names); i++) {
		if (wl_same(names[i].key, life->name)) {
			memcpy(ret_comm, names[i].comm, strnlen(names[i].comm, MAX_COMM));
			return;
		}
	}
	wl_quit(64, "unknown --name %s", life->name);
}

static void run_prctl_rename(struct life *life)
{
	char comm[MAX_COMM + 1];
	struct wl *w = life->w;

	choose_name(life, comm);
	wl_ready(w);
	repeat_getppid(&w->tally, life->n);
	wait_after(&w->tally, life->after_ms);
	WL_OK(&w->tally, prctl, PR_SET_NAME, comm);
	repeat_getppid(&w->tally, life->n);
	wl_json_begin(w);
	wl_json_text(w, "mode", life->mode);
	tell_name(w, comm);
	wl_json_end(w);
}

/* exec through a link: the new name is the last part of the path that was executed. */
static WL_NORETURN void run_exec_rename(struct life *life)
{
	char self[4096], link_path[4096], number[3][24];
	struct wl *w = life->w;
	char *argv[] = {
		link_path, (char *)MODE_AFTER_EXEC, number[0], number[1], number[2], NULL
	};
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n < 0)
		wl_die("/proc/self/exe: %s", strerror(errno));
	self[n] = '\0';
	snprintf(link_path, sizeof(link_path), "%s/renamed-%d", life->dir, w->pid);
	if (symlink(self, link_path))
		wl_die("%s: %s", link_path, strerror(errno));
	snprintf(number[0], sizeof(number[0]), "%llu", (unsigned long long)life->n);
	snprintf(number[1], sizeof(number[1]), "%d", life->after_ms != 0);
	snprintf(number[2], sizeof(number[2]), "%d", w->exit_at_once);

	wl_ready(w);
	repeat_getppid(&w->tally, life->n);
	wait_after(&w->tally, life->after_ms);
	WL_OK(&w->tally, execve, link_path, argv, environ);
	_exit(1);
}

static WL_NORETURN void after_exec_program(char **argv)
{
	struct wl w = { .name = "life", .protocol_reads = 1, .exit_at_once = argv[4][0] == '1' };
	uint64_t n = strtoull(argv[2], NULL, 10);
	const char *slash = strrchr(argv[0], '/');

	w.pid = getpid();
	repeat_getppid(&w.tally, n);
	WL_OK(&w.tally, unlinkat, AT_FDCWD, argv[0], 0);
	/* What the old program did, by construction. */
	w.tally.calls[WL_CALL_getppid] += n;
	w.tally.calls[WL_CALL_clock_nanosleep] = argv[3][0] == '1';
	w.tally.calls[WL_CALL_execve] = 1;
	wl_json_begin(&w);
	wl_json_text(&w, "mode", "execrename");
	wl_json_text(&w, "startup", "not counted");
	tell_name(&w, slash ? slash + 1 : argv[0]);
	wl_json_end(&w);
	wl_finish(&w);
}

/* ---- a leader that is gone ------------------------------------------------------------------- */

/* The last thread may use stdio: the storage that it shares with the leader is still there. */
static void survivor_main(struct wl_thread *th)
{
	struct life *life = th->arg;
	struct wl *w = life->w;

	while (!__atomic_load_n(&life->gate, __ATOMIC_ACQUIRE))
		(void)wl_futex_wait(&th->tally, &life->gate, 0);
	repeat_getppid(&th->tally, life->n);
	wait_after(&th->tally, life->after_ms);
	wl_tally_add(&w->tally, &th->tally);
	wl_json_begin(w);
	wl_json_text(w, "mode", "leader-exit");
	wl_json_long(w, "survivor", th->tid);
	wl_json_end(w);
	wl_finish(w);
}

static WL_NORETURN void run_leader_exit(struct life *life)
{
	struct wl_tally before = { 0 };
	struct wl *w = life->w;
	struct wl_thread *th = wl_threads_alloc(1, survivor_main, life);

	wl_thread_start(&before, th);
	wl_wait_state(w->pid, th->tid, 'S');
	w->entered_before.calls[WL_CALL_futex] = 1;

	wl_ready(w);
	repeat_getppid(&w->tally, life->n);
	w->tally.calls[WL_CALL_futex]++; /* the next one, */
	w->tally.calls[WL_CALL_exit]++;	 /* and the last */
	__atomic_store_n(&life->gate, 1, __ATOMIC_RELEASE);
	(void)wl_futex_wake(&before, &life->gate, 1);
	for (;;)
		WL(&before, exit, 0);
}

int main(int argc, char **argv)
{
	struct life life = {
		.mode = "exit", .name = "quotes", .name_hex = "", .dir = ".", .n = 1000
	};
	const struct wl_opt opts[] = {
		WL_STRING("mode", &life.mode,
			  "exit, abort, segv, kill, prctl-rename, execrename, leader-exit (exit)"),
		WL_NUMBER("after", &life.after_ms, "milliseconds before it happens (0)"),
		WL_NUMBER("n", &life.n, "getppid calls, before and after (1000)"),
		WL_NUMBER("status", &life.status, "exit status for --mode exit (0)"),
		WL_STRING("name", &life.name,
			  "quotes, newline, backslash, utf8, cut, empty, braces or long (quotes)"),
		WL_STRING("name-hex", &life.name_hex, "the bytes of the name instead"),
		WL_STRING("dir", &life.dir, "where execrename makes its link (.)"),
	};
	struct wl w;

	if (argc == 5 && wl_same(argv[1], MODE_AFTER_EXEC))
		after_exec_program(argv);
	wl_init(&w, "life", argv, opts, WL_N(opts));
	life.w = &w;
	if (wl_same(life.mode, "exit") || death_signal(life.mode))
		run_death(&life);
	if (wl_same(life.mode, "execrename"))
		run_exec_rename(&life);
	if (wl_same(life.mode, "leader-exit"))
		run_leader_exit(&life);
	if (!wl_same(life.mode, "prctl-rename"))
		wl_quit(64, "unknown --mode %s", life.mode);
	run_prctl_rename(&life);
	wl_finish(&w);
}
