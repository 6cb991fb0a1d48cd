/* SPDX-License-Identifier: MIT */
/* The table of `skyobserve compare`. */
#include "user/render/compare_table.h"

#include <stdio.h>
#include <string.h>

#include "user/model/ranges.h"
#include "user/render/paper.h"

#define WIDTH 80

/* How many rows came out how. */
struct tally {
	size_t rows, apart, unresolved;
};

static void amount(enum quantity_unit unit, double value, char ret_text[HUMAN_WIDTH])
{
	if (unit == QUANTITY_SECONDS)
		human_duration((u64)(value * (double)NS_PER_SEC + 0.5), ret_text);
	else if (unit == QUANTITY_BYTES)
		human_bytes(value, ret_text);
	else
		human_amount(value, ret_text);
}

struct cell {
	char text[2 * HUMAN_WIDTH + 8];
};

static struct cell cell_range(enum quantity_unit unit, const struct range *r)
{
	char low[HUMAN_WIDTH], high[HUMAN_WIDTH];
	struct cell c = { "-" };

	if (!r->n)
		return c;
	amount(unit, r->low, low);
	amount(unit, r->high, high);
	snprintf(c.text, sizeof(c.text), "%s%s%s", low, strcmp(low, high) ? ".." : "",
		 strcmp(low, high) ? high : "");
	return c;
}

static struct range side_range(const struct compare_side *side, const struct quantity *of)
{
	double values[MAX_COMPARED];
	size_t n = 0;

	for (size_t i = 0; i < side->n; i++) {
		const struct quantity *q = summary_find(side->runs[i], of->group, of->what);

		if (q && q->unit == of->unit)
			values[n++] = q->value;
	}
	return n ? range_of(values, n) : (struct range){ 0 };
}

/* By how much the middle run of B differs, in percent of that of A. */
static void say_change(const struct range *a, const struct range *b, char *ret_text, size_t n)
{
	char human[HUMAN_WIDTH];
	double change = b->median - a->median;

	if (a->median <= 0) {
		snprintf(ret_text, n, "%s", "from none");
		return;
	}
	human_amount(100 * (change < 0 ? -change : change) / a->median, human);
	snprintf(ret_text, n, "%s%s%%", change < 0 ? "-" : "+", human);
}

static void print_row(struct paper *p, const struct quantity *q, const struct range *a,
		      const struct range *b, struct tally *tally)
{
	enum range_relation relation = range_relate(a, b);
	struct cell left = cell_range(q->unit, a), right = cell_range(q->unit, b);
	char line[192], change[32] = "";
	enum paper_style style = PAPER_PLAIN;
	const char *word = "";

	tally->rows++;
	switch (relation) {
	case RANGE_UNRESOLVED:
		word = !a->n ? "only in B" : !b->n ? "only in A" : "UNRESOLVED";
		tally->unresolved++;
		break;
	case RANGE_EQUAL:
		word = "equal";
		break;
	case RANGE_OVERLAP:
		word = "overlap";
		style = PAPER_FAINT;
		break;
	default:
		word = relation == RANGE_B_LOWER ? "LOWER" : "HIGHER";
		style = PAPER_STRONG;
		say_change(a, b, change, sizeof(change));
		tally->apart++;
		break;
	}
	snprintf(line, sizeof(line), "  %-21.21s %20.20s %20.20s %s%s%s", q->what, left.text,
		 right.text, word, change[0] ? " " : "", change);
	paper_begin(p, 0, style, line);
	paper_end(p);
}

static void print_heading(struct paper *p, const struct compare_side *a,
			  const struct compare_side *b)
{
	char line[96], left[24], right[24];

	snprintf(left, sizeof(left), "A: %zu runs", a->n);
	snprintf(right, sizeof(right), "B: %zu runs", b->n);
	snprintf(line, sizeof(line), "  %-21s %20s %20s B IS", "", left, right);
	paper_begin(p, 0, PAPER_STRONG, line);
	paper_end(p);
}

static bool in_earlier(const struct compare_side *side, size_t before, const struct quantity *q)
{
	for (size_t i = 0; i < before; i++) {
		if (summary_find(side->runs[i], q->group, q->what))
			return true;
	}
	return false;
}

/* What none of @other's runs has, and no earlier run of this side. */
static bool is_new(const struct compare_side *side, size_t run, const struct compare_side *other,
		   const struct quantity *q)
{
	return !in_earlier(side, run, q) && (!other || !in_earlier(other, other->n, q));
}

/* What is compared, and the group whose rows are printed. */
struct table {
	const struct compare_side *a, *b;
	struct paper *p;
	struct tally tally;
	const char *group;
};

static void print_quantity(struct table *t, const struct quantity *q)
{
	struct range left = side_range(t->a, q), right = side_range(t->b, q);

	if (left.high <= 0 && right.high <= 0)
		return; /* it did not happen in any run */
	if (strcmp(t->group, q->group) != 0) {
		paper_begin(t->p, 0, PAPER_STRONG, q->group);
		paper_end(t->p);
	}
	t->group = q->group;
	print_row(t->p, q, &left, &right, &t->tally);
}

/* The quantities of a side, without those that @shown has. */
static void print_side(struct table *t, const struct compare_side *from,
		       const struct compare_side *shown)
{
	for (size_t run = 0; run < from->n; run++) {
		for (u32 i = 0; i < from->runs[run]->n; i++) {
			const struct quantity *q = &from->runs[run]->at[i];

			if (is_new(from, run, shown, q))
				print_quantity(t, q);
		}
	}
}

static void print_luck(struct paper *p, const struct compare_side *a, const struct compare_side *b,
		       const struct tally *tally)
{
	double orders = range_orders((u32)a->n, (u32)b->n);
	char one[HUMAN_WIDTH], two[HUMAN_WIDTH], expected[HUMAN_WIDTH], line[512];

	paper_end(p);
	paper_begin(p, 0, PAPER_PLAIN, "");
	if (a->n < RANGE_MIN_RUNS || b->n < RANGE_MIN_RUNS) {
		paper_text(
			p, PAPER_PLAIN,
			"UNRESOLVED: nothing is said with fewer than three runs a side, for "
			"two runs part by luck in one of three or more comparisons. Three a side "
			"make that 1 of 10, five 1 of 126.");
		paper_end(p);
		return;
	}
	human_amount(orders, one);
	human_amount(orders / 2, two);
	human_amount((double)tally->rows * 2 / orders, expected);
	snprintf(line, sizeof(line),
		 "%zu of %zu rows lie apart: LOWER or HIGHER means that no run of B reaches the "
		 "range of A. If nothing but luck ordered the runs, all of one side would be below "
		 "all of the other in 1 of %s comparisons, on either side of it in 1 of %s: of %zu "
		 "rows %s would. Overlap shows no difference; it does not show that there is none.",
		 tally->apart, tally->rows, one, two, tally->rows, expected);
	paper_text(p, PAPER_PLAIN, line);
	paper_end(p);
}

size_t compare_table_render(const struct compare_side *a, const struct compare_side *b, bool colour,
			    struct buf *buf)
{
	struct paper p = { .buf = buf, .width = WIDTH, .colour = colour };
	struct table t = { .a = a, .b = b, .p = &p, .group = "" };

	print_heading(&p, a, b);
	print_side(&t, a, NULL);
	print_side(&t, b, a);
	print_luck(&p, a, b, &t.tally);
	return t.tally.unresolved;
}
