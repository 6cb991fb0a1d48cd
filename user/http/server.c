/* SPDX-License-Identifier: MIT */
/*
 * The HTTP server's sockets and loop, on libmicrohttpd without threads: each listening socket has
 * its daemon, each daemon its epoll descriptor, and one epoll descriptor of ours watches those.
 */
#include "user/http/server.h"

#include <errno.h>
#include <limits.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "types.h"
#include "user/http/listen.h"
#include "user/http/server_impl.h"

/* Memory for one connection's request and headers; a scrape's request takes a few hundred bytes. */
#define CONNECTION_BYTES 16384

/*
 * libmicrohttpd refuses what is above its own limit, so that has to be a little higher than ours:
 * a connection is evicted after a new one was accepted, and is gone a moment later.
 */
#define CONNECTION_SLACK 32

#define ANSWER_TIMEOUTS 3  /* time to take an answer, in timeouts */
#define IDLE_TIMEOUTS	12 /* longer than the usual scrape intervals by default */

static u64 now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (u64)t.tv_sec * NS_PER_SEC + (u64)t.tv_nsec;
}

/* --- called by libmicrohttpd --- */

static struct conn *conn_of(struct MHD_Connection *mhd)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

static bool fd_is_loopback(int fd)
{
	struct sockaddr_storage address;

	/* If it cannot be told, the stricter rule holds. */
	return listen_bound(fd, &address) || listen_is_loopback((const struct sockaddr *)&address);
}

static void connection_began(struct http_server *s, struct MHD_Connection *mhd, void **ret_context)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct conn *c = calloc(1, sizeof(*c));

	*ret_context = c;
	if (!c) {
		/* Without deadlines it must not live. */
		if (info)
			(void)shutdown(info->connect_fd, SHUT_RDWR);
		return;
	}
	c->fd = info ? info->connect_fd : -1;
	c->over_loopback = fd_is_loopback(c->fd);
	conns_add(&s->conns, c, now_ns());
	if (conns_open(&s->conns) > s->max_connections)
		conns_evict(&s->conns, c);
}

static void on_connection(void *cls, struct MHD_Connection *mhd, void **context,
			  enum MHD_ConnectionNotificationCode code)
{
	struct http_server *s = cls;

	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		connection_began(s, mhd, context);
	} else if (*context) {
		conns_remove(&s->conns, *context);
		free(*context);
		*context = NULL;
	}
}

/*
 * Paths and arguments stay as they are: no path of ours needs escapes, and a %00 would end a path
 * before its end.
 */
static size_t keep_escapes(void *cls, struct MHD_Connection *mhd, char *text)
{
	(void)cls;
	(void)mhd;
	return strlen(text);
}

/* The request line has arrived. A new connection's time began when it was accepted. */
static void *on_request_line(void *cls, const char *uri, struct MHD_Connection *mhd)
{
	struct conn *c = conn_of(mhd);

	(void)cls;
	(void)uri;
	if (c && c->phase == CONN_IDLE)
		conn_enter(c, CONN_RECEIVING, now_ns());
	return NULL;
}

/*
 * Called when the headers are complete, and again when the body is. Queueing an answer in the first
 * call makes libmicrohttpd close the connection afterwards: that is what a body that nobody reads
 * needs, and what a scrape, which comes again over the same connection, does not.
 *
 * The library says what the parameters are.
 * NOLINTBEGIN(readability-function-size,readability-non-const-parameter)
 */
static enum MHD_Result on_request(void *cls, struct MHD_Connection *mhd, const char *path,
				  const char *method, const char *version, const char *upload,
				  size_t *upload_bytes, void **context)
{
	struct http_server *s = cls;
	const struct answer_line line = { path, method, version };
	struct conn *c = conn_of(mhd);

	(void)upload;
	(void)upload_bytes;
	(void)context;
	if (!c)
		return MHD_NO;
	if (c->phase != CONN_ANSWERING) {
		conn_enter(c, CONN_ANSWERING, now_ns());
		if (!answer_is_early(mhd))
			return MHD_YES;
	}
	return answer_request(s, c, mhd, &line) ? MHD_YES : MHD_NO;
}

/* NOLINTEND(readability-function-size,readability-non-const-parameter) */

static void on_completed(void *cls, struct MHD_Connection *mhd, void **context,
			 enum MHD_RequestTerminationCode code)
{
	struct conn *c = conn_of(mhd);

