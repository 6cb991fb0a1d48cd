/* SPDX-License-Identifier: MIT */
/* Values of a profile by rules: a partition, sums, rows that overlap. */
#include "tests/lib/check.h"

#include <errno.h>
#include <math.h>

#include "user/crosscheck/buckets.h"
#include "user/render/bucket_table.h"

/* Location 0 is `main.a`, 1 is `rt.b` inlined in `main.a`, 2 has no function. */
static struct profile_type types[] = { { "samples", "count" }, { "cpu", "nanoseconds" } };
static struct profile_function functions[] = { { 1, "main.a", "", "a.go", 1 },
					       { 2, "rt.b", "", "b.go", 2 } };
static struct profile_line lines[] = { { 0, 10 }, { 1, 20 }, { 0, 30 } };
static struct profile_location locations[] = { { 1, 0x10, PROFILE_NONE, 0, 1, false },
					       { 2, 0x20, PROFILE_NONE, 1, 2, false },
					       { 3, 0x30, PROFILE_NONE, 0, 0, false } };
static u32 frames[] = { 1, 0, 0, 2 };
static struct profile_sample samples[] = {
	{ 0, 2, 0, 0 }, { 2, 1, 0, 0 }, { 3, 1, 0, 0 }, { 0, 0, 0, 0 }
};
static s64 values[] = { 60, 6000, 30, 3000, 8, 800, 2, 200 };

static struct profile scene(void)
{
	return (struct profile){ .types = types,
				 .nr_types = 2,
				 .samples = samples,
				 .nr_samples = 4,
				 .values = values,
				 .frames = frames,
				 .nr_frames = 4,
				 .locations = locations,
				 .nr_locations = 3,
				 .lines = lines,
				 .nr_lines = 3,
				 .functions = functions,
				 .nr_functions = 2,
				 .default_type = PROFILE_NONE,
				 .drop_frames = "",
				 .keep_frames = "" };
}

static const char rules_text[] = "version 1\n"
				 "bucket runtime self pkg rt\n"
				 "bucket program self main.a\n"
				 "bucket nowhere self x\n"
				 "sum both = runtime program\n"
				 "overlap with_a stack main.a ; stack rt.b\n"
				 "overlap unknown self <unknown>\n";

static int count(const struct profile *p, const char *text, struct bucket_table *ret_table)
{
	struct rules rules;
	struct err err = { { 0 } };
	int r;

	if (rules_parse((struct span){ (const u8 *)text, strlen(text) }, &rules, &err))
		FAIL("%s", err.text);
	r = buckets_of_profile(&rules, p, 1, ret_table, &err);
	rules_done(&rules);
	return r;
}

static void check_row(const struct bucket_row *row, const char *name, u64 nr_samples, u64 value)
{
	CHECK_STR(row->name, name);
	CHECK_EQ_U64(row->samples, nr_samples);
	CHECK_EQ_U64(row->value, value);
}

TEST(the_partition_sums_to_the_total_and_overlaps_do_not)
{
	struct profile p = scene();
	struct bucket_table t;

	CHECK_EQ_INT(count(&p, rules_text, &t), 0);
	CHECK_EQ_U64(t.nr_buckets, 4);
	check_row(&t.buckets[0], "runtime", 60, 6000);
	check_row(&t.buckets[1], "program", 30, 3000);
	check_row(&t.buckets[2], "nowhere", 0, 0);
	check_row(&t.buckets[3], "(no rule)", 10, 1000);
	CHECK_EQ_U64(t.samples, 100);
	CHECK_EQ_U64(t.value, 10000);
	check_row(&t.sums[0], "both", 90, 9000);
	check_row(&t.overlaps[0], "with_a", 90, 9000); /* two conditions hold of the first */
	check_row(&t.overlaps[1], "unknown", 8, 800);
	CHECK(buckets_find(&t, "both") == &t.sums[0]);
	CHECK(!buckets_find(&t, "with_a"));
	CHECK_EQ_U64(t.nr_lines, 3);
	CHECK_EQ_U64(t.lines[0].stacks, 1);
	CHECK_EQ_U64(t.lines[2].line, 4);
	CHECK_EQ_U64(t.lines[2].stacks, 0);
	buckets_done(&t);
}

