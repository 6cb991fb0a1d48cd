/* SPDX-License-Identifier: MIT */
/* Documentation/userspace-api/landlock.rst; the C library has no wrappers. */
#define _GNU_SOURCE /* O_PATH */
#include "user/base/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/syscall.h>
#include <unistd.h>

#define READ_ACCESS (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)

/* What the first version knows: a kernel refuses bits that it does not. */
#define ALL_ACCESS                                                                  \
	(READ_ACCESS | LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_WRITE_FILE | \
	 LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |           \
	 LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR |               \
	 LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK |               \
	 LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK |             \
	 LANDLOCK_ACCESS_FS_MAKE_SYM)

static int allow_reading(int ruleset, const char *path)
{
	struct landlock_path_beneath_attr rule = { .allowed_access = READ_ACCESS };
	int r = 0;

	rule.parent_fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (rule.parent_fd < 0)
		return errno == ENOENT ? 0 : -errno;
	if (syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0))
		r = -errno;
	close(rule.parent_fd);
	return r;
}

int landlock_read_only_below(const char *const *paths, size_t n)
{
	struct landlock_ruleset_attr attr = { .handled_access_fs = ALL_ACCESS };
	int fd = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);
	int r = 0;

	if (fd < 0)
		return -errno;
	for (size_t i = 0; i < n && !r; i++)
		r = allow_reading(fd, paths[i]);
	if (!r && syscall(SYS_landlock_restrict_self, fd, 0))
		r = -errno;
	close(fd);
	return r;
}
