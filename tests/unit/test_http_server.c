/* SPDX-License-Identifier: MIT */
/* What the server answers, on real sockets. */
#include "tests/unit/test_http_fixture.h"

#include <zlib.h>

TEST(server_answers_each_route)
{
	struct fixture f = { 0 };
	struct http_config config = { .title = "the title" };

	open_server(&f, &config);
	check_answer(&f, REQUEST("GET", "/metrics"), "HTTP/1.1 200 ", "\r\n\r\ntext\n");
	check_answer(&f, REQUEST("GET", "/metrics?collect[]=x"), "HTTP/1.1 200 ", "\r\n\r\ntext\n");
	check_answer(&f, REQUEST("GET", "/snapshot"), "HTTP/1.1 200 ", "\r\n\r\n{}\n");
	check_answer(&f, REQUEST("GET", "/snapshot"), "HTTP/1.1 200 ",
		     "\r\nContent-Type: application/json");
	check_answer(&f, REQUEST("GET", "/"), "HTTP/1.1 200 ", "<h1>the title</h1>");
	check_answer(&f, REQUEST("GET", "/"), "HTTP/1.1 200 ", "<a href=\"/metrics\">");
	check_answer(&f, REQUEST("GET", "/-/healthy"), "HTTP/1.1 200 ", "\r\n\r\nHealthy.\n");
	check_answer(&f, REQUEST("GET", "/nothing"), "HTTP/1.1 404 ", "\r\n\r\nNot found.");
	check_answer(&f, REQUEST("GET", "/metrics/"), "HTTP/1.1 404 ", "");
	close_server(&f);
}

TEST(server_is_not_ready_before_it_is)
{
	struct fixture f = { 0 };
	struct http_config config = { 0 };

	open_server(&f, &config);
	check_answer(&f, REQUEST("GET", "/-/ready"), "HTTP/1.1 503 ", "Not ready yet.");
	http_server_set_ready(f.server, true);
	check_answer(&f, REQUEST("GET", "/-/ready"), "HTTP/1.1 200 ", "Ready.");
	close_server(&f);
}

TEST(server_negotiates_the_format)
{
	struct fixture f = { 0 };
	struct http_config config = { 0 };

	open_server(&f, &config);
	check_answer(&f, REQUEST("GET", "/metrics"), "HTTP/1.1 200 ",
		     "\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n");
	check_answer(&f,
		     HEAD("GET",
			  "/metrics") "Accept: application/openmetrics-text;version=1.0.0\r\n\r\n",
		     "HTTP/1.1 200 ",
		     "\r\nContent-Type: application/openmetrics-text; version=1.0.0; "
		     "charset=utf-8\r\n");
	check_answer(&f,
		     HEAD("GET", "/metrics") "Accept: text/html\r\n"
					     "accept: application/openmetrics-text;q=0.5\r\n\r\n",
		     "HTTP/1.1 200 ", "\r\n\r\nopenmetrics\n");
	close_server(&f);
}

TEST(server_sends_head_without_a_body)
{
	struct fixture f = { 0 };
	struct http_config config = { 0 };
	struct buf answer;

	open_server(&f, &config);
	answer = exchange(&f, REQUEST("HEAD", "/metrics"));
	CHECK(strstr(answer.bytes, "HTTP/1.1 200 "));
	CHECK(strstr(answer.bytes, "\r\nContent-Length: 5\r\n"));
	CHECK_STR(strstr(answer.bytes, "\r\n\r\n"), "\r\n\r\n");
	buf_done(&answer);
	close_server(&f);
}

TEST(server_says_how_to_treat_its_answers)
{
	struct fixture f = { 0 };
	struct http_config config = { 0 };

	open_server(&f, &config);
	check_answer(&f, REQUEST("GET", "/metrics"), "HTTP/1.1 200 ",
		     "\r\nCache-Control: no-store\r\n");
	check_answer(&f, REQUEST("GET", "/metrics"), "HTTP/1.1 200 ",
		     "\r\nX-Content-Type-Options: nosniff\r\n");
	check_answer(&f, REQUEST("GET", "/metrics"), "HTTP/1.1 200 ",
		     "\r\nVary: Accept, Accept-Encoding\r\n");
	close_server(&f);
}

