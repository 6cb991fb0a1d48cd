/* SPDX-License-Identifier: MIT */
/* Decoding what may be any bytes. */
#include "tests/lib/check.h"

#include "user/base/utf8.h"

TEST(utf8_decodes_each_length)
{
	static const struct {
		const char *text;
		size_t n;
		u32 want;
	} cases[] = {
		{ "A", 1, 'A' },
		{ "\x7f", 1, 0x7f },
		{ "\xc2\x80", 2, 0x80 },
		{ "\xdf\xbf", 2, 0x7ff },
		{ "\xe0\xa0\x80", 3, 0x800 },
		{ "\xed\x9f\xbf", 3, 0xd7ff },
		{ "\xee\x80\x80", 3, 0xe000 },
		{ "\xef\xbf\xbf", 3, 0xffff },
		{ "\xf0\x90\x80\x80", 4, 0x10000 },
		{ "\xf4\x8f\xbf\xbf", 4, 0x10ffff },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		u32 c;

		CHECK_EQ_U64(utf8_next(cases[i].text, &c), cases[i].n);
		CHECK_EQ_U64(c, cases[i].want);
	}
}

TEST(utf8_replaces_a_byte_that_begins_nothing)
{
	static const char *const cases[] = {
		"\x80",
		"\xbf",
		"\xc0\x80",
		"\xc1\xbf",
		"\xc2",
		"\xc2\x41",
		"\xe0\x9f\xbf",
		"\xe2\x82",
		"\xe2\x82\x41",
		"\xed\xa0\x80",
		"\xf0\x8f\xbf\xbf",
		"\xf0\x9f\x98",
		"\xf4\x90\x80\x80",
		"\xf5\x80\x80\x80",
		"\xff",
		"\xfe",
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		u32 c;

		CHECK_EQ_U64(utf8_next(cases[i], &c), 1);
		CHECK_EQ_U64(c, UTF8_REPLACEMENT);
	}
}

/* Each string of up to three bytes is decoded to its end, never past its NUL. */
TEST(utf8_never_passes_the_end)
{
	for (u32 i = 1; i < 0x1000000; i += 7) {
		const char text[4] = { (char)(i & 0xff), (char)(i >> 8 & 0xff), (char)(i >> 16),
				       0 };
		const char *at = text;
		u32 c;

		while (*at)
			at += utf8_next(at, &c);
		CHECK(at <= text + 3);
	}
}

TEST(utf8_knows_what_controls_a_terminal)
{
	CHECK(utf8_is_control(0x1b));
	CHECK(utf8_is_control('\t'));
	CHECK(utf8_is_control(0x7f));
	CHECK(utf8_is_control(0x9b)); /* CSI in one character */
	CHECK(!utf8_is_control(' '));
	CHECK(!utf8_is_control(0xa0));
}

TEST(utf8_repair_makes_one_form_of_broken_names)
{
	char out[16];

	utf8_repair("a\xff", out, sizeof(out));
	CHECK_STR(out, "a\xef\xbf\xbd");
	utf8_repair("a\x01", out, sizeof(out)); /* two names that look alike are one name */
	CHECK_STR(out, "a\xef\xbf\xbd");
	utf8_repair("line\nbreak", out, sizeof(out));
	CHECK_STR(out, "line\nbreak");
}

TEST(utf8_repair_cuts_between_characters)
{
	char out[4];

	utf8_repair("ab\xc3\xa9", out, sizeof(out));
	CHECK_STR(out, "ab");
	utf8_repair("", out, sizeof(out));
	CHECK_STR(out, "");
}

TEST(utf8_hides_what_controls_a_terminal)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{ "", "" },
		{ "plain", "plain" },
		{ "gr\xc3\xbc\xc3\x9f \xe2\x82\xac", "gr\xc3\xbc\xc3\x9f \xe2\x82\xac" },
		{ "a\n\r\t\x1b[2Jb\x7f", "a????[2Jb?" },
		{ "\x9b"
		  "2J",
		  "?2J" }, /* CSI as one byte */
		{ "\xc2\x9b"
		  "2J",
		  "?2J" },			    /* CSI in UTF-8 */
		{ "\xe2\x82", "??" },		    /* cut off */
		{ "\xc0\x9b", "??" },		    /* overlong */
		{ "\xef\xbf\xbd", "\xef\xbf\xbd" }, /* U+FFFD itself */
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[64];

		snprintf(text, sizeof(text), "%s", rows[i].text);
		utf8_hide_controls(text);
		CHECK_STR(text, rows[i].want);
	}
}
