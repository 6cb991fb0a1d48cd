/* SPDX-License-Identifier: MIT */
/* Places of samples, counted twice. */
#include "user/crosscheck/leaves.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* As many facts as a record may have. */
#define MAX_PARTS 4096

struct place {
	u64 address, profile, ours;
};

struct places {
	struct place *at;
	size_t n, cap;
};

static bool add(struct places *p, struct place one)
{
	if (p->n == p->cap) {
		size_t cap = p->cap ? 2 * p->cap : 1024;
		struct place *grown = realloc(p->at, cap * sizeof(*grown));

		if (!grown)
			return false;
		p->at = grown;
		p->cap = cap;
	}
	p->at[p->n++] = one;
	return true;
}

/* "ADDRESS:COUNT ADDRESS:COUNT": 0, -EBADMSG or -ENOMEM. */
static int add_part(struct places *p, const char *text)
{
	while (*text) {
		struct place one = { 0 };
		char *end;

		one.address = strtoull(text, &end, 16);
		if (end == text || *end != ':')
			return -EBADMSG;
		text = end + 1;
		one.ours = strtoull(text, &end, 10);
		if (end == text || (*end && *end != ' ') || one.ours >> 48)
			return -EBADMSG;
		if (!add(p, one))
			return -ENOMEM;
		text = *end ? end + 1 : end;
	}
	return 0;
}

static int add_record(struct places *p, const struct record *r, u32 number)
{
	char name[64];
	int e = 0;

	for (u32 part = 0; part < MAX_PARTS && !e; part++) {
		snprintf(name, sizeof(name), "profile.%u.leaves.%u", number, part);
		if (!record_fact(r, name))
			break;
		e = add_part(p, record_fact_text(r, name));
	}
	return e;
}

static int add_profile(struct places *p, const struct profile *profile)
{
	u32 type;

	if (profile_find_type(profile, "samples", &type, NULL))
		return 0;
	for (u32 i = 0; i < profile->nr_samples; i++) {
		const struct profile_sample *s = &profile->samples[i];
		s64 n = profile_value(profile, i, type);
		struct place one = { .profile = n > 0 ? (u64)n : 0 };

		if (s->nr_frames)
			one.address = profile->locations[profile->frames[s->first_frame]].address;
		if (n > 0 && !add(p, one))
			return -ENOMEM;
	}
	return 0;
}

static int by_address(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

/* Places of one address become one row. */
static int make_table(struct places *p, struct leaf_table *t)
{
	t->address = calloc(p->n + 1, sizeof(*t->address));
	t->profile = calloc(p->n + 1, sizeof(*t->profile));
	t->ours = calloc(p->n + 1, sizeof(*t->ours));
	if (!t->address || !t->profile || !t->ours)
		return -ENOMEM;
	if (p->n)
		qsort(p->at, p->n, sizeof(*p->at), by_address);
	for (size_t i = 0; i < p->n; i++) {
		if (!t->n || t->address[t->n - 1] != p->at[i].address)
			t->address[t->n++] = p->at[i].address;
		t->profile[t->n - 1] += p->at[i].profile;
		t->ours[t->n - 1] += p->at[i].ours;
	}
	return 0;
}

int leaves_compare(const struct profile *p, const struct record *r, u32 number,
		   struct leaf_table *ret_table, struct err *err)
{
	struct places places = { 0 };
	int e = add_record(&places, r, number);

	*ret_table = (struct leaf_table){ 0 };
	if (!e && places.n)
		e = add_profile(&places, p);
	if (!e && places.n)
		e = make_table(&places, ret_table);
	free(places.at);
	if (e)
		return err_set(err, e, "%s",
			       e == -ENOMEM ? "no memory for its places"
					    : "the places of samples in the record are damaged");
	return 0;
}

void leaves_done(struct leaf_table *table)
{
	free(table->address);
	free(table->profile);
	free(table->ours);
	*table = (struct leaf_table){ 0 };
}
