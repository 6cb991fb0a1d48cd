/* SPDX-License-Identifier: MIT */
/*
 * The HTTP server: routes, limits, listening sockets. No thread of its own: the caller's event
 * loop watches one descriptor and a timeout. Knows bytes, not what is in them.
 *
 *	http_server_open(&config, collect, ctx, &server, &err);
 *	epoll_ctl(loop, EPOLL_CTL_ADD, http_server_fd(server), EPOLLIN);
 *	for (;;) {
 *		epoll_wait(loop, ..., http_server_timeout_ms(server));
 *		http_server_run(server);	(after every wake-up; cheap)
 *	}
 *
 * Served: the telemetry path, `/` (links to the rest), `/-/healthy`, `/-/ready` (503 until
 * http_server_set_ready), `/snapshot`. GET and HEAD; others are 405, other paths 404.
 */
#ifndef SKYOBSERVE_HTTP_SERVER_H
#define SKYOBSERVE_HTTP_SERVER_H

#include <stdbool.h>
#include <stddef.h>

#include "user/base/buf.h"
#include "user/base/err.h"

struct http_server;

enum http_body {
	HTTP_BODY_TEXT,	       /* Prometheus text 0.0.4 */
	HTTP_BODY_OPENMETRICS, /* OpenMetrics 1.0.0 */
	HTTP_BODY_SNAPSHOT,    /* JSON */
};

/*
 * Fill the empty @body. 0, or a negative errno: the client gets 500 with its text (503 for
 * -EAGAIN and -EBUSY). Called from http_server_run only, once for each request that asks for it.
 */
typedef int (*http_collect_fn)(void *ctx, enum http_body kind, struct buf *body);

#define HTTP_DEFAULT_ADDRESS	     "127.0.0.1:19435"
#define HTTP_DEFAULT_TELEMETRY_PATH  "/metrics"
#define HTTP_DEFAULT_MAX_REQUESTS    40
#define HTTP_DEFAULT_MAX_CONNECTIONS 128
#define HTTP_DEFAULT_TIMEOUT_MS	     10000

/* A zeroed struct means the defaults. Nothing of it is kept after http_server_open. */
struct http_config {
	/*
	 * "127.0.0.1:19435", "[::1]:0", "localhost:19435", ":19435" (all addresses, IPv4 and IPv6).
	 * Port 0 lets the kernel choose. None: HTTP_DEFAULT_ADDRESS.
	 */
	const char *const *addresses;
	size_t nr_addresses;
	const char *telemetry_path; /* begins with '/' */
	/*
	 * Names that a Host header may have besides localhost and IP addresses. The check guards
	 * loopback from web pages (DNS rebinding), so it holds for connections over loopback; who
	 * listens on other addresses is reached under names that we cannot know.
	 */
	const char *const *host_names;
	size_t nr_host_names;
	unsigned int max_requests; /* being answered at once; more get 503 */
	/*
	 * Open at once. When all are taken, the connection that has been without a request for
	 * longest is closed in favour of a new one.
	 */
	unsigned int max_connections;
	/*
	 * A request must have arrived within this time, byte by byte or not at all; an answer must
	 * be taken within 3 times of it, and an idle connection is closed after 12 times of it.
	 */
	unsigned int timeout_ms;
	const char *title; /* heading of the landing page, e.g. "skyobserve 0.1"; plain text */
};

/*
 * Listen. On failure @err says in one line which address, why, and what to do.
 *
 * Returns 0; -EINVAL for a bad address or path, -EADDRINUSE, -EACCES, -EADDRNOTAVAIL, ... as the
 * kernel says; -ENOMEM.
 */
int http_server_open(const struct http_config *config, http_collect_fn collect, void *ctx,
		     struct http_server **ret_server, struct err *err);

/* Close all connections and sockets; NULL is fine. */
void http_server_free(struct http_server *server);

/* Readable when http_server_run has something to do. Owned by the server. */
int http_server_fd(const struct http_server *server);

/* Time until http_server_run must be called even if nothing is readable; -1: never. */
int http_server_timeout_ms(const struct http_server *server);

/* Accept, read, answer, close what is late. Never blocks except in the collect callback. */
void http_server_run(struct http_server *server);

/* What /-/ready answers; false at first. */
void http_server_set_ready(struct http_server *server, bool ready);

size_t http_server_nr_addresses(const struct http_server *server);

/* Append the address that socket @i is bound to: "127.0.0.1:40123", "[::]:19435". */
void http_server_address(const struct http_server *server, size_t i, struct buf *buf);

/*
 * Append the address of the metrics of socket @i for a person on this machine:
 * "http://127.0.0.1:40123/metrics", with localhost where it listens on all addresses.
 */
void http_server_url(const struct http_server *server, size_t i, struct buf *buf);

#endif /* SKYOBSERVE_HTTP_SERVER_H */
