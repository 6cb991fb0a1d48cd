/* SPDX-License-Identifier: MIT */
/*
 * Every BPF object loads on this kernel, in both variants, and counts a known workload exactly.
 * Runs on the build machine and in the guests of tests/vm (kernels from 5.10 on); needs root.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/lib/check.h"
#include "user/bpf/session_impl.h"
#include "user/cmd/observer_impl.h"
#include "user/cmd/serve_privilege.h"
#include "user/model/identities.h"
#include "user/model/syscall_names.h"
#include "user/proc/sysinfo.h"

#define NR_GETPPID   1000
#define NR_FSYNC     20
#define NR_FDATASYNC 10
#define NR_BAD_CLOSE 7
#define NR_SLEEPS    5
#define SLEEP_NS     (20 * NS_PER_MS)
/* Guests on software emulation are slow. */
#define DEADLINE_S 60

/* A child that waits for `go`, does its work, says so, and waits for `end`. */
struct load {
	pid_t pid;
	int go, done, end;
};

static void work(int fd)
{
	struct timespec nap = { 0, SLEEP_NS };

	for (int i = 0; i < NR_GETPPID; i++)
		(void)syscall(SYS_getppid);
	for (int i = 0; i < NR_FSYNC; i++)
		(void)fsync(fd);
	for (int i = 0; i < NR_FDATASYNC; i++)
		(void)fdatasync(fd);
	for (int i = 0; i < NR_BAD_CLOSE; i++)
		(void)close(-1);
	for (int i = 0; i < NR_SLEEPS; i++)
		(void)nanosleep(&nap, NULL);
}

static void load_start(struct load *load)
{
	int go[2], done[2], end[2];
	char c;

	if (pipe(go) || pipe(done) || pipe(end))
		FAIL("pipe: %s", strerror(errno));
	load->pid = fork();
	if (load->pid < 0)
		FAIL("fork: %s", strerror(errno));
	if (!load->pid) {
		char path[] = "/tmp/test_session.XXXXXX";
		int fd = mkstemp(path);

		unlink(path);
		close(go[1]);
		close(end[1]);
		if (write(done[1], "r", 1) != 1 || read(go[0], &c, 1) != 1)
			_exit(1);
		work(fd);
		if (write(done[1], "d", 1) != 1)
			_exit(1);
		(void)!read(end[0], &c, 1); /* until the parent closes it */
		_exit(0);
	}
	close(go[0]);
	close(done[1]);
	close(end[0]);
	load->go = go[1];
	load->done = done[0];
	load->end = end[1];
	CHECK(read(load->done, &c, 1) == 1);
}

static void load_run(struct load *load)
{
	char c;

	CHECK(write(load->go, "g", 1) == 1);
	CHECK(read(load->done, &c, 1) == 1);
}

static void load_stop(struct load *load)
{
	close(load->go);
	close(load->done);
	close(load->end);
	waitpid(load->pid, NULL, 0);
}

static u64 calls_of(const struct process_snap *p, const char *name)
{
	int nr = syscall_nr(SYSCALL_ARCH_NATIVE, name);

	return nr >= 0 && nr < NR_CALL_SLOTS ? p->calls[nr] : 0;
}

static u64 errors_of(const struct process_snap *p, const char *name, u32 code)
{
	int nr = syscall_nr(SYSCALL_ARCH_NATIVE, name);

	for (size_t i = 0; i < p->nr_errors; i++) {
		if (p->errors[i].kind == ERROR_SYSCALL && p->errors[i].id == nr &&
		    p->errors[i].code == code)
			return p->errors[i].n;
	}
	return 0;
}

static u64 sleep_calls(const struct process_snap *p)
{
	return calls_of(p, "nanosleep") + calls_of(p, "clock_nanosleep");
}

static void open_or_fail(const struct observer_config *config, struct observer **ret_observer)
{
	struct err err = { { 0 } };

	if (observer_open(config, ret_observer, &err))
		FAIL("%s", err.text);
}

/* The books of a thread that is just ending cannot be compared: then a moment later. */
static void snapshot_or_fail(struct observer *o, struct snapshot *ret_snap,
			     struct process_totals **ret_totals)
{
	const struct timespec moment = { 0, 10000000 };
	struct err err = { { 0 } };

