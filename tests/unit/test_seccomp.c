/* SPDX-License-Identifier: MIT */
/* Lists of system calls: what passes, what is refused, and what serving can no longer do. */
#define _GNU_SOURCE /* memfd_create, clone, process_vm_readv */
#include "tests/lib/check.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "user/base/seccomp.h"
#include "user/broker/calls.h"
#include "user/cmd/serve_calls.h"

/* The status of a child that runs @fn, or 1000 + the signal that ended it. */
static int in_child(int (*fn)(void))
{
	int status;
	pid_t pid = fork();

	if (pid < 0)
		FAIL("fork: %s", strerror(errno));
	if (!pid) {
		signal(SIGSEGV, SIG_DFL); /* not the test framework's */
		_exit(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ? 99 : fn());
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int only_some(void)
{
	static const struct call_rule rules[] = {
		{ .nr = __NR_exit_group },
		{ __NR_lseek, CALL_ARG_EQUALS, 2, SEEK_END },
		{ __NR_lseek, CALL_ARG_EQUALS, 2, SEEK_SET },
		{ __NR_umask, CALL_ARG_LACKS, 0, 0222 },
		{ .nr = __NR_getppid },
	};

	if (seccomp_allow_only(rules, sizeof(rules) / sizeof(rules[0]), EDOM))
		return 1;
	if (syscall(SYS_getppid) <= 0)
		return 2;
	if (syscall(SYS_getpgid, 0) >= 0 || errno != EDOM)
		return 3;
	/* One of the rows of a call is enough; a condition that fails does not end the search. */
	if (syscall(SYS_lseek, -1, 0, SEEK_SET) >= 0 || errno != EBADF ||
	    syscall(SYS_lseek, -1, 0, SEEK_END) >= 0 || errno != EBADF)
		return 4;
	if (syscall(SYS_lseek, -1, 0, SEEK_CUR) >= 0 || errno != EDOM)
		return 5;
	if (syscall(SYS_umask, 0055) < 0)
		return 6;
	return syscall(SYS_umask, 0077) >= 0 || errno != EDOM ? 7 : 0;
}

TEST(seccomp_lets_pass_what_the_rows_say)
{
	if (seccomp_is_in_use())
		CHECK_EQ_INT(in_child(only_some), 0);
}

#ifdef __x86_64__
static int foreign_call(void)
{
	static const struct call_rule rules[] = { { .nr = __NR_exit_group } };
	long r = 20; /* getpid of i386 */

	if (seccomp_allow_only(rules, 1, EPERM))
		return 1;
	__asm__ volatile("int $0x80" : "+a"(r) : : "memory", "r8", "r9", "r10", "r11");
	return r == -ENOSYS ? 0 : 2; /* a kernel without the 32-bit calls */
}

TEST(seccomp_ends_who_calls_by_another_abi)
{
	int status = seccomp_is_in_use() ? in_child(foreign_call) : 0;

	/* A kernel that refuses the instruction ends it by itself. */
	if (status && status != 1000 + SIGSEGV)
		CHECK_EQ_INT(status, 1000 + SIGSYS);
}

static int x32_call(void)
{
	static const struct call_rule rules[] = { { .nr = __NR_exit_group },
						  { .nr = __NR_getppid } };

	if (seccomp_allow_only(rules, 2, EDOM))
		return 1;
	return syscall(0x40000000 | SYS_getppid) >= 0 || errno != EDOM ? 2 : 0;
}

TEST(seccomp_does_not_take_x32_for_the_native_abi)
{
	if (seccomp_is_in_use())
		CHECK_EQ_INT(in_child(x32_call), 0);
}
#endif

TEST(seccomp_refuses_a_list_that_is_too_long)
{
	static const struct call_rule rules[1000];

	CHECK_EQ_INT(seccomp_allow_only(rules, 1000, EPERM), -E2BIG);
}

/* --- the serving phase --- */

#define REFUSED(call) ((call) < 0 && errno == ENOSYS)

/* Numbers of calls that serving never makes, whatever their arguments. */
static const long never[] = {
	SYS_execve,
	SYS_execveat,
	SYS_clone,
	SYS_ptrace,
	SYS_kill,
	SYS_tgkill,
	SYS_socket,
	SYS_socketpair,
	SYS_connect,
	SYS_bind,
	SYS_listen,
	SYS_process_vm_readv,
	SYS_setuid,
	SYS_setgroups,
	SYS_capset,
	SYS_process_vm_writev,
	SYS_mount,
	SYS_unlinkat,
	SYS_renameat2,
	SYS_fchmodat,
	SYS_fchownat,
	SYS_mkdirat,
	SYS_symlinkat,
	SYS_linkat,
	SYS_ftruncate,
	SYS_memfd_create,
	SYS_perf_event_open,
	SYS_init_module,
	SYS_keyctl,
	SYS_io_uring_setup,
	SYS_userfaultfd,
	SYS_setns,
	SYS_unshare,
	SYS_chroot,
	SYS_reboot,
	SYS_prctl,
	SYS_seccomp,
	SYS_personality,
	SYS_pidfd_getfd,
	SYS_pidfd_send_signal,
	SYS_setpriority,
	SYS_openat2,
	SYS_dup3,
	SYS_inotify_init1,
};

static const u32 refused_bpf[] = {
	BPF_MAP_CREATE,	   BPF_PROG_LOAD,	  BPF_OBJ_PIN,	     BPF_OBJ_GET,
	BPF_PROG_ATTACH,   BPF_PROG_DETACH,	  BPF_BTF_LOAD,	     BPF_PROG_TEST_RUN,
	BPF_LINK_CREATE,   BPF_LINK_UPDATE,	  BPF_LINK_DETACH,   BPF_RAW_TRACEPOINT_OPEN,
	BPF_ENABLE_STATS,  BPF_PROG_GET_FD_BY_ID, BPF_TASK_FD_QUERY, BPF_MAP_GET_FD_BY_ID,
	BPF_PROG_BIND_MAP,
};

/* 0, or where it went wrong. All arguments are such that a call that passes does no harm. */
static int serving(void)
{
	char attr[128] = { 0 };
	void *page;
	int fd;

	if (serve_limit_calls(false))
		return 1;
	for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++) {
		if (!REFUSED(syscall(never[i], -1L, -1L, -1L, -1L, -1L, -1L)))
			return 100 + (int)i;
	}
	for (size_t i = 0; i < sizeof(refused_bpf) / sizeof(refused_bpf[0]); i++) {
		if (!REFUSED(syscall(SYS_bpf, refused_bpf[i], attr, sizeof(attr))))
			return 10 + (int)i;
	}
	/* What passes the filter is refused by bpf(2) itself. */
	if (syscall(SYS_bpf, BPF_MAP_LOOKUP_ELEM, attr, sizeof(attr)) >= 0 || errno == ENOSYS)
		return 2;
	if (!REFUSED(open("/dev/null", O_WRONLY)) || !REFUSED(open("/dev/null", O_RDWR)) ||
	    !REFUSED(open("/tmp/skyobserve.none", O_RDONLY | O_CREAT, 0600)))
		return 3;
	fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, attr, sizeof(attr)) <= 0)
		return 4;
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED || !REFUSED(mprotect(page, 4096, PROT_READ | PROT_EXEC)))
		return 5;
	if (mmap(NULL, 4096, PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED)
		return 6;
	return syscall(SYS_pidfd_open, getpid(), 0) >= 0 || errno != ENOSYS ? 7 : 0;
}

