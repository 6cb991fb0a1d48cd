/* SPDX-License-Identifier: MIT */
/* Giving up everything but reading what is open and answering. Knows nothing of what is read. */
#include "user/runtime/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "user/base/seccomp.h"

/* The largest file that is read (512 MiB), its DWARF unpacked, and what is derived from both. */
#define MAX_MEMORY_BYTES (2ull << 30)
#define MAX_CPU_SECONDS	 60

/* newfstatat is how the C library does fstat; the rest is reading, memory and the end. */
static const struct call_rule calls[] = {
	CALL_RULE(read),	  CALL_RULE(pread64),	   CALL_RULE(write),
	CALL_RULE(close),	  CALL_RULE(fstat),	   CALL_RULE(newfstatat),
	CALL_RULE(lseek),	  CALL_RULE(mmap),	   CALL_RULE(munmap),
	CALL_RULE(mremap),	  CALL_RULE(mprotect),	   CALL_RULE(madvise),
	CALL_RULE(brk),		  CALL_RULE(futex),	   CALL_RULE(getrandom),
	CALL_RULE(clock_gettime), CALL_RULE(rt_sigreturn), CALL_RULE(exit),
	CALL_RULE(exit_group),
};

static int drop_capabilities(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { { 0 } };

	if (syscall(SYS_capset, &header, none) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	return 0;
}

int confine_self(int max_fd)
{
	struct rlimit memory = { MAX_MEMORY_BYTES, MAX_MEMORY_BYTES };
	struct rlimit cpu = { MAX_CPU_SECONDS, MAX_CPU_SECONDS };
	struct rlimit none = { 0, 0 };
	int r;

	/* No file, no core dump, no process; reading is done by descriptors that are open. */
	if (syscall(SYS_close_range, max_fd + 1, ~0u, 0) || setrlimit(RLIMIT_CORE, &none) ||
	    setrlimit(RLIMIT_CPU, &cpu) || setrlimit(RLIMIT_NPROC, &none) ||
	    setrlimit(RLIMIT_FSIZE, &none))
		return -errno;
	r = drop_capabilities();
	if (r || !seccomp_is_in_use()) /* a sanitizer reserves terabytes */
		return r;
	if (setrlimit(RLIMIT_AS, &memory))
		return -errno;
	return seccomp_allow_only(calls, sizeof(calls) / sizeof(calls[0]), EPERM);
}

int confine_begin(int fd, int pipe_fd)
{
	/* Through numbers that neither of the two has. */
	int file = fcntl(fd, F_DUPFD, CONFINED_FREE), out = fcntl(pipe_fd, F_DUPFD, CONFINED_FREE);

	signal(SIGPIPE, SIG_DFL);
	(void)prctl(PR_SET_NAME, "skyobserve-read"); /* for who lists processes */
	if (file < 0 || out < 0 || dup2(file, CONFINED_FILE) < 0 || dup2(out, CONFINED_PIPE) < 0)
		_exit(1);
	return confine_self(CONFINED_PIPE);
}

bool confine_answer(const void *bytes, size_t n)
{
	const char *at = bytes;

	while (n) {
		ssize_t r = write(CONFINED_PIPE, at, n);

		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			return false;
		at += r;
		n -= (size_t)r;
	}
	return true;
}
