/* SPDX-License-Identifier: MIT */
/* A growing byte buffer. */
#include "user/base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool buf_reserve(struct buf *buf, size_t n)
{
	size_t cap = buf->cap ? buf->cap : 256;
	char *bytes;

	if (buf->failed)
		return false;
	if (n < buf->cap - buf->len) /* one more byte stays free for the NUL */
		return true;
	while (cap - buf->len <= n) {
		if (cap > (size_t)-1 / 2) {
			buf->failed = true;
			return false;
		}
		cap *= 2;
	}
	bytes = realloc(buf->bytes, cap);
	if (!bytes) {
		buf->failed = true;
		return false;
	}
	buf->bytes = bytes;
	buf->cap = cap;
	return true;
}

void buf_add(struct buf *buf, const void *bytes, size_t n)
{
	if (!buf_reserve(buf, n))
		return;
	memcpy(buf->bytes + buf->len, bytes, n);
	buf->len += n;
	buf->bytes[buf->len] = '\0';
}

char *buf_extend(struct buf *buf, size_t n)
{
	char *at;

	if (!buf_reserve(buf, n))
		return NULL;
	at = buf->bytes + buf->len;
	buf->len += n;
	buf->bytes[buf->len] = '\0';
	return at;
}

void buf_str(struct buf *buf, const char *text)
{
	buf_add(buf, text, strlen(text));
}

void buf_char(struct buf *buf, char c)
{
	buf_add(buf, &c, 1);
}

void buf_printf(struct buf *buf, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0) {
		buf->failed = true;
		return;
	}
	if (!buf_reserve(buf, (size_t)n))
		return;
	va_start(ap, fmt);
	vsnprintf(buf->bytes + buf->len, (size_t)n + 1, fmt, ap);
	va_end(ap);
	buf->len += (size_t)n;
}

void buf_clear(struct buf *buf)
{
	buf->len = 0;
	buf->failed = false;
	if (buf->bytes)
		buf->bytes[0] = '\0';
}

void buf_done(struct buf *buf)
{
	free(buf->bytes);
	*buf = (struct buf){ 0 };
}
