/* SPDX-License-Identifier: MIT */
/*
 * Readers of /proc. A name or a line there may have been chosen by a stranger: every reader is
 * bounded and takes what does not parse as missing.
 *
 * @root is "/proc", or a folder of ordinary files in tests.
 */
#ifndef SKYOBSERVE_PROC_PROCFS_H
#define SKYOBSERVE_PROC_PROCFS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "types.h"
#include "user/base/err.h"
#include "user/model/snapshot.h"

#define PROC_FLAG_KTHREAD 0x00200000 /* PF_KTHREAD, include/linux/sched.h */

/* The fields of /proc/PID/stat that are used, in the order of proc(5). */
struct proc_stat {
	char comm[64]; /* kernel threads have long names here */
	char state;
	pid_t ppid;
	u32 flags;
	u64 minflt, majflt;
	u64 utime_ticks, stime_ticks;
	u64 children_ticks; /* cutime + cstime */
	u64 num_threads;
	u64 start_ticks; /* since boot, USER_HZ */
};

/* Parse the text of a stat file. False if it is not one; *ret_stat is then untouched. */
bool procfs_parse_stat(const char *text, size_t n, struct proc_stat *ret_stat);

/* Returns 0, -ENOENT when there is no such process, -EBADMSG when its file makes no sense. */
int procfs_stat(const char *root, pid_t pid, struct proc_stat *ret_stat);

/*
 * Whether this process is in another pid namespace than the machine's first: then the process ids
 * that it sees are not those of the kernel. Without a word of the kernel about it: no.
 */
bool procfs_is_nested(const char *root);

/* The fields Tgid, Uid (real) and NSpid (number of nested namespaces) of /proc/PID/status. */
struct proc_status {
	pid_t tgid;
	uid_t uid;
	u32 nr_namespaces;
};
int procfs_status(const char *root, pid_t pid, struct proc_status *ret_status);

/* Where the executable is, as the process sees it ("… (deleted)" included); "" if unreadable. */
void procfs_exe(const char *root, pid_t pid, char *ret_path, size_t n);

/* Books of the kernel for a process: stat and statm. @ret_books->valid says whether it is there. */
void procfs_books(const char *root, pid_t pid, u64 now_ns, struct proc_books *ret_books);

/*
 * The system call each thread is in; @ret_calls->at is to be freed. Threads that run or cannot be
 * asked are left out. Returns 0 or -ENOMEM.
 */
int procfs_thread_calls(const char *root, pid_t pid, struct thread_calls *ret_calls);

/* A list of process ids; @pids is to be freed. */
struct pid_list {
	pid_t *pids;
	size_t n, cap;
};

/* All programs (not kernel threads), ascending. Returns 0 or a negative errno. */
int procfs_list(const char *root, struct pid_list *ret_list);

/* Whether a process is called @comm. */
bool procfs_has_comm(const char *root, pid_t pid, const char *comm);

/* Whether a process executes the file @path, under whatever name it was started. */
bool procfs_has_exe(const char *root, pid_t pid, const char *path);

/*
 * Processes of a control group: @path is its folder, absolute or below /sys/fs/cgroup. 0 or a
 * negative errno.
 */
int procfs_cgroup(const char *path, struct pid_list *ret_list);

/* kernel.pid_max, 0 if it cannot be read. */
u64 procfs_max_pid(const char *root);

/* steal of all CPUs in ticks, boot time in Unix seconds; 0 what is missing. */
void procfs_machine(const char *root, u64 *ret_steal_ticks, u64 *ret_boot_seconds);

/* Standard metrics of the process that calls. Values that cannot be read are 0. */
struct proc_self {
	u64 cpu_ticks;
	u64 open_fds, max_fds;
	u64 virtual_bytes, max_virtual_bytes; /* max: ~0 for unlimited */
	u64 resident_bytes;
	u64 start_ticks;
};
void procfs_self(const char *root, struct proc_self *ret_self);

#endif /* SKYOBSERVE_PROC_PROCFS_H */
