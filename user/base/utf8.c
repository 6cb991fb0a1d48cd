/* SPDX-License-Identifier: MIT */
/* UTF-8 as RFC 3629 defines it. */
#include "user/base/utf8.h"

#include <string.h>

/*
 * The first byte decides the length and the range of the second; the others are 80..BF. The
 * narrow ranges keep out overlong forms (E0, F0), surrogates (ED) and what lies above (F4).
 */
static const struct {
	u8 first, last; /* of the first byte */
	u8 len;
	u8 second_min, second_max;
} forms[] = {
	{ 0xc2, 0xdf, 2, 0x80, 0xbf }, { 0xe0, 0xe0, 3, 0xa0, 0xbf }, { 0xe1, 0xec, 3, 0x80, 0xbf },
	{ 0xed, 0xed, 3, 0x80, 0x9f }, { 0xee, 0xef, 3, 0x80, 0xbf }, { 0xf0, 0xf0, 4, 0x90, 0xbf },
	{ 0xf1, 0xf3, 4, 0x80, 0xbf }, { 0xf4, 0xf4, 4, 0x80, 0x8f },
};

size_t utf8_next(const char *text, u32 *ret_char)
{
	const u8 *b = (const u8 *)text;
	size_t i = 0;
	u32 c;

	*ret_char = b[0];
	if (b[0] < 0x80)
		return 1;
	*ret_char = UTF8_REPLACEMENT;
	while (i < sizeof(forms) / sizeof(forms[0]) &&
	       (b[0] < forms[i].first || b[0] > forms[i].last))
		i++;
	if (i == sizeof(forms) / sizeof(forms[0]))
		return 1;
	/* A NUL is in no range, so this never reads past the end. */
	if (b[1] < forms[i].second_min || b[1] > forms[i].second_max)
		return 1;
	c = b[0] & (0x7fu >> forms[i].len);
	c = c << 6 | (b[1] & 0x3f);
	for (size_t k = 2; k < forms[i].len; k++) {
		if ((b[k] & 0xc0) != 0x80)
			return 1;
		c = c << 6 | (b[k] & 0x3f);
	}
	*ret_char = c;
	return forms[i].len;
}

void utf8_repair(const char *text, char *ret_text, size_t n)
{
	size_t used = 0;

	while (n && *text) {
		u32 c;
		size_t len = utf8_next(text, &c);
		bool bad = c == UTF8_REPLACEMENT || (utf8_is_control(c) && c != '\n');
		const char *from = bad ? UTF8_REPLACEMENT_STR : text;
		size_t more = bad ? sizeof(UTF8_REPLACEMENT_STR) - 1 : len;

		if (used + more >= n)
			break;
		memcpy(ret_text + used, from, more);
		used += more;
		text += len;
	}
	if (n)
		ret_text[used] = '\0';
}

void utf8_hide_controls(char *text)
{
	char *to = text;

	while (*text) {
		u32 c;
		size_t len = utf8_next(text, &c);

		if (utf8_is_control(c) || (c == UTF8_REPLACEMENT && len == 1)) {
			*to++ = '?';
		} else {
			memmove(to, text, len);
			to += len;
		}
		text += len;
	}
	*to = '\0';
}
