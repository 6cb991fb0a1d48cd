/* SPDX-License-Identifier: MIT */
/* Memory that is freed all at once: the strings and rows of one answer. */
#ifndef SKYOBSERVE_BASE_ARENA_H
#define SKYOBSERVE_BASE_ARENA_H

#include <stddef.h>

struct arena_chunk;

/* A zeroed struct is an empty arena. */
struct arena {
	struct arena_chunk *chunks;
};

/* @n zeroed bytes, aligned for any type, or NULL. They live until arena_done. */
void *arena_zalloc(struct arena *arena, size_t n);
/* A copy of @text, or NULL. */
char *arena_strdup(struct arena *arena, const char *text);
/* A formatted string, or NULL. */
char *arena_printf(struct arena *arena, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void arena_done(struct arena *arena);

#endif /* SKYOBSERVE_BASE_ARENA_H */
