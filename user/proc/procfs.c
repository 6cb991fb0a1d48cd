/* SPDX-License-Identifier: MIT */
/* Readers of /proc. */
#include "user/proc/procfs.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "user/proc/text.h"

static ssize_t read_pid_text(const char *root, pid_t pid, const char *file, char *ret_text,
			     size_t n)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%d/%s", root, (int)pid, file);
	return proc_read_text(path, ret_text, n);
}

/* Field @index of one line of numbers separated by blanks, counted from 0. */
static bool number_at(const char *text, u32 index, u64 *ret_value)
{
	u64 value;

	for (u32 i = 0;; i++) {
		while (*text == ' ')
			text++;
		if (!*text || *text == '\n')
			return false;
		if (i == index)
			break;
		while (*text && *text != ' ' && *text != '\n')
			text++;
	}
	if (!isdigit((unsigned char)*text)) /* strtoull would take a sign */
		return false;
	errno = 0;
	value = strtoull(text, NULL, 10);
	if (errno)
		return false;
	*ret_value = value;
	return true;
}

bool procfs_parse_stat(const char *text, size_t n, struct proc_stat *ret_stat)
{
	const char *open = memchr(text, '(', n);
	/* The name may hold anything, parentheses included: it ends at the last one. */
	const char *close = NULL;
	struct proc_stat s = { 0 };
	u64 ppid, flags, cutime, cstime;
	size_t len;

	for (size_t i = n; i-- > 0 && !close;) {
		if (text[i] == ')')
			close = text + i;
	}
	if (!open || !close || close < open || (size_t)(close - text) + 4 > n || close[1] != ' ')
		return false;
	len = (size_t)(close - open - 1);
	if (len >= sizeof(s.comm))
		len = sizeof(s.comm) - 1;
	memcpy(s.comm, open + 1, len);
	s.state = close[2];
	/* Field 4 of proc(5) is number 0 behind the state. */
	if (!number_at(close + 3, 0, &ppid) || !number_at(close + 3, 5, &flags) ||
	    !number_at(close + 3, 6, &s.minflt) || !number_at(close + 3, 8, &s.majflt) ||
	    !number_at(close + 3, 10, &s.utime_ticks) ||
	    !number_at(close + 3, 11, &s.stime_ticks) || !number_at(close + 3, 12, &cutime) ||
	    !number_at(close + 3, 13, &cstime) || !number_at(close + 3, 16, &s.num_threads) ||
	    !number_at(close + 3, 18, &s.start_ticks))
		return false;
	s.ppid = (pid_t)ppid;
	s.flags = (u32)flags;
	s.children_ticks = cutime + cstime;
	*ret_stat = s;
	return true;
}

int procfs_stat(const char *root, pid_t pid, struct proc_stat *ret_stat)
{
	char text[1024];
	ssize_t n = read_pid_text(root, pid, "stat", text, sizeof(text));

	if (n < 0)
		return n == -ESRCH ? -ENOENT : (int)n;
	return procfs_parse_stat(text, (size_t)n, ret_stat) ? 0 : -EBADMSG;
}

static const char *status_field(const char *text, const char *name)
{
	size_t len = strlen(name);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, name, len) && line[len] == ':')
			return line + len + 1;
	}
	return NULL;
}

int procfs_status(const char *root, pid_t pid, struct proc_status *ret_status)
{
	char text[8192];
	ssize_t n = read_pid_text(root, pid, "status", text, sizeof(text));
	const char *tgid, *uid, *ns;
	struct proc_status s = { 0 };

	if (n < 0)
		return n == -ESRCH ? -ENOENT : (int)n;
	tgid = status_field(text, "Tgid");
	uid = status_field(text, "Uid");
	ns = status_field(text, "NSpid");
	if (!tgid || !uid)
		return -EBADMSG;
	s.tgid = (pid_t)strtol(tgid, NULL, 10);
	s.uid = (uid_t)strtoul(uid, NULL, 10);
	for (; ns && *ns && *ns != '\n'; ns++)
		s.nr_namespaces += isdigit((unsigned char)ns[0]) && !isdigit((unsigned char)ns[1]);
	*ret_status = s;
	return 0;
}

