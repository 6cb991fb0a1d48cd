/* SPDX-License-Identifier: MIT */
/* The sockets of a process, from /proc. */
#ifndef SKYOBSERVE_PROC_SOCKETS_H
#define SKYOBSERVE_PROC_SOCKETS_H

#include <sys/types.h>

#include "user/model/sockets.h"

/*
 * What @pid listens on (TCP, unix) and whom it connected to (TCP), in its own network namespace.
 * What is connected to a port that it listens on is a client, and only counted. @root is "/proc",
 * or a folder of ordinary files in tests. @diag is of sock_diag_open, for what was sent; -1: that
 * is not asked. Returns 0 or a negative errno; -EACCES: the caller may not see its descriptors.
 */
int procfs_sockets(const char *root, pid_t pid, int diag, struct socket_ends *ret_ends);

#endif /* SKYOBSERVE_PROC_SOCKETS_H */
