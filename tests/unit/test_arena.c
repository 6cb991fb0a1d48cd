/* SPDX-License-Identifier: MIT */
/* What an arena gave out stays as it is until arena_done. */
#include "tests/lib/check.h"

#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>

#include "user/base/arena.h"

TEST(arena_zeroed_struct_is_empty)
{
	struct arena a = { 0 };

	arena_done(&a);
	CHECK(!a.chunks);
	arena_done(&a);
}

TEST(arena_memory_is_zeroed_and_aligned)
{
	struct arena a = { 0 };

	for (size_t n = 0; n < 600; n++) {
		unsigned char *p = arena_zalloc(&a, n);

		CHECK(p != NULL);
		CHECK_EQ_U64((uintptr_t)p % alignof(max_align_t), 0);
		for (size_t i = 0; i < n; i++)
			CHECK_EQ_INT(p[i], 0);
		memset(p, 0xff, n);
	}
	arena_done(&a);
}

TEST(arena_pieces_do_not_overlap)
{
	struct arena a = { 0 };
	unsigned char *pieces[300];

	/* Sizes around a chunk's 16384 bytes among them. */
	for (size_t i = 0; i < 300; i++) {
		size_t n = i % 50 ? i : 16384 - 150 + i;

		pieces[i] = arena_zalloc(&a, n);
		CHECK(pieces[i] != NULL);
		memset(pieces[i], (int)(i & 0xff), n);
	}
	for (size_t i = 0; i < 300; i++) {
		size_t n = i % 50 ? i : 16384 - 150 + i;

		for (size_t k = 0; k < n; k++)
			CHECK_EQ_INT(pieces[i][k], (int)(i & 0xff));
	}
	arena_done(&a);
}

TEST(arena_strdup_copies)
{
	struct arena a = { 0 };
	char text[] = "text";
	char *copy = arena_strdup(&a, text);

	text[0] = 'n';
	CHECK_STR(copy, "text");
	CHECK_STR(arena_strdup(&a, ""), "");
	arena_done(&a);
}

TEST(arena_printf_has_room_for_any_length)
{
	struct arena a = { 0 };
	char *small = arena_printf(&a, "%d-%s", 12, "x");
	char *large = arena_printf(&a, "%*d", 40000, 7);

	CHECK_STR(small, "12-x");
	CHECK_EQ_U64(strlen(large), 40000);
	CHECK_EQ_INT(large[39999], '7');
	CHECK_STR(small, "12-x");
	arena_done(&a);
}

TEST(arena_refuses_what_cannot_fit)
{
	struct arena a = { 0 };
	volatile size_t too_much = SIZE_MAX;

	CHECK(arena_zalloc(&a, too_much) == NULL);
	CHECK(arena_zalloc(&a, too_much - alignof(max_align_t)) == NULL);
	CHECK(arena_zalloc(&a, too_much / 2 + 1) == NULL);
	CHECK(arena_zalloc(&a, 16) != NULL);
	arena_done(&a);
}