bool procfs_is_nested(const char *root)
{
	/* PROC_PID_INIT_INO, include/linux/proc_ns.h: the first one has it since Linux 3.8. */
	static const char first[] = "pid:[4026531836]";
	char path[256], link[64];
	ssize_t len;

	snprintf(path, sizeof(path), "%s/self/ns/pid", root);
	len = readlink(path, link, sizeof(link) - 1);
	if (len <= 0)
		return false;
	link[len] = '\0';
	return strcmp(link, first) != 0;
}

void procfs_exe(const char *root, pid_t pid, char *ret_path, size_t n)
{
	char path[256];
	ssize_t len;

	snprintf(path, sizeof(path), "%s/%d/exe", root, (int)pid);
	len = readlink(path, ret_path, n - 1);
	ret_path[len > 0 ? len : 0] = '\0';
}

void procfs_books(const char *root, pid_t pid, u64 now_ns, struct proc_books *ret_books)
{
	struct proc_stat stat;
	char text[256];
	u64 pages = 0;

	*ret_books = (struct proc_books){ .read_ns = now_ns };
	if (procfs_stat(root, pid, &stat))
		return;
	ret_books->cpu_ticks = stat.utime_ticks + stat.stime_ticks;
	ret_books->children_ticks = stat.children_ticks;
	ret_books->minflt = stat.minflt;
	ret_books->majflt = stat.majflt;
	ret_books->nr_threads = stat.num_threads;
	if (read_pid_text(root, pid, "statm", text, sizeof(text)) > 0 && number_at(text, 1, &pages))
		ret_books->resident_bytes = pages * (u64)sysconf(_SC_PAGESIZE);
	ret_books->valid = true;
}

/* "NR 0xARG1 …", "-1 …" (blocked outside a call), or "running". */
static bool parse_thread_call(const char *text, struct seed_call *ret_call)
{
	unsigned long long first;
	char *end;
	long nr;

	if (!isdigit((unsigned char)text[0]))
		return false;
	nr = strtol(text, &end, 10);
	if (end == text || nr < 0 || nr > 0x7fffffff)
		return false;
	first = strtoull(end, NULL, 16);
	ret_call->nr = (s32)nr;
	ret_call->fd = first < 0x7fffffff ? (s32)first : -1;
	return true;
}

static bool read_thread_call(const char *task_path, u32 tid, struct seed_call *ret_call)
{
	char text[256], file[400];

	snprintf(file, sizeof(file), "%s/%u/syscall", task_path, tid);
	return proc_read_text(file, text, sizeof(text)) > 0 && parse_thread_call(text, ret_call);
}

