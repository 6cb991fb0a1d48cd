/* SPDX-License-Identifier: MIT */
/* Records: facts, frames, and differences between their edges. */
#include "user/model/record.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const record_end_words[NR_RECORD_ENDS] = {
	[RECORD_END_DURATION] = "the duration that was asked for",
	[RECORD_END_PROGRAM] = "the end of the program that was started",
	[RECORD_END_TARGETS] = "the end of the last target",
	[RECORD_END_SIGNAL] = "a signal (Ctrl-C)",
};

void record_done(struct record *r)
{
	for (size_t i = 0; i < r->nr_frames; i++)
		family_set_done(&r->frames[i].set);
	free(r->frames);
	free(r->facts);
	arena_done(&r->arena);
	*r = (struct record){ 0 };
}

static void *grow(void *list, size_t *cap, size_t size)
{
	size_t more = *cap ? 2 * *cap : 16;
	void *grown = realloc(list, more * size);

	if (grown)
		*cap = more;
	return grown;
}

static struct record_fact *fact_called(const struct record *r, const char *name)
{
	for (size_t i = 0; i < r->nr_facts; i++) {
		if (!strcmp(r->facts[i].name, name))
			return &r->facts[i];
	}
	return NULL;
}

/* Where a fact of that name goes, or NULL. */
static struct record_fact *fact_place(struct record *r, const char *name)
{
	struct record_fact *had = fact_called(r, name);

	if (had)
		return had;
	if (r->nr_facts == r->cap_facts) {
		struct record_fact *grown = grow(r->facts, &r->cap_facts, sizeof(*grown));

		if (!grown)
			return NULL;
		r->facts = grown;
	}
	return &r->facts[r->nr_facts++];
}

void record_fact_set(struct record *r, const char *name, const char *begin, const char *end)
{
	struct record_fact fact = { .name = arena_strdup(&r->arena, name),
				    .begin = arena_strdup(&r->arena, begin),
				    .end = end ? arena_strdup(&r->arena, end) : NULL };
	bool whole = fact.name && fact.begin && (!end || fact.end);
	struct record_fact *place = whole ? fact_place(r, name) : NULL;

	if (place)
		*place = fact;
	else
		r->failed = true;
}

void record_fact_setf(struct record *r, const char *name, const char *fmt, ...)
{
	char text[4096];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	record_fact_set(r, name, text, NULL);
}

const struct record_fact *record_fact(const struct record *r, const char *name)
{
	return fact_called(r, name);
}

const char *record_fact_text(const struct record *r, const char *name)
{
	const struct record_fact *fact = record_fact(r, name);

	return fact ? fact->begin : "";
}

static bool number_of(const char *text, u64 *ret_number)
{
	char *end;
	u64 number;

	if (!text || !isdigit((unsigned char)text[0]))
		return false;
	errno = 0;
	number = strtoull(text, &end, 10);
	if (*end || errno)
		return false;
	*ret_number = number;
	return true;
}

bool record_fact_number(const struct record *r, const char *name, u64 *ret_number)
{
	const struct record_fact *fact = record_fact(r, name);

	return fact && number_of(fact->begin, ret_number);
}

bool record_fact_number_at_end(const struct record *r, const char *name, u64 *ret_number)
{
	const struct record_fact *fact = record_fact(r, name);

	return fact && number_of(fact->end, ret_number);
}

bool record_fact_delta(const struct record *r, const char *name, u64 *ret_delta)
{
	u64 begin, end;

	if (!record_fact_number(r, name, &begin) || !record_fact_number_at_end(r, name, &end) ||
	    end < begin)
		return false;
	*ret_delta = end - begin;
	return true;
}

struct record_frame *record_frame_add(struct record *r)
{
	struct record_frame *f;

	if (r->nr_frames == r->cap_frames) {
		struct record_frame *grown = grow(r->frames, &r->cap_frames, sizeof(*grown));

		if (!grown) {
			r->failed = true;
			return NULL;
		}
		r->frames = grown;
	}
	f = &r->frames[r->nr_frames++];
	*f = (struct record_frame){ 0 };
	return f;
}

void record_frame_drop(struct record *r, size_t i)
{
	family_set_done(&r->frames[i].set);
	r->nr_frames--;
	memmove(&r->frames[i], &r->frames[i + 1], (r->nr_frames - i) * sizeof(r->frames[0]));
}

const struct family_set *record_begin(const struct record *r)
{
	return &r->frames[0].set;
}

const struct family_set *record_end(const struct record *r)
{
	return &r->frames[r->nr_frames - 1].set;
}

static u64 middle_ns(const struct record_frame *f)
{
	return f->begin_ns + (f->end_ns - f->begin_ns) / 2;
}

