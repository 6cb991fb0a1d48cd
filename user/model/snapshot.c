/* SPDX-License-Identifier: MIT */
/* A snapshot as a plain value. */
#include "user/model/snapshot.h"

#include <errno.h>
#include <stdlib.h>

int process_snap_add_details(struct process_snap *p, bool hists)
{
	if (!p->calls)
		p->calls = calloc(NR_CALL_SLOTS, sizeof(*p->calls));
	if (hists && !p->hists)
		p->hists = calloc(1, sizeof(*p->hists));
	return p->calls && (p->hists || !hists) ? 0 : -ENOMEM;
}

void process_snap_done(struct process_snap *p)
{
	free(p->calls);
	free(p->hists);
	free(p->call_hists);
	free(p->errors);
	free(p->foreign);
	free(p->kinds);
	free(p->threads);
	free(p->gc);
	process_snap_forget(p);
}

void process_snap_forget(struct process_snap *p)
{
	p->calls = NULL;
	p->hists = NULL;
	p->call_hists = NULL;
	p->errors = NULL;
	p->foreign = NULL;
	p->kinds = NULL;
	p->threads = NULL;
	p->gc = NULL;
	p->nr_call_hists = p->nr_errors = p->nr_foreign = p->nr_kinds = p->nr_threads = 0;
}

int error_counts_add(struct error_count **at, size_t *n, const struct error_count *more)
{
	struct error_count *grown;

	for (size_t i = 0; i < *n; i++) {
		struct error_count *had = &(*at)[i];

		if (had->kind == more->kind && had->id == more->id && had->code == more->code) {
			had->n += more->n;
			return 0;
		}
	}
	grown = realloc(*at, (*n + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	*at = grown;
	grown[(*n)++] = *more;
	return 0;
}

int foreign_counts_add(struct foreign_count **at, size_t *n, const struct foreign_count *more)
{
	struct foreign_count *grown;

	for (size_t i = 0; i < *n; i++) {
		if ((*at)[i].abi == more->abi && (*at)[i].nr == more->nr) {
			(*at)[i].n += more->n;
			return 0;
		}
	}
	grown = realloc(*at, (*n + 1) * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	*at = grown;
	grown[(*n)++] = *more;
	return 0;
}

void snapshot_done(struct snapshot *snap)
{
	for (size_t i = 0; i < snap->nr_processes; i++)
		process_snap_done(&snap->processes[i]);
	arena_done(&snap->texts);
	free(snap->processes);
	free(snap->at_slot);
	free(snap->maps);
	free(snap->programs);
	*snap = (struct snapshot){ 0 };
}

void counters_add(void *sum, const void *more, size_t bytes)
{
	const u64 *from = more;
	u64 *to = sum;

	for (size_t i = 0; i < bytes / sizeof(u64); i++)
		to[i] += from[i];
}