	(void)cls;
	(void)context;
	(void)code;
	if (!c)
		return;
	c->has_body = false;
	conn_enter(c, CONN_IDLE, now_ns());
}

/* --- opening --- */

static int watch_daemon(struct http_server *s, struct MHD_Daemon *daemon)
{
	const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD);
	struct epoll_event event = { .events = EPOLLIN };

	if (!info)
		return -ENOSYS;
	return epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, info->epoll_fd, &event) ? -errno : 0;
}

static int open_listener(struct http_server *s, const char *address, struct err *err)
{
	struct http_listener *l = &s->listeners[s->nr_listeners];
	int r = listen_open(address, &l->fd, err);

	if (r)
		return r;
	l->daemon = MHD_start_daemon(
		MHD_USE_EPOLL, 0, NULL, NULL, on_request, s, MHD_OPTION_LISTEN_SOCKET, l->fd,
		MHD_OPTION_CONNECTION_LIMIT, s->max_connections + CONNECTION_SLACK,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_BYTES,
		MHD_OPTION_CONNECTION_TIMEOUT, 0U, MHD_OPTION_STRICT_FOR_CLIENT, 0,
		MHD_OPTION_NOTIFY_CONNECTION, on_connection, s, MHD_OPTION_NOTIFY_COMPLETED,
		on_completed, s, MHD_OPTION_URI_LOG_CALLBACK, on_request_line, s,
		MHD_OPTION_UNESCAPE_CALLBACK, keep_escapes, s, MHD_OPTION_END);
	if (!l->daemon) {
		close(l->fd);
		return err_set(err, -ENOMEM, "listen on %s: the HTTP library could not start",
			       address);
	}
	s->nr_listeners++;
	r = watch_daemon(s, l->daemon);
	if (r)
		return err_set(err, r, "listen on %s: the HTTP library has no epoll: %s", address,
			       strerror(-r));
	return 0;
}

static int copy_names(struct http_server *s, const struct http_config *config)
{
	s->host_names = calloc(config->nr_host_names + 1, sizeof(*s->host_names));
	if (!s->host_names)
		return -ENOMEM;
	for (; s->nr_host_names < config->nr_host_names; s->nr_host_names++) {
		char *copy = strdup(config->host_names[s->nr_host_names]);

		if (!copy)
			return -ENOMEM;
		s->host_names[s->nr_host_names] = copy;
	}
	return 0;
}

static int check_telemetry_path(const char *path, struct err *err)
{
	bool plain = path[0] == '/';

	for (const char *c = path; *c; c++)
		plain = plain && *c > ' ' && *c <= '~' && *c != '?' && *c != '#';
	if (!plain)
		return err_set(err, -EINVAL,
			       "telemetry path '%s': it must begin with / and be written as in a "
			       "URL, without ? and #",
			       path);
	if (answer_is_reserved(path))
		return err_set(err, -EINVAL,
			       "telemetry path '%s': that path serves something else; choose "
			       "another",
			       path);
	return 0;
}

static void set_limits(struct http_server *s, const struct http_config *config)
{
	u64 timeout_ms = config->timeout_ms ? config->timeout_ms : HTTP_DEFAULT_TIMEOUT_MS;
	u64 timeout_ns = timeout_ms * NS_PER_MS;

	s->max_requests = config->max_requests ? config->max_requests : HTTP_DEFAULT_MAX_REQUESTS;
	s->max_connections =
		config->max_connections ? config->max_connections : HTTP_DEFAULT_MAX_CONNECTIONS;
	s->conns.limits_ns[CONN_NEW] = timeout_ns;
	s->conns.limits_ns[CONN_RECEIVING] = timeout_ns;
	s->conns.limits_ns[CONN_ANSWERING] = ANSWER_TIMEOUTS * timeout_ns;
	s->conns.limits_ns[CONN_IDLE] = IDLE_TIMEOUTS * timeout_ns;
}

