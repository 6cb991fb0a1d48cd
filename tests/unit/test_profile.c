/* SPDX-License-Identifier: MIT */
/* What is said of a profile: types, sums, depths, functions; and its two texts. */
#include "tests/lib/check.h"

#include <errno.h>

#include "user/model/profile_top.h"
#include "user/render/profile_raw.h"
#include "user/render/profile_table.h"

/*
 * Functions a (twice, as two of one name), b, and one without a name. Locations: 0 is a, 1 is b
 * inlined in a, 2 has no line.
 */
static struct profile_type types[] = { { "n", "count" }, { "cpu", "nanoseconds" } };
static struct profile_function functions[] = { { 1, "a", "a", "f", 1 },
					       { 2, "b", "B", "f", 2 },
					       { 3, "a", "a", "g", 3 } };
static struct profile_line lines[] = { { 0, 10 }, { 1, 20 }, { 2, 30 } };
static struct profile_mapping mappings[] = { { 1, 16, 32, 0, "app", "id", true, false, true,
					       false } };
static struct profile_location locations[] = { { 1, 0x10, 0, 0, 1, false },
					       { 2, 0x20, PROFILE_NONE, 1, 2, true },
					       { 3, 0x30, 0, 0, 0, false } };
static u32 frames[] = { 1, 0, 0, 2 };
static struct profile_label labels[] = {
	{ "z", "1", 0, "" },
	{ "k", NULL, 7, "" },
	{ "k", NULL, 8, "bytes" },
	{ "z", "2", 0, "" },
};
static struct profile_sample samples[] = { { 0, 2, 0, 4 }, { 2, 1, 0, 0 }, { 3, 1, 0, 0 } };
static s64 values[] = { 1, 3000, 2, 4000, 0, 0 };
static const char *comments[] = { "made by hand" };

static struct profile scene(void)
{
	return (struct profile){ .types = types,
				 .nr_types = 2,
				 .samples = samples,
				 .nr_samples = 3,
				 .values = values,
				 .frames = frames,
				 .nr_frames = 4,
				 .labels = labels,
				 .nr_labels = 4,
				 .locations = locations,
				 .nr_locations = 3,
				 .lines = lines,
				 .nr_lines = 3,
				 .functions = functions,
				 .nr_functions = 3,
				 .mappings = mappings,
				 .nr_mappings = 1,
				 .comments = comments,
				 .nr_comments = 1,
				 .period_type = { "cpu", "nanoseconds" },
				 .period = 1000,
				 .wall_ns = 1700000000120000000,
				 .duration_ns = 90000000000,
				 .default_type = 1,
				 .drop_frames = "",
				 .keep_frames = "" };
}

TEST(type_is_the_named_or_the_default_or_the_last)
{
	struct profile p = scene();
	u32 type;

	CHECK_EQ_INT(profile_find_type(&p, "n", &type, NULL), 0);
	CHECK_EQ_U64(type, 0);
	p.default_type = 0;
	CHECK_EQ_INT(profile_find_type(&p, NULL, &type, NULL), 0);
	CHECK_EQ_U64(type, 0);
	p.default_type = PROFILE_NONE;
	CHECK_EQ_INT(profile_find_type(&p, NULL, &type, NULL), 0);
	CHECK_EQ_U64(type, 1);
	CHECK_EQ_INT(profile_find_type(&p, "x", &type, NULL), -ENOENT);
}

TEST(top_counts_a_name_once_per_stack)
{
	struct profile p = scene();
	struct profile_top top;

	CHECK_EQ_INT(profile_top(&p, 1, &top, NULL), 0);
	CHECK_EQ_U64(top.n, 2);
	CHECK_STR(top.rows[0].name, "a");
	CHECK_EQ_INT(top.rows[0].flat, 4000);
	CHECK_EQ_INT(top.rows[0].cum, 7000); /* on the first stack three times */
	CHECK_STR(top.rows[1].name, "b");
	CHECK_EQ_INT(top.rows[1].flat, 3000);
	profile_top_done(&top);
}

TEST(top_has_a_row_for_what_has_no_function)
{
	struct profile p = scene();
	s64 with_third[] = { 1, 3000, 2, 4000, 1, 9000 };
	struct profile_top top;

	p.values = with_third;
	CHECK_EQ_INT(profile_top(&p, 1, &top, NULL), 0);
	CHECK_EQ_U64(top.n, 3);
	CHECK_STR(top.rows[0].name, "<unknown>");
	profile_top_done(&top);
}

TEST(sums_that_do_not_fit_are_refused)
{
	struct profile p = scene();
	s64 huge[] = { 0, 0x7fffffffffffffff, 0, 1, 0, 0 };
	struct profile_sums sums;
	struct profile_top top;

	p.values = huge;
	CHECK_EQ_INT(profile_sum(&p, 1, &sums, NULL), -EOVERFLOW);
	CHECK_EQ_INT(profile_top(&p, 1, &top, NULL), -EOVERFLOW);
	huge[1] = (s64)(1ull << 63); /* its absolute value is one more than fits */
	huge[3] = 0;
	CHECK_EQ_INT(profile_sum(&p, 1, &sums, NULL), -EOVERFLOW);
}

TEST(negative_values_count_by_their_size_in_the_total)
{
	struct profile p = scene();
	s64 signs[] = { 0, -3000, 0, 1000, 0, 0 };
	struct profile_sums sums;

	p.values = signs;
	CHECK_EQ_INT(profile_sum(&p, 1, &sums, NULL), 0);
	CHECK_EQ_U64(sums.total, 4000);
	CHECK_EQ_U64(sums.nr_stacks, 2);
}

