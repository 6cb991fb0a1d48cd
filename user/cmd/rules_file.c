/* SPDX-License-Identifier: MIT */
/* Reading a file of rules. Knows nothing of what is in it. */
#include "user/cmd/rules_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "user/crosscheck/rules.h"

static int read_all(int fd, struct buf *ret_text, struct err *err)
{
	char chunk[4096];

	for (;;) {
		ssize_t n = read(fd, chunk, sizeof(chunk));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_set(err, -errno, "%s", strerror(errno));
		if (!n)
			return 0;
		buf_add(ret_text, chunk, (size_t)n);
		if (ret_text->failed)
			return err_set(err, -ENOMEM, "no memory for it");
		if (ret_text->len > RULES_MAX_BYTES)
			return err_set(err, -EFBIG,
				       "it has more than %u KiB, so it is no file of rules",
				       RULES_MAX_BYTES >> 10);
	}
}

int rules_file_read(const char *name, struct buf *ret_text, struct err *err)
{
	struct span text;
	int fd, r;

	if (rules_shipped(name, &text)) {
		buf_add(ret_text, text.at, text.n);
		return ret_text->failed ? err_set(err, -ENOMEM, "no memory for the rules") : 0;
	}
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return err_set(err, -errno,
			       "%s: %s; give a file, or `go` or `sky`, which are built in", name,
			       strerror(errno));
	r = read_all(fd, ret_text, err);
	close(fd);
	return r ? err_prefix(err, r, "%s: ", name) : 0;
}