static int server_init(struct http_server *s, const struct http_config *config, struct err *err)
{
	static const char *const default_address = HTTP_DEFAULT_ADDRESS;
	size_t n = config->nr_addresses ? config->nr_addresses : 1;
	const char *const *addresses = config->nr_addresses ? config->addresses : &default_address;
	const char *path =
		config->telemetry_path ? config->telemetry_path : HTTP_DEFAULT_TELEMETRY_PATH;
	int r = check_telemetry_path(path, err);

	if (r)
		return r;
	set_limits(s, config);
	s->telemetry_path = strdup(path);
	s->title = strdup(config->title ? config->title : "skyobserve");
	s->listeners = calloc(n, sizeof(*s->listeners));
	if (!s->telemetry_path || !s->title || !s->listeners || copy_names(s, config))
		return err_set(err, -ENOMEM, "no memory for the HTTP server");
	s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (s->epoll_fd < 0)
		return err_set(err, -errno, "cannot make an epoll descriptor: %s", strerror(errno));
	for (size_t i = 0; i < n && !r; i++)
		r = open_listener(s, addresses[i], err);
	return r;
}

int http_server_open(const struct http_config *config, http_collect_fn collect, void *ctx,
		     struct http_server **ret_server, struct err *err)
{
	struct http_server *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return err_set(err, -ENOMEM, "no memory for the HTTP server");
	s->epoll_fd = -1;
	s->collect = collect;
	s->ctx = ctx;
	r = server_init(s, config, err);
	if (r) {
		http_server_free(s);
		return r;
	}
	*ret_server = s;
	return 0;
}

void http_server_free(struct http_server *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->nr_listeners; i++)
		MHD_stop_daemon(s->listeners[i].daemon); /* closes its socket and connections */
	for (size_t i = 0; i < s->nr_host_names; i++)
		free(s->host_names[i]);
	free(s->host_names);
	free(s->listeners);
	free(s->telemetry_path);
	free(s->title);
	if (s->epoll_fd >= 0)
		close(s->epoll_fd);
	free(s);
}

/* --- running --- */

int http_server_fd(const struct http_server *s)
{
	return s->epoll_fd;
}

int http_server_timeout_ms(const struct http_server *s)
{
	u64 deadline = conns_deadline_ns(&s->conns);
	u64 now = now_ns();
	u64 ms = (u64)-1;

	if (deadline != (u64)-1)
		ms = deadline > now ? (deadline - now + NS_PER_MS - 1) / NS_PER_MS : 0;
	for (size_t i = 0; i < s->nr_listeners; i++) {
		MHD_UNSIGNED_LONG_LONG wanted;

		if (MHD_get_timeout(s->listeners[i].daemon, &wanted) == MHD_YES && wanted < ms)
			ms = wanted;
	}
	if (ms == (u64)-1)
		return -1;
	return ms < INT_MAX ? (int)ms : INT_MAX;
}

static void run_daemons(struct http_server *s)
{
	for (size_t i = 0; i < s->nr_listeners; i++)
		MHD_run(s->listeners[i].daemon);
}

void http_server_run(struct http_server *s)
{
	bool again;

	/*
	 * At the end of a run the library takes closed connections away, but only at the beginning
	 * of the next one does it listen again if it had stopped for want of descriptors. Nothing
	 * would wake us up for that.
	 */
	do {
		size_t before;

		again = conns_expire(&s->conns, now_ns()) != 0;
		before = s->conns.n;
		run_daemons(s);
		again = again || s->conns.n < before;
	} while (again);
}

void http_server_set_ready(struct http_server *s, bool ready)
{
	s->ready = ready;
}

size_t http_server_nr_addresses(const struct http_server *s)
{
	return s->nr_listeners;
}

void http_server_address(const struct http_server *s, size_t i, struct buf *buf)
{
	struct sockaddr_storage address;

	(void)listen_bound(s->listeners[i].fd, &address); /* it is bound */
	listen_print((const struct sockaddr *)&address, buf);
}

void http_server_url(const struct http_server *s, size_t i, struct buf *buf)
{
	struct sockaddr_storage address;
	struct buf text = { 0 };

	(void)listen_bound(s->listeners[i].fd, &address); /* it is bound */
	listen_print((const struct sockaddr *)&address, &text);
	buf_str(buf, "http://");
	if (text.failed)
		buf->failed = true;
	else if (listen_is_any((const struct sockaddr *)&address))
		buf_printf(buf, "localhost%s", strrchr(text.bytes, ':'));
	else
		buf_str(buf, text.bytes);
	buf_str(buf, s->telemetry_path);
	buf_done(&text);
}
