/* SPDX-License-Identifier: MIT */
/* Readers of strangers' bytes: nothing is read past the end, and a refusal changes nothing. */
#include "tests/lib/check.h"

#include "user/base/span.h"

static const u8 bytes[] = { 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 'a', 'b', 0, 'c' };

static struct span whole(void)
{
	return (struct span){ bytes, sizeof(bytes) };
}

TEST(span_integers_are_little_endian)
{
	struct span s = whole();
	u64 u64_value;
	u32 u32_value;
	u16 u16_value;
	u8 u8_value;

	CHECK(span_u8(&s, &u8_value) && u8_value == 0x01);
	CHECK(span_u16(&s, &u16_value) && u16_value == 0x0302);
	CHECK(span_u32(&s, &u32_value) && u32_value == 0x07060504);
	s = whole();
	CHECK(span_u64(&s, &u64_value) && u64_value == 0x0807060504030201);
	CHECK_EQ_U64(s.n, sizeof(bytes) - 8);
}

TEST(span_refuses_what_is_cut_off_and_stays)
{
	for (size_t n = 0; n < 8; n++) {
		struct span s = { bytes, n };
		u64 value = 42;

		CHECK(!span_u64(&s, &value));
		CHECK_EQ_U64(value, 42);
		CHECK(s.at == bytes);
		CHECK_EQ_U64(s.n, n);
	}
}

TEST(span_uint_knows_four_sizes)
{
	struct span s = whole();
	u64 value;

	for (u32 size = 0; size < 10; size++) {
		s = whole();
		CHECK_EQ_INT(span_uint(&s, size, &value),
			     size == 1 || size == 2 || size == 4 || size == 8);
	}
}

TEST(span_parts_never_leave_the_span)
{
	static const u64 ends[] = { 0, 1, 11, 12, 13, 1ull << 32, ~0ull - 1, ~0ull };
	struct span s = whole(), part;

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		for (size_t k = 0; k < sizeof(ends) / sizeof(ends[0]); k++) {
			bool inside = ends[i] <= s.n && ends[k] <= s.n - ends[i];

			CHECK_EQ_INT(span_slice(&s, ends[i], ends[k], &part), inside);
			if (inside)
				CHECK(part.at == bytes + ends[i] && part.n == ends[k]);
		}
	}
}

TEST(span_may_be_empty_and_have_no_address)
{
	struct span s = { 0 }, part;
	u64 value;

	CHECK(span_from(&s, 0, &part) && !part.n);
	CHECK(span_slice(&s, 0, 0, &part) && span_take(&s, 0, &part) && span_skip(&s, 0));
	CHECK(!span_from(&s, 1, &part) && !span_u64(&s, &value) && !span_uvarint(&s, &value));
	CHECK(!span_cstring(&s, 10, &part));
}

TEST(span_uvarint_has_at_most_64_bits)
{
	static const struct {
		const char *bytes;
		size_t n;
		bool good;
		u64 value;
	} cases[] = {
		{ "\x00", 1, true, 0 },
		{ "\x7f", 1, true, 127 },
		{ "\x80\x01", 2, true, 128 },
		{ "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10, true, ~0ull },
		{ "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10, false, 0 },
		{ "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", 11, false, 0 },
		{ "\x80", 1, false, 0 },
		{ "", 0, false, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct span s = { (const u8 *)cases[i].bytes, cases[i].n };
		u64 value = 0;

		CHECK_EQ_INT(span_uvarint(&s, &value), cases[i].good);
		CHECK_EQ_U64(value, cases[i].value);
		CHECK_EQ_U64(s.n, cases[i].good ? 0 : cases[i].n);
	}
}

TEST(span_strings_end_inside)
{
	struct span s = whole(), text;
	const char *found;

	CHECK(span_cstring_at(&s, 8, 100, &found));
	CHECK_STR(found, "ab");
	CHECK(!span_cstring_at(&s, 11, 100, &found)); /* "c" without an end */
	CHECK(!span_cstring_at(&s, 8, 2, &found));    /* its end is the third byte */
	CHECK(span_cstring_at(&s, 8, 3, &found));
	CHECK(!span_cstring_at(&s, 12, 100, &found));
	CHECK(!span_cstring_at(&s, ~0ull, 100, &found));
	CHECK(span_skip(&s, 8) && span_cstring(&s, 100, &text));
	CHECK(span_is(&text, "ab"));
	CHECK_EQ_U64(s.n, 1);
}

TEST(span_copy_shows_no_control_bytes_and_cuts_off)
{
	const struct span s = { (const u8 *)"a\n\x1b\x7fz", 5 };
	char text[8], small[3];

	span_copy_text(&s, text, sizeof(text));
	CHECK_STR(text, "a???z");
	span_copy_text(&s, small, sizeof(small));
	CHECK_STR(small, "a?");
}
