/* SPDX-License-Identifier: MIT */
#include "user/proc/text.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

ssize_t proc_read_text(const char *path, char *ret_text, size_t n)
{
	size_t have = 0;
	int fd, e = 0;

	ret_text[0] = '\0';
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	while (have < n - 1) {
		ssize_t got = read(fd, ret_text + have, n - 1 - have);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			e = errno;
		if (got <= 0)
			break;
		have += (size_t)got;
	}
	close(fd);
	ret_text[have] = '\0';
	return e ? -e : (ssize_t)have;
}
