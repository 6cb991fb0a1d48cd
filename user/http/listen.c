/* SPDX-License-Identifier: MIT */
/* Listening sockets. Knows nothing of HTTP. */
#include "user/http/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BACKLOG	  128
#define MAX_PORT  65535
#define ROOT_PORT 1024 /* ports below need a capability */

int listen_parse(const char *text, struct listen_address *ret_address, struct err *err)
{
	const char *colon = strrchr(text, ':');
	const char *host = text;
	struct listen_address a = { .port = 0 };
	struct in_addr four;
	size_t n;

	if (!colon)
		return err_set(err, -EINVAL,
			       "listen on '%s': that is no address; write HOST:PORT or :PORT",
			       text);
	n = strlen(colon + 1);
	if (!n || n > 5 || strspn(colon + 1, "0123456789") != n)
		return err_set(err, -EINVAL,
			       "listen on %s: '%s' is no port; write a number from 0 to 65535",
			       text, colon + 1);
	a.port = (unsigned int)strtoul(colon + 1, NULL, 10);
	if (a.port > MAX_PORT)
		return err_set(err, -EINVAL,
			       "listen on %s: there is no port %u; the last one is 65535", text,
			       a.port);
	n = (size_t)(colon - text);
	if (n >= 2 && host[0] == '[' && host[n - 1] == ']') {
		host++;
		n -= 2;
		if (!n)
			return err_set(err, -EINVAL,
				       "listen on %s: there is no address in the brackets", text);
	} else if (memchr(host, ':', n)) {
		return err_set(err, -EINVAL,
			       "listen on %s: write an IPv6 address in brackets, as in [::1]:%u",
			       text, a.port);
	}
	if (n >= sizeof(a.host))
		return err_set(err, -EINVAL, "the host to listen on is longer than any host name");
	memcpy(a.host, host, n);
	/* The C library takes 999 for 0.0.3.231, which nobody means. */
	if (n && strspn(a.host, "0123456789.") == n && inet_pton(AF_INET, a.host, &four) != 1)
		return err_set(err, -EINVAL,
			       "listen on %s: '%s' is no IPv4 address; write four numbers, as in "
			       "127.0.0.1:%u, or :%u for all addresses",
			       text, a.host, a.port, a.port);
	*ret_address = a;
	return 0;
}

static int listen_fail(const char *text, unsigned int port, int code, struct err *err)
{
	switch (code) {
	case -EADDRINUSE:
		return err_set(err, code,
			       "listen on %s: the address is in use, maybe by another skyobserve; "
			       "end that, or choose another address with --web.listen-address",
			       text);
	case -EACCES:
	case -EPERM:
		if (port && port < ROOT_PORT)
			return err_set(err, code,
				       "listen on %s: no permission for ports below 1024; run as "
				       "root, or choose a higher port with --web.listen-address",
				       text);
		return err_set(err, code, "listen on %s: no permission", text);
	case -EADDRNOTAVAIL:
		return err_set(
			err, code,
			"listen on %s: this machine does not have that address; `ip address` "
			"lists those it has",
			text);
	default:
		return err_set(err, code, "listen on %s: %s", text, strerror(-code));
	}
}

/* A socket that listens on @address, or a negative errno. */
static int listen_on(const struct sockaddr *address, socklen_t len, bool v6only)
{
	int fd = socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int yes = 1, only = v6only;
	int r;

	if (fd < 0)
		return -errno;
	/* A restart must not wait for the connections of the former run to be forgotten. */
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) ||
	    (address->sa_family == AF_INET6 &&
	     setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &only, sizeof(only))) ||
	    bind(fd, address, len) || listen(fd, BACKLOG)) {
		r = -errno;
		close(fd);
		return r;
	}
	return fd;
}