TEST(server_allows_get_and_head_only)
{
	static const char *const methods[] = { "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "get" };
	struct fixture f = { 0 };
	struct http_config config = { 0 };
	char request[256];

	open_server(&f, &config);
	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		snprintf(request, sizeof(request),
			 "%s /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
			 methods[i]);
		check_answer(&f, request, "HTTP/1.1 405 ", "\r\nAllow: GET, HEAD\r\n");
	}
	CHECK_EQ_INT(f.collected, 0);
	close_server(&f);
}

TEST(server_compresses_what_is_worth_it)
{
	struct fixture f = { .body_bytes = 100000 };
	struct http_config config = { 0 };
	static unsigned char body[200000];
	struct buf answer;
	const char *begin;
	z_stream z = { 0 };

	open_server(&f, &config);
	answer = exchange(&f, HEAD("GET", "/metrics") "Accept-Encoding: gzip\r\n\r\n");
	CHECK(strstr(answer.bytes, "\r\nContent-Encoding: gzip\r\n"));
	CHECK(answer.len < 10000);
	begin = strstr(answer.bytes, "\r\n\r\n") + 4;
	CHECK_EQ_INT(inflateInit2(&z, 15 + 16), Z_OK);
	z.next_in = (unsigned char *)begin;
	z.avail_in = (uInt)(answer.len - (size_t)(begin - answer.bytes));
	z.next_out = body;
	z.avail_out = sizeof(body);
	CHECK_EQ_INT(inflate(&z, Z_FINISH), Z_STREAM_END);
	inflateEnd(&z);
	CHECK(z.total_out >= 100000 && !strncmp((char *)body, "text\nskyobserve_x", 17));
	buf_done(&answer);
	answer = exchange(&f, HEAD("GET", "/metrics") "Accept-Encoding: gzip;q=0\r\n\r\n");
	CHECK(!strstr(answer.bytes, "Content-Encoding") && answer.len > 100000);
	buf_done(&answer);
	f.body_bytes = 0;
	answer = exchange(&f, HEAD("GET", "/metrics") "Accept-Encoding: gzip\r\n\r\n");
	CHECK(!strstr(answer.bytes, "Content-Encoding"));
	buf_done(&answer);
	f.body_bytes = 2 << 20; /* over loopback it is cheaper as it is */
	answer = exchange(&f, HEAD("GET", "/metrics") "Accept-Encoding: gzip\r\n\r\n");
	CHECK(!strstr(answer.bytes, "Content-Encoding") && answer.len > 2 << 20);
	buf_done(&answer);
	answer =
		exchange(&f, HEAD("GET", "/metrics") "Accept-Encoding: gzip, identity;q=0\r\n\r\n");
	CHECK(strstr(answer.bytes, "\r\nContent-Encoding: gzip\r\n"));
	buf_done(&answer);
	close_server(&f);
}

