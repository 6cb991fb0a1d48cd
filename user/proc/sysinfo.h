/* SPDX-License-Identifier: MIT */
/*
 * Readers of the machine's settings: sysctl, sysfs, lockdown, capabilities, mounts. Bounded; what
 * does not parse is taken as missing.
 *
 * @root is "" for the machine itself, or a folder with proc/ and sys/ of ordinary files in tests.
 */
#ifndef SKYOBSERVE_PROC_SYSINFO_H
#define SKYOBSERVE_PROC_SYSINFO_H

#include <stdbool.h>
#include <stddef.h>

#include "types.h"

/*
 * The first word of a file such as "proc/sys/kernel/osrelease", without what follows it. A longer
 * one is cut. Returns 0 or a negative errno: -ENOENT when there is no such file, -ENODATA for an
 * empty one; *ret_word is then untouched.
 */
int sysinfo_word(const char *root, const char *path, char *ret_word, size_t n);

/* The number in a file such as "proc/sys/net/core/bpf_jit_enable"; -EBADMSG if it is none. */
int sysinfo_number(const char *root, const char *path, s64 *ret_number);

/* What of the kernel root may still do (Documentation: man 7 kernel_lockdown). */
enum sysinfo_lockdown {
	LOCKDOWN_ABSENT, /* no such file: not built in, or securityfs is not mounted */
	LOCKDOWN_NONE,
	LOCKDOWN_INTEGRITY,
	LOCKDOWN_CONFIDENTIALITY, /* BPF may not read kernel memory */
	LOCKDOWN_UNKNOWN,	  /* a mode that this program does not know */
};

/* sys/kernel/security/lockdown: "none [integrity] confidentiality", the one in brackets. */
enum sysinfo_lockdown sysinfo_lockdown(const char *root);

/* What the calling process may do, from proc/self. */
struct sysinfo_privilege {
	bool valid;	     /* proc/self/status was there */
	u64 capabilities;    /* effective, bit per CAP_* */
	bool seccomp;	     /* a seccomp filter looks at each system call */
	bool user_namespace; /* capabilities count inside a container only */
	bool pid_namespace;  /* process ids are not the machine's */
};

void sysinfo_privilege(const char *root, struct sysinfo_privilege *ret_privilege);

/* True if capability @number (CAP_*, linux/capability.h) is effective. */
bool sysinfo_capable(const struct sysinfo_privilege *privilege, u32 number);

/*
 * Where a file system of type @type is mounted, from proc/self/mounts. Returns 0, or -ENOENT when
 * it is not mounted (or deeper in the table than 256 KiB).
 */
int sysinfo_mount(const char *root, const char *type, char *ret_where, size_t n);

/* Whether some proc file system is mounted with hidepid, so that other users' processes hide. */
bool sysinfo_proc_hides(const char *root);

/*
 * proc/self/schedstat: ns on the CPU, ns waiting for one (run_delay), how often it got one. All
 * are 0 on a kernel that does not keep the books. Returns 0 or a negative errno.
 */
struct sysinfo_schedstat {
	u64 run_ns, wait_ns, runs;
};
int sysinfo_schedstat(const char *root, struct sysinfo_schedstat *ret_schedstat);

/* True if the processor says that it is a virtual one (proc/cpuinfo; x86 only). */
bool sysinfo_hypervisor(const char *root);

#endif /* SKYOBSERVE_PROC_SYSINFO_H */
