/* SPDX-License-Identifier: MIT */
/* gzip by zlib, the other way. */
#include "user/pprof/gunzip.h"

#include <errno.h>
#include <zlib.h>

#define GZIP_WINDOW (15 + 16) /* the largest window; 16 asks for a gzip header */
#define CHUNK_BYTES 65536

bool gunzip_is_gzip(const struct span *packed)
{
	return packed->n >= 2 && packed->at[0] == 0x1f && packed->at[1] == 0x8b;
}

/* All members. zlib checks lengths and sums. */
static int unpack(z_stream *z, struct span rest, size_t max_bytes, struct buf *ret_buf)
{
	unsigned char chunk[CHUNK_BYTES];
	size_t begin = ret_buf->len;
	int r = Z_OK;

	for (;;) {
		if (!z->avail_in) {
			/* zlib counts in unsigned int. */
			z->avail_in = rest.n > 1u << 30 ? 1u << 30 : (uInt)rest.n;
			z->next_in = (unsigned char *)rest.at;
			(void)span_skip(&rest, z->avail_in); /* no more than there are */
		}
		if (r == Z_STREAM_END) {
			if (!z->avail_in)
				return 0;
			if (inflateReset(z) != Z_OK)
				return -EBADMSG;
		}
		z->next_out = chunk;
		z->avail_out = sizeof(chunk);
		r = inflate(z, Z_NO_FLUSH);
		if (r == Z_MEM_ERROR)
			return -ENOMEM;
		/* Z_BUF_ERROR: it wants more, and there is no more. */
		if (r != Z_OK && r != Z_STREAM_END)
			return -EBADMSG;
		if (sizeof(chunk) - z->avail_out > max_bytes - (ret_buf->len - begin))
			return -EFBIG;
		buf_add(ret_buf, chunk, sizeof(chunk) - z->avail_out);
		if (ret_buf->failed)
			return -ENOMEM;
	}
}

int gunzip(const struct span *packed, size_t max_bytes, struct buf *ret_buf, struct err *err)
{
	z_stream z = { 0 };
	int r;

	if (inflateInit2(&z, GZIP_WINDOW) != Z_OK)
		return err_set(err, -ENOMEM, "no memory for unpacking it");
	r = unpack(&z, *packed, max_bytes, ret_buf);
	inflateEnd(&z);
	switch (r) {
	case 0:
		return 0;
	case -EFBIG:
		return err_set(err, r, "it unpacks to more than %zu MiB", max_bytes >> 20);
	case -ENOMEM:
		return err_set(err, r, "no memory for unpacking it");
	default:
		return err_set(err, r, "its gzip is damaged or cut off");
	}
}
