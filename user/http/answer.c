/* SPDX-License-Identifier: MIT */
/* From a request to an answer: the routes. Knows nothing of sockets and deadlines. */
#include <errno.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>

#include "user/http/accept.h"
#include "user/http/gzip.h"
#include "user/http/host.h"
#include "user/http/page.h"
#include "user/http/server_impl.h"

/* Longest Accept and Accept-Encoding that are read; the rest of a list does not count. */
#define MAX_HEADER 4096

#define TYPE_PLAIN "text/plain; charset=utf-8"
#define TYPE_HTML  "text/html; charset=utf-8"
#define TYPE_JSON  "application/json; charset=utf-8"

struct answer {
	unsigned int status;
	const char *content_type;
	struct buf body;
	bool counted; /* it was collected */
	bool close;   /* the connection is not to be used again */
};

struct request {
	struct http_server *server;
	struct conn *conn;
	struct MHD_Connection *mhd;
	const char *path, *method, *version;
};

static void answer_text(struct answer *a, unsigned int status, const char *text)
{
	buf_clear(&a->body);
	a->status = status;
	a->content_type = TYPE_PLAIN;
	buf_str(&a->body, text);
	buf_char(&a->body, '\n');
}

/* --- headers --- */

struct header_list {
	const char *name;
	char text[MAX_HEADER];
	size_t n;
};

static enum MHD_Result join_header(void *cls, enum MHD_ValueKind kind, const char *name,
				   const char *value)
{
	struct header_list *list = cls;
	size_t n = value ? strlen(value) : 0;

	(void)kind;
	if (strcasecmp(name, list->name) || list->n + n + 2 > sizeof(list->text))
		return MHD_YES;
	if (list->n)
		list->text[list->n++] = ',';
	if (n)
		memcpy(list->text + list->n, value, n);
	list->n += n;
	list->text[list->n] = '\0';
	return MHD_YES;
}

/* A list may come in several lines of the same name (RFC 9110, section 5.3). */
static const char *header_joined(const struct request *r, const char *name,
				 struct header_list *list)
{
	list->name = name;
	list->n = 0;
	MHD_get_connection_values(r->mhd, MHD_HEADER_KIND, join_header, list);
	return list->n ? list->text : NULL;
}

struct host_check {
	const struct http_server *server;
	size_t hosts, ours;
};

static enum MHD_Result check_host(void *cls, enum MHD_ValueKind kind, const char *name,
				  const char *value)
{
	struct host_check *check = cls;
	const struct http_server *s = check->server;

	(void)kind;
	if (strcasecmp(name, MHD_HTTP_HEADER_HOST))
		return MHD_YES;
	check->hosts++;
	check->ours += host_is_ours(value ? value : "", (const char *const *)s->host_names,
				    s->nr_host_names);
	return MHD_YES;
}

/* Whether the Host header lets the request pass; otherwise @a says why not. */
static bool pass_host(const struct request *r, struct answer *a)
{
	struct host_check check = { .server = r->server };

	MHD_get_connection_values(r->mhd, MHD_HEADER_KIND, check_host, &check);
	/* Libraries differ in how they refuse these two, so it is done here (RFC 9112, 3.2). */
	if (check.hosts > 1 || (!check.hosts && strcmp(r->version, MHD_HTTP_VERSION_1_0) > 0)) {
		answer_text(a, MHD_HTTP_BAD_REQUEST, "One Host header, please.");
		return false;
	}
	if (r->conn->over_loopback && check.ours < check.hosts) {
		answer_text(a, MHD_HTTP_FORBIDDEN,
			    "This Host is not served over loopback (a guard against DNS "
			    "rebinding). Use an IP address or localhost, or allow the name with "
			    "--web.host.");
		return false;
	}
	return true;
}

/* --- routes --- */

static void answer_collected(const struct request *r, enum http_body kind, const char *content_type,
			     struct answer *a)
{
	struct http_server *s = r->server;
	int result;

	if (conns_busy(&s->conns) >= s->max_requests) {
		answer_text(a, MHD_HTTP_SERVICE_UNAVAILABLE,
			    "Too many requests are being answered; try again, or raise "
			    "--web.max-requests.");
		return;
	}
	result = s->collect(s->ctx, kind, &a->body);
	if (!result && a->body.failed)
		result = -ENOMEM;
	if (result) {
		buf_done(&a->body);
		answer_text(a,
			    result == -EAGAIN || result == -EBUSY ? MHD_HTTP_SERVICE_UNAVAILABLE
								  : MHD_HTTP_INTERNAL_SERVER_ERROR,
			    strerror(-result));
		return;
	}
	a->status = MHD_HTTP_OK;
	a->content_type = content_type;
	a->counted = true;
}

static void answer_metrics(const struct request *r, struct answer *a)
{
	struct header_list list;
	enum accept_format format = accept_format(header_joined(r, MHD_HTTP_HEADER_ACCEPT, &list));

	answer_collected(r, format == ACCEPT_TEXT_0_0_4 ? HTTP_BODY_TEXT : HTTP_BODY_OPENMETRICS,
			 accept_content_type(format), a);
}

static void answer_snapshot(const struct request *r, struct answer *a)
{
	answer_collected(r, HTTP_BODY_SNAPSHOT, TYPE_JSON, a);
}

static void answer_healthy(const struct request *r, struct answer *a)
{
	(void)r;
	answer_text(a, MHD_HTTP_OK, "Healthy.");
}

static void answer_ready(const struct request *r, struct answer *a)
{
	if (r->server->ready)
		answer_text(a, MHD_HTTP_OK, "Ready.");
	else
		answer_text(a, MHD_HTTP_SERVICE_UNAVAILABLE, "Not ready yet.");
}