static int add_call(struct thread_calls *calls, const struct thread_call *call)
{
	if (calls->n == calls->cap) {
		size_t cap = calls->cap ? 2 * calls->cap : 16;
		struct thread_call *grown = realloc(calls->at, cap * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		calls->at = grown;
		calls->cap = cap;
	}
	calls->at[calls->n++] = *call;
	return 0;
}

int procfs_thread_calls(const char *root, pid_t pid, struct thread_calls *ret_calls)
{
	struct thread_calls calls = { 0 };
	struct dirent *d;
	char path[256];
	int r = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/%d/task", root, (int)pid);
	dir = opendir(path);
	while (dir && !r && (d = readdir(dir))) {
		struct thread_call call = { .tid = (u32)strtoul(d->d_name, NULL, 10) };

		if (call.tid && read_thread_call(path, call.tid, &call.call))
			r = add_call(&calls, &call);
	}
	if (dir)
		closedir(dir);
	if (r) {
		free(calls.at);
		return r;
	}
	*ret_calls = calls;
	return 0;
}

static int by_pid(const void *a, const void *b)
{
	pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

	return x < y ? -1 : x > y;
}

static int add_pid(struct pid_list *list, pid_t pid)
{
	if (list->n == list->cap) {
		size_t cap = list->cap ? 2 * list->cap : 64;
		pid_t *grown = realloc(list->pids, cap * sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		list->pids = grown;
		list->cap = cap;
	}
	list->pids[list->n++] = pid;
	return 0;
}

int procfs_list(const char *root, struct pid_list *ret_list)
{
	struct pid_list list = { 0 };
	struct dirent *d;
	DIR *dir = opendir(root);
	int r = 0;

	if (!dir)
		return -errno;
	while (!r && (d = readdir(dir))) {
		struct proc_stat stat;
		pid_t pid = (pid_t)strtol(d->d_name, NULL, 10);

		if (pid > 0 && !procfs_stat(root, pid, &stat) && !(stat.flags & PROC_FLAG_KTHREAD))
			r = add_pid(&list, pid);
	}
	closedir(dir);
	if (r) {
		free(list.pids);
		return r;
	}
	if (list.n)
		qsort(list.pids, list.n, sizeof(*list.pids), by_pid);
	*ret_list = list;
	return 0;
}

bool procfs_has_comm(const char *root, pid_t pid, const char *comm)
{
	struct proc_stat stat;

	return !procfs_stat(root, pid, &stat) && !strcmp(stat.comm, comm);
}

bool procfs_has_exe(const char *root, pid_t pid, const char *path)
{
	char link[256];
	struct stat wanted, has;

	snprintf(link, sizeof(link), "%s/%d/exe", root, (int)pid);
	/* Through the link: the file that is executed, even if it was renamed since. */
	return !stat(path, &wanted) && !stat(link, &has) && wanted.st_dev == has.st_dev &&
	       wanted.st_ino == has.st_ino;
}

int procfs_cgroup(const char *path, struct pid_list *ret_list)
{
	struct pid_list list = { 0 };
	char file[4096];
	char line[32];
	FILE *f;
	int r = 0;

	snprintf(file, sizeof(file), "%s%s/cgroup.procs", path[0] == '/' ? "" : "/sys/fs/cgroup/",
		 path);
	f = fopen(file, "re");
	if (!f)
		return -errno;
	while (!r && fgets(line, sizeof(line), f)) {
		pid_t pid = (pid_t)strtol(line, NULL, 10);

		if (pid > 0) /* 0: of another pid namespace */
			r = add_pid(&list, pid);
	}
	fclose(f);
	if (r) {
		free(list.pids);
		return r;
	}
	*ret_list = list;
	return 0;
}

u64 procfs_max_pid(const char *root)
{
	char path[256], text[32];
	u64 max = 0;

	snprintf(path, sizeof(path), "%s/sys/kernel/pid_max", root);
	if (proc_read_text(path, text, sizeof(text)) <= 0 || !number_at(text, 0, &max))
		return 0;
	return max;
}

void procfs_machine(const char *root, u64 *ret_steal_ticks, u64 *ret_boot_seconds)
{
	char path[256], *text, *line;
	/* The interrupt line grows with the machine; cpu and btime must not be cut off. */
	const size_t cap = 1 << 20;

	*ret_steal_ticks = 0;
	*ret_boot_seconds = 0;
	text = malloc(cap);
	if (!text)
		return;
	snprintf(path, sizeof(path), "%s/stat", root);
	if (proc_read_text(path, text, cap) > 0) {
		if (!strncmp(text, "cpu ", 4))
			(void)number_at(text + 4, 7, ret_steal_ticks);
		line = strstr(text, "\nbtime ");
		if (line)
			(void)number_at(line + 7, 0, ret_boot_seconds);
	}
	free(text);
}

static u64 count_fds(const char *root)
{
	char path[256];
	u64 n = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/self/fd", root);
	dir = opendir(path);
	if (!dir)
		return 0;
	while (readdir(dir))
		n++;
	closedir(dir);
	return n > 3 ? n - 3 : 0; /* without ".", ".." and the directory itself */
}

void procfs_self(const char *root, struct proc_self *ret_self)
{
	struct proc_stat stat = { 0 };
	struct rlimit limit;
	char text[256];
	u64 pages = 0, page = (u64)sysconf(_SC_PAGESIZE);

	*ret_self = (struct proc_self){ .open_fds = count_fds(root), .max_virtual_bytes = ~0ULL };
	if (!procfs_stat(root, getpid(), &stat)) {
		ret_self->cpu_ticks = stat.utime_ticks + stat.stime_ticks;
		ret_self->start_ticks = stat.start_ticks;
	}
	if (read_pid_text(root, getpid(), "statm", text, sizeof(text)) > 0) {
		if (number_at(text, 0, &pages))
			ret_self->virtual_bytes = pages * page;
		if (number_at(text, 1, &pages))
			ret_self->resident_bytes = pages * page;
	}
	if (!getrlimit(RLIMIT_NOFILE, &limit))
		ret_self->max_fds = limit.rlim_cur;
	if (!getrlimit(RLIMIT_AS, &limit) && limit.rlim_cur != RLIM_INFINITY)
		ret_self->max_virtual_bytes = limit.rlim_cur;
}
