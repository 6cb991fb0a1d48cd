/* SPDX-License-Identifier: MIT */
/* Decompress a file of a stranger, with a limit. */
#ifndef SKYOBSERVE_PPROF_GUNZIP_H
#define SKYOBSERVE_PPROF_GUNZIP_H

#include "user/base/buf.h"
#include "user/base/err.h"
#include "user/base/span.h"

/* Whether the bytes begin as gzip does. */
bool gunzip_is_gzip(const struct span *packed);

/*
 * Append what @packed (one gzip member or several, RFC 1952) unpacks to. 0; -EFBIG if that is more
 * than @max_bytes; -EBADMSG if it is damaged, cut off, or followed by something else; -ENOMEM. On
 * failure *ret_buf has what was unpacked so far, and is the caller's to free.
 */
int gunzip(const struct span *packed, size_t max_bytes, struct buf *ret_buf, struct err *err);

#endif /* SKYOBSERVE_PPROF_GUNZIP_H */
