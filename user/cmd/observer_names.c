/* SPDX-License-Identifier: MIT */
/*
 * Under which name the observed processes are published: their own, or OTHER_NAME.
 *
 * A counter never goes down, and the sum over names is the sum over processes, whatever changes its
 * name. So what a process did while it was nameless stays with the others when it gets a name
 * (struct observed, base); a name that loses its series is added to them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "user/cmd/observer_impl.h"
#include "user/model/sums.h"

static u64 cpu_of(const struct process_totals *t)
{
	return t->cells[CELL_CPU + MODE_USER] + t->cells[CELL_CPU + MODE_SYSTEM];
}

static struct name_entry *name_of(struct observer *o, struct observed *p)
{
	if (!p->name) {
		p->name = names_find(o->names, p->id.name, o->config.label_pid ? p->id.pid : 0);
		if (p->name)
			p->name->users++;
	}
	return p->name;
}

/* What is counted elsewhere is no longer the process's. */
static void subtract_base(const struct observed *p, struct process_snap *snap,
			  struct process_totals *totals)
{
	const struct process_snap *base = p->base;

	if (!base)
		return;
	for (size_t i = 0; i < NR_CELLS; i++)
		totals->cells[i] -= base->cells[i]; /* totals never go down */
	snap->incarnations -= base->incarnations;
	snap->begin_ns = base->begin_ns;
	process_snap_subtract(snap, base);
}

/* What it did since it had a name last, or ever, belongs to the others for good. */
static int leave_to_others(struct observer *o, struct observed *p, const struct process_snap *snap,
			   const struct process_totals *totals)
{
	struct process_snap part = { .begin_ns = snap->begin_ns,
				     .incarnations = snap->incarnations,
				     .details = snap->details,
				     .named = snap->named };
	struct process_totals t = *totals;
	int r = process_snap_add(&part, snap);

	if (!r && !p->base) {
		p->base = calloc(1, sizeof(*p->base));
		r = p->base ? 0 : -ENOMEM;
	}
	if (!r) {
		subtract_base(p, &part, &t);
		r = process_snap_add(p->base, &part);
	}
	if (r) {
		process_snap_done(&part);
		return r;
	}
	counters_add(p->base->cells, t.cells, sizeof(p->base->cells));
	p->base->incarnations = snap->incarnations;
	p->base->begin_ns = snap->read_ns;
	return ended_add(o->ended, OTHER_NAME, &part, &t);
}

static int place(struct observer *o, struct observed *p, struct process_snap *snap,
		 struct process_totals *totals)
{
	bool shown = p->name && p->name->shown;
	int r = 0;

	/*
	 * Kinds cannot be left to others. Targets, whose names are pinned, need not; where a
	 * process that is none has them, and found no name, it stays among the others.
	 */
	if (p->placed && shown && !p->shown && !snap->nr_kinds)
		r = leave_to_others(o, p, snap, totals);
	if (!p->placed || !shown || !snap->nr_kinds)
		p->shown = shown;
	p->placed = true;
	subtract_base(p, snap, totals);
	if (p->shown)
		return r;
	memcpy(snap->id.name, OTHER_NAME, sizeof(OTHER_NAME));
	snap->id.pid = 0;
	return r;
}

static int exchange(struct observer *o)
{
	struct name_entry *in, *out;
	int r = 0;

	while (!r && names_exchange(o->names, &in, &out)) {
		if (out && !out->pid) /* with a pid it is of one that lives */
			r = ended_move(o->ended, out->text);
	}
	names_trim(o->names);
	return r;
}

int observer_place(struct observer *o, struct snapshot *snap, struct process_totals *totals)
{
	int r;

	for (size_t i = 0; i < o->nr_processes; i++)
		(void)name_of(o, &o->processes[i]);
	names_begin(o->names);
	for (size_t i = 0; i < o->nr_processes; i++) {
		struct name_entry *e = o->processes[i].name;

		if (!e)
			continue;
		e->cpu_ns += cpu_of(&totals[i]);
		e->pinned |= o->processes[i].target;
	}
	r = exchange(o);
	for (size_t i = 0; i < o->nr_processes; i++)
		r |= place(o, &o->processes[i], &snap->processes[i], &totals[i]);
	return r;
}

int observer_fold_in(struct observer *o, size_t i, struct process_snap *snap,
		     struct process_totals *totals)
{
	struct observed *p = &o->processes[i];
	struct name_entry *e = name_of(o, p);
	const char *name;

	/* Those that ended have no pid. */
	if (e && o->config.label_pid)
		e = names_find(o->names, p->id.name, 0);
	name = e && e->shown ? p->id.name : OTHER_NAME;
	subtract_base(p, snap, totals);
	if (e)
		e->ended_ns += cpu_of(totals);
	return ended_add(o->ended, name, snap, totals);
}

void observer_forget_name(struct observed *p)
{
	if (p->name)
		p->name->users--;
	p->name = NULL;
	if (p->base)
		process_snap_done(p->base);
	free(p->base);
	p->base = NULL;
}
