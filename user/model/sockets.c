/* SPDX-License-Identifier: MIT */
/* Ends of sockets, checked and as text. */
#include "user/model/sockets.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

bool socket_ends_check(struct socket_ends *ends)
{
	if (ends->n > MAX_SOCKET_ENDS)
		return false;
	for (u32 i = 0; i < ends->n; i++) {
		struct socket_end *end = &ends->at[i];

		if (end->kind >= NR_SOCKET_KINDS || end->v6 > 1 || end->port > 65535)
			return false;
		end->comm[sizeof(end->comm) - 1] = '\0';
		end->path[sizeof(end->path) - 1] = '\0';
	}
	return true;
}

void socket_end_text(const struct socket_end *end, char *ret_text, size_t n)
{
	char address[INET6_ADDRSTRLEN] = "?", times[24] = "";

	if (end->path[0]) {
		snprintf(ret_text, n, "unix:%s", end->path);
		return;
	}
	(void)inet_ntop(end->v6 ? AF_INET6 : AF_INET, end->address, address, sizeof(address));
	if (end->n > 1)
		snprintf(times, sizeof(times), " %u times", end->n);
	snprintf(ret_text, n, "%s%s%s:%u%s%s%s%s", end->v6 ? "[" : "", address, end->v6 ? "]" : "",
		 end->port, end->comm[0] ? " (" : "", end->comm, end->comm[0] ? ")" : "", times);
}
