/* SPDX-License-Identifier: MIT */
/*
 * Bounds-checked reading of bytes that a stranger wrote. Little-endian, as every architecture that
 * is observed here.
 *
 * Each reader returns false and leaves the span and its outputs as they were when the bytes are not
 * there: a chain of `&&` reads a record, and a false at its end means "cut off".
 */
#ifndef SKYOBSERVE_BASE_SPAN_H
#define SKYOBSERVE_BASE_SPAN_H

#include <stdbool.h>
#include <stddef.h>

#include "types.h"

/* The bytes that have not been read yet; whoever owns them outlives the span. */
struct span {
	const u8 *at;
	size_t n;
};

/* Part of @s: @n bytes from @offset. Both come from the input and may be anything. */
bool span_slice(const struct span *s, u64 offset, u64 n, struct span *ret_part);
/* From @offset to the end. */
bool span_from(const struct span *s, u64 offset, struct span *ret_rest);

/* Read and move on. */
bool span_skip(struct span *s, u64 n);
bool span_take(struct span *s, u64 n, struct span *ret_part);
bool span_u8(struct span *s, u8 *ret);
bool span_u16(struct span *s, u16 *ret);
bool span_u32(struct span *s, u32 *ret);
bool span_u64(struct span *s, u64 *ret);
/* An integer of 1, 2, 4 or 8 bytes; false for another size. */
bool span_uint(struct span *s, u32 size, u64 *ret);
/* Unsigned LEB128, as Go's encoding/binary and DWARF: at most 10 bytes, at most 64 bits. */
bool span_uvarint(struct span *s, u64 *ret);
/*
 * A string that ends with NUL, which must come within @max bytes. *ret_text has no NUL in its n
 * bytes, and one behind them.
 */
bool span_cstring(struct span *s, size_t max, struct span *ret_text);

/* Read at an offset without moving. */
bool span_u8_at(const struct span *s, u64 offset, u8 *ret);
bool span_u32_at(const struct span *s, u64 offset, u32 *ret);
bool span_u64_at(const struct span *s, u64 offset, u64 *ret);
bool span_cstring_at(const struct span *s, u64 offset, size_t max, const char **ret_text);

/* Whether the bytes are those of @text. */
bool span_is(const struct span *s, const char *text);
/* Copy as a C string of at most @cap bytes with its NUL: cut off, control bytes as '?'. */
void span_copy_text(const struct span *s, char *ret_text, size_t cap);

#endif /* SKYOBSERVE_BASE_SPAN_H */
