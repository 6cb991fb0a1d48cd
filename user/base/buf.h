/* SPDX-License-Identifier: MIT */
/*
 * A growing byte buffer. A failed allocation is remembered instead of returned by each call, so
 * that a renderer reads as a list of what it prints; the caller asks once, at the end.
 */
#ifndef SKYOBSERVE_BASE_BUF_H
#define SKYOBSERVE_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>

/* A zeroed struct is an empty buffer. @bytes is NUL-terminated whenever it is not NULL. */
struct buf {
	char *bytes;
	size_t len;
	size_t cap;
	bool failed; /* an append did not fit in memory; the contents are not to be used */
};

void buf_add(struct buf *buf, const void *bytes, size_t n);

/* Make it longer by @n bytes, for the caller to write; NULL when it failed. */
char *buf_extend(struct buf *buf, size_t n);
void buf_str(struct buf *buf, const char *text);
void buf_char(struct buf *buf, char c);
void buf_printf(struct buf *buf, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Forget the contents, keep the memory. */
void buf_clear(struct buf *buf);
/* Free the memory; the struct is an empty buffer again. */
void buf_done(struct buf *buf);

#endif /* SKYOBSERVE_BASE_BUF_H */