static void answer_landing(const struct request *r, struct answer *a);

static const struct route {
	const char *path; /* NULL: the telemetry path */
	const char *what;
	void (*answer)(const struct request *r, struct answer *a);
} routes[] = {
	{ NULL, "metrics for Prometheus (text 0.0.4, OpenMetrics 1.0.0)", answer_metrics },
	{ "/snapshot", "the same numbers in full resolution as JSON", answer_snapshot },
	{ "/-/healthy", "200 while this program runs", answer_healthy },
	{ "/-/ready", "200 once the probes are attached", answer_ready },
	{ "/", "this page", answer_landing },
};

#define NR_ROUTES (sizeof(routes) / sizeof(routes[0]))

static const char *route_path(const struct http_server *s, size_t i)
{
	return routes[i].path ? routes[i].path : s->telemetry_path;
}

static void answer_landing(const struct request *r, struct answer *a)
{
	struct page_link links[NR_ROUTES];

	for (size_t i = 0; i < NR_ROUTES; i++)
		links[i] = (struct page_link){ route_path(r->server, i), routes[i].what };
	a->status = MHD_HTTP_OK;
	a->content_type = TYPE_HTML;
	/* The last one is the page itself. */
	page_landing(r->server->title, links, NR_ROUTES - 1, &a->body);
}

bool answer_is_reserved(const char *path)
{
	for (size_t i = 0; i < NR_ROUTES; i++) {
		/* `/` may be the telemetry path: then there is no landing page. */
		if (routes[i].path && routes[i].path[1] && !strcmp(routes[i].path, path))
			return true;
	}
	return false;
}

static void find_answer(const struct request *r, struct answer *a)
{
	if (!pass_host(r, a))
		return;
	for (size_t i = 0; i < NR_ROUTES; i++) {
		if (strcmp(route_path(r->server, i), r->path))
			continue;
		if (strcmp(r->method, MHD_HTTP_METHOD_GET) &&
		    strcmp(r->method, MHD_HTTP_METHOD_HEAD))
			answer_text(a, MHD_HTTP_METHOD_NOT_ALLOWED, "Only GET and HEAD.");
		else
			routes[i].answer(r, a);
		return;
	}
	answer_text(a, MHD_HTTP_NOT_FOUND, "Not found. / lists what there is.");
}

/* --- sending --- */

/* Replace the body by its compressed form; true if it was. */
static bool compress_body(const struct request *r, struct answer *a)
{
	struct header_list list;
	struct buf packed = { 0 };
	bool large = r->conn->over_loopback && a->body.len > GZIP_MAX_LOOPBACK_BYTES;

	if (a->body.len < GZIP_MIN_BYTES ||
	    !accept_gzip(header_joined(r, MHD_HTTP_HEADER_ACCEPT_ENCODING, &list), large))
		return false;
	if (gzip_body(&a->body, &packed)) {
		buf_done(&packed); /* as it is, then */
		return false;
	}
	buf_done(&a->body);
	a->body = packed;
	return true;
}

/* Nothing here fails for another reason than memory, and then the connection is dropped. */
static bool add_headers(struct MHD_Response *response, const struct answer *a, bool packed)
{
	const struct {
		const char *name, *value;
		bool wanted;
	} headers[] = {
		{ MHD_HTTP_HEADER_CONTENT_TYPE, a->content_type, true },
		{ MHD_HTTP_HEADER_CONTENT_ENCODING, "gzip", packed },
		{ MHD_HTTP_HEADER_CACHE_CONTROL, "no-store", true },
		{ MHD_HTTP_HEADER_VARY, "Accept, Accept-Encoding", a->counted },
		{ "X-Content-Type-Options", "nosniff", true },
		{ "Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'", true },
		{ MHD_HTTP_HEADER_ALLOW, "GET, HEAD", a->status == MHD_HTTP_METHOD_NOT_ALLOWED },
		{ MHD_HTTP_HEADER_RETRY_AFTER, "1", a->status == MHD_HTTP_SERVICE_UNAVAILABLE },
		{ MHD_HTTP_HEADER_CONNECTION, "close", a->close },
	};

	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++) {
		if (headers[i].wanted &&
		    MHD_add_response_header(response, headers[i].name, headers[i].value) != MHD_YES)
			return false;
	}
	return true;
}

static bool send_answer(const struct request *r, struct answer *a)
{
	bool packed = compress_body(r, a);
	struct MHD_Response *response;
	bool ok;

	if (a->body.failed) {
		buf_done(&a->body);
		return false;
	}
	response = MHD_create_response_from_buffer_with_free_callback(a->body.len, a->body.bytes,
								      free);
	if (!response) {
		buf_done(&a->body);
		return false;
	}
	r->conn->has_body = a->counted;
	ok = add_headers(response, a, packed) &&
	     MHD_queue_response(r->mhd, a->status, response) == MHD_YES;
	MHD_destroy_response(response); /* the queue has its own reference */
	return ok;
}

bool answer_is_early(struct MHD_Connection *mhd)
{
	/* Not even "0" is believed: a second Content-Length might say something else. */
	return MHD_lookup_connection_value(mhd, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_LENGTH) ||
	       MHD_lookup_connection_value(mhd, MHD_HEADER_KIND, MHD_HTTP_HEADER_TRANSFER_ENCODING);
}

bool answer_request(struct http_server *server, struct conn *c, struct MHD_Connection *mhd,
		    const struct answer_line *line)
{
	const struct request r = { server, c, mhd, line->path, line->method, line->version };
	/* A body that nobody read would be taken for the next request. */
	struct answer a = { .close = answer_is_early(mhd) };

	find_answer(&r, &a);
	a.close |= a.status == MHD_HTTP_BAD_REQUEST;
	return send_answer(&r, &a);
}
