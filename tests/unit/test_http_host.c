/* SPDX-License-Identifier: MIT */
/* Host headers, addresses to listen on, and the landing page. */
#include "tests/lib/check.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "user/http/host.h"
#include "user/http/listen.h"
#include "user/http/page.h"

TEST(host_allows_addresses_localhost_and_names)
{
	static const char *const names[] = { "node1.example", "Node2" };
	static const struct {
		const char *host;
		bool want;
	} cases[] = {
		{ "127.0.0.1", true },
		{ "127.0.0.1:19435", true },
		{ "10.1.2.3:80", true },
		{ "[::1]", true },
		{ "[::1]:19435", true },
		{ "[fe80::1%25eth0]:80", true },
		{ "localhost", true },
		{ "LocalHost:80", true },
		{ "localhost.", true },
		{ "node1.example", true },
		{ "NODE1.EXAMPLE.:9100", true },
		{ "node2:1", true },
		{ "", false },
		{ ":80", false },
		{ ".", false },
		{ "evil.example", false },
		{ "localhost.evil.example", false },
		{ "127.0.0.1.evil.example", false },
		{ "evil.example:127.0.0.1", false },
		{ "localhost:80:80", false },
		{ "localhost:port", false },
		{ "localhost:123456", false },
		{ "localhost ", false },
		{ "localhost@evil.example", false },
		{ "127.1", false },
		{ "0x7f000001", false },
		{ "::1", false },
		{ "[::1", false },
		{ "[::1]x", false },
		{ "[evil.example]", false },
		{ "[]", false },
	};
	static char longest[5000];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (host_is_ours(cases[i].host, names, 2) != cases[i].want)
			FAIL("%s: not %d", cases[i].host, cases[i].want);
	}
	memset(longest, 'a', sizeof(longest) - 1);
	CHECK(!host_is_ours(longest, names, 2));
	longest[0] = '[';
	CHECK(!host_is_ours(longest, names, 2));
	CHECK(!host_is_ours("node2", NULL, 0));
}

TEST(listen_parse_takes_addresses_apart)
{
	static const struct {
		const char *text, *host;
		unsigned int port;
	} cases[] = {
		{ "127.0.0.1:19435", "127.0.0.1", 19435 },
		{ ":0", "", 0 },
		{ ":65535", "", 65535 },
		{ "[::1]:80", "::1", 80 },
		{ "[::]:80", "::", 80 },
		{ "[fe80::1%eth0]:80", "fe80::1%eth0", 80 },
		{ "localhost:00080", "localhost", 80 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct listen_address a;

		CHECK_EQ_INT(listen_parse(cases[i].text, &a, NULL), 0);
		CHECK_STR(a.host, cases[i].host);
		CHECK_EQ_U64(a.port, cases[i].port);
	}
}

TEST(listen_parse_says_what_is_wrong)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "", "listen on '': that is no address; write HOST:PORT or :PORT" },
		{ "9100", "listen on '9100': that is no address; write HOST:PORT or :PORT" },
		{ "localhost:",
		  "listen on localhost:: '' is no port; write a number from 0 to 65535" },
		{ "localhost:http",
		  "listen on localhost:http: 'http' is no port; write a number from 0 to 65535" },
		{ ":-1", "listen on :-1: '-1' is no port; write a number from 0 to 65535" },
		{ ":65536", "listen on :65536: there is no port 65536; the last one is 65535" },
		{ ":655360",
		  "listen on :655360: '655360' is no port; write a number from 0 to 65535" },
		{ "::1:80", "listen on ::1:80: write an IPv6 address in brackets, as in [::1]:80" },
		{ "999:1", "listen on 999:1: '999' is no IPv4 address; write four numbers, as in "
			   "127.0.0.1:1, or :1 for all addresses" },
		{ "1.2.3:4",
		  "listen on 1.2.3:4: '1.2.3' is no IPv4 address; write four numbers, as "
		  "in 127.0.0.1:4, or :4 for all addresses" },
		{ "[::1:80",
		  "listen on [::1:80: write an IPv6 address in brackets, as in [::1]:80" },
		{ "[]:80", "listen on []:80: there is no address in the brackets" },
		{ "[::1]", "listen on [::1]: '1]' is no port; write a number from 0 to 65535" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct listen_address a = { .port = 7 };
		struct err err = { 0 };

		CHECK_EQ_INT(listen_parse(cases[i].text, &a, &err), -EINVAL);
		CHECK_STR(err.text, cases[i].want);
		CHECK_EQ_U64(a.port, 7);
	}
}

TEST(listen_knows_loopback_and_all_addresses)
{
	static const struct {
		const char *address;
		bool loopback, any;
	} cases[] = {
		{ "127.0.0.1", true, false },
		{ "127.255.0.9", true, false },
		{ "10.0.0.1", false, false },
		{ "0.0.0.0", false, true },
		{ "::1", true, false },
		{ "::ffff:127.0.0.1", true, false },
		{ "::ffff:10.0.0.1", false, false },
		{ "::", false, true },
		{ "fe80::1", false, false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sockaddr_storage address = { 0 };
		struct sockaddr_in *four = (struct sockaddr_in *)&address;
		struct sockaddr_in6 *six = (struct sockaddr_in6 *)&address;

		if (strchr(cases[i].address, ':')) {
			six->sin6_family = AF_INET6;
			CHECK_EQ_INT(inet_pton(AF_INET6, cases[i].address, &six->sin6_addr), 1);
		} else {
			four->sin_family = AF_INET;
			CHECK_EQ_INT(inet_pton(AF_INET, cases[i].address, &four->sin_addr), 1);
		}
		CHECK_EQ_INT(listen_is_loopback((struct sockaddr *)&address), cases[i].loopback);
		CHECK_EQ_INT(listen_is_any((struct sockaddr *)&address), cases[i].any);
	}
}

TEST(page_escapes_its_texts)
{
	static const struct page_link link = { "/a\"b", "<script>&" };
	struct buf out = { 0 };

	page_landing("x<y", &link, 1, &out);
	CHECK_STR(out.bytes,
		  "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		  "<title>x&lt;y</title>\n</head>\n<body>\n<h1>x&lt;y</h1>\n<ul>\n"
		  "<li><a href=\"/a&quot;b\">/a&quot;b</a>: &lt;script&gt;&amp;</li>\n"
		  "</ul>\n</body>\n</html>\n");
	buf_done(&out);
}
