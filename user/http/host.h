/* SPDX-License-Identifier: MIT */
/* Which Host headers are ours. Pure. */
#ifndef SKYOBSERVE_HTTP_HOST_H
#define SKYOBSERVE_HTTP_HOST_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Whether @host, the value of a Host header, is an IP address, localhost, or one of @names, with or
 * without a port.
 *
 * A web page of a stranger can point its own name at 127.0.0.1 and then read what is served there
 * as if it were its own (DNS rebinding). It cannot keep that name out of the Host header.
 */
bool host_is_ours(const char *host, const char *const *names, size_t nr_names);

#endif /* SKYOBSERVE_HTTP_HOST_H */
