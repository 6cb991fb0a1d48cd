/* SPDX-License-Identifier: MIT */
/* gzip: what is packed unpacks to the same. */
#include "tests/lib/check.h"

#include <errno.h>
#include <zlib.h>

#include "user/http/gzip.h"

static void check_round_trip(const struct buf *body)
{
	struct buf packed = { 0 };
	char *unpacked = malloc(body->len + 1);
	z_stream z = { 0 };

	buf_str(&packed, "before");
	CHECK_EQ_INT(gzip_body(body, &packed), 0);
	CHECK(!strncmp(packed.bytes, "before", 6));
	CHECK_EQ_INT(inflateInit2(&z, 15 + 16), Z_OK);
	z.next_in = (unsigned char *)packed.bytes + 6;
	z.avail_in = (uInt)(packed.len - 6);
	z.next_out = (unsigned char *)unpacked;
	z.avail_out = (uInt)body->len + 1;
	CHECK_EQ_INT(inflate(&z, Z_FINISH), Z_STREAM_END);
	CHECK_EQ_U64(z.avail_in, 0);
	CHECK_MEM(unpacked, z.total_out, body->len ? body->bytes : "", body->len);
	inflateEnd(&z);
	free(unpacked);
	buf_done(&packed);
}

TEST(gzip_of_nothing)
{
	const struct buf empty = { 0 };

	check_round_trip(&empty);
}

TEST(gzip_of_a_scrape)
{
	struct buf body = { 0 };

	for (int i = 0; i < 100000; i++)
		buf_printf(&body, "skyobserve_x_total{i=\"%d\"} %d\n", i, i % 977);
	check_round_trip(&body);
	buf_done(&body);
}

/* Noise does not get smaller: more output than input, over many pieces. */
TEST(gzip_of_noise)
{
	struct buf body = { 0 };
	unsigned int state = 1;

	for (int i = 0; i < 300000; i++) {
		state = state * 1664525 + 1013904223;
		buf_char(&body, (char)(state >> 24));
	}
	check_round_trip(&body);
	buf_done(&body);
}

TEST(gzip_refuses_a_failed_body)
{
	const struct buf failed = { .failed = true };
	struct buf packed = { 0 };

	CHECK_EQ_INT(gzip_body(&failed, &packed), -ENOMEM);
	CHECK_EQ_U64(packed.len, 0);
}
