/* SPDX-License-Identifier: MIT */
/* What hostile, slow and many clients can do to the server: nothing to the others. */
#include "tests/unit/test_http_fixture.h"

#include <poll.h>
#include <sys/resource.h>

/* A body that the buffers of two sockets do not hold. */
#define BIG (16 << 20)

/* Else a web page could hide a request of its own in the body of another. */
TEST(server_never_takes_a_body_for_a_request)
{
	struct fixture f = { 0 };
	struct http_config config = { 0 };
	static const char *const lengths[] = {
		"Content-Length: 51\r\n",
		"Content-Length: 0\r\nContent-Length: 51\r\n",
		"Transfer-Encoding: chunked\r\n",
		"Transfer-Encoding: chunked\r\nContent-Length: 51\r\n",
		"Expect: 100-continue\r\nContent-Length: 51\r\n",
	};

	open_server(&f, &config);
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		struct buf request = { 0 }, answer;

		buf_printf(&request, "GET /-/healthy HTTP/1.1\r\nHost: localhost\r\n%s\r\n%s",
			   lengths[i], "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
		answer = exchange(&f, request.bytes);
		CHECK(strstr(answer.bytes, "\r\nConnection: close\r\n"));
		CHECK(strstr(answer.bytes, "Healthy."));
		buf_done(&answer);
		buf_done(&request);
	}
	CHECK_EQ_INT(f.collected, 0);
	close_server(&f);
}

TEST(server_guards_loopback_from_rebinding)
{
	static const char *const names[] = { "node1.example" };
	struct fixture f = { 0 };
	struct http_config config = { .host_names = names, .nr_host_names = 1 };

	open_server(&f, &config);
#define WITH_HOST(host) "GET /metrics HTTP/1.1\r\nConnection: close\r\n" host "\r\n"
	check_answer(&f, WITH_HOST("Host: evil.example\r\n"), "HTTP/1.1 403 ", "DNS rebinding");
	check_answer(&f, WITH_HOST("Host: evil.example:19435\r\n"), "HTTP/1.1 403 ", "--web.host");
	check_answer(&f, WITH_HOST("Host:\r\n"), "HTTP/1.1 403 ", "");
	check_answer(&f, WITH_HOST("Host: node1.example:80\r\n"), "HTTP/1.1 200 ", "");
	check_answer(&f, WITH_HOST("Host: 127.0.0.1:80\r\n"), "HTTP/1.1 200 ", "");
	check_answer(&f, WITH_HOST("Host: [::1]:80\r\n"), "HTTP/1.1 200 ", "");
	check_answer(&f, WITH_HOST(""), "HTTP/1.1 400 ", "One Host header");
	check_answer(&f, WITH_HOST("Host: localhost\r\nHost: evil.example\r\n"), "HTTP/1.1 400 ",
		     "");
	check_answer(&f, "GET /metrics HTTP/1.0\r\n\r\n", "HTTP/1.1 200 ", "");
#undef WITH_HOST
	close_server(&f);
}

TEST(server_survives_garbage)
{
	static const char *const garbage[] = {
		"\x16\x03\x01\x02garbage\r\n\r\n",
		"\r\n\r\n\r\n\r\n",
		"GET\r\n\r\n",
		"GET /metrics HTTP/9.9\r\nHost: localhost\r\n\r\n",
		"GET /metrics HTTP/1.1\r\nHost localhost\r\n\r\n",
		"GET /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
		"GET /metrics HTTP/1.1\r\n: : :\r\n\x01\x02\x03: \xff\r\n\r\n",
		"GET /%00%ff%zz HTTP/1.0\r\nConnection: close\r\n\r\n",
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
	};
	struct fixture f = { 0 };
	struct http_config config = { .timeout_ms = 300 };

	open_server(&f, &config);
	for (size_t i = 0; i < sizeof(garbage) / sizeof(garbage[0]); i++) {
		struct buf answer = exchange(&f, garbage[i]);

		if (strstr(answer.bytes, " 200 "))
			FAIL("%s", garbage[i]);
		buf_done(&answer);
	}
	check_answer(&f, REQUEST("GET", "/metrics"), "HTTP/1.1 200 ", "text");
	CHECK_EQ_INT(f.collected, 1);
	close_server(&f);
}

TEST(server_bounds_the_size_of_a_request)
{
	struct fixture f = { 0 };
	struct http_config config = { 0 };
	struct buf request = { 0 };

	open_server(&f, &config);
	buf_str(&request, HEAD("GET", "/metrics") "X: ");
	for (int i = 0; i < 20000; i++)
		buf_char(&request, 'x');
	buf_str(&request, "\r\n\r\n");
	check_answer(&f, request.bytes, "HTTP/1.1 431 ", "");
	buf_clear(&request);
	buf_str(&request, "GET /");
	for (int i = 0; i < 20000; i++)
		buf_char(&request, 'x');
	buf_str(&request, " HTTP/1.1\r\nHost: localhost\r\n\r\n");
	check_answer(&f, request.bytes, "HTTP/1.1 414 ", "");
	buf_done(&request);
	close_server(&f);
}

/* The library's own timeout would start again with each byte. */
TEST(server_closes_a_client_that_drips)
{
	struct fixture f = { 0 };
	struct http_config config = { .timeout_ms = 300 };
	u64 begin = now_ms();
	bool open = true;
	char c;
	int fd;

	open_server(&f, &config);
	fd = dial(&f);
	for (int i = 0; open; i++) {
		const char *line = REQUEST("GET", "/metrics");

		/* Never complete; the pause keeps the path from becoming too long first. */
		open = send(fd, i < 5 ? line + i : "x", 1, MSG_NOSIGNAL) == 1;
		turn(&f, 10);
		poll(NULL, 0, 2);
		open = open && !(recv(fd, &c, 1, MSG_PEEK) == 0);
		CHECK(now_ms() < begin + DEADLINE_S * 1000);
	}
	CHECK(now_ms() >= begin + 300);
	CHECK_EQ_INT(f.collected, 0);
	close(fd);
	close_server(&f);
}