TEST(serving_can_no_longer_act)
{
	if (seccomp_is_in_use())
		CHECK_EQ_INT(in_child(serving), 0);
}

static int serving_with_targets(void)
{
	if (serve_limit_calls(true))
		return 1;
	if (!REFUSED(syscall(SYS_ptrace, PTRACE_ATTACH, -1, 0, 0)) ||
	    !REFUSED(syscall(SYS_execve, NULL, NULL, NULL)))
		return 2;
	return syscall(SYS_pidfd_open, getpid(), 0) < 0 ? 3 : 0;
}

TEST(serving_takes_in_targets_where_they_come_later)
{
	if (seccomp_is_in_use())
		CHECK_EQ_INT(in_child(serving_with_targets), 0);
}

/* --- the broker --- */

/* What serving may do neither, or must do itself. */
static const long never_of_the_broker[] = {
	SYS_execve,
	SYS_execveat,
	SYS_ptrace,
	SYS_process_vm_writev,
	SYS_bpf,
	SYS_socket,
	SYS_socketpair,
	SYS_connect,
	SYS_bind,
	SYS_listen,
	SYS_accept4,
	SYS_perf_event_open,
	SYS_setuid,
	SYS_setgroups,
	SYS_mount,
	SYS_unlinkat,
	SYS_renameat2,
	SYS_fchmodat,
	SYS_fchownat,
	SYS_mkdirat,
	SYS_symlinkat,
	SYS_linkat,
	SYS_ftruncate,
	SYS_memfd_create,
	SYS_init_module,
	SYS_keyctl,
	SYS_setns,
	SYS_unshare,
	SYS_chroot,
	SYS_reboot,
	SYS_openat2,
	SYS_io_uring_setup,
	SYS_pidfd_send_signal,
	SYS_pidfd_getfd,
	SYS_tgkill,
	SYS_open_by_handle_at,
	SYS_personality,
	SYS_setpriority,
	SYS_sendmsg,
	SYS_userfaultfd,
};

static int broker(void)
{
	char byte = 'a', copy = 0;
	struct iovec to = { &copy, 1 }, from = { &byte, 1 };
	pid_t pid;

	if (broker_limit_calls())
		return 1;
	for (size_t i = 0; i < sizeof(never_of_the_broker) / sizeof(never_of_the_broker[0]); i++) {
		if (!REFUSED(syscall(never_of_the_broker[i], -1L, -1L, -1L, -1L, -1L, -1L)))
			return 100 + (int)i;
	}
	if (!REFUSED(open("/dev/null", O_WRONLY)) || !REFUSED(open("/dev/null", O_RDWR)) ||
	    !REFUSED(open("/tmp/skyobserve.none", O_RDONLY | O_CREAT, 0600)))
		return 2;
	if (!REFUSED(syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0)) ||
	    !REFUSED(syscall(SYS_kill, -1, SIGSTOP)) ||
	    !REFUSED(syscall(SYS_prctl, PR_SET_DUMPABLE, 1, 0, 0, 0)))
		return 3;
	if (process_vm_readv(getpid(), &to, 1, &from, 1, 0) != 1 || copy != 'a')
		return 4;
	pid = fork();
	if (!pid)
		_exit(0);
	return pid > 0 && waitpid(pid, NULL, 0) == pid ? 0 : 5;
}

TEST(broker_can_only_look)
{
	if (seccomp_is_in_use())
		CHECK_EQ_INT(in_child(broker), 0);
}
