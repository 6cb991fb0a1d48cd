/* SPDX-License-Identifier: MIT */
/* System calls have their kernel's names, on both architectures, from one binary. */
#include "tests/lib/check.h"

#include <sys/syscall.h>

#include "layout.h"
#include "user/model/syscall_names.h"

/* include/uapi/asm-generic/unistd.h, arch/x86/entry/syscalls/syscall_64.tbl; -1: has none. */
static const struct {
	const char *name;
	int x86_64, arm64;
} known[] = {
	{ "read", 0, 63 },
	{ "write", 1, 64 },
	{ "open", 2, -1 },
	{ "openat", 257, 56 },
	{ "close", 3, 57 },
	{ "pread64", 17, 67 },
	{ "newfstatat", 262, 79 },
	{ "getpid", 39, 172 },
	{ "getppid", 110, 173 },
	{ "fsync", 74, 82 },
	{ "fdatasync", 75, 83 },
	{ "sync_file_range", 277, 84 },
	{ "fork", 57, -1 },
	{ "clone", 56, 220 },
	{ "clone3", 435, 435 },
	{ "execve", 59, 221 },
	{ "exit", 60, 93 },
	{ "exit_group", 231, 94 },
	{ "rt_sigreturn", 15, 139 },
	{ "futex", 202, 98 },
	{ "nanosleep", 35, 101 },
	{ "clock_nanosleep", 230, 115 },
	{ "epoll_wait", 232, -1 },
	{ "epoll_pwait", 281, 22 },
	{ "io_uring_setup", 425, 425 },
	{ "io_uring_enter", 426, 426 },
	{ "pidfd_open", 434, 434 },
	{ "arch_prctl", 158, -1 },
	{ "setxattrat", 463, 463 },
};

TEST(syscall_names_of_known_numbers)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (known[i].x86_64 >= 0)
			CHECK_STR(syscall_name(SYSCALL_ARCH_X86_64, (unsigned int)known[i].x86_64),
				  known[i].name);
		if (known[i].arm64 >= 0)
			CHECK_STR(syscall_name(SYSCALL_ARCH_ARM64, (unsigned int)known[i].arm64),
				  known[i].name);
	}
}

TEST(syscall_numbers_of_known_names)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		CHECK_EQ_INT(syscall_nr(SYSCALL_ARCH_X86_64, known[i].name), known[i].x86_64);
		CHECK_EQ_INT(syscall_nr(SYSCALL_ARCH_ARM64, known[i].name), known[i].arm64);
	}
}

TEST(syscall_names_round_trip)
{
	for (int arch = 0; arch < NR_SYSCALL_ARCHS; arch++) {
		size_t n = 0;

		for (unsigned int nr = 0; nr < 2048; nr++) {
			const char *name = syscall_name((enum syscall_arch)arch, nr);

			if (!name)
				continue;
			n++;
			CHECK(name[0] && !strpbrk(name, " \n\"\\"));
			CHECK_EQ_INT(syscall_nr((enum syscall_arch)arch, name), (int)nr);
		}
		CHECK(n > 300);
	}
}

TEST(syscall_names_fit_the_cells)
{
	/* Every call that has a name has a cell of its own. */
	for (int arch = 0; arch < NR_SYSCALL_ARCHS; arch++) {
		for (unsigned int nr = NR_CALL_SLOTS; nr < 4096; nr++)
			CHECK_STR(syscall_name((enum syscall_arch)arch, nr), NULL);
	}
}

TEST(syscall_names_of_unknown_numbers_are_null)
{
	CHECK_STR(syscall_name(SYSCALL_ARCH_X86_64, 400), NULL); /* the gap before 424 */
	CHECK_STR(syscall_name(SYSCALL_ARCH_ARM64, 400), NULL);
	CHECK_STR(syscall_name(SYSCALL_ARCH_X86_64, 0xffffffff), NULL);
	CHECK_STR(syscall_name(SYSCALL_ARCH_ARM64, 0x80000000), NULL);
	CHECK_STR(syscall_name(NR_SYSCALL_ARCHS, 0), NULL);
	CHECK_STR(syscall_name((enum syscall_arch) - 1, 0), NULL);
	CHECK_EQ_INT(syscall_nr(SYSCALL_ARCH_X86_64, "no_such_call"), -1);
	CHECK_EQ_INT(syscall_nr(SYSCALL_ARCH_X86_64, ""), -1);
	CHECK_EQ_INT(syscall_nr(NR_SYSCALL_ARCHS, "read"), -1);
}

TEST(syscall_names_agree_with_this_machine)
{
	CHECK_STR(syscall_name(SYSCALL_ARCH_NATIVE, SYS_read), "read");
	CHECK_STR(syscall_name(SYSCALL_ARCH_NATIVE, SYS_futex), "futex");
	CHECK_STR(syscall_name(SYSCALL_ARCH_NATIVE, SYS_exit_group), "exit_group");
	CHECK_STR(syscall_name(SYSCALL_ARCH_NATIVE, SYS_epoll_pwait), "epoll_pwait");
}

TEST(syscall_classes_name_real_calls)
{
	static const char *const names[] = {
#define CALL(name, wait, durable, io, buffer) name,
#include "calls.def"
#undef CALL
	};

	/* A misspelt row of calls.def would silently never match. */
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (syscall_nr(SYSCALL_ARCH_X86_64, names[i]) < 0 &&
		    syscall_nr(SYSCALL_ARCH_ARM64, names[i]) < 0)
			FAIL("no architecture has %s", names[i]);
		for (size_t k = i + 1; k < sizeof(names) / sizeof(names[0]); k++) {
			if (!strcmp(names[i], names[k]))
				FAIL("%s is listed twice", names[i]);
		}
	}
}
