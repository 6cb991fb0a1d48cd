/* SPDX-License-Identifier: MIT */
/* Copying from the memory of another process, and knowing that it is still the same program. */
#ifndef SKYOBSERVE_RUNTIME_GO_MEMORY_H
#define SKYOBSERVE_RUNTIME_GO_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "types.h"
#include "user/base/err.h"

/* One copy: @n bytes at @vaddr of the process to @to. */
struct go_copy {
	u64 vaddr;
	void *to;
	size_t n;
};

/*
 * The memory of a process as it is now, which ends with the next execve. @fd is /proc/PID/mem:
 * after an execve it still stands for the old memory, and is empty.
 */
struct go_memory {
	pid_t pid;
	int fd;
};

/* 0 or a negative errno: -ENOENT if the process is gone, -EACCES if it may not be read. */
int go_memory_open(pid_t pid, struct go_memory *ret_memory, struct err *err);
void go_memory_done(struct go_memory *memory);

/*
 * Copy all of them, in their order, without stopping the process. -EFAULT: some address is not
 * there; -ESRCH: the process is gone.
 */
int go_memory_read(const struct go_memory *memory, const struct go_copy *copies, size_t n,
		   struct err *err);

/* False after an execve, or when the process has ended. @vaddr is an address that was readable. */
bool go_memory_is_same(const struct go_memory *memory, u64 vaddr);

/* Where the program headers are: AT_PHDR of the auxiliary vector. */
int go_memory_phdr(pid_t pid, u64 *ret_vaddr, struct err *err);

#endif /* SKYOBSERVE_RUNTIME_GO_MEMORY_H */
