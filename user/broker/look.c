/* SPDX-License-Identifier: MIT */
/* Reading /proc for the broker. Knows no protocol. */
#include "user/broker/look.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PROC_ROOT "/proc"

int look_identity(pid_t pid, struct broker_identity *ret_identity)
{
	struct proc_status status;
	struct proc_stat stat;
	int r = procfs_stat(PROC_ROOT, pid, &stat);

	if (!r)
		r = procfs_status(PROC_ROOT, pid, &status);
	if (r)
		return r;
	memset(ret_identity, 0, sizeof(*ret_identity));
	ret_identity->start_ticks = stat.start_ticks;
	ret_identity->uid = status.uid;
	snprintf(ret_identity->comm, sizeof(ret_identity->comm), "%.*s", COMM_BYTES - 1, stat.comm);
	procfs_exe(PROC_ROOT, pid, ret_identity->exe, sizeof(ret_identity->exe));
	return 0;
}

static bool is_wanted(const struct look_wanted *wanted, pid_t pid)
{
	for (size_t i = 0; i < wanted->comms.n; i++) {
		char comm[COMM_BYTES]; /* as much of it as the kernel keeps */

		snprintf(comm, sizeof(comm), "%s", wanted->comms.word[i]);
		if (procfs_has_comm(PROC_ROOT, pid, comm))
			return true;
	}
	for (size_t i = 0; i < wanted->exes.n; i++) {
		if (procfs_has_exe(PROC_ROOT, pid, wanted->exes.word[i]))
			return true;
	}
	return false;
}

static int add_all(struct pid_list *list, const struct pid_list *more)
{
	size_t n = list->n + more->n;
	pid_t *grown = realloc(list->pids, (n + 1) * sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	if (more->n)
		memcpy(grown + list->n, more->pids, more->n * sizeof(*grown));
	list->pids = grown;
	list->n = list->cap = n;
	return 0;
}

static int by_pid(const void *a, const void *b)
{
	pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

	return x < y ? -1 : x > y;
}

static void drop_doubles(struct pid_list *list)
{
	size_t kept = 0;

	if (list->n)
		qsort(list->pids, list->n, sizeof(*list->pids), by_pid);
	for (size_t i = 0; i < list->n; i++) {
		if (!kept || list->pids[kept - 1] != list->pids[i])
			list->pids[kept++] = list->pids[i];
	}
	list->n = kept;
}

/* Those by name or file, in place of all. */
static int find_among_all(const struct look_wanted *wanted, struct pid_list *ret_list)
{
	size_t kept = 0;
	int r = procfs_list(PROC_ROOT, ret_list);

	for (size_t i = 0; !r && i < ret_list->n; i++) {
		if (is_wanted(wanted, ret_list->pids[i]))
			ret_list->pids[kept++] = ret_list->pids[i];
	}
	if (!r)
		ret_list->n = kept;
	return r;
}

int look_find(const struct look_wanted *wanted, struct pid_list *ret_list)
{
	bool by_process = wanted->comms.n || wanted->exes.n;
	struct pid_list all = { 0 };
	int r = by_process ? find_among_all(wanted, &all) : 0, failed = 0;

	for (size_t i = 0; i < wanted->cgroups.n && !r; i++) {
		struct pid_list one = { 0 };
		int got = procfs_cgroup(wanted->cgroups.word[i], &one);

		if (got)
			failed = got; /* the others count all the same */
		else
			r = add_all(&all, &one);
		free(one.pids);
	}
	if (!r && failed && !all.n)
		r = failed;
	if (r) {
		free(all.pids);
		return r;
	}
	drop_doubles(&all);
	*ret_list = all;
	return 0;
}

u32 look_files(const struct look_wanted *wanted, struct broker_file ret_files[MAX_WANTED])
{
	u32 n = wanted->exes.n < MAX_WANTED ? (u32)wanted->exes.n : MAX_WANTED;

	for (u32 i = 0; i < n; i++) {
		struct stat st;

		ret_files[i] = (struct broker_file){ 0 };
		if (!stat(wanted->exes.word[i], &st))
			ret_files[i] = (struct broker_file){ st.st_ino, st.st_dev };
	}
	return n;
}
