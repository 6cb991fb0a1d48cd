/* SPDX-License-Identifier: MIT */
/* The dearest names have series; who has one does not lose it for a little. */
#include "tests/lib/check.h"

#include "user/model/names.h"

#define MS NS_PER_MS

/* Add up CPU time and make all exchanges; returns how many there were. */
static int exchange_all(struct names *names, struct name_entry *const *e, const u64 *cpu_ms,
			size_t n)
{
	struct name_entry *in, *out;
	int times = 0;

	names_begin(names);
	for (size_t i = 0; i < n; i++)
		e[i]->cpu_ns += cpu_ms[i] * MS;
	while (names_exchange(names, &in, &out)) {
		CHECK(in->shown && (!out || !out->shown));
		times++;
	}
	return times;
}

TEST(names_are_shown_while_there_is_room)
{
	struct names *names = names_new(2);
	struct name_entry *a = names_find(names, "a", 0), *b = names_find(names, "b", 0);
	struct name_entry *c = names_find(names, "c", 0);

	CHECK(a->shown && b->shown && !c->shown);
	CHECK_EQ_U64(names_shown(names), 2);
	CHECK(names_find(names, "a", 0) == a);
	CHECK(names_find(names, "a", 7) != a);
	names_free(names);
}

TEST(a_dearer_name_takes_the_place_of_the_cheapest)
{
	struct names *names = names_new(2);
	struct name_entry *e[3] = { names_find(names, "a", 0), names_find(names, "b", 0),
				    names_find(names, "c", 0) };
	const u64 a_little[3] = { 200, 100, 300 }, more[3] = { 200, 100, 301 };

	CHECK_EQ_INT(exchange_all(names, e, a_little, 3), 0);
	CHECK_EQ_INT(exchange_all(names, e, more, 3), 1);
	CHECK(e[0]->shown && !e[1]->shown && e[2]->shown);
	CHECK_EQ_INT(exchange_all(names, e, more, 3), 0);
	names_free(names);
}

TEST(a_pinned_name_is_let_in_and_stays)
{
	struct names *names = names_new(1);
	struct name_entry *e[2] = { names_find(names, "a", 0), names_find(names, "b", 0) };
	struct name_entry *in, *out;

	names_begin(names);
	e[0]->cpu_ns = 9000 * MS;
	e[1]->pinned = true;
	CHECK(names_exchange(names, &in, &out) && in == e[1] && out == e[0]);
	CHECK(!names_exchange(names, &in, &out));
	names_free(names);
}

TEST(what_ended_is_remembered)
{
	struct names *names = names_new(1);
	struct name_entry *e[2] = { names_find(names, "a", 0), names_find(names, "b", 0) };
	const u64 nothing[2] = { 0, 0 };

	e[1]->ended_ns = 101 * MS;
	CHECK_EQ_INT(exchange_all(names, e, nothing, 2), 1);
	CHECK(e[1]->shown && !e[0]->shown);
	names_free(names);
}

TEST(names_beyond_the_bound_are_forgotten_but_not_those_in_use)
{
	struct names *names = names_new(2);
	struct name_entry *kept;
	char text[16];

	for (int i = 0; i < 100; i++) {
		snprintf(text, sizeof(text), "n%d", i);
		names_find(names, text, 0)->cpu_ns = (u64)i;
	}
	kept = names_find(names, "n50", 0);
	kept->users = 1;
	names_trim(names);
	CHECK(names_find(names, "n50", 0) == kept);
	CHECK_EQ_U64(names_find(names, "n99", 0)->cpu_ns, 99);
	CHECK_EQ_U64(names_find(names, "n0", 0)->shown, true);
	CHECK_EQ_U64(names_find(names, "n10", 0)->cpu_ns, 0); /* it is a new one */
	names_free(names);
}
