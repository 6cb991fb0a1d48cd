/* SPDX-License-Identifier: MIT */
/* Reading text that may be any bytes. */
#ifndef SKYOBSERVE_BASE_UTF8_H
#define SKYOBSERVE_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

#include "types.h"

#define UTF8_REPLACEMENT     0xfffd
#define UTF8_REPLACEMENT_STR "\xef\xbf\xbd"

/*
 * Decode the character at @text, which must not be at its NUL. Returns the bytes it takes, 1 to 4.
 * A byte that begins no valid sequence (overlong forms, surrogates and values above U+10FFFF
 * included) is one UTF8_REPLACEMENT of length 1, so that a loop always ends.
 *
 * Source: RFC 3629, section 4.
 */
size_t utf8_next(const char *text, u32 *ret_char);

/*
 * Copy @text with what is not valid, and control characters other than newline, as U+FFFD: the
 * form in which labels are published. At most @n bytes, NUL included, and never half a character.
 */
void utf8_repair(const char *text, char *ret_text, size_t n);

/*
 * Make @text, in place, what a terminal or a log can be given: each control character (C0, DEL, and
 * C1 also where it takes two bytes) and each byte that is no UTF-8 (a lone 0x9b is CSI to some
 * terminals) becomes one '?'. It gets no longer.
 */
void utf8_hide_controls(char *text);

/* Whether a character controls a terminal: C0, DEL and C1. */
static inline bool utf8_is_control(u32 c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0);
}

#endif /* SKYOBSERVE_BASE_UTF8_H */
