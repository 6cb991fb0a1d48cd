/* SPDX-License-Identifier: MIT */
/* Kinds of interactions. */
#include "user/model/kinds.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "user/model/totals.h"

int kinds_floor(struct kind_list *last, struct process_snap *p)
{
	struct kind_snap *copy;

	if (!p->nr_kinds)
		return 0;
	copy = malloc(p->nr_kinds * sizeof(*copy));
	if (!copy)
		return -ENOMEM;
	for (size_t i = 0; i < p->nr_kinds; i++) {
		for (size_t k = 0; k < last->n; k++) {
			if (last->at[k].account == p->kinds[i].account)
				totals_floor_cells(last->at[k].cells, p->kinds[i].cells);
		}
	}
	memcpy(copy, p->kinds, p->nr_kinds * sizeof(*copy));
	free(last->at);
	last->at = copy;
	last->n = p->nr_kinds;
	return 0;
}

static void add_code(struct kind_snap *k, const struct code_count *more)
{
	struct code_count *c;

	for (u32 i = 0; i < k->nr_codes; i++) {
		if (k->codes[i].code == more->code && k->codes[i].outcome == more->outcome) {
			k->codes[i].n += more->n;
			return;
		}
	}
	if (k->nr_codes < MAX_KIND_CODES) {
		k->codes[k->nr_codes++] = *more;
		return;
	}
	c = &k->codes[MAX_KIND_CODES - 1];
	c->code = CODE_OTHER;
	c->n += more->n;
}

static void abort_open(struct kind_snap *k)
{
	struct code_count aborted = { INTERACTION_ABORTED, OUTCOME_NONE, kind_in_flight(k) };

	if (aborted.n)
		add_code(k, &aborted);
	k->cells[CELL_COMPLETED] += aborted.n;
	k->cells[CELL_SESSIONS_CLOSED] += kind_sessions(k);
	k->oldest_ns = 0;
}

void kinds_finish(struct process_snap *p)
{
	for (size_t i = 0; i < p->nr_kinds; i++) {
		totals_of_account(p, p->kinds[i].account, p->kinds[i].cells);
		if (!p->alive)
			abort_open(&p->kinds[i]);
	}
}

static int add_one(struct kind_list *sum, const struct kind_snap *more)
{
	struct kind_snap *grown;

	for (size_t i = 0; i < sum->n; i++) {
		struct kind_snap *k = &sum->at[i];

		if (strcmp(k->name, more->name) != 0)
			continue;
		if (more->oldest_ns > k->oldest_ns)
			k->oldest_ns = more->oldest_ns;
		counters_add(k->cells, more->cells, sizeof(k->cells));
		counters_add(k->calls, more->calls, sizeof(k->calls));
		counters_add(&k->hists, &more->hists, sizeof(k->hists));
		for (u32 c = 0; c < more->nr_codes; c++)
			add_code(k, &more->codes[c]);
		return 0;
	}
	grown = realloc(sum->at, (sum->n + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	sum->at = grown;
	grown[sum->n++] = *more;
	return 0;
}

int kinds_add(struct kind_list *sum, const struct kind_snap *kinds, size_t n)
{
	int r = 0;

	for (size_t i = 0; i < n && !r; i++)
		r = add_one(sum, &kinds[i]);
	return r;
}

const char *kind_label(const struct kind_snap *k)
{
	return k->name[0] ? k->name : "background";
}

/* Read at different moments: an end may be seen before its begin. */
static u64 open_of(u64 began, u64 ended)
{
	return began > ended ? began - ended : 0;
}

u64 kind_in_flight(const struct kind_snap *k)
{
	return open_of(k->cells[CELL_BEGUN], k->cells[CELL_COMPLETED]);
}

u64 kind_sessions(const struct kind_snap *k)
{
	return open_of(k->cells[CELL_SESSIONS_OPENED], k->cells[CELL_SESSIONS_CLOSED]);
}
