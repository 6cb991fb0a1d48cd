/* SPDX-License-Identifier: MIT */
/*
 * An HTTP server and its clients in one thread: a client waits by letting the server run, as the
 * program's loop does. Shared by the tests of the server; code in a header, as check.h.
 */
#ifndef SKYOBSERVE_TESTS_TEST_HTTP_FIXTURE_H
#define SKYOBSERVE_TESTS_TEST_HTTP_FIXTURE_H

#include "tests/lib/check.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>

#include "types.h"
#include "user/http/server.h"

#define DEADLINE_S 20 /* of one exchange; far more than any takes */

struct fixture {
	struct http_server *server;
	int epoll_fd;
	int result;	   /* of the collect callback */
	size_t body_bytes; /* of what it returns */
	int collected;
};

static inline u64 now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (u64)t.tv_sec * 1000 + (u64)t.tv_nsec / 1000000;
}

static inline int collect(void *ctx, enum http_body kind, struct buf *body)
{
	static const char *const texts[] = { "text\n", "openmetrics\n", "{}\n" };
	struct fixture *f = ctx;
	char lines[3600];

	f->collected++;
	if (f->result)
		return f->result;
	buf_str(body, texts[kind]);
	for (size_t i = 0; i < sizeof(lines); i += 36)
		memcpy(lines + i, "skyobserve_x_total{process=\"app\"} 1\n", 36);
	while (body->len < f->body_bytes)
		buf_add(body, lines, sizeof(lines));
	return 0;
}

static inline void open_server(struct fixture *f, struct http_config *config)
{
	static const char *const any_port = "127.0.0.1:0";
	struct epoll_event event = { .events = EPOLLIN };
	struct err err = { 0 };

	if (!config->nr_addresses) {
		config->addresses = &any_port;
		config->nr_addresses = 1;
	}
	if (http_server_open(config, collect, f, &f->server, &err))
		FAIL("%s", err.text);
	f->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	CHECK(!epoll_ctl(f->epoll_fd, EPOLL_CTL_ADD, http_server_fd(f->server), &event));
}

static inline void close_server(struct fixture *f)
{
	http_server_free(f->server);
	close(f->epoll_fd);
}

/* One turn of the program's loop, of at most @max_ms. */
static inline void turn(struct fixture *f, int max_ms)
{
	struct epoll_event event;
	int ms = http_server_timeout_ms(f->server);

	(void)epoll_wait(f->epoll_fd, &event, 1, ms < 0 || ms > max_ms ? max_ms : ms);
	http_server_run(f->server);
}

static inline int server_port(struct fixture *f, size_t i)
{
	struct buf address = { 0 };
	int port;

	http_server_address(f->server, i, &address);
	port = atoi(strrchr(address.bytes, ':') + 1);
	buf_done(&address);
	return port;
}

static inline int dial(struct fixture *f)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
				  .sin_port = htons((u16)server_port(f, 0)),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	CHECK(fd >= 0 && !connect(fd, (struct sockaddr *)&to, sizeof(to)));
	CHECK(!fcntl(fd, F_SETFL, O_NONBLOCK));
	return fd;
}

static inline void say(int fd, const char *text)
{
	CHECK_EQ_INT(send(fd, text, strlen(text), MSG_NOSIGNAL), (long long)strlen(text));
}

/* Read until the server closes. */
static inline void hear_all(struct fixture *f, int fd, struct buf *ret)
{
	u64 end = now_ms() + DEADLINE_S * 1000;
	char chunk[65536];

	for (;;) {
		ssize_t n = recv(fd, chunk, sizeof(chunk), 0);

		if (n > 0)
			buf_add(ret, chunk, (size_t)n);
		else if (n == 0 || errno != EAGAIN)
			return;
		else
			turn(f, 20);
		CHECK(now_ms() < end);
	}
}

/* Read until @text has been received. */
static inline void hear(struct fixture *f, int fd, const char *text, struct buf *ret)
{
	u64 end = now_ms() + DEADLINE_S * 1000;
	char chunk[4096];

	while (!ret->bytes || !strstr(ret->bytes, text)) {
		ssize_t n = recv(fd, chunk, sizeof(chunk), 0);

		if (n > 0)
			buf_add(ret, chunk, (size_t)n);
		else if (n < 0 && errno == EAGAIN)
			turn(f, 20);
		else
			FAIL("closed before \"%s\"", text);
		CHECK(now_ms() < end);
	}
}

/* One request on a connection of its own; the whole answer. */
static inline struct buf exchange(struct fixture *f, const char *request)
{
	struct buf answer = { 0 };
	int fd = dial(f);

	say(fd, request);
	hear_all(f, fd, &answer);
	close(fd);
	if (!answer.bytes)
		buf_str(&answer, "");
	return answer;
}

static inline void check_answer(struct fixture *f, const char *request, const char *status,
				const char *contains)
{
	struct buf answer = exchange(f, request);

	if (strncmp(answer.bytes, status, strlen(status)) || !strstr(answer.bytes, contains))
		FAIL("%.60s: %s", request, answer.bytes);
	buf_done(&answer);
}

#define HEAD(method, path)    method " " path " HTTP/1.1\r\nHost: localhost:1\r\nConnection: close\r\n"
#define REQUEST(method, path) HEAD(method, path) "\r\n"

#endif /* SKYOBSERVE_TESTS_TEST_HTTP_FIXTURE_H */
