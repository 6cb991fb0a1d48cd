/* SPDX-License-Identifier: MIT */
/* Lists of the system calls that a process may still make. Knows nothing of what they are for. */
#ifndef SKYOBSERVE_BASE_SECCOMP_H
#define SKYOBSERVE_BASE_SECCOMP_H

#include <stdbool.h>
#include <stddef.h>

#include "types.h"

/* When a call of the list passes. Only the lower half of an argument is looked at. */
enum call_condition {
	CALL_ALWAYS,
	CALL_ARG_EQUALS, /* argument @arg is @value */
	CALL_ARG_LACKS,	 /* no bit of @value is set in argument @arg */
};

/* A row of the list. A call may have several; one that holds is enough. */
struct call_rule {
	u32 nr; /* __NR_* */
	enum call_condition condition;
	u32 arg; /* 0 to 5 */
	u32 value;
};

/* Rows of a table, by the call's name; include sys/syscall.h. */
#define CALL_RULE(name)           \
	{                         \
		.nr = __NR_##name \
	}
#define CALL_RULE_EQUALS(name, index, what)                   \
	{                                                     \
		__NR_##name, CALL_ARG_EQUALS, (index), (what) \
	}
#define CALL_RULE_LACKS(name, index, what)                   \
	{                                                    \
		__NR_##name, CALL_ARG_LACKS, (index), (what) \
	}

/* Rows that each of our lists has: memory that is no code; include sys/mman.h. */
#define CALL_RULES_MEMORY                                                                 \
	CALL_RULE_LACKS(mmap, 2, PROT_EXEC), CALL_RULE_LACKS(mprotect, 2, PROT_EXEC),     \
		CALL_RULE(munmap), CALL_RULE(mremap), CALL_RULE(madvise), CALL_RULE(brk), \
		CALL_RULE(futex), CALL_RULE(getrandom)
/* And those of signals of our own, and the end. */
#define CALL_RULES_END                                                               \
	CALL_RULE(rt_sigaction), CALL_RULE(rt_sigprocmask), CALL_RULE(rt_sigreturn), \
		CALL_RULE(restart_syscall), CALL_RULE(exit), CALL_RULE(exit_group)

/*
 * Let the calling thread, and what it starts from now on, make the calls of @rules only, for ever.
 * Any other call returns -@code; one of a foreign ABI (int 0x80) ends the process. Needs
 * no_new_privs, or CAP_SYS_ADMIN. Returns 0 or a negative errno; -ENOSYS where the kernel has no
 * filters. A program under AddressSanitizer, which needs more calls when it reports, is left as it
 * is.
 */
int seccomp_allow_only(const struct call_rule *rules, size_t n, int code);

/* Whether seccomp_allow_only does what it says in this build. */
bool seccomp_is_in_use(void);

#endif /* SKYOBSERVE_BASE_SECCOMP_H */
