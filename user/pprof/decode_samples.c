/* SPDX-License-Identifier: MIT */
/* The messages of a profile that refer to others by id: locations and samples. */
#include <errno.h>

#include "user/pprof/decode_impl.h"
#include "user/pprof/ids.h"

/* The row with that id; PROFILE_NONE for 0, which is no reference. */
static int refer(struct decoder *d, const struct list *list, u64 id, u32 *ret_index,
		 const char *why)
{
	const struct ids ids = { list->rows, list->n };

	*ret_index = PROFILE_NONE;
	return !id || ids_find(&ids, id, ret_index) ? 0 : decode_bad(d, why);
}

int decode_sort_ids(struct decoder *d, struct list *list, const char *what)
{
	struct ids ids = { list->rows, list->n };
	u64 id;

	if (ids_sort(&ids, &id))
		return 0;
	return err_set(d->err, -EBADMSG,
		       id ? "it is damaged: the %s %llu is there twice"
			  : "it is damaged: a %s has the id %llu",
		       what, id);
}

static int add_line(struct decoder *d, struct span message)
{
	u64 v[3] = { 0 };
	int r = 0;
	struct profile_line *line = decode_add(d, &d->lines, "lines", &r);

	if (!line)
		return r;
	if (wire_varints(message, v, 3))
		return decode_bad(d, "a line cannot be read");
	line->line = (s64)v[2];
	return refer(d, &d->function_ids, v[1], &line->function, "a line is of no known function");
}

int decode_on_location(struct decoder *d, struct wire_field *f)
{
	struct span message = f->bytes;
	struct profile_location l = { .first_line = d->lines.n };
	u64 v[6] = { 0 };
	struct wire_field part;
	struct profile_location *row;
	int r;

	while ((r = wire_next(&message, &part)) > 0) {
		if (part.number >= 6)
			continue;
		if (part.type != (part.number == 4 ? WIRE_BYTES : WIRE_VARINT))
			return decode_bad(d, "a location has a field of another type");
		v[part.number] = part.value;
		r = part.number == 4 ? add_line(d, part.bytes) : 0;
		if (r)
			return r;
	}
	if (r)
		return decode_bad(d, "a location cannot be read");
	r = refer(d, &d->mapping_ids, v[2], &l.mapping, "a location is in no known mapping");
	if (r)
		return r;
	l.id = v[1];
	l.address = v[3];
	l.folded = v[5];
	l.nr_lines = d->lines.n - l.first_line;
	row = decode_add(d, &d->locations, "locations", &r);
	if (!row)
		return r;
	*row = l;
	return decode_add_id(d, &d->location_ids, l.id, d->locations.n - 1);
}

static int add_frames(struct decoder *d, struct wire_field *f)
{
	u64 id;
	int r;

	while ((r = wire_repeated(f, &id)) > 0) {
		u32 *frame = decode_add(d, &d->frames, "frames", &r);

		if (!frame)
			return r;
		r = refer(d, &d->location_ids, id, frame, "a sample is at no known location");
		if (r)
			return r;
		if (*frame == PROFILE_NONE)
			return decode_bad(d, "a sample is at no known location");
	}
	return r ? decode_bad(d, "the locations of a sample cannot be read") : 0;
}

static int add_values(struct decoder *d, struct wire_field *f)
{
	u64 value;
	int r;

	while ((r = wire_repeated(f, &value)) > 0) {
		s64 *cell = decode_add(d, &d->values, "values", &r);

		if (!cell)
			return r;
		*cell = (s64)value;
	}
	return r ? decode_bad(d, "the values of a sample cannot be read") : 0;
}

static int add_label(struct decoder *d, struct span message)
{
	u64 v[5] = { 0 };
	int r = 0;
	struct profile_label *label = decode_add(d, &d->labels, "labels", &r);

	if (!label)
		return r;
	if (wire_varints(message, v, 5))
		return decode_bad(d, "a label cannot be read");
	label->number = (s64)v[3];
	r = decode_text(d, v[1], &label->key);
	if (!r)
		r = decode_text(d, v[4], &label->unit);
	return r || !v[2] ? r : decode_text(d, v[2], &label->text);
}

static int sample_field(struct decoder *d, struct wire_field *f)
{
	switch (f->number) {
	case 1:
		return add_frames(d, f);
	case 2:
		return add_values(d, f);
	case 3:
		return f->type == WIRE_BYTES ? add_label(d, f->bytes)
					     : decode_bad(d, "a label is of another type");
	default:
		return 0;
	}
}

int decode_on_sample(struct decoder *d, struct wire_field *f)
{
	struct profile_sample s = { .first_frame = d->frames.n, .first_label = d->labels.n };
	struct span message = f->bytes;
	u32 first_value = d->values.n;
	struct profile_sample *row;
	struct wire_field part;
	int r;

	while ((r = wire_next(&message, &part)) > 0) {
		r = sample_field(d, &part);
		if (r)
			return r;
	}
	if (r)
		return decode_bad(d, "a sample cannot be read");
	if (d->values.n - first_value != d->types.n)
		return err_set(d->err, -EBADMSG,
			       "it is damaged: a sample has %u values, of %u types",
			       d->values.n - first_value, d->types.n);
	s.nr_frames = d->frames.n - s.first_frame;
	s.nr_labels = d->labels.n - s.first_label;
	row = decode_add(d, &d->samples, "samples", &r);
	if (row)
		*row = s;
	return r;
}
