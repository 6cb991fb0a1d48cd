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

/* What the C library's fork asks for, and nothing else: a process, not a thread, no namespace. */
#define FORK_FLAGS (CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD)

static const struct call_rule rules[] = {
#ifdef __NR_poll
	CALL_RULE(poll), /* arm64 has only ppoll */
	CALL_RULE(readlink),
	CALL_RULE(dup2),
#endif
	CALL_RULE(process_vm_readv),
	CALL_RULE(recvfrom),
	CALL_RULE(sendto),
	CALL_RULE(read),
	CALL_RULE(pread64),
	CALL_RULE(close),
	CALL_RULE(ppoll),
	CALL_RULE(clock_gettime), /* where the vDSO cannot answer */

	/* /proc, control groups, and programs: reading only */
	CALL_RULE_LACKS(openat, 2, O_ACCMODE | O_CREAT | O_TRUNC),
	CALL_RULE(lseek),
	CALL_RULE(fstat),
	CALL_RULE(newfstatat),
	CALL_RULE(getdents64),
	CALL_RULE(readlinkat),
	CALL_RULE(sysinfo), /* qsort asks how much memory there is */
	CALL_RULE(clock_nanosleep),
	CALL_RULE(nanosleep),
	CALL_RULE(getpid),

	CALL_RULES_MEMORY,

	/* the process that reads a program's file, from its fork to its own filter */
	CALL_RULE_EQUALS(clone, 0, FORK_FLAGS),
	CALL_RULE(set_robust_list),
	CALL_RULE(pipe2),
	CALL_RULE(dup3),
	CALL_RULE(fcntl),
	CALL_RULE(write),
	CALL_RULE(close_range),
	CALL_RULE(capset), /* without capabilities there is nothing but to lose */
	CALL_RULE_EQUALS(prctl, 0, PR_SET_NAME),
	CALL_RULE_EQUALS(prctl, 0, PR_SET_NO_NEW_PRIVS),
	CALL_RULE_EQUALS(prctl, 0, PR_SET_SECCOMP),
	CALL_RULE_EQUALS(prlimit64, 0, 0), /* of itself */
	CALL_RULE_EQUALS(kill, 1, SIGKILL),
	CALL_RULE(wait4),

	CALL_RULES_END,
};

int broker_limit_calls(void)
{
	return seccomp_allow_only(rules, sizeof(rules) / sizeof(rules[0]), ENOSYS);
}
