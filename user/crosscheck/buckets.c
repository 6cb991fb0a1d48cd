/* SPDX-License-Identifier: MIT */
/* From stacks to buckets. What a rule says is decided in rules.c. */
#include "user/crosscheck/buckets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "user/stats/shares.h"

#define ALPHA 0.05

/* A location without a function, as in profile_top.h. */
static const char unknown[] = "<unknown>";

struct counting {
	const struct rules *rules;
	const struct profile *p;
	struct bucket_table *table;
	struct rule_traits *traits; /* by function; the last is the one of no function */
	bool *known;		    /* traits that are computed */
	u32 type, samples_type;	    /* PROFILE_NONE: samples are not counted */
};

static u32 type_of_samples(const struct profile *p)
{
	for (u32 i = 0; i < p->nr_types; i++) {
		if (!strcmp(p->types[i].type, "samples") && !strcmp(p->types[i].unit, "count"))
			return i;
	}
	return PROFILE_NONE;
}

static const struct rule_traits *traits_of(struct counting *c, u32 function)
{
	u32 i = function == PROFILE_NONE ? c->p->nr_functions : function;

	if (!c->known[i]) {
		const struct profile_function *f =
			function == PROFILE_NONE ? NULL : &c->p->functions[function];

		rules_traits(c->rules, f && *f->name ? f->name : unknown, f ? f->file : "",
			     &c->traits[i]);
		c->known[i] = true;
	}
	return &c->traits[i];
}

/* What a sample's innermost call matches, and what any of its calls does. */
static void traits_of_stack(struct counting *c, u32 sample, struct rule_traits *ret_self,
			    struct rule_traits *ret_stack)
{
	const struct profile_sample *s = &c->p->samples[sample];
	bool first = true;

	*ret_self = *ret_stack = (struct rule_traits){ { 0 } };
	for (u32 i = 0; i < s->nr_frames; i++) {
		const struct profile_location *l =
			&c->p->locations[c->p->frames[s->first_frame + i]];

		/* A location without a line is one call. */
		for (u32 k = 0; k < (l->nr_lines ? l->nr_lines : 1); k++) {
			u32 f = l->nr_lines ? c->p->lines[l->first_line + k].function
					    : PROFILE_NONE;
			const struct rule_traits *t = traits_of(c, f);

			rule_traits_add(ret_stack, t);
			if (first)
				*ret_self = *t;
			first = false;
		}
	}
}

static bool add(struct bucket_row *row, u64 samples, u64 value)
{
	return !__builtin_add_overflow(row->samples, samples, &row->samples) &&
	       !__builtin_add_overflow(row->value, value, &row->value);
}

static bool add_overlaps(struct counting *c, const struct rule_traits *self,
			 const struct rule_traits *stack, u64 samples, u64 value)
{
	u64 taken = 0; /* alternatives of one row count once */

	for (u32 i = 0; i < c->rules->nr_overlaps; i++) {
		const struct rule *rule = &c->rules->overlaps[i];

		if (taken >> rule->name & 1 || !rule_takes(c->rules, rule, self, stack))
			continue;
		taken |= 1ull << rule->name;
		if (!add(&c->table->overlaps[rule->name], samples, value))
			return false;
	}
	return true;
}

static void count_line(struct bucket_table *t, u32 line)
{
	for (u32 i = 0; i < t->nr_lines; i++) {
		if (t->lines[i].line == line)
			t->lines[i].stacks++;
	}
}

static int count_sample(struct counting *c, u32 sample, struct err *err)
{
	s64 value = profile_value(c->p, sample, c->type);
	s64 samples =
		c->samples_type == PROFILE_NONE ? 0 : profile_value(c->p, sample, c->samples_type);
	struct bucket_table *t = c->table;
	struct rule_traits self, stack;
	u32 rule, bucket;

	if (value < 0 || samples < 0)
		return err_set(err, -EINVAL,
			       "a value of it is below 0: a difference of profiles has no shares");
	if (!value && !samples)
		return 0;
	traits_of_stack(c, sample, &self, &stack);
	rule = rules_first(c->rules, &self, &stack);
	bucket = rule == RULES_NONE ? t->nr_buckets - 1 : c->rules->rules[rule].name;
	if (rule != RULES_NONE)
		count_line(t, c->rules->rules[rule].line);
	if (!add(&t->buckets[bucket], (u64)samples, (u64)value) ||
	    !add_overlaps(c, &self, &stack, (u64)samples, (u64)value) ||
	    __builtin_add_overflow(t->samples, (u64)samples, &t->samples) ||
	    __builtin_add_overflow(t->value, (u64)value, &t->value))
		return err_set(err, -EOVERFLOW, "the sum of its values is too large");
	return 0;
}

