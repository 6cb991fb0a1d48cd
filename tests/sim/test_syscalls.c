/* SPDX-License-Identifier: MIT */
/* Entering and leaving system calls, errors and durable writes: each rule, one at a time. */
#include "tests/lib/check.h"

#include "tests/sim/host.h"

#include "syscalls.bpf.h"

static struct thread_cell t;

/* A thread in @state since 1000, in no call. */
static void begin(u8 state)
{
	t = (struct thread_cell){ .tid = 1, .since_ns = 1000, .nr = NO_CALL, .run_state = state };
}

TEST(syscall_has_a_duration_and_system_time)
{
	u64 ns = 0;

	begin(RUN_RUNNING);
	syscall_begin(&t, 202, ABI_NATIVE, 2000);
	CHECK_EQ_INT(t.nr, 202);
	CHECK_EQ_U64(t.enter_ns, 2000);
	CHECK_EQ_U64(t.enters, 1);
	CHECK_EQ_U64(t.exits, 0);
	CHECK(syscall_end(&t, 2300, &ns));
	CHECK_EQ_U64(ns, 300);
	CHECK_EQ_U64(t.sys_ns, 300);
	CHECK_EQ_INT(t.nr, NO_CALL);
	CHECK_EQ_U64(t.exits, 1);
	CHECK_EQ_INT(t.run_state, RUN_RUNNING);
	CHECK_EQ_U64(t.since_ns, 1000);
}

TEST(syscall_system_time_begins_again_after_a_switch_in)
{
	u64 ns = 0;

	begin(RUN_RUNNING);
	syscall_begin(&t, 0, ABI_NATIVE, 2000);
	t.sys_ns = 50;	       /* up to the switch-out at 2050 */
	t.sys_since_ns = 9000; /* switched in again */
	CHECK(syscall_end(&t, 9100, &ns));
	CHECK_EQ_U64(ns, 7100);
	CHECK_EQ_U64(t.sys_ns, 150);
}

TEST(syscall_system_time_of_several_calls_adds_up)
{
	u64 ns;

	begin(RUN_RUNNING);
	for (u64 i = 0; i < 10; i++) {
		syscall_begin(&t, 39, ABI_NATIVE, 2000 + 100 * i);
		CHECK(syscall_end(&t, 2007 + 100 * i, &ns));
	}
	CHECK_EQ_U64(t.sys_ns, 70);
	CHECK_EQ_U64(t.enters, 10);
	CHECK_EQ_U64(t.exits, 10);
}

TEST(syscall_that_nobody_saw_begin_has_no_duration)
{
	u64 ns = 77;

	/* The child of a clone. */
	begin(RUN_RUNNING);
	CHECK(!syscall_end(&t, 2000, &ns));
	CHECK_EQ_U64(ns, 77);
	CHECK_EQ_U64(t.exits, 0);
	CHECK_EQ_U64(t.sys_ns, 0);
	CHECK_EQ_INT(t.nr, NO_CALL);

	/* A call that is older than the observation. Its time since then is system time. */
	begin(RUN_RUNNING);
	t.nr = 0;
	t.flags = THREAD_SEEDED_CALL | THREAD_SEEDED_WAIT;
	t.enter_ns = t.sys_since_ns = 1000;
	CHECK(!syscall_end(&t, 2000, &ns));
	CHECK_EQ_U64(ns, 77);
	CHECK_EQ_U64(t.exits, 0);
	CHECK_EQ_U64(t.sys_ns, 1000);
	CHECK_EQ_INT(t.nr, NO_CALL);
	CHECK_EQ_U64(t.flags, THREAD_SEEDED_WAIT);
}

TEST(syscall_after_one_that_was_seeded_is_seen)
{
	u64 ns;

	/* /proc said that it was in a call; it had returned before the observation began. */
	begin(RUN_RUNNING);
	t.nr = 0;
	t.flags = THREAD_SEEDED_CALL;
	syscall_begin(&t, 1, ABI_NATIVE, 2000);
	CHECK_EQ_U64(t.flags & THREAD_SEEDED_CALL, 0);
	CHECK(syscall_end(&t, 2001, &ns));
	CHECK_EQ_U64(ns, 1);
	CHECK_EQ_U64(t.enters, 1);
	CHECK_EQ_U64(t.exits, 1);
}

