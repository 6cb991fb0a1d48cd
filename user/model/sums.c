/* SPDX-License-Identifier: MIT */
/* Arrays of processes, added up and subtracted. Pure. */
#include "user/model/sums.h"

#include <errno.h>
#include <stdlib.h>

#include "user/model/kinds.h"

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

static int add_gc(struct process_snap *sum, const struct process_snap *p)
{
	if (!p->gc)
		return 0;
	if (!sum->gc)
		sum->gc = calloc(1, sizeof(*sum->gc));
	if (!sum->gc)
		return -ENOMEM;
	go_gc_add(sum->gc, p->gc);
	return 0;
}

int process_snap_add(struct process_snap *sum, const struct process_snap *p)
{
	int r = add_details(sum, p);

	for (size_t i = 0; i < p->nr_call_hists && !r; i++)
		r = add_call_hist(sum, &p->call_hists[i]);
	for (size_t i = 0; i < p->nr_errors && !r; i++)
		r = error_counts_add(&sum->errors, &sum->nr_errors, &p->errors[i]);
	for (size_t i = 0; i < p->nr_foreign && !r; i++)
		r = foreign_counts_add(&sum->foreign, &sum->nr_foreign, &p->foreign[i]);
	if (!r)
		r = add_kinds(sum, p);
	return r ? r : add_gc(sum, p);
}

static u64 rest(u64 all, u64 part)
{
	return all > part ? all - part : 0;
}

static void subtract_foreign(struct process_snap *p, const struct foreign_count *part)
{
	for (size_t i = 0; i < p->nr_foreign; i++) {
		struct foreign_count *f = &p->foreign[i];
		u64 before = f->n;

		if (f->abi != part->abi || f->nr != part->nr)
			continue;
		f->n = rest(f->n, part->n);
		p->calls_elsewhere += before - f->n;
		return;
	}
}

static void subtract_u64s(u64 *all, const u64 *part, size_t bytes)
{
	for (size_t i = 0; i < bytes / sizeof(*all); i++)
		all[i] = rest(all[i], part[i]);
}

static void subtract_details(struct process_snap *p, const struct process_snap *part)
{
	for (size_t i = 0; i < NR_CALL_SLOTS && p->calls && part->calls; i++) {
		u64 before = p->calls[i];

		p->calls[i] = rest(before, part->calls[i]);
		p->calls_elsewhere += before - p->calls[i];
	}
	if (p->hists && part->hists)
		subtract_u64s((u64 *)p->hists, (const u64 *)part->hists, sizeof(*p->hists));
	for (size_t k = 0; k < part->nr_call_hists; k++) {
		for (size_t i = 0; i < p->nr_call_hists; i++) {
			struct call_hist *h = &p->call_hists[i];

			if (h->nr == part->call_hists[k].nr)
				subtract_u64s((u64 *)&h->hist,
					      (const u64 *)&part->call_hists[k].hist,
					      sizeof(h->hist));
		}
	}
}

void process_snap_subtract(struct process_snap *p, const struct process_snap *part)
{
	subtract_details(p, part);
	for (size_t k = 0; k < part->nr_errors; k++) {
		const struct error_count *less = &part->errors[k];

		for (size_t i = 0; i < p->nr_errors; i++) {
			struct error_count *e = &p->errors[i];

			if (e->kind == less->kind && e->id == less->id && e->code == less->code)
				e->n = rest(e->n, less->n);
		}
	}
	for (size_t k = 0; k < part->nr_foreign; k++)
		subtract_foreign(p, &part->foreign[k]);
}
