/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * HTTP/1.x on the wire, byte by byte: which request begins, under which name its kind is counted,
 * and when its response is complete. Everything here is written by strangers.
 *
 * Two machines whose state is in memory, not in registers: a request may come in any number of
 * reads, and the verifier of a kernel need not follow what a loop does. No helpers, no maps;
 * compiled for the host by tests.
 */
#ifndef SKYOBSERVE_HTTP_BPF_H
#define SKYOBSERVE_HTTP_BPF_H

/* Letters as they shift into a word: "GET" is 0x474554. */
#define WORD_GET     0x474554ULL
#define WORD_PUT     0x505554ULL
#define WORD_HEAD    0x48454144ULL
#define WORD_POST    0x504f5354ULL
#define WORD_TRACE   0x5452414345ULL
#define WORD_PATCH   0x5041544348ULL
#define WORD_DELETE  0x44454c455445ULL
#define WORD_CONNECT 0x434f4e4e454354ULL
#define WORD_OPTIONS 0x4f5054494f4e53ULL
#define WORD_VERSION 0x485454502f312eULL /* HTTP/1. */

/* The last eight letters of headers, in small letters, and their full lengths. */
#define TAIL_LENGTH	  0x742d6c656e677468ULL /* content-lengt-h: "t-length" */
#define TAIL_LENGTH_LEN	  14
#define TAIL_TYPE	  0x656e742d74797065ULL /* "ent-type" */
#define TAIL_TYPE_LEN	  12
#define TAIL_ENCODING	  0x656e636f64696e67ULL /* "encoding" */
#define TAIL_ENCODING_LEN 17
#define TAIL_EVENT_STREAM 0x742d73747265616dULL /* "t-stream" of text/event-stream */
#define TAIL_CHUNKED	  0x6368756e6b6564ULL	/* "chunked", seven letters */
#define SEVEN_LETTERS	  0xffffffffffffffULL

/* A segment of a path that is longer than this, or this long with a digit in it, names one thing.
 */
#define ID_BYTES	    32
#define ID_WITH_DIGIT_BYTES 8

static __always_inline bool http_is_method(u64 word)
{
	return word == WORD_GET || word == WORD_POST || word == WORD_PUT || word == WORD_HEAD ||
	       word == WORD_DELETE || word == WORD_PATCH || word == WORD_OPTIONS ||
	       word == WORD_TRACE || word == WORD_CONNECT;
}

/* Whether a request can begin with @c; most of what is read by other protocols does not. */
static __always_inline bool http_may_begin(u8 c)
{
	return c == 'G' || c == 'P' || c == 'H' || c == 'D' || c == 'O' || c == 'T' || c == 'C';
}

static __always_inline void http_request_begin(struct http_request *r)
{
	__builtin_memset(r, 0, sizeof(*r));
	r->route = ROUTE_BEGIN;
}

static __always_inline void name_append(struct http_request *r, u8 c)
{
	u64 at = r->name_len;

	barrier_var(at);
	if (at >= KIND_NAME_BYTES - 1)
		return; /* a longer path is cut */
	r->name[at] = c;
	r->name_len = at + 1;
}

/*
 * The end of a segment. One that names a single thing (a number, a key, a hash) becomes `:id`: else
 * every user would be a kind of its own. Letters with few digits stay: /api/v2.
 */
static __always_inline void segment_end(struct http_request *r)
{
	bool id = r->segment_len && (r->segment_digits == r->segment_len || r->segment_odd ||
				     r->segment_len > ID_BYTES ||
				     (r->segment_len >= ID_WITH_DIGIT_BYTES && r->segment_digits));
	u64 at = r->segment_at;

	if (id) {
		barrier_var(at);
		if (at < KIND_NAME_BYTES - 4) {
			r->name[at] = ':';
			r->name[at + 1] = 'i';
			r->name[at + 2] = 'd';
			r->name_len = at + 3;
		} else {
			r->name_len = at; /* no room: what it names is not shown either */
		}
		r->shortened = 1;
	}
	r->segment_len = 0;
	r->segment_digits = 0;
	r->segment_odd = 0;
}

