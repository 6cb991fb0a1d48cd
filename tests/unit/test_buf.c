/* SPDX-License-Identifier: MIT */
/* A buffer holds what was appended, or says that it does not. */
#include "tests/lib/check.h"

#include <stdint.h>

#include "user/base/buf.h"

TEST(buf_zeroed_struct_is_empty)
{
	struct buf b = { 0 };

	CHECK(!b.bytes && !b.len && !b.failed);
	buf_clear(&b);
	buf_done(&b);
	CHECK(!b.bytes);
}

TEST(buf_joins_what_is_appended)
{
	struct buf b = { 0 };

	buf_str(&b, "one");
	buf_char(&b, ' ');
	buf_printf(&b, "%s %d", "two", 3);
	buf_add(&b, " four", 5);
	CHECK_STR(b.bytes, "one two 3 four");
	CHECK_EQ_U64(b.len, strlen("one two 3 four"));
	buf_done(&b);
}

TEST(buf_empty_appends_leave_a_string)
{
	struct buf b = { 0 };

	buf_str(&b, "");
	buf_add(&b, "", 0);
	buf_printf(&b, "%s", "");
	CHECK_STR(b.bytes, "");
	CHECK_EQ_U64(b.len, 0);
	buf_done(&b);
}

TEST(buf_is_terminated_at_every_length)
{
	struct buf b = { 0 };

	for (size_t i = 0; i < 5000; i++) {
		buf_char(&b, (char)('a' + i % 26));
		CHECK_EQ_U64(b.len, i + 1);
		CHECK(b.len < b.cap);
		CHECK_EQ_INT(b.bytes[b.len], 0);
	}
	for (size_t i = 0; i < 5000; i++)
		CHECK_EQ_INT(b.bytes[i], 'a' + (int)(i % 26));
	buf_done(&b);
}

TEST(buf_printf_fits_at_every_length)
{
	/* Around the capacities, where one byte decides. */
	for (int n = 250; n < 520; n++) {
		struct buf b = { 0 };

		buf_printf(&b, "%*d", n, 7);
		CHECK_EQ_U64(b.len, (size_t)n);
		CHECK_EQ_U64(strlen(b.bytes), (size_t)n);
		CHECK_EQ_INT(b.bytes[n - 1], '7');
		buf_done(&b);
	}
}

TEST(buf_keeps_nul_bytes)
{
	struct buf b = { 0 };

	buf_add(&b, "a\0b", 3);
	buf_char(&b, '\0');
	buf_str(&b, "c");
	CHECK_MEM(b.bytes, b.len, "a\0b\0c", 5);
	buf_done(&b);
}

TEST(buf_clear_keeps_the_memory)
{
	struct buf b = { 0 };
	size_t cap;

	buf_printf(&b, "%2000d", 1);
	cap = b.cap;
	buf_clear(&b);
	CHECK_STR(b.bytes, "");
	CHECK_EQ_U64(b.len, 0);
	CHECK_EQ_U64(b.cap, cap);
	buf_str(&b, "again");
	CHECK_STR(b.bytes, "again");
	CHECK_EQ_U64(b.cap, cap);
	buf_done(&b);
}

TEST(buf_remembers_that_memory_ran_out)
{
	struct buf b = { 0 };
	volatile size_t too_much = SIZE_MAX - 100;

	buf_str(&b, "kept");
	buf_add(&b, "not read", too_much);
	CHECK(b.failed);
	buf_str(&b, "nor this");
	buf_char(&b, 'x');
	buf_printf(&b, "%d", 1);
	CHECK(b.failed);
	CHECK_STR(b.bytes, "kept");
	CHECK_EQ_U64(b.len, 4);
	buf_clear(&b);
	CHECK(!b.failed);
	buf_str(&b, "new");
	CHECK_STR(b.bytes, "new");
	buf_done(&b);
}

TEST(buf_done_makes_an_empty_buffer)
{
	struct buf b = { 0 };

	buf_str(&b, "text");
	buf_done(&b);
	CHECK(!b.bytes && !b.len && !b.cap);
	buf_str(&b, "used again");
	CHECK_STR(b.bytes, "used again");
	buf_done(&b);
	buf_done(&b);
}
