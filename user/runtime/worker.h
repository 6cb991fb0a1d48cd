/* SPDX-License-Identifier: MIT */
/*
 * Reading a stranger's program where a crash costs nothing: in a forked process without
 * capabilities, which can read the one file, write its answer, and nothing else (seccomp), with
 * limits of memory and time. The answer is a plain table and is checked as strangers' bytes are.
 */
#ifndef SKYOBSERVE_RUNTIME_WORKER_H
#define SKYOBSERVE_RUNTIME_WORKER_H

#include <stddef.h>
#include <sys/types.h>

#include "user/runtime/runtime.h"

/* A program of 200 MB with its DWARF takes some seconds on a slow machine. */
#define TARGET_WORKER_DEADLINE_NS (30 * NS_PER_SEC)

/* A zeroed struct is no worker. */
struct target_worker {
	pid_t pid;
	int fd; /* readable when there is something to do, for epoll */
	u64 deadline_ns;
	struct target_answer *answer;
	size_t received;
};

/*
 * Begin. The worker has a copy of @fd. @now_ns is CLOCK_MONOTONIC. 0 or a negative errno;
 * target_worker_done in both cases.
 */
int target_worker_start(int fd, const struct target_request *request, u64 now_ns,
			struct target_worker *ret_worker, struct err *err);
/*
 * Go on, without waiting. -EAGAIN: not yet; 0: *ret_target is there; -ETIMEDOUT: the deadline has
 * passed; -EBADMSG: it died, or its answer makes no sense; else what target_read returned.
 */
int target_worker_step(struct target_worker *worker, u64 now_ns, struct target *ret_target,
		       struct err *err);
/* End it, at whatever point it is. */
void target_worker_done(struct target_worker *worker);

/* All of it, waiting. */
int target_read_confined(int fd, const struct target_request *request, struct target *ret_target,
			 struct err *err);

/* Make texts end and numbers fit. False if a table contradicts itself. */
bool target_check(struct target *target);

#endif /* SKYOBSERVE_RUNTIME_WORKER_H */