TEST(server_keeps_the_connection_of_a_scraper)
{
	struct fixture f = { 0 };
	struct http_config config = { 0 };
	struct buf answer = { 0 };
	int fd;

	open_server(&f, &config);
	fd = dial(&f);
	for (int i = 0; i < 3; i++) {
		buf_clear(&answer);
		say(fd, "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
		hear(&f, fd, "\r\n\r\ntext\n", &answer);
		CHECK(!strstr(answer.bytes, "Connection: close"));
	}
	CHECK_EQ_INT(f.collected, 3);
	close(fd);
	buf_done(&answer);
	close_server(&f);
}

TEST(server_reports_a_failed_collection)
{
	struct fixture f = { .result = -ENOMEM };
	struct http_config config = { 0 };

	open_server(&f, &config);
	check_answer(&f, REQUEST("GET", "/metrics"), "HTTP/1.1 500 ", "Cannot allocate memory\n");
	f.result = -EAGAIN;
	check_answer(&f, REQUEST("GET", "/metrics"), "HTTP/1.1 503 ", "\r\nRetry-After: 1\r\n");
	f.result = 0;
	check_answer(&f, REQUEST("GET", "/metrics"), "HTTP/1.1 200 ", "text");
	close_server(&f);
}

TEST(server_uses_the_telemetry_path)
{
	struct fixture f = { 0 };
	struct http_config config = { .telemetry_path = "/" };
	struct http_server *server;
	struct err err;

	open_server(&f, &config);
	check_answer(&f, REQUEST("GET", "/"), "HTTP/1.1 200 ", "\r\n\r\ntext\n");
	check_answer(&f, REQUEST("GET", "/metrics"), "HTTP/1.1 404 ", "");
	close_server(&f);
	config.telemetry_path = "metrics";
	CHECK_EQ_INT(http_server_open(&config, collect, &f, &server, &err), -EINVAL);
	CHECK_STR(err.text,
		  "telemetry path 'metrics': it must begin with / and be written as in a URL, "
		  "without ? and #");
	config.telemetry_path = "/snapshot";
	CHECK_EQ_INT(http_server_open(&config, collect, &f, &server, &err), -EINVAL);
	CHECK_STR(err.text, "telemetry path '/snapshot': that path serves something else; choose "
			    "another");
}

static void check_refused(const char *address, int want, const char *text)
{
	struct http_config config = { .addresses = &address, .nr_addresses = 1 };
	struct http_server *server;
	struct err err = { 0 };

	CHECK_EQ_INT(http_server_open(&config, collect, NULL, &server, &err), want);
	if (!strstr(err.text, text))
		FAIL("%s: %s", address, err.text);
}

TEST(server_says_why_it_cannot_listen)
{
	struct fixture f = { 0 };
	struct http_config config = { 0 };
	struct buf taken = { 0 };

	open_server(&f, &config);
	http_server_address(f.server, 0, &taken);
	check_refused(taken.bytes, -EADDRINUSE, "the address is in use");
	check_refused("192.0.2.1:0", -EADDRNOTAVAIL, "does not have that address");
	check_refused("19435", -EINVAL, "write HOST:PORT or :PORT");
	check_refused("no-such-host.invalid:0", -EADDRNOTAVAIL, "no address of host");
	buf_done(&taken);
	close_server(&f);
}

TEST(server_listens_on_several_addresses)
{
	static const char *const addresses[] = { "127.0.0.1:0", "localhost:0", ":0" };
	struct fixture f = { 0 };
	struct http_config config = { .addresses = addresses, .nr_addresses = 3 };
	struct buf text = { 0 };
	char want[64];

	open_server(&f, &config);
	CHECK_EQ_U64(http_server_nr_addresses(f.server), 3);
	http_server_url(f.server, 0, &text);
	snprintf(want, sizeof(want), "http://127.0.0.1:%d/metrics", server_port(&f, 0));
	CHECK_STR(text.bytes, want);
	buf_clear(&text);
	http_server_url(f.server, 2, &text);
	snprintf(want, sizeof(want), "http://localhost:%d/metrics", server_port(&f, 2));
	CHECK_STR(text.bytes, want);
	buf_done(&text);
	check_answer(&f, REQUEST("GET", "/metrics"), "HTTP/1.1 200 ", "text");
	close_server(&f);
}

TEST(server_listens_on_ipv6_only_when_told_so)
{
	static const char *const address = "[::1]:0";
	struct fixture f = { 0 };
	struct http_config config = { .addresses = &address, .nr_addresses = 1 };
	struct sockaddr_in6 to = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	struct buf answer = { 0 };
	struct http_server *probe;
	int fd;

	if (http_server_open(&config, collect, &f, &probe, NULL))
		SKIP("this machine has no IPv6");
	http_server_free(probe);
	open_server(&f, &config);
	to.sin6_port = htons((u16)server_port(&f, 0));
	fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
	CHECK(!connect(fd, (struct sockaddr *)&to, sizeof(to)));
	CHECK(!fcntl(fd, F_SETFL, O_NONBLOCK));
	say(fd, REQUEST("GET", "/metrics"));
	hear_all(&f, fd, &answer);
	CHECK(strstr(answer.bytes, "HTTP/1.1 200 "));
	close(fd);
	buf_done(&answer);
	close_server(&f);
}
