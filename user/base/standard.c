/* SPDX-License-Identifier: MIT */
/* Standard input, output and error. */
#include "user/base/standard.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

void standard_open(void)
{
	int fd;

	/* open(2) takes the lowest free number: this ends when 0 to 2 are taken. */
	do {
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
	signal(SIGPIPE, SIG_IGN);
}

int standard_print(const struct buf *out)
{
	int e = 0;

	if (out->failed)
		return -ENOMEM;
	if (fwrite(out->bytes, 1, out->len, stdout) != out->len || fflush(stdout))
		e = errno;
	return e == EPIPE ? 0 : -e;
}
