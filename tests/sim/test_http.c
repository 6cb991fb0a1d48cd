/* SPDX-License-Identifier: MIT */
/* HTTP on the wire (bpf/http.bpf.h): which request, under which name, and when its response is
 * over. */
#include "tests/lib/check.h"
#include "tests/sim/host.h"

#include "http.bpf.h"

/* Feed a whole text; the machine stops where it knows. */
static struct http_request request(const char *text)
{
	struct http_request r;

	http_request_begin(&r);
	for (const char *c = text; *c && r.state < HTTP_REQUEST; c++)
		http_request_byte(&r, (u8)*c);
	name_end(&r);
	return r;
}

#define CHECK_KIND(text, kind)                           \
	do {                                             \
		struct http_request got = request(text); \
		CHECK_EQ_INT(got.state, HTTP_REQUEST);   \
		CHECK_STR(got.name, kind);               \
	} while (0)

#define CHECK_NONE(text) CHECK_EQ_INT(request(text).state, HTTP_NONE)

TEST(http_request_is_named_by_method_and_path)
{
	CHECK_KIND("GET / HTTP/1.1\r\n", "GET /");
	CHECK_KIND("POST /_sky/event HTTP/1.1\r\n", "POST /_sky/event");
	CHECK_KIND("DELETE /a/b/ HTTP/1.0\r\n", "DELETE /a/b/");
	CHECK_KIND("OPTIONS * HTTP/1.1\r\n", "OPTIONS *");
}

TEST(http_queries_are_never_kept)
{
	CHECK_KIND("GET /find?token=secret HTTP/1.1\r\n", "GET /find");
	CHECK_KIND("GET /?x HTTP/1.1\r\n", "GET /");
}

TEST(http_segments_that_name_one_thing_are_ids)
{
	CHECK_KIND("GET /user/17/cart HTTP/1.1\r\n", "GET /user/:id/cart");
	CHECK_KIND("GET /user/17 HTTP/1.1\r\n", "GET /user/:id");
	CHECK_KIND("GET /u/7f3a9c2e HTTP/1.1\r\n", "GET /u/:id");
	CHECK_KIND("GET /o/550e8400-e29b-41d4-a716-446655440000/x HTTP/1.1\r\n", "GET /o/:id/x");
	CHECK_KIND("GET /a%20b HTTP/1.1\r\n", "GET /:id");
	CHECK_KIND("GET /9 HTTP/1.1\r\n", "GET /:id");
	CHECK_KIND("GET /averylongsegmentofonlylettersxxxxx/z HTTP/1.1\r\n", "GET /:id/z");
	CHECK_KIND("GET /api/v2/list HTTP/1.1\r\n", "GET /api/v2/list");
}

TEST(http_bytes_that_are_no_text_are_never_shown)
{
	CHECK_KIND("GET /a\x01z HTTP/1.1\r\n", "GET /:id");
	CHECK_KIND("GET /\xff\xfe HTTP/1.1\r\n", "GET /:id");
	CHECK_KIND("GET /a\"b HTTP/1.1\r\n", "GET /:id");
}

TEST(http_what_is_no_request_is_none)
{
	CHECK_NONE("HTTP/1.1 200 OK\r\n");
	CHECK_NONE("GEX / HTTP/1.1\r\n");
	CHECK_NONE("GET / HTTP/2.0\r\n");
	CHECK_NONE("GET http://elsewhere/ HTTP/1.1\r\n");
	CHECK_NONE("GET \r\n");
	CHECK_NONE("get / HTTP/1.1\r\n");
	CHECK_NONE("PRI * HTTP/2.0\r\n");
	CHECK_NONE("\x16\x03\x01");
	CHECK_NONE("AAAAAAAAAAAAAAAAAAAAAAA");
	CHECK_NONE("GET /\r\nfoo");
}

TEST(http_a_beginning_is_not_decided_yet)
{
	CHECK(request("GET").state < HTTP_REQUEST);
	CHECK(request("GET /heal").state < HTTP_REQUEST);
	CHECK(request("GET / HTTP/1").state < HTTP_REQUEST);
}

TEST(http_long_paths_are_cut_and_counted)
{
	char text[2048] = "GET /";
	struct http_request r;
	size_t n = 4;

	memset(text + 5, 'a', 2000);
	r = request(text);
	CHECK_EQ_INT(r.state, HTTP_REQUEST);
	CHECK_STR(r.name, "GET /:id");
	memset(text, 0, sizeof(text));
	memcpy(text, "GET ", n);
	for (int i = 0; i < 100; i++, n += 3)
		memcpy(text + n, "/ab", 3);
	r = request(text);
	CHECK_EQ_INT(r.state, HTTP_REQUEST);
	CHECK(r.name_len < KIND_NAME_BYTES);
}

