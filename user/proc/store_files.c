/* SPDX-License-Identifier: MIT */
/* A store's files, by the descriptors that lead to them: their names may mean others to us. */
#include "user/proc/store_files.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "user/proc/text.h"

#define MAX_LOOKS 65536

static bool is_of_store(const char *target, const char *path)
{
	size_t n = strlen(path);

	return !strncmp(target, path, n) &&
	       (!target[n] || !strcmp(target + n, "-wal") || !strcmp(target + n, "-journal"));
}

/* "flags:	0100002" in octal, of fdinfo. */
static bool is_for_writing(const char *info)
{
	const char *flags = strstr(info, "flags:");

	return flags && (strtoul(flags + 6, NULL, 8) & O_ACCMODE) != O_RDONLY;
}

static void look_at(const char *folder, const char *name, const char *path,
		    struct store_files *files)
{
	char at[PATH_MAX], target[PATH_MAX], info[256];
	struct stat stat_at;
	u64 changed_ns;
	ssize_t n;

	snprintf(at, sizeof(at), "%s/fd/%s", folder, name);
	n = readlink(at, target, sizeof(target) - 1);
	if (n < 0) {
		files->unreadable += errno != ENOENT;
		return;
	}
	target[n] = '\0';
	if (!is_of_store(target, path))
		return;
	if (stat(at, &stat_at)) {
		files->unreadable++;
		return;
	}
	snprintf(at, sizeof(at), "%s/fdinfo/%s", folder, name);
	if (proc_read_text(at, info, sizeof(info)) < 0) {
		files->unreadable++;
		return;
	}
	if (!S_ISREG(stat_at.st_mode) || !is_for_writing(info))
		return;
	files->descriptors++;
	changed_ns = (u64)stat_at.st_mtim.tv_sec * NS_PER_SEC + (u64)stat_at.st_mtim.tv_nsec;
	files->changed_ns = changed_ns > files->changed_ns ? changed_ns : files->changed_ns;
}

int procfs_store_files(const char *root, pid_t pid, const char *path, struct store_files *ret_files)
{
	char folder[256], fds[300];
	struct dirent *d;
	u32 looks = 0;
	DIR *dir;

	*ret_files = (struct store_files){ 0 };
	snprintf(folder, sizeof(folder), "%s/%d", root, (int)pid);
	snprintf(fds, sizeof(fds), "%s/fd", folder);
	dir = opendir(fds);
	if (!dir)
		return -errno;
	while ((d = readdir(dir)) && looks++ < MAX_LOOKS) {
		if (isdigit((unsigned char)d->d_name[0]))
			look_at(folder, d->d_name, path, ret_files);
	}
	ret_files->unreadable += d != NULL;
	closedir(dir);
	return 0;
}
