/* SPDX-License-Identifier: MIT */
/* Files are made with the rights of the user who asked for them. Knows nothing of what is in them.
 */
#include "user/cmd/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "user/base/privilege.h"

struct file_task {
	const char *path;
};

static int create(void *ctx)
{
	const struct file_task *task = ctx;
	int fd = open(task->path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY,
		      0600);

	return fd < 0 ? -errno : fd;
}

static int remove_file(void *ctx)
{
	const struct file_task *task = ctx;

	return unlink(task->path) ? -errno : 0;
}

/* As the user who called sudo, if somebody did. */
static int as_user(int (*fn)(void *ctx), struct file_task *task)
{
	const char *uid = getenv("SUDO_UID");
	struct privilege_user user;
	int r, result = 0;

	privilege_choose_user(uid, getenv("SUDO_GID"), &user);
	if (geteuid() || !uid || strtoull(uid, NULL, 10) != user.uid)
		return fn(task);
	r = privilege_try(&user, 0, fn, task, &result);
	return r ? r : result;
}

int output_file_create(const char *path, struct err *err)
{
	struct file_task task = { path };
	int fd = as_user(create, &task);

	if (fd >= 0)
		return fd;
	if (fd == -EEXIST)
		return err_set(err, fd, "%s exists already: give another name, or remove it first",
			       path);
	return err_set(err, fd, "%s cannot be made: %s", path, strerror(-fd));
}

void output_file_remove(const char *path)
{
	struct file_task task = { path };

	(void)as_user(remove_file, &task); /* an empty file that stays is refused by its reader */
}

int output_file_write(int fd, const struct buf *bytes)
{
	size_t done = 0;

	if (bytes->failed)
		return -ENOMEM;
	while (done < bytes->len) {
		ssize_t n = write(fd, bytes->bytes + done, bytes->len - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		done += (size_t)n;
	}
	return 0;
}
