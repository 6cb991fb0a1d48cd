/* SPDX-License-Identifier: MIT */
/* Processes that ended, added up by name. */
#include "user/cmd/ended.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user/model/kinds.h"

struct ended {
	struct process_snap *processes;
	struct process_totals *totals;
	size_t n, max;
};

struct ended *ended_new(size_t max_names)
{
	struct ended *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->max = max_names;
	e->processes = calloc(max_names + 1, sizeof(*e->processes));
	e->totals = calloc(max_names + 1, sizeof(*e->totals));
	if (!e->processes || !e->totals) {
		ended_free(e);
		return NULL;
	}
	return e;
}

void ended_free(struct ended *ended)
{
	if (!ended)
		return;
	for (size_t i = 0; i < ended->n; i++)
		process_snap_done(&ended->processes[i]);
	free(ended->processes);
	free(ended->totals);
	free(ended);
}

static int add_call_hist(struct process_snap *p, const struct call_hist *h)
{
	struct call_hist *grown;

	for (size_t i = 0; i < p->nr_call_hists; i++) {
		if (p->call_hists[i].nr == h->nr) {
			counters_add(&p->call_hists[i].hist, &h->hist, sizeof(h->hist));
			return 0;
		}
	}
	grown = realloc(p->call_hists, (p->nr_call_hists + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	p->call_hists = grown;
	grown[p->nr_call_hists++] = *h;
	return 0;
}

static int add_error(struct process_snap *p, const struct error_count *e)
{
	struct error_count *grown;

	for (size_t i = 0; i < p->nr_errors; i++) {
		struct error_count *had = &p->errors[i];

		if (had->kind == e->kind && had->id == e->id && had->code == e->code) {
			had->n += e->n;
			return 0;
		}
	}
	grown = realloc(p->errors, (p->nr_errors + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	p->errors = grown;
	grown[p->nr_errors++] = *e;
	return 0;
}

static int add_foreign(struct process_snap *p, const struct foreign_count *f)
{
	struct foreign_count *grown;

	for (size_t i = 0; i < p->nr_foreign; i++) {
		if (p->foreign[i].abi == f->abi && p->foreign[i].nr == f->nr) {
			p->foreign[i].n += f->n;
			return 0;
		}
	}
	grown = realloc(p->foreign, (p->nr_foreign + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	p->foreign = grown;
	grown[p->nr_foreign++] = *f;
	return 0;
}

static int add_kinds(struct process_snap *sum, const struct process_snap *p)
{
	struct kind_list list = { sum->kinds, sum->nr_kinds };
	int r = kinds_add(&list, p->kinds, p->nr_kinds);

	sum->kinds = list.at;
	sum->nr_kinds = list.n;
	return r;
}

/* What is counted by name, and histograms. */
static int add_details(struct process_snap *sum, const struct process_snap *p)
{
	if (!p->calls)
		return 0;
	if (process_snap_add_details(sum, p->hists))
		return -ENOMEM;
	counters_add(sum->calls, p->calls, NR_CALL_SLOTS * sizeof(*p->calls));
	if (p->hists)
		counters_add(sum->hists, p->hists, sizeof(*p->hists));
	return 0;
}

static int add_arrays(struct process_snap *sum, const struct process_snap *p)
{
	int r = add_details(sum, p);

	for (size_t i = 0; i < p->nr_call_hists && !r; i++)
		r = add_call_hist(sum, &p->call_hists[i]);
	for (size_t i = 0; i < p->nr_errors && !r; i++)
		r = add_error(sum, &p->errors[i]);
	for (size_t i = 0; i < p->nr_foreign && !r; i++)
		r = add_foreign(sum, &p->foreign[i]);
	if (!r)
		r = add_kinds(sum, p);
	return r;
}

/* The entry of a name, made if there is room for it, else that of `other`. */
static size_t entry_of(struct ended *ended, const char *name)
{
	const char *as = name;

	for (size_t tries = 0; tries < 2; tries++) {
		for (size_t i = 0; i < ended->n; i++) {
			if (!strcmp(ended->processes[i].id.name, as))
				return i;
		}
		if (ended->n < ended->max || as != name)
			break;
		as = OTHER_NAME;
	}
	snprintf(ended->processes[ended->n].id.name, sizeof(ended->processes[ended->n].id.name),
		 "%s", as);
	return ended->n++;
}

int ended_add(struct ended *ended, struct process_snap *p, const struct process_totals *totals)
{
	size_t i = entry_of(ended, p->id.name);
	struct process_snap *sum = &ended->processes[i];
	int r;

	if (!sum->begin_ns || p->begin_ns < sum->begin_ns)
		sum->begin_ns = p->begin_ns;
	sum->end_ns = p->end_ns;
	sum->details |= p->details;
	sum->goroutines |= p->goroutines;
	sum->incarnations += p->incarnations;
	counters_add(sum->cells, totals->cells, sizeof(sum->cells));
	counters_add(ended->totals[i].cells, totals->cells, sizeof(totals->cells));
	ended->totals[i].runtime_ns += totals->runtime_ns;
	ended->totals[i].run_delay_ns += totals->run_delay_ns;
	p->go.current = false;
	go_stats_add(&sum->go, &p->go);
	r = add_arrays(sum, p);
	process_snap_done(p);
	return r;
}

size_t ended_names(const struct ended *ended)
{
	return ended->n;
}

int ended_copy(const struct ended *ended, struct process_snap *ret_processes,
	       struct process_totals *ret_totals, size_t *n)
{
	for (size_t i = 0; i < ended->n; i++) {
		struct process_snap *to = &ret_processes[*n];
		const struct process_snap *from = &ended->processes[i];
		int r;

		*to = *from;
		to->calls = NULL;
		to->hists = NULL;
		to->call_hists = NULL;
		to->errors = NULL;
		to->foreign = NULL;
		to->threads = NULL;
		to->kinds = NULL;
		to->nr_kinds = 0;
		to->nr_call_hists = to->nr_errors = to->nr_foreign = to->nr_threads = 0;
		ret_totals[(*n)++] = ended->totals[i];
		r = add_arrays(to, from);
		if (r)
			return r;
	}
	return 0;
}
