/* SPDX-License-Identifier: MIT */
/* Copying from the memory of another process. Knows nothing of what is there. */
#define _GNU_SOURCE /* process_vm_readv */
#include "user/runtime/go_memory.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

/* The kernel takes 1024 (UIO_MAXIOV); so many fit on the stack. */
#define MAX_VECTORS 256

/* Some 20 on every machine. */
#define MAX_AUXV 64

static int open_of(pid_t pid, const char *name, struct err *err)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? err_set(err, -errno, "%s: %s", path, strerror(errno)) : fd;
}

int go_memory_open(pid_t pid, struct go_memory *ret_memory, struct err *err)
{
	int fd = open_of(pid, "mem", err);

	if (fd < 0)
		return fd;
	*ret_memory = (struct go_memory){ .pid = pid, .fd = fd };
	return 0;
}

void go_memory_done(struct go_memory *memory)
{
	if (memory->pid)
		close(memory->fd);
	*memory = (struct go_memory){ 0 };
}

static int read_some(const struct go_memory *memory, const struct go_copy *copies, size_t n,
		     struct err *err)
{
	struct iovec to[MAX_VECTORS], from[MAX_VECTORS];
	size_t wanted = 0;
	ssize_t got;

	for (size_t i = 0; i < n; i++) {
		to[i] = (struct iovec){ copies[i].to, copies[i].n };
		/* NOLINTNEXTLINE(performance-no-int-to-ptr): of the other process, not followed here */
		from[i] = (struct iovec){ (void *)(uintptr_t)copies[i].vaddr, copies[i].n };
		wanted += copies[i].n;
	}
	got = process_vm_readv(memory->pid, to, n, from, n, 0);
	if (got < 0)
		return err_set(err, -errno, "its memory cannot be read: %s", strerror(errno));
	if ((size_t)got != wanted)
		return err_set(err, -EFAULT, "its memory ends where there should be a variable");
	return 0;
}

int go_memory_read(const struct go_memory *memory, const struct go_copy *copies, size_t n,
		   struct err *err)
{
	int r = 0;

	for (size_t i = 0; i < n && !r; i += MAX_VECTORS)
		r = read_some(memory, copies + i, n - i < MAX_VECTORS ? n - i : MAX_VECTORS, err);
	return r;
}

bool go_memory_is_same(const struct go_memory *memory, u64 vaddr)
{
	u8 byte;

	return pread(memory->fd, &byte, 1, (off_t)vaddr) == 1;
}

int go_memory_phdr(pid_t pid, u64 *ret_vaddr, struct err *err)
{
	Elf64_auxv_t auxv[MAX_AUXV];
	ssize_t n;
	int fd = open_of(pid, "auxv", err);

	if (fd < 0)
		return fd;
	n = read(fd, auxv, sizeof(auxv));
	close(fd);
	for (size_t i = 0; n > 0 && i < (size_t)n / sizeof(auxv[0]); i++) {
		if (auxv[i].a_type != AT_PHDR)
			continue;
		*ret_vaddr = auxv[i].a_un.a_val;
		return 0;
	}
	return err_set(err, -ENOENT, "the kernel does not say where its program headers are");
}
