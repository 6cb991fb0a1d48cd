/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Decisions of the syscalls and fsync groups: what entering and leaving a system call does to a
 * thread's cell. No helpers, no maps; compiled for the host by tests.
 */
#ifndef SKYOBSERVE_SYSCALLS_BPF_H
#define SKYOBSERVE_SYSCALLS_BPF_H

/* Linux's user interface, not in BTF (include/uapi/asm-generic/{fcntl,mman-common}.h, fs.h). */
#define USER_MS_SYNC   4
#define USER_O_DSYNC   010000
#define USER_O_SYNC    04010000 /* contains O_DSYNC */
#define USER_RWF_DSYNC 0x2
#define USER_RWF_SYNC  0x4

/* Errors are in [-4095, -1]; these never reach the program (include/linux/errno.h). */
#define FIRST_RESTART_CODE 512 /* ERESTARTSYS */
#define LAST_RESTART_CODE  516 /* ERESTART_RESTARTBLOCK */
#define MAX_ERRNO_CODE	   4095

/* The errno of a return value, ERRNO_RESTART for the kernel's internal codes, 0 for success. */
static __always_inline u32 call_errno(long ret, u8 io)
{
	if (ret >= 0 || ret < -MAX_ERRNO_CODE || io == CALL_IO_NOERR)
		return 0;
	if (-ret >= FIRST_RESTART_CODE && -ret <= LAST_RESTART_CODE)
		return ERRNO_RESTART;
	return (u32)-ret;
}

/*
 * Which durable write a call is, 1 + enum durable_call, or 0. @file_flags are those of the file
 * that is written to (only looked at for the rules that ask).
 */
static __always_inline u8 call_durable(u8 rule, u64 third, u64 sixth, u32 file_flags)
{
	switch (rule) {
	case RULE_FSYNC:
		return 1 + DURABLE_FSYNC;
	case RULE_FDATASYNC:
		return 1 + DURABLE_FDATASYNC;
	case RULE_SYNC_FILE_RANGE:
		return 1 + DURABLE_SYNC_FILE_RANGE;
	case RULE_MSYNC:
		return third & USER_MS_SYNC ? 1 + DURABLE_MSYNC : 0;
	case RULE_SYNCFS:
		return 1 + DURABLE_SYNCFS;
	case RULE_SYNC:
		return 1 + DURABLE_SYNC;
	case RULE_WRITE_FLAGS:
		if (sixth & (USER_RWF_DSYNC | USER_RWF_SYNC))
			return 1 + DURABLE_SYNC_WRITE;
		return file_flags & USER_O_DSYNC ? 1 + DURABLE_SYNC_WRITE : 0;
	case RULE_WRITE:
		return file_flags & USER_O_DSYNC ? 1 + DURABLE_SYNC_WRITE : 0;
	default:
		return 0;
	}
}

static __always_inline void syscall_begin(struct thread_cell *t, s32 nr, u8 abi, u64 now)
{
	t->enters++;
	t->nr = nr;
	t->abi = abi;
	t->enter_ns = now;
	t->sys_since_ns = now;
	t->flags &= ~THREAD_SEEDED_CALL;
	if (t->run_state == RUN_UNKNOWN) {
		t->run_state = RUN_RUNNING;
		t->since_ns = now;
	}
}

/*
 * The call in flight returned. True if its entry was seen, with its duration in *ret_ns; an exit
 * without an entry (child of clone, call older than the observation) has none.
 */
static __always_inline bool syscall_end(struct thread_cell *t, u64 now, u64 *ret_ns)
{
	bool seen = t->nr != NO_CALL && !(t->flags & THREAD_SEEDED_CALL);

	if (t->nr != NO_CALL && t->run_state == RUN_RUNNING)
		t->sys_ns += now > t->sys_since_ns ? now - t->sys_since_ns : 0;
	if (t->run_state == RUN_UNKNOWN) {
		t->run_state = RUN_RUNNING;
		t->since_ns = now;
	}
	if (seen) {
		t->exits++;
		*ret_ns = now > t->enter_ns ? now - t->enter_ns : 0;
	}
	t->nr = NO_CALL;
	t->flags &= ~THREAD_SEEDED_CALL;
	return seen;
}

#endif /* SKYOBSERVE_SYSCALLS_BPF_H */
