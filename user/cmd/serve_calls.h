/* SPDX-License-Identifier: MIT */
/* The system calls of the serving phase, and no others. */
#ifndef SKYOBSERVE_CMD_SERVE_CALLS_H
#define SKYOBSERVE_CMD_SERVE_CALLS_H

#include <stdbool.h>

/*
 * Refuse, for ever, what serving never does: to execute, to start threads or processes, to trace or
 * signal others, to open sockets, to open files for writing, to map memory as code, and what of
 * bpf(2) creates, attaches or finds things. What is refused fails with ENOSYS. @targets_come:
 * processes are still to be taken in. Needs no_new_privs. Returns 0 or a negative errno; -ENOSYS
 * where the kernel has no filters.
 */
int serve_limit_calls(bool targets_come);

#endif /* SKYOBSERVE_CMD_SERVE_CALLS_H */