static __always_inline void path_byte(struct http_request *r, u8 c)
{
	if (c == '/') {
		segment_end(r);
		name_append(r, c);
		r->segment_at = r->name_len;
		return;
	}
	if (r->segment_len < 255)
		r->segment_len++;
	r->segment_digits += c >= '0' && c <= '9' && r->segment_digits < 255;
	/* Escapes, and what is no ASCII text, are never shown. */
	r->segment_odd |= c == '%' || c <= ' ' || c >= 0x7f || c == '"' || c == '\\';
	name_append(r, c);
}

/* What is behind a shorter `:id` is no part of the name: names are compared as a whole. */
static __always_inline void name_end(struct http_request *r)
{
	if (!r->shortened)
		return;
	for (u32 i = 0; i < KIND_NAME_BYTES; i++) {
		if (i >= r->name_len)
			r->name[i] = 0;
	}
}

/* One more byte of a request. Not to be called after it is there, or is none. */
static __always_inline void http_request_byte(struct http_request *r, u8 c)
{
	switch (r->state) {
	case HTTP_METHOD:
		if (c == ' ' && http_is_method(r->word)) {
			r->method = r->word;
			r->word = 0;
			name_append(r, c);
			r->segment_at = r->name_len;
			r->state = HTTP_PATH;
		} else if (c >= 'A' && c <= 'Z' && r->word < 1ULL << 56) {
			r->word = r->word << 8 | c;
			name_append(r, c);
		} else {
			r->state = HTTP_NONE;
		}
		break;
	case HTTP_PATH:
		if (r->name_len == r->segment_at && r->path_len == 0 && c != '/' && c != '*') {
			r->state = HTTP_NONE; /* to a proxy, or no HTTP at all */
			break;
		}
		if (r->path_len < 0xffff)
			r->path_len++;
		if (c == '?' || r->path_len > HTTP_PATH_BYTES) {
			segment_end(r);
			r->state = HTTP_REQUEST;
		} else if (c == ' ') {
			segment_end(r);
			r->state = HTTP_VERSION;
		} else if (c == '\r' || c == '\n') {
			r->state = HTTP_NONE; /* HTTP/0.9, or no HTTP at all */
		} else {
			path_byte(r, c);
		}
		break;
	case HTTP_VERSION:
		r->word = r->word << 8 | c;
		if (r->word == WORD_VERSION)
			r->state = HTTP_REQUEST;
		else if (r->word >> 48)
			r->state = HTTP_NONE;
		break;
	default:
		break;
	}
}

/*
 * One more byte of a chunked body: true if it is of the content, false if it frames it.
 */
static __always_inline bool http_chunk_byte(struct http_chunks *c, u8 byte)
{
	u8 small = byte | 0x20;

	switch (c->state) {
	case CHUNK_SIZE:
		if (byte >= '0' && byte <= '9')
			c->left = c->left << 4 | (byte - '0');
		else if (small >= 'a' && small <= 'f')
			c->left = c->left << 4 | (small - 'a' + 10);
		else
			c->state = byte == '\n' ? CHUNK_DATA : CHUNK_EXTENSION;
		return false;
	case CHUNK_EXTENSION:
		if (byte == '\n')
			c->state = CHUNK_DATA;
		return false;
	case CHUNK_DATA:
		if (c->left) {
			c->left--;
			return true;
		}
		c->state = CHUNK_END;
		return false;
	default: /* the line's end behind the content */
		c->state = CHUNK_SIZE;
		c->left = 0;
		return false;
	}
}

static __always_inline void http_response_begin(struct http_response *r)
{
	__builtin_memset(r, 0, sizeof(*r));
}

