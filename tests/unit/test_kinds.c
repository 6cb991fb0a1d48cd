/* SPDX-License-Identifier: MIT */
/* user/model/kinds.c: kinds of interactions by name, and what an end does to them. */
#include <stdlib.h>
#include <string.h>

#include "tests/lib/check.h"
#include "user/model/kinds.h"

static u64 code_of(const struct kind_snap *k, u16 code)
{
	u64 n = 0;

	for (u32 i = 0; i < k->nr_codes; i++) {
		if (k->codes[i].code == code)
			n += k->codes[i].n;
	}
	return n;
}

/* Five begun, three answered 200; four sessions, one closed. */
static struct kind_snap kind_named(const char *name)
{
	struct kind_snap k = { .account = 1 };

	strncat(k.name, name, sizeof(k.name) - 1);
	k.cells[CELL_BEGUN] = 5;
	k.cells[CELL_COMPLETED] = 3;
	k.cells[CELL_SESSIONS_OPENED] = 4;
	k.cells[CELL_SESSIONS_CLOSED] = 1;
	k.codes[k.nr_codes++] = (struct code_count){ 200, OUTCOME_NONE, 3 };
	return k;
}

TEST(kinds_of_a_process_that_lives_are_in_flight)
{
	struct kind_snap k = kind_named("GET /");
	struct process_snap p = { .alive = true, .kinds = &k, .nr_kinds = 1 };

	kinds_finish(&p);
	CHECK_EQ_U64(kind_in_flight(&k), 2);
	CHECK_EQ_U64(kind_sessions(&k), 3);
	CHECK_EQ_U64(code_of(&k, INTERACTION_ABORTED), 0);
}

TEST(kinds_of_an_ended_process_are_aborted_and_closed)
{
	struct kind_snap k = kind_named("GET /");
	struct process_snap p = { .alive = false, .kinds = &k, .nr_kinds = 1 };

	kinds_finish(&p);
	CHECK_EQ_U64(kind_in_flight(&k), 0);
	CHECK_EQ_U64(kind_sessions(&k), 0);
	CHECK_EQ_U64(k.cells[CELL_COMPLETED], 5);
	CHECK_EQ_U64(code_of(&k, INTERACTION_ABORTED), 2);
	CHECK_EQ_U64(code_of(&k, 200), 3);
	kinds_finish(&p); /* there is nothing left to abort */
	CHECK_EQ_U64(code_of(&k, INTERACTION_ABORTED), 2);
}

TEST(kinds_are_added_by_name_with_their_codes)
{
	struct kind_snap one[2] = { kind_named("GET /"), kind_named("POST /") };
	struct kind_snap other = kind_named("POST /");
	struct kind_list sum = { 0 };

	other.codes[0] = (struct code_count){ 500, OUTCOME_NONE, 3 };
	CHECK_EQ_INT(kinds_add(&sum, one, 2), 0);
	CHECK_EQ_INT(kinds_add(&sum, &other, 1), 0);
	CHECK_EQ_U64(sum.n, 2);
	CHECK_STR(sum.at[1].name, "POST /");
	CHECK_EQ_U64(sum.at[1].cells[CELL_BEGUN], 10);
	CHECK_EQ_U64(code_of(&sum.at[1], 200), 3);
	CHECK_EQ_U64(code_of(&sum.at[1], 500), 3);
	CHECK_EQ_U64(kind_in_flight(&sum.at[1]), 4);
	free(sum.at);
}