	for (int tries = 0; tries < 500; tries++) {
		if (observer_snapshot(o, ret_snap, ret_totals, &err))
			FAIL("%s", err.text);
		if (!ret_snap->nr_processes || !ret_snap->processes[0].torn)
			return;
		snapshot_done(ret_snap);
		free(*ret_totals);
		nanosleep(&moment, NULL);
	}
	FAIL("the books of the process cannot be read as a whole");
}

static void check_counts(const struct snapshot *snap, const struct process_totals *t)
{
	const struct process_snap *p = &snap->processes[0];

	CHECK_EQ_U64(calls_of(p, "getppid"), NR_GETPPID);
	CHECK_EQ_U64(calls_of(p, "fsync"), NR_FSYNC);
	CHECK_EQ_U64(calls_of(p, "fdatasync"), NR_FDATASYNC);
	CHECK_EQ_U64(calls_of(p, "close"), NR_BAD_CLOSE);
	CHECK_EQ_U64(errors_of(p, "close", EBADF), NR_BAD_CLOSE);
	CHECK_EQ_U64(sleep_calls(p), NR_SLEEPS);
	CHECK_EQ_U64(t->cells[CELL_FSYNCS + DURABLE_FSYNC], NR_FSYNC);
	CHECK_EQ_U64(t->cells[CELL_FSYNCS + DURABLE_FDATASYNC], NR_FDATASYNC);
	/* The timer runs from before the thread leaves its CPU: half leaves room for a slow guest.
	 */
	CHECK(t->cells[CELL_OFF_CPU + REASON_SLEEP] >= NR_SLEEPS * SLEEP_NS / 2);
	CHECK(t->cells[CELL_CPU + MODE_SYSTEM] > 0);
	/* The read of `go` began before it was observed: neither the call nor its byte counts. */
	CHECK_EQ_U64(t->cells[CELL_READ_BYTES], 0);
	CHECK_EQ_U64(t->cells[CELL_WRITTEN_BYTES], 1);
}

static void check_books(const struct snapshot *snap, const struct process_totals *t)
{
	static const enum identity_id exact[] = { IDENTITY_MODES, IDENTITY_IN_FLIGHT,
						  IDENTITY_SYSCALLS };
	struct identity ids[NR_IDENTITIES];

	identities_of(snap, &snap->processes[0], t, ids);
	for (size_t i = 0; i < sizeof(exact) / sizeof(exact[0]); i++) {
		const struct identity *id = &ids[exact[i]];

		CHECK(id->checked);
		if (!identity_holds(id))
			FAIL("identity %s: residual %lld of %llu", identity_names[exact[i]],
			     id->residual, id->total);
	}
	for (size_t i = 0; i < NR_DROPS; i++)
		CHECK_EQ_U64(snap->drops[i], 0);
}

/* Effective ones, from /proc: what the serving phase may still read. */
static u64 capabilities_of_self(void)
{
	struct sysinfo_privilege privilege;

	sysinfo_privilege("", &privilege);
	CHECK(privilege.valid);
	return privilege.capabilities;
}

/* Like `serve` with these options; nothing but CAP_BPF may be left for fixed targets. */
static void drop_privileges(struct observer *o, const struct options *options)
{
	const u64 allowed =
		CAPABILITY(CAP_BPF) | (options->comms.n ? CAPABILITY(CAP_SYS_PTRACE) : 0);
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct words[_LINUX_CAPABILITY_U32S_3];
	struct err err = { { 0 } };
	u64 left;

	if (serve_drop_privileges(options, o, &err))
		FAIL("%s", err.text);
	CHECK_EQ_INT(syscall(SYS_capget, &header, words), -1); /* the filter is in force */
	CHECK_EQ_INT(errno, ENOSYS);
	left = capabilities_of_self();
	if (left & ~allowed)
		FAIL("capabilities %llx are left", (unsigned long long)left);
}

/*
 * Observe a load as `serve` would with @options (NULL: with all privileges), which has its target
 * before the privileges are dropped, or takes it in later if it has a --comm.
 */
