/* SPDX-License-Identifier: MIT */
/* Numbers as text: exact, shortest, and laid out as the Prometheus clients do. */
#include "tests/lib/check.h"

#include <math.h>

#include "user/render/number.h"

static void check_text(struct buf *buf, const char *want)
{
	CHECK_STR(buf->bytes, want);
	buf_done(buf);
}

TEST(number_seconds_is_exact)
{
	static const struct {
		u64 ns;
		const char *want;
	} cases[] = {
		{ 0, "0" },
		{ 1, "0.000000001" },
		{ 999999999, "0.999999999" },
		{ 1000000000, "1" },
		{ 1000000001, "1.000000001" },
		{ 1500000000, "1.5" },
		{ 120000000000, "120" },
		{ 1024, "0.000001024" },
		{ 1ULL << 53, "9007199.254740992" },
		{ (1ULL << 53) + 1, "9007199.254740993" },
		{ 1700000000123456789ULL, "1700000000.123456789" },
		{ (u64)-1, "18446744073.709551615" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct buf buf = { 0 };

		number_seconds(cases[i].ns, &buf);
		check_text(&buf, cases[i].want);
	}
}

TEST(number_count_prints_all_digits)
{
	static const struct {
		u64 count;
		const char *want;
	} cases[] = {
		{ 0, "0" },
		{ 7, "7" },
		{ 10, "10" },
		{ 9007199254740993ULL, "9007199254740993" },
		{ (u64)-1, "18446744073709551615" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct buf buf = { 0 };

		number_count(cases[i].count, &buf);
		check_text(&buf, cases[i].want);
	}
}

/* What strconv.FormatFloat(x, 'g', -1, 64) prints. */
TEST(number_real_looks_as_in_go)
{
	static const struct {
		double real;
		const char *want;
	} cases[] = {
		{ 0, "0" },
		{ -0.0, "-0" },
		{ 1, "1" },
		{ -1.5, "-1.5" },
		{ 0.1, "0.1" },
		{ 0.1 + 0.2, "0.30000000000000004" },
		{ 1.0 / 3, "0.3333333333333333" },
		{ 0.0001, "0.0001" },
		{ 0.00012, "0.00012" },
		{ 0.00001, "1e-05" },
		{ 1.024e-6, "1.024e-06" },
		{ 100000, "100000" },
		{ 123456, "123456" },
		{ 123456.75, "123456.75" },
		{ 1e6, "1e+06" },
		{ 1234567, "1.234567e+06" },
		{ 1e10, "1e+10" },
		{ 68.719476736, "68.719476736" },
		{ 9007199254740993.0, "9.007199254740992e+15" },
		{ 1.7976931348623157e308, "1.7976931348623157e+308" },
		{ 5e-324, "5e-324" },
		{ INFINITY, "+Inf" },
		{ -INFINITY, "-Inf" },
		{ NAN, "NaN" },
		{ -NAN, "NaN" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct buf buf = { 0 };

		number_real(cases[i].real, &buf);
		check_text(&buf, cases[i].want);
	}
}

TEST(number_real_reads_back_as_the_same_double)
{
	u64 state = 88172645463325252ULL; /* xorshift64; any seed but 0 */

	for (int i = 0; i < 20000; i++) {
		struct buf buf = { 0 };
		double real, again;

		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		memcpy(&real, &state, sizeof(real));
		if (!isfinite(real))
			continue;
		number_real(real, &buf);
		again = strtod(buf.bytes, NULL);
		if (memcmp(&again, &real, sizeof(real)))
			FAIL("%a became %s", real, buf.bytes);
		buf_done(&buf);
	}
}

TEST(number_real_point_marks_a_whole_number_as_a_float)
{
	static const struct {
		double real;
		const char *want;
	} cases[] = {
		{ 0, "0.0" },	      { 1, "1.0" },   { 100000, "100000.0" },
		{ 1e6, "1e+06" },     { 0.5, "0.5" }, { 1e-5, "1e-05" },
		{ INFINITY, "+Inf" }, { NAN, "NaN" }, { 1024, "1024.0" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct buf buf = { 0 };

		number_real_point(cases[i].real, &buf);
		check_text(&buf, cases[i].want);
	}
}
