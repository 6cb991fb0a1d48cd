/* SPDX-License-Identifier: MIT */
/* Giving up everything but reading what is open and answering. Knows nothing of what is read. */
#include "user/runtime/confine.h"

#include <errno.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "user/base/seccomp.h"

/* The largest file that is read (512 MiB), its DWARF unpacked, and what is derived from both. */
#define MAX_MEMORY_BYTES (2ull << 30)
#define MAX_CPU_SECONDS	 60

#define ALLOW(call)          \
	{                    \
		.nr = (call) \
	}

/* newfstatat is how the C library does fstat; the rest is reading, memory and the end. */
static const struct call_rule calls[] = {
	ALLOW(__NR_read),	   ALLOW(__NR_pread64),	     ALLOW(__NR_write),
	ALLOW(__NR_close),	   ALLOW(__NR_fstat),	     ALLOW(__NR_newfstatat),
	ALLOW(__NR_lseek),	   ALLOW(__NR_mmap),	     ALLOW(__NR_munmap),
	ALLOW(__NR_mremap),	   ALLOW(__NR_mprotect),     ALLOW(__NR_madvise),
	ALLOW(__NR_brk),	   ALLOW(__NR_futex),	     ALLOW(__NR_getrandom),
	ALLOW(__NR_clock_gettime), ALLOW(__NR_rt_sigreturn), ALLOW(__NR_exit),
	ALLOW(__NR_exit_group),
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
