/* SPDX-License-Identifier: MIT */
/* Reading a file of rules. Knows nothing of what is in it. */
#include "user/cmd/rules_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "user/base/input_file.h"
#include "user/crosscheck/rules.h"

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
	r = input_file_read(fd, RULES_MAX_BYTES, ret_text, err);
	close(fd);
	return r ? err_prefix(err, r, "%s: ", name) : 0;
}