TEST(server_closes_an_idle_client)
{
	struct fixture f = { 0 };
	struct http_config config = { .timeout_ms = 100 };
	struct buf answer = { 0 };
	u64 begin = now_ms();
	int silent, served;

	open_server(&f, &config);
	CHECK_EQ_INT(http_server_timeout_ms(f.server), -1);
	silent = dial(&f);
	served = dial(&f);
	say(served, "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
	hear(&f, served, "\r\n\r\ntext\n", &answer);
	hear_all(&f, silent, &answer);
	CHECK(now_ms() >= begin + 100);
	hear_all(&f, served, &answer); /* kept 12 times as long */
	CHECK(now_ms() >= begin + 1200);
	CHECK_EQ_INT(http_server_timeout_ms(f.server), -1);
	buf_done(&answer);
	close(silent);
	close(served);
	close_server(&f);
}

/* A client that does not read blocks nobody, and is cut off. */
TEST(server_closes_a_client_that_does_not_take_its_answer)
{
	struct fixture f = { .body_bytes = BIG };
	struct http_config config = { .timeout_ms = 200 };
	struct buf answer = { 0 };
	u64 begin = now_ms();
	int fd;

	open_server(&f, &config);
	fd = dial(&f);
	say(fd, REQUEST("GET", "/metrics"));
	while (!f.collected)
		turn(&f, 20);
	f.body_bytes = 0;
	check_answer(&f, REQUEST("GET", "/metrics"), "HTTP/1.1 200 ", "text");
	while (now_ms() < begin + 700)
		turn(&f, 20);
	hear_all(&f, fd, &answer);
	CHECK(answer.len < BIG);
	buf_done(&answer);
	close(fd);
	close_server(&f);
}

TEST(server_bounds_requests_in_flight)
{
	struct fixture f = { .body_bytes = BIG };
	struct http_config config = { .max_requests = 2 };
	int fds[2];

	open_server(&f, &config);
	for (int i = 0; i < 2; i++) {
		fds[i] = dial(&f);
		say(fds[i], REQUEST("GET", "/metrics"));
	}
	while (f.collected < 2)
		turn(&f, 20);
	check_answer(&f, REQUEST("GET", "/metrics"), "HTTP/1.1 503 ", "--web.max-requests");
	check_answer(&f, REQUEST("GET", "/-/healthy"), "HTTP/1.1 200 ", "Healthy.");
	CHECK_EQ_INT(f.collected, 2);
	close(fds[0]);
	f.body_bytes = 0;
	for (int i = 0; i < 50; i++)
		turn(&f, 1);
	check_answer(&f, REQUEST("GET", "/metrics"), "HTTP/1.1 200 ", "text");
	close(fds[1]);
	close_server(&f);
}

TEST(server_makes_room_for_new_connections)
{
	struct fixture f = { 0 };
	struct http_config config = { .max_connections = 8 };
	struct buf answer = { 0 };
	int fds[40];

	open_server(&f, &config);
	for (int i = 0; i < 40; i++) {
		fds[i] = dial(&f);
		turn(&f, 5);
	}
	check_answer(&f, REQUEST("GET", "/metrics"), "HTTP/1.1 200 ", "text");
	hear_all(&f, fds[0], &answer); /* the oldest had to go */
	CHECK_EQ_U64(answer.len, 0);
	say(fds[39], REQUEST("GET", "/metrics"));
	hear_all(&f, fds[39], &answer); /* the youngest did not */
	CHECK(strstr(answer.bytes, "HTTP/1.1 200 "));
	for (int i = 0; i < 40; i++)
		close(fds[i]);
	buf_done(&answer);
	close_server(&f);
}

/* The library stops listening then, and starts again only when it is run once more. */
TEST(server_listens_again_after_it_ran_out_of_descriptors)
{
	struct fixture f = { 0 };
	struct http_config config = { .timeout_ms = 200 };
	struct rlimit enough, few;
	struct buf answer = { 0 };
	int fds[10];

	open_server(&f, &config);
	for (int i = 0; i < 10; i++)
		fds[i] = dial(&f);
	CHECK(!getrlimit(RLIMIT_NOFILE, &enough));
	few = enough;
	few.rlim_cur = (rlim_t)fds[9] + 3; /* two are accepted */
	CHECK(!setrlimit(RLIMIT_NOFILE, &few));
	say(fds[9], REQUEST("GET", "/metrics"));
	hear_all(&f, fds[9], &answer);
	CHECK(!setrlimit(RLIMIT_NOFILE, &enough));
	CHECK(answer.bytes && strstr(answer.bytes, "HTTP/1.1 200 "));
	for (int i = 0; i < 10; i++)
		close(fds[i]);
	buf_done(&answer);
	close_server(&f);
}

/* An idle server wakes nobody up; one with many clients leaks nothing. */
TEST(server_leaves_no_descriptor_behind)
{
	struct fixture f = { 0 };
	struct http_config config = { 0 };
	int before = dup(0), after;

	close(before);
	open_server(&f, &config);
	for (int i = 0; i < 300; i++)
		check_answer(&f, REQUEST("GET", "/metrics"), "HTTP/1.1 200 ", "text");
	CHECK_EQ_INT(http_server_timeout_ms(f.server), -1);
	close_server(&f);
	after = dup(0);
	close(after);
	CHECK_EQ_INT(after, before);
}
