/* SPDX-License-Identifier: MIT */
/*
 * profile.proto to tables. Fields of a message may come in any order, so the top level is gone
 * through several times: first the texts, then what has only texts, then what refers to that.
 *
 *	Profile  1 sample_type*  2 sample*  3 mapping*  4 location*  5 function*  6 string_table*
 *		 7 drop_frames  8 keep_frames  9 time_nanos  10 duration_nanos  11 period_type
 *		 12 period  13 comment*  14 default_sample_type
 *	ValueType 1 type  2 unit
 *	Sample   1 location_id*  2 value*  3 label*
 *	Label    1 key  2 str  3 num  4 num_unit
 *	Mapping  1 id  2 start  3 limit  4 offset  5 filename  6 build_id  7 has_functions
 *		 8 has_filenames  9 has_line_numbers  10 has_inline_frames
 *	Location 1 id  2 mapping_id  3 address  4 line*  5 is_folded
 *	Line     1 function_id  2 line
 *	Function 1 id  2 name  3 system_name  4 filename  5 start_line
 *
 * Texts are indexes into string_table, whose first is "". A reference of 0 is none.
 *
 * Source: github.com/google/pprof proto/profile.proto.
 */
#include "user/pprof/decode.h"

#include <errno.h>
#include <stdlib.h>

#include "user/pprof/decode_impl.h"

/* A program with a hundred times these would still be a large one. Rows times their sizes are
 * below 1 GiB. */
#define MAX_ROWS    (2u << 20)
#define MAX_TYPES   64
#define MAX_STRINGS (4u << 20)
#define MAX_CELLS   (32u << 20)

#define LIST(type, limit)                                  \
	(struct list)                                      \
	{                                                  \
		.row_bytes = sizeof(type), .max = (limit), \
	}

static void decoder_begin(struct decoder *d)
{
	d->strings = LIST(struct span, MAX_STRINGS);
	d->types = LIST(struct profile_type, MAX_TYPES);
	d->samples = LIST(struct profile_sample, MAX_ROWS);
	d->values = LIST(s64, MAX_CELLS);
	d->frames = LIST(u32, MAX_CELLS);
	d->labels = LIST(struct profile_label, MAX_ROWS);
	d->locations = LIST(struct profile_location, MAX_ROWS);
	d->lines = LIST(struct profile_line, 2 * MAX_ROWS);
	d->functions = LIST(struct profile_function, MAX_ROWS);
	d->mappings = LIST(struct profile_mapping, MAX_ROWS / 16);
	d->comments = LIST(const char *, MAX_ROWS / 16);
	d->mapping_ids = LIST(struct id_row, MAX_ROWS);
	d->function_ids = LIST(struct id_row, MAX_ROWS);
	d->location_ids = LIST(struct id_row, MAX_ROWS);
}

static const struct {
	u32 pass, number;
	enum wire_type type;
	int (*run)(struct decoder *d, struct wire_field *f);
} handlers[] = {
	{ 0, STRING_TABLE, WIRE_BYTES, decode_on_string },
	{ 1, SAMPLE_TYPE, WIRE_BYTES, decode_on_sample_type },
	{ 1, PERIOD_TYPE, WIRE_BYTES, decode_on_period_type },
	{ 1, MAPPING, WIRE_BYTES, decode_on_mapping },
	{ 1, FUNCTION, WIRE_BYTES, decode_on_function },
	{ 1, DROP_FRAMES, WIRE_VARINT, decode_on_scalar },
	{ 1, KEEP_FRAMES, WIRE_VARINT, decode_on_scalar },
	{ 1, TIME_NANOS, WIRE_VARINT, decode_on_scalar },
	{ 1, DURATION_NANOS, WIRE_VARINT, decode_on_scalar },
	{ 1, PERIOD, WIRE_VARINT, decode_on_scalar },
	{ 1, DEFAULT_SAMPLE_TYPE, WIRE_VARINT, decode_on_scalar },
	{ 2, LOCATION, WIRE_BYTES, decode_on_location },
	{ 3, SAMPLE, WIRE_BYTES, decode_on_sample },
};

#define NR_HANDLERS (sizeof(handlers) / sizeof(handlers[0]))

static int run_field(struct decoder *d, u32 pass, struct wire_field *f)
{
	/* A repeated number, packed or not. */
	if (f->number == COMMENT)
		return pass == 1 ? decode_on_comment(d, f) : 0;
	for (size_t i = 0; i < NR_HANDLERS; i++) {
		if (handlers[i].number != f->number || handlers[i].pass != pass)
			continue;
		if (handlers[i].type != f->type)
			return decode_bad(d, "a field is of another type");
		return handlers[i].run(d, f);
	}
	return 0;
}

static int run_pass(struct decoder *d, struct span bytes, u32 pass)
{
	struct wire_field f;
	int r;

	while ((r = wire_next(&bytes, &f)) > 0) {
		r = run_field(d, pass, &f);
		if (r)
			return r;
	}
	return r ? decode_bad(d, "it ends inside of a field, or is no profile") : 0;
}

static int decode(struct decoder *d, struct span bytes)
{
	int r = run_pass(d, bytes, 0);

	if (!r)
		r = decode_copy_texts(d);
	if (!r)
		r = run_pass(d, bytes, 1);
	if (!r)
		r = decode_sort_ids(d, &d->mapping_ids, "mapping");
	if (!r)
		r = decode_sort_ids(d, &d->function_ids, "function");
	if (!r)
		r = run_pass(d, bytes, 2);
	if (!r)
		r = decode_sort_ids(d, &d->location_ids, "location");
	if (!r)
		r = run_pass(d, bytes, 3);
	if (!r && !d->types.n)
		r = decode_bad(d, "it does not say what its values are");
	return r;
}

/* Into the value that the caller gets; also what is to be freed after a failure. */
static void hand_over(struct decoder *d, struct profile *p)
{
	*p = d->head;
	p->types = d->types.rows;
	p->nr_types = d->types.n;
	p->samples = d->samples.rows;
	p->nr_samples = d->samples.n;
	p->values = d->values.rows;
	p->frames = d->frames.rows;
	p->nr_frames = d->frames.n;
	p->labels = d->labels.rows;
	p->nr_labels = d->labels.n;
	p->locations = d->locations.rows;
	p->nr_locations = d->locations.n;
	p->lines = d->lines.rows;
	p->nr_lines = d->lines.n;
	p->functions = d->functions.rows;
	p->nr_functions = d->functions.n;
	p->mappings = d->mappings.rows;
	p->nr_mappings = d->mappings.n;
	p->comments = d->comments.rows;
	p->nr_comments = d->comments.n;
	p->texts = d->bytes;
}

static int find_default(struct decoder *d, struct profile *p)
{
	const char *name = "";
	int r = 0;

	p->default_type = PROFILE_NONE;
	if (d->default_type)
		r = decode_text(d, d->default_type, &name);
	/* One that no value has is none, as in Go's reader. */
	if (!r && d->default_type && profile_find_type(p, name, &p->default_type, NULL))
		p->default_type = PROFILE_NONE;
	return r;
}

int decode_profile(struct span bytes, struct profile *ret_profile, struct err *err)
{
	struct decoder d = { .err = err };
	struct profile p;
	int r;

	decoder_begin(&d);
	r = decode(&d, bytes);
	hand_over(&d, &p);
	if (!r)
		r = find_default(&d, &p);
	free(d.strings.rows);
	free(d.texts);
	free(d.mapping_ids.rows);
	free(d.function_ids.rows);
	free(d.location_ids.rows);
	if (r)
		profile_done(&p);
	else
		*ret_profile = p;
	return r;
}
