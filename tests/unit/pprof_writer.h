/* SPDX-License-Identifier: MIT */
/* Writing profile.proto for tests: right or wrong, as they like. */
#ifndef SKYOBSERVE_TESTS_PPROF_WRITER_H
#define SKYOBSERVE_TESTS_PPROF_WRITER_H

#include <string.h>

#include "types.h"
#include "user/base/buf.h"
#include "user/base/span.h"

static inline void put_varint(struct buf *b, u64 value)
{
	for (; value >= 0x80; value >>= 7)
		buf_char(b, (char)(value | 0x80));
	buf_char(b, (char)value);
}

static inline void put_number(struct buf *b, u32 field, u64 value)
{
	put_varint(b, (u64)field << 3);
	put_varint(b, value);
}

static inline void put_bytes(struct buf *b, u32 field, const void *bytes, size_t n)
{
	put_varint(b, (u64)field << 3 | 2);
	put_varint(b, n);
	buf_add(b, bytes, n);
}

static inline void put_text(struct buf *b, u32 field, const char *text)
{
	put_bytes(b, field, text, strlen(text));
}

/* A message of varints: field 1, 2, 3, ...; those that are 0 are left out, as writers do. */
#define put_message(b, field, ...)                          \
	put_varints(b, field, (const u64[]){ __VA_ARGS__ }, \
		    sizeof((const u64[]){ __VA_ARGS__ }) / sizeof(u64))

static inline void put_varints(struct buf *b, u32 field, const u64 *values, size_t n)
{
	struct buf message = { 0 };

	for (size_t i = 0; i < n; i++) {
		if (values[i])
			put_number(&message, (u32)i + 1, values[i]);
	}
	put_bytes(b, field, message.len ? message.bytes : "", message.len);
	buf_done(&message);
}

/* Numbers packed into one field. */
#define put_packed(b, field, ...)                                 \
	put_packed_values(b, field, (const u64[]){ __VA_ARGS__ }, \
			  sizeof((const u64[]){ __VA_ARGS__ }) / sizeof(u64))

static inline void put_packed_values(struct buf *b, u32 field, const u64 *values, size_t n)
{
	struct buf packed = { 0 };

	for (size_t i = 0; i < n; i++)
		put_varint(&packed, values[i]);
	put_bytes(b, field, packed.bytes, packed.len);
	buf_done(&packed);
}

static inline struct span as_span(const struct buf *b)
{
	return (struct span){ (const u8 *)b->bytes, b->len };
}

#endif /* SKYOBSERVE_TESTS_PPROF_WRITER_H */
