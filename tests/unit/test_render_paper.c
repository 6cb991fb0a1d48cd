/* SPDX-License-Identifier: MIT */
/* Lines of limited width, and numbers for people. */
#include "tests/lib/check.h"

#include "user/render/paper.h"

TEST(human_duration_has_three_digits)
{
	static const struct {
		u64 ns;
		const char *want;
	} cases[] = {
		{ 0, "0 s" },
		{ 999, "999 ns" },
		{ 1000, "1.00 us" },
		{ 9994, "9.99 us" },
		{ 9996, "10.0 us" },
		{ 99940, "99.9 us" },
		{ 99960, "100 us" },
		{ 999499, "999 us" },
		{ 999500, "1.00 ms" },
		{ 2500000000, "2.50 s" },
		{ 99999999999, "100 s" },
		{ 100000000000, "1m 40s" },
		{ 3599999999999, "59m 59s" },
		{ 3600000000000, "1h 00m" },
		{ (u64)-1, "5124095h 34m" },
	};
	char text[HUMAN_WIDTH];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		human_duration(cases[i].ns, text);
		CHECK_STR(text, cases[i].want);
	}
}

TEST(human_amount_has_at_most_four_digits)
{
	static const struct {
		double amount;
		const char *want;
	} cases[] = {
		{ 0, "0" },	     { 0.001, "<0.01" },	{ 0.25, "0.25" },
		{ 9.999, "10.0" },   { 12.34, "12.3" },		{ 1234.4, "1234" },
		{ 9999.4, "9999" },  { 9999.6, "10.0k" },	{ 56789, "56.8k" },
		{ 999600, "1.00M" }, { 1.8446744e19, "18.4E" },
	};
	char text[HUMAN_WIDTH];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		human_amount(cases[i].amount, text);
		CHECK_STR(text, cases[i].want);
	}
}

TEST(human_bytes_counts_in_1024)
{
	static const struct {
		double bytes;
		const char *want;
	} cases[] = {
		{ 0, "0 B" },
		{ 1023, "1023 B" },
		{ 1024, "1.00 KiB" },
		{ 35861299, "34.2 MiB" },
		{ 1.8446744073709552e19, "16.0 EiB" },
	};
	char text[HUMAN_WIDTH];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		human_bytes(cases[i].bytes, text);
		CHECK_STR(text, cases[i].want);
	}
}

TEST(paper_lets_only_printable_ascii_through)
{
	struct buf buf = { 0 };

	paper_clean("a\x1b[31m\n\x7f\xc2\x9b\xff"
		    "caf\xc3\xa9",
		    &buf);
	CHECK_STR(buf.bytes, "a?[31m????caf?");
	buf_done(&buf);
}

TEST(paper_wraps_items_and_words_at_the_indent)
{
	struct buf buf = { 0 };
	struct paper p = { .buf = &buf, .width = 20 };

	paper_begin(&p, 6, PAPER_PLAIN, "ab");
	paper_item(&p, PAPER_PLAIN, "%s", "one");
	paper_item(&p, PAPER_PLAIN, "%s", "twotwo");
	paper_item(&p, PAPER_PLAIN, "%s", "three");
	paper_end(&p);
	paper_begin(&p, 6, PAPER_PLAIN, "longlabel");
	paper_text(&p, PAPER_PLAIN, "  some words  that are-longer-than-one-line go on");
	paper_end(&p);
	CHECK_STR(buf.bytes, "ab    one  twotwo\n"
			     "      three\n"
			     "longlabel  some\n"
			     "      words that\n"
			     "      are-longer-tha\n"
			     "      n-one-line go\n"
			     "      on\n");
	buf_done(&buf);
}

TEST(paper_cuts_what_no_line_can_hold)
{
	struct buf buf = { 0 };
	struct paper p = { .buf = &buf, .width = 10 };

	paper_begin(&p, 4, PAPER_PLAIN, "a label beyond all bounds");
	paper_item(&p, PAPER_PLAIN, "%s", "an item beyond all bounds");
	paper_end(&p);
	CHECK_STR(buf.bytes, "a label be\n    an ite\n");
	buf_done(&buf);
}

TEST(paper_styles_do_not_move_columns)
{
	struct buf buf = { 0 };
	struct paper p = { .buf = &buf, .width = 20, .colour = true };

	paper_begin(&p, 4, PAPER_STRONG, "x");
	paper_item(&p, PAPER_GOOD, "%s", "ok");
	paper_end(&p);
	CHECK_STR(buf.bytes, "\x1b[1mx\x1b[0m   \x1b[32mok\x1b[0m\n");
	buf_done(&buf);
}
