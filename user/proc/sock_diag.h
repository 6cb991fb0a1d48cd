/* SPDX-License-Identifier: MIT */
/*
 * What the kernel counts of one TCP connection (sock_diag(7)), of the caller's own network
 * namespace. Reading only.
 */
#ifndef SKYOBSERVE_PROC_SOCK_DIAG_H
#define SKYOBSERVE_PROC_SOCK_DIAG_H

#include <stdbool.h>

#include "types.h"

/* The two ends of a connection; addresses in network order: 4 bytes, or 16 with @v6. */
struct sock_diag_ends {
	u8 local[16], remote[16];
	u32 local_port, remote_port;
	bool v6;
	u64 inode; /* of its socket: another one with these ends is another one's */
};

/* A socket for questions, or a negative errno. */
int sock_diag_open(void);

/*
 * Bytes that the other end confirmed to have got of what was written to the connection. False: the
 * kernel does not say it (no tcp_diag, another namespace, or the connection is gone).
 */
bool sock_diag_acked(int fd, const struct sock_diag_ends *ends, u64 *ret_bytes);

#endif /* SKYOBSERVE_PROC_SOCK_DIAG_H */
