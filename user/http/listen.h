/* SPDX-License-Identifier: MIT */
/* Listening sockets from addresses as users write them. */
#ifndef SKYOBSERVE_HTTP_LISTEN_H
#define SKYOBSERVE_HTTP_LISTEN_H

#include <stdbool.h>

#include "user/base/buf.h"
#include "user/base/err.h"

struct sockaddr;
struct sockaddr_storage;

/* An address taken apart: "[::1]:80" is host "::1", port 80. An empty host means all addresses. */
struct listen_address {
	char host[256];
	unsigned int port;
};

/*
 * Take @text apart: HOST:PORT, [IPv6]:PORT, or :PORT. Pure. Returns 0; -EINVAL with the reason in
 * @err.
 */
int listen_parse(const char *text, struct listen_address *ret_address, struct err *err);

/*
 * A listening, non-blocking socket on @text. Without a host it takes IPv4 and IPv6 on all
 * addresses; an IPv6 address takes IPv6 only; of a name with several addresses the first that
 * works is taken, IPv4 before IPv6.
 *
 * Returns 0; -EINVAL, -EADDRINUSE, -EACCES, -EADDRNOTAVAIL, or what else the kernel says; @err is
 * one line with the address, the reason and the remedy.
 */
int listen_open(const char *text, int *ret_fd, struct err *err);

/* The address that @fd is bound to; 0 or a negative errno, then *ret_address is zeros. */
int listen_bound(int fd, struct sockaddr_storage *ret_address);

/* Append "127.0.0.1:80" or "[::1]:80". */
void listen_print(const struct sockaddr *address, struct buf *buf);

/* Whether an address is loopback (127/8, ::1, or the former mapped into IPv6) or all addresses. */
bool listen_is_loopback(const struct sockaddr *address);
bool listen_is_any(const struct sockaddr *address);

#endif /* SKYOBSERVE_HTTP_LISTEN_H */
