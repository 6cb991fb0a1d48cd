/* SPDX-License-Identifier: MIT */
/* Memory that is freed all at once. */
#include "user/base/arena.h"

#include <stdarg.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct arena_chunk {
	struct arena_chunk *next;
	size_t used;
	size_t cap;
	alignas(max_align_t) char bytes[];
};

/* Large enough for the labels of a few hundred samples, small beside a process. */
#define CHUNK_BYTES 16384

void *arena_zalloc(struct arena *arena, size_t n)
{
	struct arena_chunk *c = arena->chunks;
	const size_t align = alignof(max_align_t);
	char *ret;

	if (n > (size_t)-1 / 2)
		return NULL;
	n = (n + align - 1) / align * align;
	if (!c || c->cap - c->used < n) {
		size_t cap = n > CHUNK_BYTES ? n : CHUNK_BYTES;

		c = malloc(sizeof(*c) + cap);
		if (!c)
			return NULL;
		c->next = arena->chunks;
		c->used = 0;
		c->cap = cap;
		arena->chunks = c;
	}
	ret = c->bytes + c->used;
	c->used += n;
	memset(ret, 0, n);
	return ret;
}

char *arena_strdup(struct arena *arena, const char *text)
{
	size_t n = strlen(text) + 1;
	char *copy = arena_zalloc(arena, n);

	if (copy)
		memcpy(copy, text, n);
	return copy;
}

char *arena_printf(struct arena *arena, const char *fmt, ...)
{
	va_list ap;
	char *text;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0)
		return NULL;
	text = arena_zalloc(arena, (size_t)n + 1);
	if (!text)
		return NULL;
	va_start(ap, fmt);
	vsnprintf(text, (size_t)n + 1, fmt, ap);
	va_end(ap);
	return text;
}

void arena_done(struct arena *arena)
{
	struct arena_chunk *c = arena->chunks;

	while (c) {
		struct arena_chunk *next = c->next;

		free(c);
		c = next;
	}
	arena->chunks = NULL;
}
