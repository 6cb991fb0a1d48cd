/* SPDX-License-Identifier: MIT */
/* A whole process of a fake /proc, every file of which is a piece of the input. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "user/proc/procfs.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static const char *const folders[] = { "7", "7/task", "7/task/7", "7/task/8", "sys", "sys/kernel" };
static const char *const files[] = {
	"7/stat", "7/status",		"7/statm",     "7/task/7/syscall", "7/task/8/syscall",
	"stat",	  "sys/kernel/pid_max", "cgroup.procs"
};

#define NR_FOLDERS (sizeof(folders) / sizeof(folders[0]))
#define NR_FILES   (sizeof(files) / sizeof(files[0]))

static char root[64];
static int fds[NR_FILES];

static void remove_tree(void)
{
	char path[128];

	for (size_t i = 0; i < NR_FILES; i++) {
		snprintf(path, sizeof(path), "%s/%s", root, files[i]);
		unlink(path);
	}
	snprintf(path, sizeof(path), "%s/7/exe", root);
	unlink(path);
	for (size_t i = NR_FOLDERS; i-- > 0;) {
		snprintf(path, sizeof(path), "%s/%s", root, folders[i]);
		rmdir(path);
	}
	rmdir(root);
}

static void make_tree(void)
{
	char path[128];

	snprintf(root, sizeof(root), "%s/fuzz-procfs-XXXXXX",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	if (!mkdtemp(root))
		abort();
	atexit(remove_tree);
	for (size_t i = 0; i < NR_FOLDERS; i++) {
		snprintf(path, sizeof(path), "%s/%s", root, folders[i]);
		if (mkdir(path, 0755))
			abort();
	}
	for (size_t i = 0; i < NR_FILES; i++) {
		snprintf(path, sizeof(path), "%s/%s", root, files[i]);
		fds[i] = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
		if (fds[i] < 0)
			abort();
	}
}

/* Pieces end at a byte 0xff, which the kernel writes nowhere. */
static void write_files(const uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < NR_FILES; i++) {
		const uint8_t *end = n ? memchr(bytes, 0xff, n) : NULL;
		size_t len = end ? (size_t)(end - bytes) : n;

		if (ftruncate(fds[i], 0) || pwrite(fds[i], bytes, len, 0) != (ssize_t)len)
			abort();
		bytes += len + (end != NULL);
		n -= len + (end != NULL);
	}
}

static void read_lists(void)
{
	struct pid_list list = { 0 };
	struct thread_calls calls = { 0 };

	if (!procfs_list(root, &list)) {
		if (list.n > 1 || (list.n && list.pids[0] != 7))
			abort();
		free(list.pids);
	}
	list = (struct pid_list){ 0 };
	if (!procfs_cgroup(root, &list)) {
		for (size_t i = 0; i < list.n; i++) {
			if (list.pids[i] <= 0)
				abort();
		}
		free(list.pids);
	}
	if (procfs_thread_calls(root, 7, &calls) || calls.n > 2)
		abort();
	for (size_t i = 0; i < calls.n; i++) {
		const struct thread_call *c = &calls.at[i];

		if ((c->tid != 7 && c->tid != 8) || c->call.nr < 0 || c->call.fd < -1)
			abort();
	}
	free(calls.at);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct proc_status status;
	struct proc_stat stat = { 0 };
	struct proc_books books;
	u64 steal, boot;
	char exe[16];
	int r;

	if (!root[0])
		make_tree();
	write_files(bytes, n);
	r = procfs_stat(root, 7, &stat);
	procfs_books(root, 7, 1, &books);
	if (books.valid != !r || strlen(stat.comm) >= sizeof(stat.comm))
		abort();
	if (!r)
		(void)procfs_has_comm(root, 7, stat.comm);
	(void)procfs_status(root, 7, &status);
	procfs_exe(root, 7, exe, sizeof(exe));
	procfs_machine(root, &steal, &boot);
	(void)procfs_max_pid(root);
	read_lists();
	return 0;
}
