/* SPDX-License-Identifier: MIT */
/* What the broker knows of Go programs: one entry per process, found by pid and start time. */
#ifndef SKYOBSERVE_BROKER_WATCHES_H
#define SKYOBSERVE_BROKER_WATCHES_H

#include "user/broker/protocol.h"

struct watches;

/* Room for @max processes; NULL when memory runs out. */
struct watches *watches_new(size_t max);
void watches_free(struct watches *watches);

/* Begin to read the file that process @pid executes, unless it is known. */
void watches_begin(struct watches *watches, pid_t pid);

/*
 * How the work of process @pid is told apart, if its file was read; else reading it has begun.
 * 0; -EAGAIN: not yet; -ESRCH.
 */
int watches_owner(struct watches *watches, pid_t pid, struct broker_owner *ret_owner);

/*
 * What the Go runtime of the process says. 0; -ESRCH: this process is not there any more; -ENOSPC:
 * there are too many; -ENOMEM.
 */
int watches_read(struct watches *watches, pid_t pid, u64 start_ticks, u64 patience_ns,
		 struct broker_go *ret_go);

/* Forget a process; one that is not known is fine. */
void watches_done(struct watches *watches, pid_t pid, u64 start_ticks);

#endif /* SKYOBSERVE_BROKER_WATCHES_H */
