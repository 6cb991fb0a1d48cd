/* SPDX-License-Identifier: MIT */
/* The system calls of the broker, and no others. */
#ifndef SKYOBSERVE_BROKER_CALLS_H
#define SKYOBSERVE_BROKER_CALLS_H

/*
 * Refuse, for ever, what the broker never does: to execute, to open a socket, to open a file for
 * writing, bpf(2), ptrace(2), to write to another process, to change users. It may read the memory
 * of processes, and fork the process that reads a program's file, which confines itself further.
 * What is refused fails with ENOSYS. Needs no_new_privs. 0 or a negative errno; -ENOSYS where the
 * kernel has no filters.
 */
int broker_limit_calls(void);

#endif /* SKYOBSERVE_BROKER_CALLS_H */
