/* SPDX-License-Identifier: MIT */
/* The Host header (RFC 9110, section 7.2). Its value is a stranger's. */
#include "user/http/host.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

#define MAX_HOST 256 /* longer than any DNS name */

/* Nothing, or a colon and up to five digits. */
static bool is_port_or_nothing(const char *text)
{
	if (!*text)
		return true;
	return *text == ':' && strlen(text + 1) <= 5 &&
	       strspn(text + 1, "0123456789") == strlen(text + 1);
}

static bool is_ipv6(const char *bracket)
{
	const char *end = strchr(bracket, ']');
	char address[INET6_ADDRSTRLEN];
	struct in6_addr ip;
	size_t n;

	if (!end || !is_port_or_nothing(end + 1))
		return false;
	n = (size_t)(end - bracket) - 1;
	if (n >= sizeof(address))
		return false;
	memcpy(address, bracket + 1, n);
	address[n] = '\0';
	address[strcspn(address, "%")] = '\0'; /* the zone of a link-local address */
	return inet_pton(AF_INET6, address, &ip) == 1;
}

bool host_is_ours(const char *host, const char *const *names, size_t nr_names)
{
	size_t n = strcspn(host, ":");
	char name[MAX_HOST];
	struct in_addr ip;

	if (host[0] == '[')
		return is_ipv6(host);
	if (!n || n >= sizeof(name) || !is_port_or_nothing(host + n))
		return false;
	memcpy(name, host, n);
	name[n] = '\0';
	if (inet_pton(AF_INET, name, &ip) == 1)
		return true;
	if (n > 1 && name[n - 1] == '.') /* a name may be written with the root's dot */
		name[n - 1] = '\0';
	if (!strcasecmp(name, "localhost"))
		return true;
	for (size_t i = 0; i < nr_names; i++) {
		if (!strcasecmp(name, names[i]))
			return true;
	}
	return false;
}
