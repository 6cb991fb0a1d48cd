/* SPDX-License-Identifier: MIT */
/* Comparing records of two sides, and what must not be compared. */
#include "user/cmd/compare.h"

#include "user/base/log.h"
#include "user/cmd/print.h"
#include "user/cmd/runs.h"
#include "user/cmd/targets.h"
#include "user/model/ranges.h"
#include "user/render/compare_table.h"

_Static_assert(MAX_RUNS == 2 * MAX_COMPARED, "two sides");

struct comparison {
	struct runs runs; /* A, then B */
	size_t nr_a;
};

static size_t side_of(const struct comparison *c, size_t i)
{
	return i < c->nr_a ? 0 : 1;
}

/* Runs of one side are of one program; that sides are of different ones may be the point. */
static bool builds_differ(const struct comparison *c, bool allowed)
{
	const struct run *at = c->runs.at;
	bool found = false;

	for (size_t i = 0; i < c->runs.n; i++) {
		size_t first = i < c->nr_a ? 0 : c->nr_a;

		if (runs_same_build(&c->runs, i, first))
			continue;
		runs_say(&c->runs, !allowed,
			 "%s is of another build (%s) than the first run of its side (%s)",
			 at[i].path, at[i].summary->builds, at[first].summary->builds);
		found = true;
	}
	if (!runs_same_build(&c->runs, 0, c->nr_a))
		runs_say(&c->runs, false, "%s: A is of build %s, B of %s", "note",
			 at[0].summary->builds, at[c->nr_a].summary->builds);
	return found && !allowed;
}

/* G17: whatever changes with time is in the difference of sides that ran one after the other. */
static void say_order(const struct comparison *c)
{
	u64 last[2] = { 0, 0 }, first[2] = { ~0ull, ~0ull };

	for (size_t i = 0; i < c->runs.n; i++) {
		u64 at = c->runs.at[i].summary->begin_wall_ns;
		size_t side = side_of(c, i);

		last[side] = at > last[side] ? at : last[side];
		first[side] = at < first[side] ? at : first[side];
	}
	if (last[0] < first[1] || last[1] < first[0])
		log_warn("compare: one side ran wholly before the other, so that what changed with "
			 "time (heat, caches, neighbours) looks like a difference; take turns: "
			 "A B B A A B");
}

static int compare(const struct comparison *c, const struct options *o)
{
	struct compare_side a = { .n = c->nr_a }, b = { .n = c->runs.n - c->nr_a };
	bool refused = runs_are_doubled(&c->runs);
	struct buf out = { 0 };
	size_t unresolved;
	int status;

	/* All of it is said, not the first only. */
	refused |= runs_are_invalid(&c->runs, o->invalid_ok);
	for (size_t i = 1; i < c->runs.n; i++)
		refused |= runs_differ(&c->runs, i, o->different_ok);
	refused |= builds_differ(c, o->different_ok);
	if (refused) {
		log_error("compare: not compared");
		return EXIT_INVALID;
	}
	say_order(c);
	for (size_t i = 0; i < c->runs.n; i++) {
		if (i < c->nr_a)
			a.runs[i] = c->runs.at[i].summary;
		else
			b.runs[i - c->nr_a] = c->runs.at[i].summary;
	}
	unresolved = compare_table_render(&a, &b, false, &out);
	status = unresolved && (a.n < RANGE_MIN_RUNS || b.n < RANGE_MIN_RUNS) ? EXIT_UNRESOLVED
									      : EXIT_GOOD;
	status = print_whole(&out, status);
	buf_done(&out);
	return status;
}

static bool take_words(const struct options *o, struct comparison *c)
{
	for (size_t i = 0; i < o->rest.n; i++) {
		if (c->runs.n == MAX_COMPARED)
			return false;
		c->runs.at[c->runs.n++].path = o->rest.word[i];
	}
	c->nr_a = c->runs.n;
	for (char **word = o->program; word && *word; word++) {
		if (c->runs.n - c->nr_a == MAX_COMPARED)
			return false;
		c->runs.at[c->runs.n++].path = *word;
	}
	return true;
}

int cmd_compare(const struct options *options)
{
	struct comparison c = { .runs = { .command = "compare" } };
	int status;

	if (!take_words(options, &c)) {
		log_error("compare: at most %d records a side", MAX_COMPARED);
		return EXIT_USAGE;
	}
	if (!c.nr_a || c.nr_a == c.runs.n) {
		log_error("compare: give records of two sides, three or more each: "
			  "skyobserve compare a1.sky a2.sky a3.sky -- b1.sky b2.sky b3.sky");
		return EXIT_USAGE;
	}
	status = runs_read(&c.runs) ? EXIT_FAILED : compare(&c, options);
	runs_done(&c.runs);
	return status;
}
