/* SPDX-License-Identifier: MIT */
/*
 * The table of system calls that serving makes, found by watching it and reading the C library and
 * libmicrohttpd. A call that is missing fails with ENOSYS, as on a kernel that does not have it:
 * the C library then falls back to an older one.
 */
#include "user/cmd/serve_calls.h"

#include <asm/termbits.h> /* for TCGETS2 */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
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

/* The often used ones first: the filter looks through them in this order. */
static const struct call_rule rules[] = {
#ifdef __NR_epoll_wait
	CALL(epoll_wait), /* arm64 has only epoll_pwait */
	CALL(poll),
	CALL(readlink),
	CALL(time),
#endif
	CALL(epoll_pwait),
	CALL(read),
	CALL(close),
	CALL(clock_gettime), /* where the vDSO cannot answer */
	CALL(gettimeofday),
	CALL(getpid),

	/* /proc and /sys: reading only */
	LACKS(openat, 2, O_ACCMODE | O_CREAT | O_TRUNC),
	CALL(pread64),
	CALL(lseek),
	CALL(fstat),
	CALL(newfstatat),
	CALL(getdents64),
	CALL(readlinkat),
	CALL(uname),
	CALL(sysinfo),
	EQUALS(prlimit64, 0, 0), /* of ourselves */
	CALL(sched_getaffinity),

	/* What is open already is read and kept in order. */
	EQUALS(bpf, 0, BPF_MAP_LOOKUP_ELEM),
	EQUALS(bpf, 0, BPF_MAP_UPDATE_ELEM),
	EQUALS(bpf, 0, BPF_MAP_DELETE_ELEM),
	EQUALS(bpf, 0, BPF_MAP_GET_NEXT_KEY),
	EQUALS(bpf, 0, BPF_MAP_LOOKUP_AND_DELETE_ELEM),
	EQUALS(bpf, 0, BPF_MAP_LOOKUP_BATCH),
	EQUALS(bpf, 0, BPF_OBJ_GET_INFO_BY_FD),
	EQUALS(bpf, 0, BPF_ITER_CREATE),

	/* memory that is no code */
	LACKS(mmap, 2, PROT_EXEC),
	LACKS(mprotect, 2, PROT_EXEC),
	CALL(munmap),
	CALL(mremap),
	CALL(madvise),
	CALL(brk),
	CALL(futex),
	CALL(getrandom),

	/* the loop, and connections from sockets that listen already */
	CALL(epoll_ctl),
	CALL(accept4),
	CALL(recvfrom),
	CALL(recvmsg),
	CALL(sendto),
	CALL(sendmsg),
	CALL(write),
	CALL(writev),
	CALL(sendfile),
	CALL(shutdown),
	CALL(setsockopt),
	CALL(getsockopt),
	CALL(getsockname),
	CALL(getpeername),
	CALL(fcntl),
	CALL(ppoll),
	EQUALS(ioctl, 1, FIONBIO),
	EQUALS(ioctl, 1, TCGETS),  /* isatty */
	EQUALS(ioctl, 1, TCGETS2), /* of glibc 2.42 and later */
	CALL(timerfd_settime),
	CALL(clock_nanosleep),
	CALL(nanosleep),

	CALL(wait4), /* for the program that was started, and the broker */

	/* signals of our own, and the end */
	CALL(rt_sigaction),
	CALL(rt_sigprocmask),
	CALL(rt_sigreturn),
	CALL(restart_syscall),
	CALL(exit),
	CALL(exit_group),
};

/* More, where processes are still to be taken in. */
static const struct call_rule rules_for_targets[] = {
	CALL(pidfd_open),
	CALL(getpgid), /* whether the terminal signals the program that was started */
};

#define NR_RULES (sizeof(rules) / sizeof(rules[0]))
#define NR_MORE	 (sizeof(rules_for_targets) / sizeof(rules_for_targets[0]))

int serve_limit_calls(bool targets_come)
{
	struct call_rule all[NR_RULES + NR_MORE];

	for (size_t i = 0; i < NR_RULES; i++)
		all[i] = rules[i];
	for (size_t i = 0; i < NR_MORE; i++)
		all[NR_RULES + i] = rules_for_targets[i];
	return seccomp_allow_only(all, NR_RULES + (targets_come ? NR_MORE : 0), ENOSYS);
}
