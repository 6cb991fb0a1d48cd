/* SPDX-License-Identifier: MIT */
/* Processes that ended, added up by name. */
#include "user/cmd/ended.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user/model/sums.h"

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

int ended_add(struct ended *ended, const char *name, struct process_snap *p,
	      const struct process_totals *totals)
{
	size_t i = entry_of(ended, name);
	struct process_snap *sum = &ended->processes[i];
	int r;

	if (!sum->begin_ns || p->begin_ns < sum->begin_ns)
		sum->begin_ns = p->begin_ns;
	sum->end_ns = p->end_ns;
	sum->details |= p->details;
	sum->named |= p->named;
	sum->goroutines |= p->goroutines;
	sum->incarnations += p->incarnations;
	counters_add(sum->cells, totals->cells, sizeof(sum->cells));
	counters_add(ended->totals[i].cells, totals->cells, sizeof(totals->cells));
	ended->totals[i].runtime_ns += totals->runtime_ns;
	ended->totals[i].run_delay_ns += totals->run_delay_ns;
	p->go.current = false;
	go_stats_add(&sum->go, &p->go);
	r = process_snap_add(sum, p);
	process_snap_done(p);
	return r;
}

int ended_move(struct ended *ended, const char *name)
{
	size_t last = ended->n - 1;
	int r;

	for (size_t i = 0; i < ended->n; i++) {
		struct process_snap *p = &ended->processes[i];
		struct process_snap moved = *p;
		struct process_totals totals = ended->totals[i];

		if (strcmp(p->id.name, name) != 0)
			continue;
		/* Its place is free before the other's is looked for. */
		*p = ended->processes[last];
		ended->totals[i] = ended->totals[last];
		ended->processes[last] = (struct process_snap){ 0 };
		ended->totals[last] = (struct process_totals){ 0 };
		ended->n--;
		r = ended_add(ended, OTHER_NAME, &moved, &totals);
		return r;
	}
	return 0;
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
		process_snap_forget(to);
		ret_totals[(*n)++] = ended->totals[i];
		r = process_snap_add(to, from);
		if (r)
			return r;
	}
	return 0;
}
