/* SPDX-License-Identifier: MIT */
/* Buckets of a profile for people. */
#include "user/render/bucket_table.h"

#include <stdio.h>
#include <string.h>

#include "user/render/paper.h"
#include "user/render/profile_table.h"

#define WIDTH 80
/* Above it the rules do not fit the program; crosscheck/buckets.h has the same bound. */
#define MAX_UNMATCHED 0.01

static void print_interval(double low, double high, struct buf *out)
{
	buf_printf(out, "  %5.2f - %5.2f%%", low * 100, high * 100);
}

/* One line, of any width: a name that is cut cannot be searched for. */
static void print_row(const struct bucket_table *t, const struct bucket_row *row, struct buf *out)
{
	char share[PROFILE_PERCENT_CHARS];

	profile_percent(row->value, t->value, share);
	buf_printf(out, "%16llu %6s", row->value, share);
	if (t->counted) {
		buf_printf(out, " %9llu", row->samples);
		print_interval(row->low, row->high, out);
		print_interval(row->all_low, row->all_high, out);
	}
	buf_str(out, "  ");
	paper_clean(row->name, out);
	buf_char(out, '\n');
}

static void print_head(const struct bucket_table *t, struct buf *out)
{
	buf_printf(out, "           value  share%s  bucket\n",
		   t->counted ? "   samples      95% alone       95% of all" : "");
}

static void print_text(struct buf *out, const char *text)
{
	struct paper paper = { .buf = out, .width = WIDTH };

	paper_begin(&paper, 0, PAPER_PLAIN, "");
	paper_text(&paper, PAPER_PLAIN, text);
	paper_end(&paper);
}

static void print_rows(const struct bucket_table *t, const struct bucket_row *rows, u32 n,
		       const char *title, struct buf *out)
{
	if (!n)
		return;
	print_text(out, title);
	for (u32 i = 0; i < n; i++)
		print_row(t, &rows[i], out);
}

static void print_unused(const struct bucket_table *t, struct buf *out)
{
	struct buf lines = { 0 };

	for (u32 i = 0; i < t->nr_lines; i++) {
		if (!t->lines[i].stacks)
			buf_printf(&lines, "%s%u", lines.len ? ", " : "", t->lines[i].line);
	}
	if (lines.len) {
		char *text = lines.bytes;

		buf_str(out, "\n");
		buf_printf(out, "Lines of the rules that took nothing: %s\n", text);
	}
	if (lines.failed)
		out->failed = true;
	buf_done(&lines);
}

void bucket_table(const struct bucket_table *t, const char *rules, const struct profile_type *type,
		  struct buf *out)
{
	const struct bucket_row *rest = &t->buckets[t->nr_buckets - 1];
	struct paper paper = { .buf = out, .width = WIDTH };
	char text[512];

	snprintf(text, sizeof(text), "BUCKETS by the rules %s, of %s in %s", rules, type->type,
		 type->unit);
	paper_title(&paper, text);
	print_head(t, out);
	/* The row of the rest only if there is a rest. */
	for (u32 i = 0; i < t->nr_buckets - (rest->value == 0); i++)
		print_row(t, &t->buckets[i], out);
	if ((double)rest->value > MAX_UNMATCHED * (double)t->value)
		print_text(out, "RULES_INCOMPLETE: more than 1 % of the values are in no bucket; "
				"add a line to the rules before you quote a share.");
	print_rows(t, t->sums, t->nr_sums, "Sums of buckets above:", out);
	print_rows(t, t->overlaps, t->nr_overlaps,
		   "Stacks with such a call on them; these rows overlap, and may not be added up:",
		   out);
	if (t->counted)
		print_text(out, "95% alone: where the true share of one row is, if samples are "
				"independent of each other; of all: of all rows at once.");
	print_unused(t, out);
}