/* A line of the head ended. */
static __always_inline void line_end(struct http_response *r)
{
	if (r->header == HTTP_HEADER_TYPE && r->tail == TAIL_EVENT_STREAM)
		r->is_stream = 1;
	if (r->header == HTTP_HEADER_ENCODING && (r->tail & SEVEN_LETTERS) == TAIL_CHUNKED)
		r->is_chunked = 1;
	if (r->header == HTTP_HEADER_LENGTH)
		r->has_length = 1;
	r->header = HTTP_HEADER_OTHER;
}

static __always_inline void header_named(struct http_response *r)
{
	if (r->column == TAIL_LENGTH_LEN && r->tail == TAIL_LENGTH)
		r->header = HTTP_HEADER_LENGTH;
	else if (r->column == TAIL_TYPE_LEN && r->tail == TAIL_TYPE)
		r->header = HTTP_HEADER_TYPE;
	else if (r->column == TAIL_ENCODING_LEN && r->tail == TAIL_ENCODING)
		r->header = HTTP_HEADER_ENCODING;
	else
		r->header = HTTP_HEADER_SKIPPED;
}

/* Behind these nothing of the line counts. */
static __always_inline void skip_line(struct http_response *r)
{
	r->header = HTTP_HEADER_SKIPPED;
}

static __always_inline u8 small_letter(u8 c)
{
	return c >= 'A' && c <= 'Z' ? c | 0x20 : c;
}

/*
 * One more byte of a response, @at. True at the last one of its head. The byte is read again
 * wherever it is asked about: what the verifier of a kernel learned about it from one question
 * would make the states behind it differ, and it would follow all of them.
 */
static __always_inline bool http_response_byte(struct http_response *r, const volatile u8 *at)
{
	/* Most of a head is of headers that say nothing here, or of the reason behind the code. */
	if (r->header == HTTP_HEADER_SKIPPED && *at != '\n')
		return false;
	r->head_len++;
	if (*at == '\r')
		return false;
	if (*at == '\n') {
		bool empty = !r->column;

		line_end(r);
		r->column = 0;
		r->tail = 0;
		return empty;
	}
	if (r->head_len > 9 && r->head_len <= 12) /* HTTP/1.1 200 */
		r->code = r->code * 10 + (*at & 0xf);
	if (r->header == HTTP_HEADER_LENGTH && *at >= '0' && *at <= '9' && r->length < 1ULL << 48)
		r->length = r->length * 10 + (*at - '0');
	if (*at == ':' && r->header == HTTP_HEADER_OTHER)
		header_named(r);
	if (*at == ';' && r->header == HTTP_HEADER_TYPE) { /* text/event-stream; charset=utf-8 */
		line_end(r);
		skip_line(r);
	}
	if (*at != ' ')
		r->tail = r->tail << 8 | small_letter(*at);
	if (r->column < 255)
		r->column++;
	/* The rest of the first line, and names that begin as none of those that count. */
	if (r->head_len == 12 ||
	    (r->column == 1 && r->head_len > 12 && (*at | 0x20) != 'c' && (*at | 0x20) != 't'))
		skip_line(r);
	return false;
}

/* Whether @code ends a response's head without being the response (100 Continue). */
static __always_inline bool http_is_interim(u32 code)
{
	return code >= 100 && code < 200 && code != 101;
}

/* What comes after the head of @r, the answer to a request with @method. */
static __always_inline u8 http_body(const struct http_response *r, u64 method)
{
	if (r->code == 101 || r->is_stream)
		return BODY_STREAM;
	if (method == WORD_HEAD || r->code == 204 || r->code == 304)
		return BODY_NONE;
	if (method == WORD_CONNECT && r->code >= 200 && r->code < 300)
		return BODY_STREAM;
	if (r->is_chunked)
		return BODY_CHUNKED;
	if (r->has_length)
		return r->length ? BODY_LENGTH : BODY_NONE;
	return BODY_UNTIL_CLOSE;
}

#endif /* SKYOBSERVE_HTTP_BPF_H */
