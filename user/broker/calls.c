/* SPDX-License-Identifier: MIT */
/* The table of system calls of the broker and, until it has confined itself, of its worker. */
#define _GNU_SOURCE /* CLONE_* */
#include "user/broker/calls.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "user/base/seccomp.h"

#define CALL(name)                \
	{                         \
		.nr = __NR_##name \
	}
#define EQUALS(name, index, what)                             \
	{                                                     \
		__NR_##name, CALL_ARG_EQUALS, (index), (what) \
	}
#define LACKS(name, index, what)                             \
	{                                                    \
		__NR_##name, CALL_ARG_LACKS, (index), (what) \
	}

/* What the C library's fork asks for, and nothing else: a process, not a thread, no namespace. */
#define FORK_FLAGS (CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD)

static const struct call_rule rules[] = {
#ifdef __NR_poll
	CALL(poll), /* arm64 has only ppoll */
	CALL(readlink),
	CALL(dup2),
#endif
	CALL(process_vm_readv),
	CALL(recvfrom),
	CALL(sendto),
	CALL(read),
	CALL(pread64),
	CALL(close),
	CALL(ppoll),
	CALL(clock_gettime), /* where the vDSO cannot answer */

	/* /proc, control groups, and programs: reading only */
	LACKS(openat, 2, O_ACCMODE | O_CREAT | O_TRUNC),
	CALL(lseek),
	CALL(fstat),
	CALL(newfstatat),
	CALL(getdents64),
	CALL(readlinkat),
	CALL(sysinfo), /* qsort asks how much memory there is */
	CALL(clock_nanosleep),
	CALL(nanosleep),
	CALL(getpid),

	/* memory that is no code */
	LACKS(mmap, 2, PROT_EXEC),
	LACKS(mprotect, 2, PROT_EXEC),
	CALL(munmap),
	CALL(mremap),
	CALL(madvise),
	CALL(brk),
	CALL(futex),
	CALL(getrandom),

	/* the process that reads a program's file, from its fork to its own filter */
	EQUALS(clone, 0, FORK_FLAGS),
	CALL(set_robust_list),
	CALL(pipe2),
	CALL(dup3),
	CALL(fcntl),
	CALL(write),
	CALL(close_range),
	CALL(capset), /* without capabilities there is nothing but to lose */
	EQUALS(prctl, 0, PR_SET_NAME),
	EQUALS(prctl, 0, PR_SET_NO_NEW_PRIVS),
	EQUALS(prctl, 0, PR_SET_SECCOMP),
	EQUALS(prlimit64, 0, 0), /* of itself */
	EQUALS(kill, 1, SIGKILL),
	CALL(wait4),

	/* signals of our own, and the end */
	CALL(rt_sigaction),
	CALL(rt_sigprocmask),
	CALL(rt_sigreturn),
	CALL(restart_syscall),
	CALL(exit),
	CALL(exit_group),
};

int broker_limit_calls(void)
{
	return seccomp_allow_only(rules, sizeof(rules) / sizeof(rules[0]), ENOSYS);
}