u64 record_window_ns(const struct record *r)
{
	return middle_ns(&r->frames[r->nr_frames - 1]) - middle_ns(&r->frames[0]);
}

enum family_id record_family(const char *name)
{
	for (u32 i = 0; i < NR_FAMILIES; i++) {
		const struct family_desc *d = &family_descs[i];
		char full[128];
		size_t n;

		family_name(d, full, sizeof(full));
		n = strlen(full);
		if (strncmp(name, full, n) != 0)
			continue;
		if (!name[n] || (d->type == FAMILY_COUNTER && !strcmp(name + n, "_total")))
			return i;
	}
	return NR_FAMILIES;
}

const char *record_label(const struct sample *s, const char *name)
{
	for (u32 i = 0; i < s->nr_labels; i++) {
		if (!strcmp(s->labels[i].name, name))
			return s->labels[i].value;
	}
	return NULL;
}

bool sample_matches(const struct sample *s, const struct label *labels, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *value = record_label(s, labels[i].name);

		if (!value || strcmp(value, labels[i].value) != 0)
			return false;
	}
	return true;
}

bool sample_same_labels(const struct sample *a, const struct sample *b)
{
	if (a->nr_labels != b->nr_labels)
		return false;
	for (u32 i = 0; i < a->nr_labels; i++) {
		if (strcmp(a->labels[i].name, b->labels[i].name) != 0 ||
		    strcmp(a->labels[i].value, b->labels[i].value) != 0)
			return false;
	}
	return true;
}

const struct sample *record_find(const struct family_set *set, enum family_id id,
				 const struct label *labels, size_t n)
{
	const struct family *f = &set->families[id];

	for (size_t i = 0; i < f->nr_samples; i++) {
		if (sample_matches(&f->samples[i], labels, n))
			return &f->samples[i];
	}
	return NULL;
}

const struct sample *record_twin(const struct family_set *set, enum family_id id,
				 const struct sample *s)
{
	const struct family *f = &set->families[id];

	for (size_t i = 0; i < f->nr_samples; i++) {
		if (sample_same_labels(&f->samples[i], s))
			return &f->samples[i];
	}
	return NULL;
}

u64 record_sum(const struct family_set *set, enum family_id id, const struct label *labels,
	       size_t n, size_t *ret_found)
{
	const struct family *f = &set->families[id];
	size_t found = 0;
	u64 sum = 0;

	for (size_t i = 0; i < f->nr_samples; i++) {
		const struct sample *s = &f->samples[i];

		if (s->kind == VALUE_REAL || s->hist || !sample_matches(s, labels, n))
			continue;
		sum += s->u;
		found++;
	}
	*ret_found = found;
	return sum;
}

int record_delta_sample(const struct record *r, enum family_id id, const struct sample *at_end,
			u64 *ret_delta)
{
	const struct sample *before = record_twin(record_begin(r), id, at_end);
	u64 begin = before ? before->u : 0;

	if (at_end->kind == VALUE_REAL || (before && before->kind != at_end->kind) ||
	    begin > at_end->u)
		return -EBADMSG;
	*ret_delta = at_end->u - begin;
	return 0;
}

int record_delta(const struct record *r, enum family_id id, const struct label *labels, size_t n,
		 u64 *ret_delta)
{
	const struct family *first = &record_begin(r)->families[id];
	const struct family *last = &record_end(r)->families[id];
	bool found = false;
	u64 sum = 0;

	for (size_t i = 0; i < last->nr_samples; i++) {
		u64 delta;

		if (!sample_matches(&last->samples[i], labels, n))
			continue;
		if (record_delta_sample(r, id, &last->samples[i], &delta))
			return -EBADMSG;
		sum += delta;
		found = true;
	}
	for (size_t i = 0; i < first->nr_samples; i++) {
		if (sample_matches(&first->samples[i], labels, n) &&
		    !record_twin(record_end(r), id, &first->samples[i]))
			return -EBADMSG;
	}
	if (!found)
		return -ENOENT;
	*ret_delta = sum;
	return 0;
}

int record_delta_hist(const struct record *r, enum family_id id, const struct sample *at_end,
		      struct hist *ret_hist)
{
	const struct sample *before = record_twin(record_begin(r), id, at_end);
	struct hist hist;

	if (!at_end->hist)
		return -ENOENT;
	hist = *at_end->hist;
	if (before && before->hist) {
		const struct hist *begin = before->hist;

		if (begin->sum > hist.sum)
			return -EBADMSG;
		hist.sum -= begin->sum;
		for (u32 i = 0; i < NR_HIST_BUCKETS; i++) {
			if (begin->counts[i] > hist.counts[i])
				return -EBADMSG;
			hist.counts[i] -= begin->counts[i];
		}
	}
	*ret_hist = hist;
	return 0;
}
