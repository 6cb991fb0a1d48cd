/* SPDX-License-Identifier: MIT */
/* What server.c (sockets, loop) and answer.c (requests) share; for these two only. */
#ifndef SKYOBSERVE_HTTP_SERVER_IMPL_H
#define SKYOBSERVE_HTTP_SERVER_IMPL_H

#include <stdbool.h>
#include <stddef.h>

#include "user/http/conns.h"
#include "user/http/server.h"

struct MHD_Connection;
struct MHD_Daemon;

struct http_listener {
	struct MHD_Daemon *daemon; /* owns the socket */
	int fd;
};

struct http_server {
	struct http_listener *listeners;
	size_t nr_listeners;
	int epoll_fd; /* watches the daemons' own */
	struct conns conns;
	char *telemetry_path;
	char *title;
	char **host_names;
	size_t nr_host_names;
	unsigned int max_requests, max_connections;
	bool ready;
	http_collect_fn collect;
	void *ctx;
};

/* Whether @path is served by something else than the metrics. */
bool answer_is_reserved(const char *path);

/* Whether a request announces a body, so that it must be answered before that is read. */
bool answer_is_early(struct MHD_Connection *mhd);

/* The request line. */
struct answer_line {
	const char *path, *method, *version;
};

/* Queue the answer to a request whose headers are complete. False: drop the connection. */
bool answer_request(struct http_server *server, struct conn *c, struct MHD_Connection *mhd,
		    const struct answer_line *line);

#endif /* SKYOBSERVE_HTTP_SERVER_IMPL_H */
