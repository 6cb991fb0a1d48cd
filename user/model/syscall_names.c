/* SPDX-License-Identifier: MIT */
/* Looks system calls up in the generated table syscall_names.def. */
#include "user/model/syscall_names.h"

#include <stddef.h>
#include <string.h>

#define ROW_OF_x86_64(nr, name)
#define ROW_OF_arm64(nr, name)
#define SYSCALL(arch, nr, name) ROW_OF_##arch(nr, name)

static const char *const x86_64_names[] = {
#undef ROW_OF_x86_64
#define ROW_OF_x86_64(nr, name) [nr] = (name),
#include "user/model/syscall_names.def"
#undef ROW_OF_x86_64
#define ROW_OF_x86_64(nr, name)
};

static const char *const arm64_names[] = {
#undef ROW_OF_arm64
#define ROW_OF_arm64(nr, name) [nr] = (name),
#include "user/model/syscall_names.def"
#undef ROW_OF_arm64
#define ROW_OF_arm64(nr, name)
};

#define TABLE(names)                                        \
	{                                                   \
		(names), sizeof(names) / sizeof((names)[0]) \
	}

static const struct {
	const char *const *names;
	size_t n;
} tables[NR_SYSCALL_ARCHS] = {
	[SYSCALL_ARCH_X86_64] = TABLE(x86_64_names),
	[SYSCALL_ARCH_ARM64] = TABLE(arm64_names),
};

const char *syscall_name(enum syscall_arch arch, unsigned int nr)
{
	if (arch >= NR_SYSCALL_ARCHS || nr >= tables[arch].n)
		return NULL;
	return tables[arch].names[nr];
}

int syscall_nr(enum syscall_arch arch, const char *name)
{
	if (arch >= NR_SYSCALL_ARCHS)
		return -1;
	for (size_t i = 0; i < tables[arch].n; i++) {
		if (tables[arch].names[i] && !strcmp(tables[arch].names[i], name))
			return (int)i;
	}
	return -1;
}
