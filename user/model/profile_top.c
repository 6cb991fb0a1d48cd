/* SPDX-License-Identifier: MIT */
/* Flat and cumulative sums by the name of a function. */
#include "user/model/profile_top.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char unknown[] = "<unknown>";

/* While it is counted: the row of each function, the last row being the one of no function. */
struct tally {
	struct profile_top_row *rows;
	u32 *row_of; /* by function; [nr_functions] is `unknown` */
	u32 *seen;   /* by row: the sample that counted it last, plus 1 */
	u32 nr_rows;
};

struct named {
	const char *name;
	u32 function;
};

static int compare_names(const void *a, const void *b)
{
	const struct named *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static int compare_rows(const void *a, const void *b)
{
	const struct profile_top_row *x = a, *y = b;
	u64 fx = x->flat < 0 ? 0 - (u64)x->flat : (u64)x->flat;
	u64 fy = y->flat < 0 ? 0 - (u64)y->flat : (u64)y->flat;

	if (fx != fy)
		return fx > fy ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* One row for each name. */
static int tally_begin(struct tally *t, const struct profile *p)
{
	size_t n = (size_t)p->nr_functions + 1;
	struct named *names = calloc(n, sizeof(*names));

	t->rows = calloc(n, sizeof(*t->rows));
	t->row_of = calloc(n, sizeof(*t->row_of));
	t->seen = calloc(n, sizeof(*t->seen));
	if (!names || !t->rows || !t->row_of || !t->seen) {
		free(names);
		return -ENOMEM;
	}
	for (u32 i = 0; i < n; i++) {
		const char *name = i < p->nr_functions ? p->functions[i].name : "";

		names[i] = (struct named){ *name ? name : unknown, i };
	}
	qsort(names, n, sizeof(*names), compare_names);
	for (size_t i = 0; i < n; i++) {
		if (!i || strcmp(names[i].name, names[i - 1].name))
			t->rows[t->nr_rows++].name = names[i].name;
		t->row_of[names[i].function] = t->nr_rows - 1;
	}
	free(names);
	return 0;
}

static bool add_call(struct tally *t, const struct profile *p, u32 function, u32 sample, s64 value)
{
	u32 row = t->row_of[function == PROFILE_NONE ? p->nr_functions : function];

	if (t->seen[row] == sample + 1)
		return true;
	t->seen[row] = sample + 1;
	return !__builtin_add_overflow(t->rows[row].cum, value, &t->rows[row].cum);
}

/* The leaf's innermost call. */
static struct profile_top_row *leaf_row(struct tally *t, const struct profile *p, u32 sample)
{
	const struct profile_sample *s = &p->samples[sample];
	const struct profile_location *l = &p->locations[p->frames[s->first_frame]];
	u32 function = l->nr_lines ? p->lines[l->first_line].function : PROFILE_NONE;

	return &t->rows[t->row_of[function == PROFILE_NONE ? p->nr_functions : function]];
}

static bool add_sample(struct tally *t, const struct profile *p, u32 sample, s64 value)
{
	const struct profile_sample *s = &p->samples[sample];
	struct profile_top_row *leaf;
	bool fits = true;

	for (u32 i = 0; i < s->nr_frames; i++) {
		const struct profile_location *l = &p->locations[p->frames[s->first_frame + i]];

		if (!l->nr_lines)
			fits &= add_call(t, p, PROFILE_NONE, sample, value);
		for (u32 k = 0; k < l->nr_lines; k++)
			fits &= add_call(t, p, p->lines[l->first_line + k].function, sample, value);
	}
	if (!s->nr_frames)
		return fits;
	leaf = leaf_row(t, p, sample);
	return fits && !__builtin_add_overflow(leaf->flat, value, &leaf->flat);
}

int profile_top(const struct profile *p, u32 type, struct profile_top *ret_top, struct err *err)
{
	struct tally t = { 0 };
	int r = tally_begin(&t, p);

	for (u32 i = 0; i < p->nr_samples && !r; i++) {
		s64 value = profile_value(p, i, type);

		if (value && !add_sample(&t, p, i, value))
			r = -EOVERFLOW;
	}
	free(t.row_of);
	free(t.seen);
	if (r) {
		free(t.rows);
		return err_set(err, r, "%s",
			       r == -ENOMEM ? "no memory for its functions"
					    : "the sum of its values is too large");
	}
	/* A function on no stack that counts is not in the table. */
	*ret_top = (struct profile_top){ .rows = t.rows };
	for (u32 i = 0; i < t.nr_rows; i++) {
		if (t.rows[i].flat || t.rows[i].cum)
			t.rows[ret_top->n++] = t.rows[i];
	}
	qsort(t.rows, ret_top->n, sizeof(*t.rows), compare_rows);
	return 0;
}

void profile_top_done(struct profile_top *top)
{
	free(top->rows);
	*top = (struct profile_top){ 0 };
}