/* All addresses: one socket for both families, or IPv4 alone where there is no IPv6. */
static int listen_on_all(unsigned int port)
{
	struct sockaddr_in6 six = { .sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port) };
	struct sockaddr_in four = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	int fd = listen_on((const struct sockaddr *)&six, sizeof(six), false);

	if (fd == -EAFNOSUPPORT || fd == -EADDRNOTAVAIL)
		fd = listen_on((const struct sockaddr *)&four, sizeof(four), false);
	return fd;
}

/* The first address of @list that works, of one family. -EADDRNOTAVAIL if there is none. */
static int listen_on_family(const struct addrinfo *list, int family)
{
	int r = -EADDRNOTAVAIL;

	for (const struct addrinfo *i = list; i && r < 0; i = i->ai_next) {
		if (i->ai_family == family)
			r = listen_on(i->ai_addr, i->ai_addrlen, true);
	}
	return r;
}

static int listen_on_host(const char *text, const struct listen_address *a, int *ret_fd,
			  struct err *err)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
				  .ai_flags = AI_PASSIVE | AI_NUMERICSERV };
	struct addrinfo *list;
	char port[8];
	int fd, r;

	snprintf(port, sizeof(port), "%u", a->port);
	r = getaddrinfo(a->host, port, &hints, &list);
	if (r)
		return err_set(err, -EADDRNOTAVAIL,
			       "listen on %s: no address of host '%s': %s; give an address", text,
			       a->host, r == EAI_SYSTEM ? strerror(errno) : gai_strerror(r));
	fd = listen_on_family(list, AF_INET);
	if (fd == -EADDRNOTAVAIL)
		fd = listen_on_family(list, AF_INET6);
	freeaddrinfo(list);
	if (fd < 0)
		return listen_fail(text, a->port, fd, err);
	*ret_fd = fd;
	return 0;
}

int listen_open(const char *text, int *ret_fd, struct err *err)
{
	struct listen_address a = { .port = 0 };
	int fd;
	int r = listen_parse(text, &a, err);

	if (r)
		return r;
	if (a.host[0])
		return listen_on_host(text, &a, ret_fd, err);
	fd = listen_on_all(a.port);
	if (fd < 0)
		return listen_fail(text, a.port, fd, err);
	*ret_fd = fd;
	return 0;
}

int listen_bound(int fd, struct sockaddr_storage *ret_address)
{
	socklen_t len = sizeof(*ret_address);

	memset(ret_address, 0, sizeof(*ret_address));
	return getsockname(fd, (struct sockaddr *)ret_address, &len) ? -errno : 0;
}

void listen_print(const struct sockaddr *address, struct buf *buf)
{
	const struct sockaddr_in *four = (const struct sockaddr_in *)address;
	const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)address;
	char text[INET6_ADDRSTRLEN] = "?";

	if (address->sa_family == AF_INET6) {
		(void)inet_ntop(AF_INET6, &six->sin6_addr, text, sizeof(text)); /* "?" stays */
		buf_printf(buf, "[%s]:%u", text, ntohs(six->sin6_port));
	} else {
		(void)inet_ntop(AF_INET, &four->sin_addr, text, sizeof(text));
		buf_printf(buf, "%s:%u", text, ntohs(four->sin_port));
	}
}

bool listen_is_loopback(const struct sockaddr *address)
{
	const struct sockaddr_in *four = (const struct sockaddr_in *)address;
	const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)address;

	if (address->sa_family != AF_INET6)
		return ntohl(four->sin_addr.s_addr) >> 24 == 127;
	if (IN6_IS_ADDR_V4MAPPED(&six->sin6_addr))
		return six->sin6_addr.s6_addr[12] == 127;
	return IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
}

bool listen_is_any(const struct sockaddr *address)
{
	const struct sockaddr_in *four = (const struct sockaddr_in *)address;
	const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)address;

	if (address->sa_family != AF_INET6)
		return four->sin_addr.s_addr == htonl(INADDR_ANY);
	return IN6_IS_ADDR_UNSPECIFIED(&six->sin6_addr);
}
