/* SPDX-License-Identifier: MIT */
/* Families and their facts, from include/families.def. */
#include "user/model/family.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct family_desc family_descs[NR_FAMILIES] = {
#define CELLS(id, name, unit, dim, method, error, help) \
	[FAM_##id] = { name, unit, FAMILY_COUNTER, METHOD_##method, false, error, help },
#define BOOK(id, help)
#define FAMILY(id, name, unit, type, method, error, help) \
	[FAM_##id] = { name, unit, FAMILY_##type, METHOD_##method, false, error, help },
#define EXPORTER(id, name, type, help) \
	[FAM_##id] = { name, "", FAMILY_##type, METHOD_EXACT, true, "0", help },
#include "families.def"
#undef CELLS
#undef BOOK
#undef FAMILY
#undef EXPORTER
};

struct sample *family_add(struct family_set *set, enum family_id id)
{
	static struct sample scratch; /* keeps callers free of checks after memory ran out */
	struct family *f = &set->families[id];
	struct sample *s;

	if (f->nr_samples == f->cap) {
		size_t cap = f->cap ? 2 * f->cap : 16;
		struct sample *grown = realloc(f->samples, cap * sizeof(*grown));

		if (!grown) {
			set->failed = true;
			scratch = (struct sample){ 0 };
			return &scratch;
		}
		f->samples = grown;
		f->cap = cap;
	}
	s = &f->samples[f->nr_samples++];
	*s = (struct sample){ 0 };
	return s;
}

/* Most samples have no more labels than that. */
#define FEW_LABELS 3

void sample_label_kept(struct family_set *set, struct sample *s, const char *name,
		       const char *value)
{
	u32 n = s->nr_labels;

	if (n == MAX_SAMPLE_LABELS) {
		set->failed = true;
		return;
	}
	if (!n || n == FEW_LABELS) {
		size_t room = n ? MAX_SAMPLE_LABELS : FEW_LABELS;
		struct label *grown = arena_zalloc(&set->arena, room * sizeof(*grown));

		if (!grown) {
			set->failed = true;
			return;
		}
		if (n)
			memcpy(grown, s->labels, n * sizeof(*grown));
		s->labels = grown;
	}
	s->labels[s->nr_labels++] = (struct label){ name, value };
}

void sample_label(struct family_set *set, struct sample *s, const char *name, const char *value)
{
	char *copy = arena_strdup(&set->arena, value);

	if (copy)
		sample_label_kept(set, s, name, copy);
	else
		set->failed = true;
}

void family_name(const struct family_desc *desc, char *ret_name, size_t n)
{
	snprintf(ret_name, n, "%s%s%s%s%s", desc->exporter ? "" : FAMILY_PREFIX, desc->name,
		 desc->unit[0] ? "_" : "", desc->unit, desc->type == FAMILY_INFO ? "_info" : "");
}

void family_set_done(struct family_set *set)
{
	for (size_t i = 0; i < NR_FAMILIES; i++)
		free(set->families[i].samples);
	arena_done(&set->arena);
	*set = (struct family_set){ 0 };
}
