/* SPDX-License-Identifier: MIT */
/* Names of system calls, for every supported architecture at once: a record says which. */
#ifndef SKYOBSERVE_MODEL_SYSCALL_NAMES_H
#define SKYOBSERVE_MODEL_SYSCALL_NAMES_H

/* The native tables: not i386, x32 or 32-bit ARM. */
enum syscall_arch {
	SYSCALL_ARCH_X86_64,
	SYSCALL_ARCH_ARM64,
	NR_SYSCALL_ARCHS
};

/* The architecture this program runs on. */
#if defined(__x86_64__)
#define SYSCALL_ARCH_NATIVE SYSCALL_ARCH_X86_64
#elif defined(__aarch64__)
#define SYSCALL_ARCH_NATIVE SYSCALL_ARCH_ARM64
#else
#error "no system call table for this architecture"
#endif

/*
 * The name of system call @nr, as in the kernel's headers ("pread64", "newfstatat"; not the C
 * library's names), or NULL if the table has none: the kernel may be newer than the table. The
 * string is constant.
 */
const char *syscall_name(enum syscall_arch arch, unsigned int nr);

/*
 * The number of the system call called @name, or -1 if @arch has none (arm64 has no "open").
 * Cost: a search through the whole table, so not for each event.
 */
int syscall_nr(enum syscall_arch arch, const char *name);

#endif /* SKYOBSERVE_MODEL_SYSCALL_NAMES_H */
