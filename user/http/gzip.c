/* SPDX-License-Identifier: MIT */
/* gzip by zlib. */
#include "user/http/gzip.h"

#include <errno.h>
#include <zlib.h>

/* Metrics are mostly repetition: the fastest level gives nearly all of what the best would. */
#define GZIP_LEVEL 1

#define GZIP_WINDOW (15 + 16) /* the largest window; 16 asks for a gzip header */
#define GZIP_MEMORY 8	      /* zlib's default */

#define CHUNK_BYTES 16384

int gzip_body(const struct buf *body, struct buf *ret_buf)
{
	unsigned char chunk[CHUNK_BYTES];
	size_t begin = ret_buf->len, left = body->len;
	z_stream z = { 0 };
	int r;

	if (body->failed || ret_buf->failed)
		return -ENOMEM;
	if (deflateInit2(&z, GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW, GZIP_MEMORY,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	z.next_in = (unsigned char *)body->bytes;
	do {
		/* zlib counts in unsigned int. */
		uInt piece = left > 1u << 30 ? 1u << 30 : (uInt)left;

		if (!z.avail_in) {
			z.avail_in = piece;
			left -= piece;
		}
		z.next_out = chunk;
		z.avail_out = sizeof(chunk);
		r = deflate(&z, left ? Z_NO_FLUSH : Z_FINISH);
		buf_add(ret_buf, chunk, sizeof(chunk) - z.avail_out);
	} while (r == Z_OK || (r == Z_BUF_ERROR && left));
	deflateEnd(&z);
	if (r == Z_STREAM_END && !ret_buf->failed)
		return 0;
	ret_buf->len = begin;
	return -ENOMEM;
}
