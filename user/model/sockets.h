/* SPDX-License-Identifier: MIT */
/* What a process listens on and is connected to, as one plain value. */
#ifndef SKYOBSERVE_MODEL_SOCKETS_H
#define SKYOBSERVE_MODEL_SOCKETS_H

#include <stdbool.h>
#include <stddef.h>

#include "types.h"

#define MAX_SOCKET_ENDS 96

enum socket_kind {
	SOCKET_LISTENS,	  /* @address and @port, or @path */
	SOCKET_CONNECTED, /* by the process itself, to @address and @port: @n times */
	NR_SOCKET_KINDS
};

/* One end. Addresses are in network order: 4 bytes, or 16 with @v6. */
struct socket_end {
	u32 kind; /* enum socket_kind */
	u32 v6;	  /* 0 or 1 */
	u32 port;
	u32 n;
	u32 sent_of; /* of how many of the @n connections @sent is known */
	u32 zero;
	u64 sent; /* bytes written to them that the other end confirmed */
	u8 address[16];
	char comm[16];	/* whose other end it is, if that is on this machine; "" unknown */
	char path[112]; /* of a unix socket; "" else */
};
_Static_assert(sizeof(struct socket_end) == 176, "no padding");

struct socket_ends {
	u32 n;
	u32 left_out;	  /* ends that had no room */
	u32 clients;	  /* TCP connections to what it listens on */
	u32 unix_streams; /* connected unix sockets; to whom is not known */
	struct socket_end at[MAX_SOCKET_ENDS];
};

/* Make texts end. False if numbers make no sense: it came from a process that is not trusted. */
bool socket_ends_check(struct socket_ends *ends);

/* "127.0.0.1:5432 (postgres) 8 times", "[::]:80", "unix:/run/app" */
void socket_end_text(const struct socket_end *end, char *ret_text, size_t n);

#endif /* SKYOBSERVE_MODEL_SOCKETS_H */
