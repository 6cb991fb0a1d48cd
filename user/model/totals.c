/* SPDX-License-Identifier: MIT */
/* Totals of a process from a snapshot. */
#include "user/model/totals.h"

#include <string.h>

/* Differences are taken after a comparison: a record can be torn by the CPU that writes it. */
static u64 since(u64 now, u64 then)
{
	return now > then ? now - then : 0;
}

static void add_open_spell(const struct task_record *rec, struct process_totals *t)
{
	const struct thread_cell *c = &rec->cell;
	u64 open = since(rec->now_ns, c->since_ns);

	switch (c->run_state) {
	case RUN_RUNNING:
		t->cells[CELL_ON_STAMPS] += open;
		t->running++;
		break;
	case RUN_RUNNABLE:
		t->cells[CELL_WAIT_STAMPS] += open;
		t->open_wait_ns += open;
		if (c->wait_reason < NR_WAIT_REASONS)
			t->cells[CELL_OFF_CPU + c->wait_reason] += open;
		break;
	case RUN_BLOCKED:
		t->cells[CELL_BLOCKED_STAMPS] += open;
		if (c->reason < NR_REASONS)
			t->cells[CELL_OFF_CPU + c->reason] += open;
		break;
	default:
		break;
	}
}

static void add_counts(const struct task_record *rec, struct process_totals *t)
{
	const struct thread_cell *c = &rec->cell;
	const struct task_counts *k = &rec->counts, *had = &c->charged;
	u64 on = since(k->runtime_ns, had->runtime_ns);
	u64 wait = since(k->run_delay_ns, had->run_delay_ns);
	u64 system = c->sys_ns;

	if (c->nr != NO_CALL && c->run_state == RUN_RUNNING)
		system += since(rec->now_ns, c->sys_since_ns);
	if (system > on)
		system = on;
	t->cells[CELL_CPU + MODE_SYSTEM] += system;
	t->cells[CELL_CPU + MODE_USER] += on - system;
	t->runtime_ns += since(had->runtime_ns, c->base.runtime_ns) + on;
	if (c->wait_reason < NR_WAIT_REASONS)
		t->cells[CELL_OFF_CPU + c->wait_reason] += wait;
	t->cells[CELL_SWITCHES + SWITCH_VOLUNTARY] += since(k->nvcsw, had->nvcsw);
	t->cells[CELL_SWITCHES + SWITCH_INVOLUNTARY] += since(k->nivcsw, had->nivcsw);
	t->cells[CELL_PAGE_FAULTS] += since(k->faults, had->faults);
}

void totals_of(const struct process_snap *p, struct process_totals *ret_totals)
{
	struct process_totals t = { 0 };

	memcpy(t.cells, p->cells, sizeof(t.cells));
	t.runtime_ns = p->cells[CELL_ENDED_RUNTIME];
	for (size_t i = 0; i < p->nr_threads; i++) {
		const struct task_record *rec = &p->threads[i];
		const struct thread_cell *c = &rec->cell;

		if (!rec->known)
			continue;
		t.threads++;
		add_counts(rec, &t);
		add_open_spell(rec, &t);
		t.cells[CELL_THREAD_WALL] += since(rec->now_ns, c->begin_ns);
		t.open_enters += c->enters - c->exits;
		t.in_flight += c->nr != NO_CALL && !(c->flags & THREAD_SEEDED_CALL);
	}
	t.run_delay_ns = t.cells[CELL_OFF_CPU + REASON_RUN_QUEUE] +
			 t.cells[CELL_OFF_CPU + REASON_PREEMPTED] - t.open_wait_ns;
	*ret_totals = t;
}

void totals_floor(const struct process_totals *last, struct process_totals *now)
{
	for (size_t i = 0; i < NR_CELLS; i++) {
		if (now->cells[i] < last->cells[i])
			now->cells[i] = last->cells[i];
	}
}
