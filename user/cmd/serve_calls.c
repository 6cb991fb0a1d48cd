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

/* The often used ones first: the filter looks through them in this order. */
static const struct call_rule rules[] = {
#ifdef __NR_epoll_wait
	CALL_RULE(epoll_wait), /* arm64 has only epoll_pwait */
	CALL_RULE(poll),
	CALL_RULE(readlink),
	CALL_RULE(time),
#endif
	CALL_RULE(epoll_pwait),
	CALL_RULE(read),
	CALL_RULE(close),
	CALL_RULE(clock_gettime), /* where the vDSO cannot answer */
	CALL_RULE(gettimeofday),
	CALL_RULE(getpid),

	/* /proc and /sys: reading only */
	CALL_RULE_LACKS(openat, 2, O_ACCMODE | O_CREAT | O_TRUNC),
	CALL_RULE(pread64),
	CALL_RULE(lseek),
	CALL_RULE(fstat),
	CALL_RULE(newfstatat),
	CALL_RULE(getdents64),
	CALL_RULE(readlinkat),
	CALL_RULE(uname),
	CALL_RULE(sysinfo),
	CALL_RULE_EQUALS(prlimit64, 0, 0), /* of ourselves */
	CALL_RULE(sched_getaffinity),

	/* What is open already is read and kept in order. */
	CALL_RULE_EQUALS(bpf, 0, BPF_MAP_LOOKUP_ELEM),
	CALL_RULE_EQUALS(bpf, 0, BPF_MAP_UPDATE_ELEM),
	CALL_RULE_EQUALS(bpf, 0, BPF_MAP_DELETE_ELEM),
	CALL_RULE_EQUALS(bpf, 0, BPF_MAP_GET_NEXT_KEY),
	CALL_RULE_EQUALS(bpf, 0, BPF_MAP_LOOKUP_AND_DELETE_ELEM),
	CALL_RULE_EQUALS(bpf, 0, BPF_MAP_LOOKUP_BATCH),
	CALL_RULE_EQUALS(bpf, 0, BPF_OBJ_GET_INFO_BY_FD),
	CALL_RULE_EQUALS(bpf, 0, BPF_ITER_CREATE),

	CALL_RULES_MEMORY,

	/* the loop, and connections from sockets that listen already */
	CALL_RULE(epoll_ctl),
	CALL_RULE(accept4),
	CALL_RULE(recvfrom),
	CALL_RULE(recvmsg),
	CALL_RULE(sendto),
	CALL_RULE(sendmsg),
	CALL_RULE(write),
	CALL_RULE(writev),
	CALL_RULE(sendfile),
	CALL_RULE(shutdown),
	CALL_RULE(setsockopt),
	CALL_RULE(getsockopt),
	CALL_RULE(getsockname),
	CALL_RULE(getpeername),
	CALL_RULE(fcntl),
	CALL_RULE(ppoll),
	CALL_RULE_EQUALS(ioctl, 1, FIONBIO),
	CALL_RULE_EQUALS(ioctl, 1, TCGETS),  /* isatty */
	CALL_RULE_EQUALS(ioctl, 1, TCGETS2), /* of glibc 2.42 and later */
	CALL_RULE(timerfd_settime),
	CALL_RULE(clock_nanosleep),
	CALL_RULE(nanosleep),

	CALL_RULE(wait4), /* for the program that was started, and the broker */

	CALL_RULES_END,
};

/* More, where processes are still to be taken in. */
static const struct call_rule rules_for_targets[] = {
	CALL_RULE(pidfd_open),
	CALL_RULE(getpgid), /* whether the terminal signals the program that was started */
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
