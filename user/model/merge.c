/* SPDX-License-Identifier: MIT */
/* All processes of one name, added up. */
#include "user/model/merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int add_flight(struct merged *m, const struct task_record *rec)
{
	const struct thread_cell *c = &rec->cell;
	u64 age = rec->now_ns > c->enter_ns ? rec->now_ns - c->enter_ns : 0;
	struct flight *grown;

	if (!rec->known || c->nr == NO_CALL)
		return 0;
	for (size_t i = 0; i < m->nr_flights; i++) {
		struct flight *f = &m->flights[i];

		if (f->abi != c->abi || f->nr != (u32)c->nr)
			continue;
		f->n++;
		if (age > f->oldest_ns)
			f->oldest_ns = age;
		return 0;
	}
	grown = realloc(m->flights, (m->nr_flights + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	m->flights = grown;
	grown[m->nr_flights++] = (struct flight){ c->abi, (u32)c->nr, 1, age };
	return 0;
}

static void add_identities(struct merged *m, const struct snapshot *snap,
			   const struct process_snap *p)
{
	struct identity ids[NR_IDENTITIES];
	struct process_totals as_they_are;

	/* A counter that was kept from going down (totals_floor) is no longer in the books. */
	totals_of(p, &as_they_are);
	identities_of(snap, p, &as_they_are, ids);
	for (size_t i = 0; i < NR_IDENTITIES; i++) {
		struct identity *sum = &m->identities[i];

		if (!ids[i].checked)
			continue;
		if (!sum->checked)
			m->identities_hold[i] = true;
		identity_add(sum, &ids[i]);
		m->identities_hold[i] &= identity_holds(&ids[i]);
	}
}

int merged_add(struct merged *m, const struct snapshot *snap, size_t i,
	       const struct process_totals *totals)
{
	const struct process_snap *p = &snap->processes[i];
	u64 begin = p->begin_ns + snap->wall_minus_mono_ns;
	int r = 0;

	if (!m->name) {
		m->begin_wall_ns = begin;
		m->name = p->id.name;
		m->pid = p->id.pid;
	}
	if (begin < m->begin_wall_ns)
		m->begin_wall_ns = begin;
	m->nr_processes += (u32)p->incarnations;
	m->nr_alive += p->alive;
	m->has_details |= p->details;
	m->has_names |= p->details || p->named;
	m->goroutines |= p->goroutines;
	m->nr_threads += totals->threads;
	counters_add(m->cells, totals->cells, sizeof(m->cells));
	if (p->calls)
		counters_add(m->calls, p->calls, sizeof(m->calls));
	m->has_calls |= p->calls != NULL;
	m->has_hists |= p->hists != NULL;
	if (p->hists)
		counters_add(&m->hists, p->hists, sizeof(m->hists));
	for (size_t k = 0; k < p->nr_call_hists; k++) {
		const struct call_hist *h = &p->call_hists[k];

		if (h->nr >= NR_CALL_SLOTS)
			continue;
		if (!m->has_call_hist[h->nr])
			m->call_hists[h->nr] = (struct hist){ 0 };
		counters_add(&m->call_hists[h->nr], &h->hist, sizeof(struct hist));
		m->has_call_hist[h->nr] = true;
	}
	for (size_t k = 0; k < p->nr_errors && !r; k++)
		r = error_counts_add(&m->errors, &m->nr_errors, &p->errors[k]);
	for (size_t k = 0; k < p->nr_foreign && !r; k++)
		r = foreign_counts_add(&m->foreign, &m->nr_foreign, &p->foreign[k]);
	if (!r)
		r = kinds_add(&m->kinds, p->kinds, p->nr_kinds);
	for (size_t k = 0; k < p->nr_threads && !r; k++)
		r = add_flight(m, &p->threads[k]);
	if (p->alive && p->books_now.valid) {
		m->resident_bytes += p->books_now.resident_bytes;
		m->has_resident = true;
	}
	m->window_cost_ns += p->window_cost_ns;
	m->window_cpu_ns += p->window_cpu_ns;
	go_stats_add(&m->go, &p->go);
	if (p->gc)
		go_gc_add(&m->gc, p->gc);
	if (i < snap->nr_counted) /* what was taken over was checked while it lived */
		add_identities(m, snap, p);
	return r;
}

void merged_clear(struct merged *m)
{
	free(m->errors);
	free(m->kinds.at);
	free(m->foreign);
	free(m->flights);
	if (m->has_calls)
		memset(m->calls, 0, sizeof(m->calls));
	if (m->has_hists)
		memset(&m->hists, 0, sizeof(m->hists));
	memset(m, 0, offsetof(struct merged, calls));
}