TEST(syscall_shows_that_a_thread_of_unknown_state_runs)
{
	u64 ns;

	begin(RUN_UNKNOWN);
	syscall_begin(&t, 1, ABI_NATIVE, 2000);
	CHECK_EQ_INT(t.run_state, RUN_RUNNING);
	CHECK_EQ_U64(t.since_ns, 2000);

	begin(RUN_UNKNOWN);
	CHECK(!syscall_end(&t, 2000, &ns));
	CHECK_EQ_INT(t.run_state, RUN_RUNNING);
	CHECK_EQ_U64(t.since_ns, 2000);
	CHECK_EQ_U64(t.sys_ns, 0);
}

TEST(syscall_of_another_abi_is_marked)
{
	begin(RUN_RUNNING);
	syscall_begin(&t, 4, ABI_COMPAT, 2000);
	CHECK_EQ_INT(t.abi, ABI_COMPAT);
	syscall_begin(&t, 4, ABI_NATIVE, 2100);
	CHECK_EQ_INT(t.abi, ABI_NATIVE);
}

TEST(syscall_with_clocks_that_disagree_never_wraps)
{
	u64 ns = 77;

	begin(RUN_RUNNING);
	syscall_begin(&t, 0, ABI_NATIVE, 2000);
	CHECK(syscall_end(&t, 1990, &ns));
	CHECK_EQ_U64(ns, 0);
	CHECK_EQ_U64(t.sys_ns, 0);
}

TEST(call_errors_are_the_last_4095_values)
{
	static const struct {
		long ret;
		u32 code;
	} cases[] = {
		{ 0, 0 },
		{ 1, 0 },
		{ 4096, 0 },
		{ 0x7fffffffffffffff, 0 },
		{ -1, 1 },
		{ -2, 2 },
		{ -511, 511 },
		{ -512, ERRNO_RESTART },
		{ -513, ERRNO_RESTART },
		{ -514, ERRNO_RESTART },
		{ -516, ERRNO_RESTART },
		{ -517, 517 },
		{ -4095, 4095 },
		{ -4096, 0 }, /* an address of the user, as mmap returns them */
		{ -4097, 0 },
		{ (long)0x8000000000000000, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (u8 io = CALL_IO_NONE; io <= CALL_IO_WRITE; io++)
			CHECK_EQ_U64(call_errno(cases[i].ret, io), cases[i].code);
		/* rt_sigreturn returns whatever the interrupted code had in its register. */
		CHECK_EQ_U64(call_errno(cases[i].ret, CALL_IO_NOERR), 0);
	}
}

TEST(call_rt_sigreturn_is_the_call_without_errors)
{
	static const struct {
		const char *name;
		u8 io;
	} rows[] = {
#define CALL(name, wait, durable, io, buffer) { name, CALL_IO_##io },
#include "calls.def"
#undef CALL
	};
	bool found = false;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CHECK_EQ_INT(rows[i].io == CALL_IO_NOERR, !strcmp(rows[i].name, "rt_sigreturn"));
		found |= rows[i].io == CALL_IO_NOERR;
	}
	CHECK(found);
}

/* The user's interface, written out: tests/sim is built without its headers. */
#define MS_ASYNC      1
#define MS_INVALIDATE 2
#define MS_SYNC	      4
#define O_DSYNC	      0x1000
#define O_SYNC	      0x101000
#define O_APPEND      0x400
#define RWF_HIPRI     0x1
#define RWF_DSYNC     0x2
#define RWF_SYNC      0x4
#define RWF_NOWAIT    0x8

