/* SPDX-License-Identifier: MIT */
/* Compress a response body. */
#ifndef SKYOBSERVE_HTTP_GZIP_H
#define SKYOBSERVE_HTTP_GZIP_H

#include "user/base/buf.h"

/* Below one packet or so, gzip saves nothing. */
#define GZIP_MIN_BYTES 1024
/*
 * Packing costs the most of a scrape of thousands of series, and unpacking again costs the same
 * machine if the client is on it: over loopback so much goes as it is.
 */
#define GZIP_MAX_LOOPBACK_BYTES (1 << 20)

/*
 * Append @body as one gzip member (RFC 1952) to @ret_buf. 0; -ENOMEM, then what was appended is
 * taken back.
 */
int gzip_body(const struct buf *body, struct buf *ret_buf);

#endif /* SKYOBSERVE_HTTP_GZIP_H */