TEST(depths_count_inlined_calls_and_only_what_has_a_value)
{
	struct profile p = scene();
	struct profile_depths d;

	profile_depths(&p, 1, 3, &d);
	CHECK_EQ_U64(d.deepest, 3);
	CHECK_EQ_U64(d.nr_at_limit, 1);
	CHECK_EQ_U64(d.total_at_limit, 3000);
	profile_depths(&p, 1, 4, &d);
	CHECK_EQ_U64(d.nr_at_limit, 0);
	profile_depths(&p, 1, 1, &d);
	CHECK_EQ_U64(d.nr_at_limit, 2);
}

TEST(raw_is_what_pprof_prints)
{
	struct profile p = scene();
	struct buf out = { 0 };

	CHECK_EQ_INT(profile_raw(&p, &out), 0);
	CHECK_STR(out.bytes, "Comment: made by hand\n"
			     "PeriodType: cpu nanoseconds\n"
			     "Period: 1000\n"
			     "Time: 2023-11-14 22:13:20.12 +0000 UTC\n"
			     "Duration: 1m30\n"
			     "Samples:\n"
			     "n/count cpu/nanoseconds[dflt]\n"
			     "          1       3000: 2 1 \n"
			     "                z:[1 2]\n"
			     "                k:[7  8 bytes]\n"
			     "          2       4000: 1 \n"
			     "          0          0: 3 \n"
			     "Locations\n"
			     "     1: 0x10 M=1 a f:10 s=1\n"
			     "     2: 0x20 [F] b f:20 s=2(B)\n"
			     "             a g:30 s=3\n"
			     "     3: 0x30 M=1 \n"
			     "Mappings\n"
			     "1: 0x10/0x20/0x0 app id [FN][LN]\n");
	buf_done(&out);
}

TEST(raw_durations_are_four_characters_of_gos)
{
	static const struct {
		s64 ns;
		const char *want;
	} rows[] = {
		{ 5, "Duration: 5ns\n" },
		{ 1500, "Duration: 1.5\xc2\xb5\n" },
		{ 12000, "Duration: 12\xc2\xb5s\n" },
		{ 808818537, "Duration: 808.\n" },
		{ 2000000000, "Duration: 2s\n" },
		{ 3012345678, "Duration: 3.01\n" },
		{ 7200000000000, "Duration: 2h0m\n" },
	};
	struct profile p = scene();
	struct buf out = { 0 };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		buf_clear(&out);
		p.duration_ns = rows[i].ns;
		CHECK_EQ_INT(profile_raw(&p, &out), 0);
		if (!strstr(out.bytes, rows[i].want))
			FAIL("%s is not in %s", rows[i].want, out.bytes);
	}
	buf_done(&out);
}

TEST(percents_are_pprofs)
{
	char text[PROFILE_PERCENT_CHARS];

	profile_percent(427, 1000, text);
	CHECK_STR(text, "42.70%");
	profile_percent(9999, 10000, text);
	CHECK_STR(text, "  100%");
	profile_percent(66, 100000, text);
	CHECK_STR(text, "0.066%");
	profile_percent(0, 0, text);
	CHECK_STR(text, "    0%");
}

TEST(unit_is_the_largest_in_which_all_is_whole)
{
	struct profile_top_row rows[] = { { "a", 20000000, 30000000 }, { "b", 0, 10000000 } };
	struct profile_top top = { rows, 2 };
	u64 size;

	CHECK_STR(profile_unit("nanoseconds", &top, &size), "ms");
	CHECK_EQ_U64(size, NS_PER_MS);
	rows[1].cum = 10000001;
	CHECK_STR(profile_unit("nanoseconds", &top, &size), "ns");
	CHECK_STR(profile_unit("bytes", &top, &size), "B");
	CHECK_STR(profile_unit("count", &top, &size), "count");
	CHECK_EQ_U64(size, 1);
}

TEST(table_says_kind_totals_cut_stacks_and_functions)
{
	struct profile p = scene();
	struct profile_sums sums;
	struct profile_top top;
	struct buf out = { 0 };

	CHECK_EQ_INT(profile_sum(&p, 1, &sums, NULL), 0);
	CHECK_EQ_INT(profile_top(&p, 1, &top, NULL), 0);
	profile_table_head(&p, 1, &sums, &out);
	profile_table_top(&p, 1, &sums, &top, 1, &out);
	CHECK_STR(out.bytes,
		  "PROFILE\n"
		  "  kind           CPU\n"
		  "  program        app\n"
		  "  build id       id\n"
		  "  began          2023-11-14 22:13:20 UTC\n"
		  "  lasted         90 s\n"
		  "  period         1000 nanoseconds of cpu\n"
		  "  comments       made by hand\n"
		  "  holds          3 samples, 3 locations, 3 functions, 1 mappings\n"
		  "\n"
		  "VALUES\n"
		  "  n              3 count on 2 stacks\n"
		  "  cpu            7000 nanoseconds on 2 stacks\n"
		  "\n"
		  "STACKS\n"
		  "  deepest        3 calls\n"
		  "  cut            0 of 2 stacks, 0% of the values, have 64 calls or more: Go\n"
		  "                 keeps no more of a CPU sample, so outer calls are missing\n"
		  "\n"
		  "TOP 1 of 2 functions by cpu, in us\n"
		  "        flat  flat%   sum%          cum   cum%  function\n"
		  "           4 57.14% 57.14%            7   100%  a\n"
		  "cum counts each stack that a function is on, so its rows overlap: they may not\n"
		  "be added up.\n");
	profile_top_done(&top);
	buf_done(&out);
}