static void observe_load(bool force_raw_tp, const struct options *options)
{
	bool late = options && options->comms.n;
	struct observer_config config = { .bounds = bpf_bounds_default,
					  .keep_ended = true,
					  .groups = (1u << NR_GROUPS) - 1,
					  .force_raw_tp = force_raw_tp };
	struct process_totals *totals;
	struct err err = { { 0 } };
	struct snapshot snap;
	struct observer *o;
	struct load load;

	alarm(DEADLINE_S);
	load_start(&load);
	open_or_fail(&config, &o);
	for (u32 g = 0; g < NR_GROUPS; g++) {
		const struct group_state *state = &observer_groups(o)[g];

		/* sk_data_ready came with 6.3. */
		if (!state->up && (g != GROUP_QUEUE || !strstr(state->reason, "no such")))
			FAIL("group %u is down: %s", g, state->reason);
	}
	if (late)
		drop_privileges(o, options);
	if (observer_add(o, load.pid, &err))
		FAIL("%s", err.text);
	if (options && !late)
		drop_privileges(o, options);
	load_run(&load);
	for (;;) { /* its last write returns after we read what it wrote; the deadline is the alarm
		    */
		snapshot_or_fail(o, &snap, &totals);
		if (totals[0].cells[CELL_WRITTEN_BYTES])
			break;
		snapshot_done(&snap);
		free(totals);
		sched_yield();
	}
	check_counts(&snap, &totals[0]);
	check_books(&snap, &totals[0]);
	CHECK(snap.processes[0].alive);
	snapshot_done(&snap);
	free(totals);
	observer_free(o);
	load_stop(&load);
	alarm(0);
}

TEST(typed_tracepoints_count_a_known_workload)
{
	observe_load(false, NULL);
}

TEST(raw_tracepoints_count_a_known_workload)
{
	observe_load(true, NULL);
}

/* In a child: what it gives up, the other cases need. */
static void observe_in_child(const struct options *options)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		FAIL("fork: %s", strerror(errno));
	if (!pid) {
		if (setjmp(check_leave)) { /* a check failed */
			fprintf(stderr, "# %s\n", check_why);
			_exit(1);
		}
		observe_load(false, options);
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFEXITED(status));
	CHECK_EQ_INT(WEXITSTATUS(status), 0);
}

TEST(counts_are_exact_without_privileges)
{
	const struct options options = { .command = "serve" };

	observe_in_child(&options);
}

TEST(targets_that_come_later_need_little)
{
	const char *name = "test_session";
	const struct options options = { .command = "serve", .comms = { &name, 1 } };

	observe_in_child(&options);
}

/* The last context switch of a process comes after its parent was told that it ended. */
TEST(totals_of_an_ended_process_stay)
{
	struct observer_config config = { .bounds = bpf_bounds_default,
					  .keep_ended = true,
					  .groups = (1u << NR_GROUPS) - 1 };
	struct process_totals *totals;
	struct err err = { { 0 } };
	struct snapshot snap;
	struct observer *o;
	struct load load;

	alarm(DEADLINE_S);
	load_start(&load);
	open_or_fail(&config, &o);
	if (observer_add(o, load.pid, &err))
		FAIL("%s", err.text);
	load_run(&load);
	load_stop(&load);
	observer_ended(o, 0);
	for (bool gone = false; !gone;) { /* the deadline is the alarm */
		snapshot_or_fail(o, &snap, &totals);
		gone = totals[0].cells[CELL_THREADS_ENDED] == 1;
		if (!gone) {
			snapshot_done(&snap);
			free(totals);
			sched_yield();
		}
	}
	CHECK_EQ_U64(calls_of(&snap.processes[0], "getppid"), NR_GETPPID);
	CHECK_EQ_U64(calls_of(&snap.processes[0], "exit_group"), 1);
	CHECK_EQ_U64(totals[0].cells[CELL_NEVER_RETURNED], 1);
	CHECK(!snap.processes[0].alive);
	check_books(&snap, &totals[0]);
	snapshot_done(&snap);
	free(totals);
	observer_free(o);
	alarm(0);
}