TEST(intervals_are_of_counted_samples)
{
	struct profile p = scene();
	struct bucket_table t;
	const struct bucket_row *row;

	CHECK_EQ_INT(count(&p, rules_text, &t), 0);
	row = &t.buckets[0];
	/* Wilson's interval of 60 of 100, and the one at 5 % / 4 rows. */
	CHECK_NEAR(row->low, 0.5020, 0.0001);
	CHECK_NEAR(row->high, 0.6906, 0.0001);
	CHECK(row->all_low < row->low && row->all_high > row->high);
	buckets_done(&t);

	types[0].type = "objects"; /* nothing that is a sample */
	CHECK_EQ_INT(count(&p, rules_text, &t), 0);
	types[0].type = "samples";
	CHECK(!t.counted);
	CHECK_EQ_U64(t.buckets[0].samples, 0);
	CHECK_EQ_U64(t.buckets[0].value, 6000);
	buckets_done(&t);
}

TEST(differences_of_profiles_have_no_shares)
{
	struct profile p = scene();
	s64 negative[] = { 60, 6000, 30, -3000, 8, 800, 2, 200 };
	s64 huge[] = { 1, 0x7fffffffffffffff, 1, 0x7fffffffffffffff, 1, 0x7fffffffffffffff, 0, 0 };
	struct bucket_table t;

	p.values = negative;
	CHECK_EQ_INT(count(&p, rules_text, &t), -EINVAL);
	buckets_done(&t);
	p.values = huge;
	CHECK_EQ_INT(count(&p, rules_text, &t), -EOVERFLOW);
	buckets_done(&t);
}

TEST(the_table_says_that_rules_are_incomplete)
{
	struct profile p = scene();
	struct bucket_table t;
	struct buf out = { 0 };

	CHECK_EQ_INT(count(&p, rules_text, &t), 0);
	bucket_table(&t, "my.conf", &p.types[1], &out);
	CHECK(!out.failed);
	CHECK_STR(out.bytes,
		  "BUCKETS by the rules my.conf, of cpu in nanoseconds\n"
		  "           value  share   samples      95% alone       95% of all  bucket\n"
		  "            6000 60.00%        60  50.20 - 69.06%  47.53 - 71.30%  runtime\n"
		  "            3000 30.00%        30  21.89 - 39.58%  20.01 - 42.34%  program\n"
		  "               0     0%         0   0.00 -  3.70%   0.00 -  5.87%  nowhere\n"
		  "            1000 10.00%        10   5.52 - 17.44%   4.71 - 19.99%  (no rule)\n"
		  "RULES_INCOMPLETE: more than 1 % of the values are in no bucket; add a line to\n"
		  "the rules before you quote a share.\n"
		  "Sums of buckets above:\n"
		  "            9000 90.00%        90  82.56 - 94.48%  80.01 - 95.29%  both\n"
		  "Stacks with such a call on them; these rows overlap, and may not be added up:\n"
		  "            9000 90.00%        90  82.56 - 94.48%  80.01 - 95.29%  with_a\n"
		  "             800  8.00%         8   4.11 - 15.00%   3.44 - 17.49%  unknown\n"
		  "95% alone: where the true share of one row is, if samples are independent of\n"
		  "each other; of all: of all rows at once.\n"
		  "\n"
		  "Lines of the rules that took nothing: 4\n");
	buf_done(&out);
	buckets_done(&t);
	CHECK_EQ_INT(count(&p, "version 1\nbucket all any\n", &t), 0);
	bucket_table(&t, "all", &p.types[1], &out);
	CHECK(!strstr(out.bytes, "RULES_INCOMPLETE") && !strstr(out.bytes, "(no rule)"));
	buf_done(&out);
	buckets_done(&t);
}