static bool make_rows(struct bucket_table *t, const struct rules *rules)
{
	t->nr_buckets = rules->nr_buckets + 1;
	t->nr_sums = rules->nr_sums;
	t->nr_overlaps = rules->nr_overlap_names;
	t->buckets = arena_zalloc(&t->arena, t->nr_buckets * sizeof(*t->buckets));
	t->sums = arena_zalloc(&t->arena, (t->nr_sums + 1) * sizeof(*t->sums));
	t->overlaps = arena_zalloc(&t->arena, (t->nr_overlaps + 1) * sizeof(*t->overlaps));
	t->lines = arena_zalloc(&t->arena, (rules->nr_rules + 1) * sizeof(*t->lines));
	if (!t->buckets || !t->sums || !t->overlaps || !t->lines)
		return false;
	for (u32 i = 0; i < rules->nr_buckets; i++)
		t->buckets[i].name = arena_strdup(&t->arena, rules->bucket_names[i]);
	t->buckets[rules->nr_buckets].name = "(no rule)";
	for (u32 i = 0; i < t->nr_sums; i++)
		t->sums[i].name = arena_strdup(&t->arena, rules->sums[i].name);
	for (u32 i = 0; i < t->nr_overlaps; i++)
		t->overlaps[i].name = arena_strdup(&t->arena, rules->overlap_names[i]);
	for (u32 i = 0; i < rules->nr_rules; i++) {
		u32 line = rules->rules[i].line;

		if (!t->nr_lines || t->lines[t->nr_lines - 1].line != line)
			t->lines[t->nr_lines++].line = line;
	}
	return true;
}

static bool all_named(const struct bucket_row *rows, u32 n)
{
	for (u32 i = 0; i < n; i++) {
		if (!rows[i].name)
			return false;
	}
	return true;
}

static void set_intervals(const struct bucket_table *t, struct bucket_row *row, u32 nr_rows)
{
	struct interval one = share_wilson(row->samples, t->samples, ALPHA);
	struct interval all = share_goodman(row->samples, t->samples, nr_rows, ALPHA);

	row->low = one.low;
	row->high = one.high;
	row->all_low = all.low;
	row->all_high = all.high;
}

/* Sums of buckets, and how sure each row is. */
static void finish(struct bucket_table *t, const struct rules *rules)
{
	/* What readers compare: the buckets, and the row of the rest if there is a rest. */
	u32 nr_rows = rules->nr_buckets + (t->buckets[rules->nr_buckets].value != 0);

	for (u32 i = 0; i < t->nr_sums; i++) {
		for (u32 b = 0; b < rules->nr_buckets; b++) {
			if (rules->sums[i].buckets >> b & 1)
				(void)add(&t->sums[i], t->buckets[b].samples, t->buckets[b].value);
		}
	}
	if (!t->counted)
		return;
	for (u32 i = 0; i < t->nr_buckets; i++)
		set_intervals(t, &t->buckets[i], nr_rows);
	for (u32 i = 0; i < t->nr_sums; i++)
		set_intervals(t, &t->sums[i], nr_rows);
	for (u32 i = 0; i < t->nr_overlaps; i++)
		set_intervals(t, &t->overlaps[i], nr_rows);
}

int buckets_of_profile(const struct rules *rules, const struct profile *p, u32 type,
		       struct bucket_table *ret_table, struct err *err)
{
	struct counting c = { .rules = rules,
			      .p = p,
			      .table = ret_table,
			      .type = type,
			      .samples_type = type_of_samples(p) };
	size_t n = (size_t)p->nr_functions + 1;
	int r = 0;

	*ret_table = (struct bucket_table){ .counted = c.samples_type != PROFILE_NONE };
	c.traits = calloc(n, sizeof(*c.traits));
	c.known = calloc(n, sizeof(*c.known));
	if (!c.traits || !c.known || !make_rows(ret_table, rules) ||
	    !all_named(ret_table->buckets, ret_table->nr_buckets) ||
	    !all_named(ret_table->sums, ret_table->nr_sums) ||
	    !all_named(ret_table->overlaps, ret_table->nr_overlaps))
		r = err_set(err, -ENOMEM, "no memory for its buckets");
	for (u32 i = 0; i < p->nr_samples && !r; i++)
		r = count_sample(&c, i, err);
	if (!r)
		finish(ret_table, rules);
	free(c.traits);
	free(c.known);
	return r;
}

void buckets_done(struct bucket_table *table)
{
	arena_done(&table->arena);
	*table = (struct bucket_table){ 0 };
}

static const struct bucket_row *find(const struct bucket_row *rows, u32 n, const char *name)
{
	for (u32 i = 0; i < n; i++) {
		if (!strcmp(rows[i].name, name))
			return &rows[i];
	}
	return NULL;
}

const struct bucket_row *buckets_find(const struct bucket_table *table, const char *name)
{
	const struct bucket_row *row = find(table->buckets, table->nr_buckets, name);

	return row ? row : find(table->sums, table->nr_sums, name);
}

const struct bucket_row *buckets_find_overlap(const struct bucket_table *table, const char *name)
{
	return find(table->overlaps, table->nr_overlaps, name);
}
