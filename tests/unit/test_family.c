/* SPDX-License-Identifier: MIT */
/* The metric table is well formed, and a set of families keeps what was added. */
#include "tests/lib/check.h"

#include <ctype.h>

#include "user/model/family.h"

static bool is_word(const char *text)
{
	if (!islower((unsigned char)text[0]))
		return false;
	for (; *text; text++) {
		if (!islower((unsigned char)*text) && !isdigit((unsigned char)*text) &&
		    *text != '_')
			return false;
	}
	return true;
}

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), k = strlen(end);

	return n >= k && !strcmp(text + n - k, end);
}

static void name_of(u32 id, char ret_name[128])
{
	family_name(&family_descs[id], ret_name, 128);
}

TEST(family_rows_are_complete)
{
	for (u32 i = 0; i < NR_FAMILIES; i++) {
		const struct family_desc *d = &family_descs[i];

		CHECK(d->name && is_word(d->name));
		CHECK(d->unit != NULL);
		CHECK(d->help && d->help[0] && !strchr(d->help, '\n'));
		CHECK(ends_with(d->help, "."));
		CHECK(d->type <= FAMILY_INFO && d->method <= METHOD_SAMPLED);
	}
}

TEST(family_names_are_distinct)
{
	char a[128], b[128];

	for (u32 i = 0; i < NR_FAMILIES; i++) {
		name_of(i, a);
		for (u32 k = i + 1; k < NR_FAMILIES; k++) {
			name_of(k, b);
			if (!strcmp(a, b))
				FAIL("two rows are called %s", a);
		}
	}
}

TEST(family_names_leave_suffixes_to_the_renderer)
{
	static const char *const reserved[] = { "_total", "_created", "_count",
						"_sum",	  "_bucket",  "_info" };

	for (u32 i = 0; i < NR_FAMILIES; i++) {
		for (size_t k = 0; k < sizeof(reserved) / sizeof(reserved[0]); k++) {
			if (ends_with(family_descs[i].name, reserved[k]))
				FAIL("%s", family_descs[i].name);
		}
	}
}

TEST(family_units_are_base_units)
{
	for (u32 i = 0; i < NR_FAMILIES; i++) {
		const char *unit = family_descs[i].unit;

		if (unit[0] && strcmp(unit, "seconds") && strcmp(unit, "bytes") &&
		    strcmp(unit, "ratio"))
			FAIL("%s has unit %s", family_descs[i].name, unit);
	}
}

TEST(family_name_is_prefix_name_unit)
{
	char name[128];

	name_of(FAM_CPU, name);
	CHECK_STR(name, "skyobserve_cpu_seconds");
	name_of(FAM_SWITCHES, name);
	CHECK_STR(name, "skyobserve_context_switches");
	name_of(FAM_PROCESS, name);
	CHECK_STR(name, "skyobserve_process_info");
	name_of(FAM_READ_BYTES, name);
	CHECK_STR(name, "skyobserve_read_bytes");
	name_of(FAM_IDENTITY_RESIDUAL, name);
	CHECK_STR(name, "skyobserve_identity_residual_ratio");
	name_of(FAM_EXP_CPU, name);
	CHECK_STR(name, "process_cpu_seconds");
}

TEST(family_name_is_cut_to_its_room)
{
	char name[8];

	family_name(&family_descs[FAM_CPU], name, sizeof(name));
	CHECK_STR(name, "skyobse");
}

TEST(family_cells_are_counters)
{
#define CELLS(id, name, unit, dim, method, error, help) \
	CHECK_EQ_INT(family_descs[FAM_##id].type, FAMILY_COUNTER);
#define BOOK(id, help)
#define FAMILY(id, name, unit, type, method, error, help)
#define EXPORTER(id, name, type, help) CHECK(family_descs[FAM_##id].exporter);
#include "families.def"
#undef CELLS
#undef BOOK
#undef FAMILY
#undef EXPORTER
}

TEST(family_cells_do_not_overlap)
{
	unsigned char taken[NR_CELLS] = { 0 };

#define CELLS(id, name, unit, dim, method, error, help)          \
	for (u32 i = CELL_##id; i <= (u32)CELL_##id##_LAST; i++) \
		taken[i]++;                                      \
	CHECK_EQ_U64(CELL_##id##_LAST - CELL_##id + 1, DIM_SIZE_##dim);
#define BOOK(id, help) taken[CELL_##id]++;
#define FAMILY(id, name, unit, type, method, error, help)
#define EXPORTER(id, name, type, help)
#include "families.def"
#undef CELLS
#undef BOOK
#undef FAMILY
#undef EXPORTER
	for (u32 i = 0; i < NR_CELLS; i++)
		CHECK_EQ_INT(taken[i], 1);
}

TEST(family_samples_are_kept_in_order)
{
	struct family_set set = { 0 };

	for (u32 i = 0; i < 1000; i++) {
		struct sample *s = family_add(&set, FAM_CPU);
		char text[16];

		CHECK(!s->nr_labels && !s->u && !s->hist);
		snprintf(text, sizeof(text), "v%u", i);
		sample_label(&set, s, "process", text);
		s->u = i;
	}
	CHECK(!set.failed);
	CHECK_EQ_U64(set.families[FAM_CPU].nr_samples, 1000);
	CHECK_EQ_U64(set.families[FAM_SWITCHES].nr_samples, 0);
	for (u32 i = 0; i < 1000; i++) {
		const struct sample *s = &set.families[FAM_CPU].samples[i];
		char text[16];

		snprintf(text, sizeof(text), "v%u", i);
		CHECK_EQ_U64(s->u, i);
		CHECK_EQ_U64(s->nr_labels, 1);
		CHECK_STR(s->labels[0].name, "process");
		CHECK_STR(s->labels[0].value, text);
	}
	family_set_done(&set);
}

TEST(family_label_text_is_copied)
{
	struct family_set set = { 0 };
	struct sample *s = family_add(&set, FAM_PROCESS);
	char text[] = "first";

	sample_label(&set, s, "exe", text);
	snprintf(text, sizeof(text), "%s", "other");
	CHECK_STR(s->labels[0].value, "first");
	family_set_done(&set);
}

TEST(family_one_label_too_many_fails_the_set)
{
	struct family_set set = { 0 };
	struct sample *s = family_add(&set, FAM_PROCESS);

	for (u32 i = 0; i < MAX_SAMPLE_LABELS; i++)
		sample_label(&set, s, "n", "v");
	CHECK(!set.failed);
	sample_label(&set, s, "n", "v");
	CHECK(set.failed);
	CHECK_EQ_U64(s->nr_labels, MAX_SAMPLE_LABELS);
	family_set_done(&set);
}

TEST(family_set_done_makes_an_empty_set)
{
	struct family_set set = { 0 };

	family_set_done(&set);
	sample_label(&set, family_add(&set, FAM_CPU), "a", "b");
	family_set_done(&set);
	CHECK(!set.families[FAM_CPU].samples && !set.arena.chunks && !set.failed);
}