/*
 * The books of a thread are moved by several writes. Here its end has begun and goes no further,
 * as if the hypervisor had taken its CPU away.
 */
TEST(a_reading_that_overlaps_with_an_end_is_torn)
{
	struct observer_config config = { .bounds = bpf_bounds_default,
					  .groups = (1u << NR_GROUPS) - 1 };
	struct process_totals *totals;
	struct account_cells *cells;
	struct err err = { { 0 } };
	struct snapshot snap;
	struct observer *o;
	struct load load;

	alarm(DEADLINE_S);
	load_start(&load);
	open_or_fail(&config, &o);
	if (observer_add(o, load.pid, &err))
		FAIL("%s", err.text);
	snapshot_or_fail(o, &snap, &totals);
	cells = session_element(o->session, MAP_cells, snap.processes[0].slot);
	snapshot_done(&snap);
	free(totals);
	CHECK(cells);
	__atomic_add_fetch(&cells->cell[CELL_ENDS_BEGUN], 1, __ATOMIC_RELEASE);
	if (observer_snapshot(o, &snap, &totals, &err))
		FAIL("%s", err.text);
	CHECK(snap.processes[0].torn);
	snapshot_done(&snap);
	free(totals);
	__atomic_add_fetch(&cells->cell[CELL_THREADS_ENDED], 1, __ATOMIC_RELEASE);
	snapshot_or_fail(o, &snap, &totals);
	snapshot_done(&snap);
	free(totals);
	load_stop(&load);
	observer_free(o);
	alarm(0);
}

TEST(groups_that_are_not_wanted_are_absent)
{
	struct observer_config config = { .bounds = bpf_bounds_default,
					  .groups = 1u << GROUP_SCHED };
	struct observer *o;

	open_or_fail(&config, &o);
	CHECK(observer_groups(o)[GROUP_PROCESS].up);
	CHECK(observer_groups(o)[GROUP_SCHED].up);
	CHECK(!observer_groups(o)[GROUP_SYSCALLS].up);
	CHECK(!observer_groups(o)[GROUP_FSYNC].up);
	observer_free(o);
}

/* Run /bin/true and, without an exec, a process that takes its name; both end at once. */
static void run_two_called_true(void)
{
	for (int i = 0; i < 2; i++) {
		pid_t pid = fork();

		if (pid < 0)
			FAIL("fork: %s", strerror(errno));
		if (!pid && i) {
			execl("/bin/true", "true", (char *)NULL);
			_exit(127);
		}
		if (!pid) {
			prctl(PR_SET_NAME, "true");
			for (int n = 0; n < NR_GETPPID; n++)
				(void)syscall(SYS_getppid);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
}

TEST(programs_take_in_who_comes_to_be_called_so)
{
	const char *const comms[] = { "another", "true" };

	for (int raw = 0; raw < 2; raw++) {
		struct observer_config config = { .bounds = bpf_bounds_default,
						  .groups = ~0u,
						  .force_raw_tp = raw,
						  .comms = comms,
						  .nr_comms = 2 };
		struct process_totals *totals;
		struct observer *o;
		struct snapshot snap;

		open_or_fail(&config, &o);
		run_two_called_true();
		/* The last switch of the second is a moment after its end is known here. */
		for (u64 begin = observer_now();;) {
			snapshot_or_fail(o, &snap, &totals);
			if (snap.nr_processes == 1 && !snap.processes[0].alive &&
			    snap.processes[0].incarnations == 2)
				break;
			if (observer_now() - begin > DEADLINE_S * NS_PER_SEC)
				FAIL("%zu names in the snapshot", snap.nr_processes);
			snapshot_done(&snap);
			free(totals);
		}
		CHECK_STR(snap.processes[0].id.name, "true");
		CHECK_EQ_U64(calls_of(&snap.processes[0], "getppid"), NR_GETPPID);
		CHECK_EQ_U64(calls_of(&snap.processes[0], "exit_group"), 2);
		for (u32 i = 0; i < NR_DROPS; i++)
			CHECK_EQ_U64(snap.drops[i], 0);
		snapshot_done(&snap);
		free(totals);
		observer_free(o);
	}
}