TEST(http_an_id_behind_a_long_path_is_not_shown)
{
	struct http_request r = request("GET /aaaaaaaaaaaaaaaaaaaaaaaaaaa/bbbbbbbbbbbbbbbbbbbbbb/"
					"12345678secret%20 HTTP/1.1\r\n");

	CHECK_EQ_INT(r.state, HTTP_REQUEST);
	CHECK_STR(r.name, "GET /aaaaaaaaaaaaaaaaaaaaaaaaaaa/bbbbbbbbbbbbbbbbbbbbbb/");
}

/* The head of a response; returns how many bytes it has, 0 if it does not end. */
static u32 response(const char *text, struct http_response *ret)
{
	http_response_begin(ret);
	for (u32 i = 0; text[i]; i++) {
		if (http_response_byte(ret, (const u8 *)&text[i]))
			return i + 1;
	}
	return 0;
}

static u8 body_of(const char *text, u64 method)
{
	struct http_response r;

	CHECK(response(text, &r) != 0);
	return http_body(&r, method);
}

TEST(http_response_says_its_status_and_length)
{
	const char *text = "HTTP/1.1 404 Not Found\r\nContent-Length: 1234\r\nX: y\r\n\r\nbody";
	struct http_response r;

	CHECK_EQ_U64(response(text, &r), strlen(text) - 4);
	CHECK_EQ_U64(r.code, 404);
	CHECK_EQ_U64(r.length, 1234);
	CHECK_EQ_INT(http_body(&r, WORD_GET), BODY_LENGTH);
}

TEST(http_header_names_are_compared_without_case)
{
	CHECK_EQ_INT(body_of("HTTP/1.1 200 OK\r\ncontent-length:5\r\n\r\n", WORD_GET), BODY_LENGTH);
	CHECK_EQ_INT(body_of("HTTP/1.1 200 OK\r\nTRANSFER-ENCODING: Chunked\r\n\r\n", WORD_GET),
		     BODY_CHUNKED);
	CHECK_EQ_INT(body_of("HTTP/1.1 200 OK\r\nX-Content-Length: 5\r\n\r\n", WORD_GET),
		     BODY_UNTIL_CLOSE);
	CHECK_EQ_INT(body_of("HTTP/1.1 200 OK\r\nX: content-length: 5\r\n\r\n", WORD_GET),
		     BODY_UNTIL_CLOSE);
}

TEST(http_responses_without_a_body)
{
	CHECK_EQ_INT(body_of("HTTP/1.1 204 No Content\r\n\r\n", WORD_GET), BODY_NONE);
	CHECK_EQ_INT(body_of("HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", WORD_GET),
		     BODY_NONE);
	CHECK_EQ_INT(body_of("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", WORD_HEAD), BODY_NONE);
	CHECK_EQ_INT(body_of("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", WORD_GET), BODY_NONE);
}

TEST(http_streams_are_sessions)
{
	CHECK_EQ_INT(
		body_of("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n", WORD_GET),
		BODY_STREAM);
	CHECK_EQ_INT(body_of("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n"
			     "Transfer-Encoding: chunked\r\n\r\n",
			     WORD_GET),
		     BODY_STREAM);
	CHECK_EQ_INT(body_of("HTTP/1.1 101 Switching Protocols\r\n\r\n", WORD_GET), BODY_STREAM);
	CHECK_EQ_INT(body_of("HTTP/1.1 200 OK\r\n\r\n", WORD_CONNECT), BODY_STREAM);
}

TEST(http_interim_answers_are_none)
{
	CHECK(http_is_interim(100));
	CHECK(http_is_interim(103));
	CHECK(!http_is_interim(101));
	CHECK(!http_is_interim(200));
}

/* The content of a chunked body, as far as it is there. */
static const char *content(const char *body)
{
	static char text[256];
	struct http_chunks c = { 0 };
	size_t n = 0;

	for (; *body; body++) {
		if (http_chunk_byte(&c, (u8)*body))
			text[n++] = *body;
	}
	text[n] = '\0';
	return text;
}

TEST(http_chunks_frame_the_content)
{
	CHECK_STR(content("5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n"), "hello world");
	CHECK_STR(content("A;name=value\r\n0123456789\r\n1\r\nx"), "0123456789x");
	CHECK_STR(content("0b\r\nhello world\r\n"), "hello world");
	CHECK_STR(content("3\r\na\r\n\r\n1\r\nb"), "a\r\nb");
	CHECK_STR(content("5\r\nhel"), "hel");
}
