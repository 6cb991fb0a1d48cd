/* SPDX-License-Identifier: MIT */
/* The texts of a profile, and the messages that refer to nothing else. */
#include <errno.h>
#include <stdlib.h>

#include "user/pprof/decode_impl.h"

int decode_bad(struct decoder *d, const char *what)
{
	return err_set(d->err, -EBADMSG, "it is damaged: %s", what);
}

void *decode_add(struct decoder *d, struct list *list, const char *what, int *ret_code)
{
	void *row = list_add(list, ret_code);

	if (!row)
		(void)err_set(d->err, 0,
			      *ret_code == -EFBIG ? "it has more than %u %s"
						  : "no memory for %u %s",
			      list->n, what);
	return row;
}

int decode_text(struct decoder *d, u64 index, const char **ret_text)
{
	if (index >= d->strings.n)
		return decode_bad(d, "a text is not in its table");
	*ret_text = d->texts[index];
	return 0;
}

int decode_on_string(struct decoder *d, struct wire_field *f)
{
	int r = 0;
	struct span *s = decode_add(d, &d->strings, "texts", &r);

	if (!s)
		return r;
	*s = f->bytes;
	if (d->strings.n == 1 && s->n)
		return decode_bad(d, "its first text is not empty");
	return 0;
}

int decode_copy_texts(struct decoder *d)
{
	const struct span *s = d->strings.rows;
	size_t n_bytes = 1;
	char *at;

	for (u32 i = 0; i < d->strings.n; i++)
		n_bytes += s[i].n + 1;
	d->bytes = malloc(n_bytes);
	d->texts = calloc((size_t)d->strings.n + 1, sizeof(*d->texts));
	if (!d->bytes || !d->texts)
		return err_set(d->err, -ENOMEM, "no memory for its texts");
	at = d->bytes;
	for (u32 i = 0; i < d->strings.n; i++) {
		d->texts[i] = at;
		for (size_t k = 0; k < s[i].n; k++)
			*at++ = s[i].at[k] ? (char)s[i].at[k] : '?';
		*at++ = '\0';
	}
	*at = '\0'; /* the text of what has none */
	d->head.drop_frames = d->head.keep_frames = at;
	d->head.period_type = (struct profile_type){ at, at };
	return 0;
}

/* --- What has only texts --- */

static int value_type(struct decoder *d, struct span message, struct profile_type *ret)
{
	u64 v[3] = { 0 };
	int r;

	if (wire_varints(message, v, 3))
		return decode_bad(d, "a type of values cannot be read");
	r = decode_text(d, v[1], &ret->type);
	return r ? r : decode_text(d, v[2], &ret->unit);
}

int decode_on_sample_type(struct decoder *d, struct wire_field *f)
{
	int r = 0;
	struct profile_type *t = decode_add(d, &d->types, "types of values", &r);

	return t ? value_type(d, f->bytes, t) : r;
}

int decode_on_period_type(struct decoder *d, struct wire_field *f)
{
	return value_type(d, f->bytes, &d->head.period_type);
}

int decode_on_comment(struct decoder *d, struct wire_field *f)
{
	int r;
	u64 index;

	while ((r = wire_repeated(f, &index)) > 0) {
		const char **c = decode_add(d, &d->comments, "comments", &r);

		if (!c)
			return r;
		r = decode_text(d, index, c);
		if (r)
			return r;
	}
	return r ? decode_bad(d, "a comment cannot be read") : 0;
}

int decode_on_scalar(struct decoder *d, struct wire_field *f)
{
	struct profile *h = &d->head;

	switch (f->number) {
	case DROP_FRAMES:
		return decode_text(d, f->value, &h->drop_frames);
	case KEEP_FRAMES:
		return decode_text(d, f->value, &h->keep_frames);
	case TIME_NANOS:
		h->wall_ns = (s64)f->value;
		return 0;
	case DURATION_NANOS:
		h->duration_ns = (s64)f->value;
		return 0;
	case PERIOD:
		h->period = (s64)f->value;
		return 0;
	default:
		d->default_type = f->value;
		return 0;
	}
}

/* A row's id beside the row. */
int decode_add_id(struct decoder *d, struct list *ids, u64 id, u32 index)
{
	int r = 0;
	struct id_row *row = decode_add(d, ids, "ids", &r);

	if (row)
		*row = (struct id_row){ id, index };
	return r;
}

int decode_on_mapping(struct decoder *d, struct wire_field *f)
{
	u64 v[11] = { 0 };
	int r = 0;
	struct profile_mapping *m = decode_add(d, &d->mappings, "mappings", &r);

	if (!m)
		return r;
	if (wire_varints(f->bytes, v, 11))
		return decode_bad(d, "a mapping cannot be read");
	*m = (struct profile_mapping){ .id = v[1],
				       .start = v[2],
				       .limit = v[3],
				       .offset = v[4],
				       .has_functions = v[7],
				       .has_filenames = v[8],
				       .has_line_numbers = v[9],
				       .has_inline_frames = v[10] };
	r = decode_text(d, v[5], &m->file);
	if (!r)
		r = decode_text(d, v[6], &m->build_id);
	return r ? r : decode_add_id(d, &d->mapping_ids, m->id, d->mappings.n - 1);
}

int decode_on_function(struct decoder *d, struct wire_field *f)
{
	u64 v[6] = { 0 };
	int r = 0;
	struct profile_function *fn = decode_add(d, &d->functions, "functions", &r);

	if (!fn)
		return r;
	if (wire_varints(f->bytes, v, 6))
		return decode_bad(d, "a function cannot be read");
	fn->id = v[1];
	fn->start_line = (s64)v[5];
	r = decode_text(d, v[2], &fn->name);
	if (!r)
		r = decode_text(d, v[3], &fn->system_name);
	if (!r)
		r = decode_text(d, v[4], &fn->file);
	return r ? r : decode_add_id(d, &d->function_ids, fn->id, d->functions.n - 1);
}
