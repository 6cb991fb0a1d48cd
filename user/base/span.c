/* SPDX-License-Identifier: MIT */
/* Bounds-checked reading of bytes that a stranger wrote. */
#include "user/base/span.h"

#include <string.h>

#define MAX_UVARINT_BYTES 10 /* 64 bits in groups of 7 */

bool span_from(const struct span *s, u64 offset, struct span *ret_rest)
{
	if (offset > s->n)
		return false;
	/* An empty span may have no address, to which nothing may be added. */
	*ret_rest = (struct span){ offset ? s->at + offset : s->at, s->n - (size_t)offset };
	return true;
}

bool span_slice(const struct span *s, u64 offset, u64 n, struct span *ret_part)
{
	struct span rest;

	if (!span_from(s, offset, &rest) || n > rest.n)
		return false;
	*ret_part = (struct span){ rest.at, (size_t)n };
	return true;
}

bool span_skip(struct span *s, u64 n)
{
	return span_from(s, n, s);
}

bool span_take(struct span *s, u64 n, struct span *ret_part)
{
	struct span part;

	if (!span_slice(s, 0, n, &part))
		return false;
	(void)span_skip(s, n); /* the slice has shown that they are there */
	*ret_part = part;
	return true;
}

bool span_uint(struct span *s, u32 size, u64 *ret)
{
	struct span part;
	u64 value = 0;

	if (size != 1 && size != 2 && size != 4 && size != 8)
		return false;
	if (!span_take(s, size, &part))
		return false;
	for (u32 i = 0; i < size; i++)
		value |= (u64)part.at[i] << (8 * i);
	*ret = value;
	return true;
}

bool span_u8(struct span *s, u8 *ret)
{
	u64 value;

	if (!span_uint(s, sizeof(*ret), &value))
		return false;
	*ret = (u8)value;
	return true;
}

bool span_u16(struct span *s, u16 *ret)
{
	u64 value;

	if (!span_uint(s, sizeof(*ret), &value))
		return false;
	*ret = (u16)value;
	return true;
}

bool span_u32(struct span *s, u32 *ret)
{
	u64 value;

	if (!span_uint(s, sizeof(*ret), &value))
		return false;
	*ret = (u32)value;
	return true;
}

bool span_u64(struct span *s, u64 *ret)
{
	return span_uint(s, sizeof(*ret), ret);
}

bool span_uvarint(struct span *s, u64 *ret)
{
	u64 value = 0;

	for (size_t i = 0; i < s->n && i < MAX_UVARINT_BYTES; i++) {
		u64 bits = s->at[i] & 0x7f;

		if (i == MAX_UVARINT_BYTES - 1 && bits > 1)
			return false;
		value |= bits << (7 * i);
		if (!(s->at[i] & 0x80)) {
			*ret = value;
			return span_skip(s, i + 1);
		}
	}
	return false;
}

bool span_cstring(struct span *s, size_t max, struct span *ret_text)
{
	size_t limit = max < s->n ? max : s->n;
	const u8 *end = limit ? memchr(s->at, 0, limit) : NULL;

	if (!end)
		return false;
	*ret_text = (struct span){ s->at, (size_t)(end - s->at) };
	return span_skip(s, ret_text->n + 1);
}

bool span_u8_at(const struct span *s, u64 offset, u8 *ret)
{
	struct span rest;

	return span_from(s, offset, &rest) && span_u8(&rest, ret);
}

bool span_u32_at(const struct span *s, u64 offset, u32 *ret)
{
	struct span rest;

	return span_from(s, offset, &rest) && span_u32(&rest, ret);
}

bool span_u64_at(const struct span *s, u64 offset, u64 *ret)
{
	struct span rest;

	return span_from(s, offset, &rest) && span_u64(&rest, ret);
}

bool span_cstring_at(const struct span *s, u64 offset, size_t max, const char **ret_text)
{
	struct span rest, text;

	if (!span_from(s, offset, &rest) || !span_cstring(&rest, max, &text))
		return false;
	*ret_text = (const char *)text.at;
	return true;
}

bool span_is(const struct span *s, const char *text)
{
	return s->n == strlen(text) && (!s->n || !memcmp(s->at, text, s->n));
}

void span_copy_text(const struct span *s, char *ret_text, size_t cap)
{
	size_t n = s->n < cap ? s->n : cap - 1;

	if (!cap)
		return;
	for (size_t i = 0; i < n; i++)
		ret_text[i] = s->at[i] < 0x20 || s->at[i] == 0x7f ? '?' : (char)s->at[i];
	ret_text[n] = '\0';
}
