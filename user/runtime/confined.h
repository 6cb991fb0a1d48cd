/* SPDX-License-Identifier: MIT */
/*
 * Work on a stranger's bytes where a crash costs nothing: in a forked process without capabilities,
 * which can read the one file, write its answer, and nothing else (seccomp), with limits of memory
 * and time. Its answer is bytes, which may be anything.
 */
#ifndef SKYOBSERVE_RUNTIME_CONFINED_H
#define SKYOBSERVE_RUNTIME_CONFINED_H

#include <stddef.h>

#include "types.h"
#include "user/base/buf.h"
#include "user/base/err.h"

struct confined_job {
	/* Done there. 0 with an answer, or a negative errno with @err. */
	int (*work)(int fd, const void *request, struct buf *ret_answer, struct err *err);
	const void *request;
	size_t max_bytes; /* of the answer */
	u64 max_ns;	  /* of time */
};

/*
 * Do it, waiting. The process has a copy of @fd. 0: *ret_answer has what it answered, with every
 * byte that it may be; -ETIMEDOUT; -EBADMSG: it died, or answered more than it may; else what the
 * work returned, with its words. The caller frees *ret_answer in all cases.
 */
int confined_run(int fd, const struct confined_job *job, struct buf *ret_answer, struct err *err);

#endif /* SKYOBSERVE_RUNTIME_CONFINED_H */
