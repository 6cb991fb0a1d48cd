/* SPDX-License-Identifier: MIT */
/* Reading a file as bytes. Knows nothing of what is in it. */
#include "user/base/input_file.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define CHUNK_BYTES 65536

int input_file_read(int fd, size_t max_bytes, struct buf *ret_bytes, struct err *err)
{
	char chunk[CHUNK_BYTES];

	for (;;) {
		ssize_t n = read(fd, chunk, sizeof(chunk));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_set(err, -errno, "%s", strerror(errno));
		if (!n)
			return 0;
		if ((size_t)n > max_bytes - ret_bytes->len)
			return err_set(err, -EFBIG, "it has more than %zu KiB", max_bytes >> 10);
		buf_add(ret_bytes, chunk, (size_t)n);
		if (ret_bytes->failed)
			return err_set(err, -ENOMEM, "no memory for it");
	}
}