TEST(call_durable_rules)
{
	static const struct {
		u8 rule;
		u64 third, sixth;
		u32 file_flags;
		u8 durable; /* 1 + enum durable_call */
	} cases[] = {
		{ RULE_NONE, MS_SYNC, RWF_SYNC, O_SYNC, 0 },
		{ 99, MS_SYNC, RWF_SYNC, O_SYNC, 0 },
		{ RULE_FSYNC, 0, 0, 0, 1 + DURABLE_FSYNC },
		{ RULE_FDATASYNC, 0, 0, 0, 1 + DURABLE_FDATASYNC },
		{ RULE_SYNC_FILE_RANGE, 0, 0, 0, 1 + DURABLE_SYNC_FILE_RANGE },
		{ RULE_SYNCFS, 0, 0, 0, 1 + DURABLE_SYNCFS },
		{ RULE_SYNC, 0, 0, 0, 1 + DURABLE_SYNC },
		/* msync: only if it waits for the disk */
		{ RULE_MSYNC, MS_SYNC, 0, 0, 1 + DURABLE_MSYNC },
		{ RULE_MSYNC, MS_SYNC | MS_INVALIDATE, 0, 0, 1 + DURABLE_MSYNC },
		{ RULE_MSYNC, MS_ASYNC, 0, 0, 0 },
		{ RULE_MSYNC, MS_ASYNC | MS_INVALIDATE, 0, O_SYNC, 0 },
		{ RULE_MSYNC, 0, RWF_SYNC, O_SYNC, 0 },
		/* write: by what the file was opened with */
		{ RULE_WRITE, 0, 0, O_DSYNC, 1 + DURABLE_SYNC_WRITE },
		{ RULE_WRITE, 0, 0, O_SYNC, 1 + DURABLE_SYNC_WRITE },
		{ RULE_WRITE, 0, 0, O_SYNC | O_APPEND | 1, 1 + DURABLE_SYNC_WRITE },
		{ RULE_WRITE, 0, 0, O_APPEND | 1, 0 },
		{ RULE_WRITE, 0, 0, O_SYNC & ~O_DSYNC, 0 }, /* that bit alone means nothing */
		{ RULE_WRITE, MS_SYNC, RWF_SYNC, 0, 0 },
		/* pwritev2: or by its own flags */
		{ RULE_WRITE_FLAGS, 0, 0, O_DSYNC, 1 + DURABLE_SYNC_WRITE },
		{ RULE_WRITE_FLAGS, 0, RWF_DSYNC, 0, 1 + DURABLE_SYNC_WRITE },
		{ RULE_WRITE_FLAGS, 0, RWF_SYNC, 0, 1 + DURABLE_SYNC_WRITE },
		{ RULE_WRITE_FLAGS, 0, RWF_SYNC | RWF_HIPRI, 0, 1 + DURABLE_SYNC_WRITE },
		{ RULE_WRITE_FLAGS, 0, RWF_HIPRI | RWF_NOWAIT, 0, 0 },
		{ RULE_WRITE_FLAGS, RWF_SYNC, 0, 0, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		u8 got = call_durable(cases[i].rule, cases[i].third, cases[i].sixth,
				      cases[i].file_flags);

		if (got != cases[i].durable)
			FAIL("row %zu: %d, want %d", i, got, cases[i].durable);
	}
}

TEST(call_durable_rules_of_the_table_can_be_met)
{
	static const u8 rules[] = {
#define CALL(name, wait, durable, io, buffer) RULE_##durable,
#include "calls.def"
#undef CALL
	};
	bool met[NR_DURABLE_SYSCALLS] = { false };

	for (size_t i = 0; i < sizeof(rules); i++) {
		u8 durable = call_durable(rules[i], MS_SYNC, RWF_SYNC, O_SYNC);

		CHECK(durable <= NR_DURABLE_SYSCALLS);
		if (durable)
			met[durable - 1] = true;
	}
	/* Every durable write by system call that is published at 0 can be counted. */
	for (u32 i = 0; i < NR_DURABLE_SYSCALLS; i++)
		CHECK(met[i]);
}
