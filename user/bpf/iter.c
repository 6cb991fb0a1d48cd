/* SPDX-License-Identifier: MIT */
/* Run the task iterator. */
#include "user/bpf/iter.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "user/bpf/session_impl.h"

/* The kernel hands out whole records, up to 8 pages a read. */
#define RECORDS_PER_READ 64

int iter_run(const struct bpf_session *s, iter_fn fn, void *ctx, struct err *err)
{
	struct task_record records[RECORDS_PER_READ];
	size_t have = 0; /* bytes of an unfinished record at the front of records[] */
	int fd, r = 0;

	fd = bpf_iter_create(bpf_link__fd(s->iter_link));
	if (fd < 0)
		return err_set(err, -errno, "cannot run the task iterator: %s", strerror(errno));
	for (;;) {
		ssize_t n = read(fd, (char *)records + have, sizeof(records) - have);
		size_t whole;

		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n < 0) {
			r = err_set(err, -errno, "cannot read the task iterator: %s",
				    strerror(errno));
			break;
		}
		if (n == 0)
			break;
		have += (size_t)n;
		whole = have / sizeof(records[0]);
		for (size_t i = 0; i < whole && fn && !r; i++)
			r = fn(ctx, &records[i]);
		if (r)
			break;
		have -= whole * sizeof(records[0]);
		memmove(records, &records[whole], have);
	}
	close(fd);
	return r;
}
