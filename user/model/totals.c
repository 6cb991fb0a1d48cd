/* SPDX-License-Identifier: MIT */
/* Totals of a process from a snapshot. */
#include "user/model/totals.h"

#include <string.h>

/* More than the scheduler's clock and ours ever part (bpf/sched.bpf.h). */
#define RUN_DELAY_SLACK_NS 1000000ULL

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
	case RUN_UNKNOWN: /* new */
	case RUN_RUNNABLE:
		t->cells[CELL_WAIT_STAMPS] += open;
		if (c->wait_reason < NR_WAIT_REASONS) {
			t->cells[CELL_OFF_CPU + c->wait_reason] += open;
			t->open_wait_ns += open;
		}
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

/* A spell whose wake-up was not seen: the kernel's open wait is in it, the rest was blocked. */
static void add_unsplit(const struct thread_cell *c, u64 wait, struct process_totals *t)
{
	u64 waited = wait < c->unsplit_ns ? wait : c->unsplit_ns;

	t->cells[CELL_WAIT_STAMPS] += waited;
	t->cells[CELL_BLOCKED_STAMPS] += c->unsplit_ns - waited;
	if (c->reason < NR_REASONS)
		t->cells[CELL_OFF_CPU + c->reason] += c->unsplit_ns - waited;
}

/*
 * What run_delay grew by since the last charge, as far as it can be true (sched_cut_wait in
 * bpf/sched.bpf.h says why). It grows when a thread gets a CPU: of one that did not run since (@on
 * is 0) it is part of a sleep, and the wait that is open is known by our stamp.
 */
static u64 believable_wait(const struct thread_cell *c, u64 on, u64 wait)
{
	if (!on && (c->run_state == RUN_BLOCKED || c->run_state == RUN_RUNNABLE))
		return 0;
	if (c->run_state != RUN_RUNNING || c->unsplit_ns || wait <= c->waited_ns)
		return wait;
	if (c->flags & THREAD_SEEDED_WAIT)
		return c->waited_ns;
	if (c->wait_reason != REASON_PREEMPTED && wait - c->waited_ns > RUN_DELAY_SLACK_NS)
		return c->waited_ns;
	return wait;
}

static void add_counts(const struct task_record *rec, struct process_totals *t)
{
	const struct thread_cell *c = &rec->cell;
	const struct task_counts *k = &rec->counts, *had = &c->charged;
	u64 on = since(k->runtime_ns, had->runtime_ns);
	u64 wait = since(k->run_delay_ns, had->run_delay_ns);
	u64 system = c->sys_ns;

	wait = believable_wait(c, on, wait);
	if (c->nr != NO_CALL && c->run_state == RUN_RUNNING)
		system += since(rec->now_ns, c->sys_since_ns);
	if (system > on)
		system = on;
	t->cells[CELL_CPU + MODE_SYSTEM] += system;
	t->cells[CELL_CPU + MODE_USER] += on - system;
	t->runtime_ns += since(had->runtime_ns, c->base.runtime_ns) + on;
	if (c->wait_reason < NR_WAIT_REASONS)
		t->cells[CELL_OFF_CPU + c->wait_reason] += wait;
	add_unsplit(c, wait, t);
	t->cells[CELL_SWITCHES + SWITCH_VOLUNTARY] += since(k->nvcsw, had->nvcsw);
	t->cells[CELL_SWITCHES + SWITCH_INVOLUNTARY] += since(k->nivcsw, had->nivcsw);
	t->cells[CELL_PAGE_FAULTS] += since(k->faults, had->faults);
}

static void add_thread(const struct task_record *rec, struct process_totals *t)
{
	const struct thread_cell *c = &rec->cell;

	t->threads++;
	add_counts(rec, t);
	add_open_spell(rec, t);
	t->cells[CELL_THREAD_WALL] += since(rec->now_ns, c->begin_ns);
	t->open_enters += c->enters - c->exits;
	t->in_flight += c->nr != NO_CALL && !(c->flags & THREAD_SEEDED_CALL);
}

void totals_of_account(const struct process_snap *p, u32 account, u64 cells[NR_CELLS])
{
	struct process_totals t = { 0 };

	memcpy(t.cells, cells, sizeof(t.cells));
	for (size_t i = 0; i < p->nr_threads; i++) {
		if (p->threads[i].known && p->threads[i].cell.account == account)
			add_thread(&p->threads[i], &t);
	}
	memcpy(cells, t.cells, sizeof(t.cells));
}

/*
 * Time on the CPU by our stamps that the scheduler does not know: what is left of it when all by
 * which the two may part otherwise is taken off. A lower bound; so is the largest there ever was.
 */
static u64 steal_at_least(const struct process_snap *p, const struct process_totals *t)
{
	const u64 *c = t->cells;
	u64 cpu = c[CELL_CPU + MODE_USER] + c[CELL_CPU + MODE_SYSTEM];
	u64 switches = c[CELL_SWITCHES + SWITCH_VOLUNTARY] + c[CELL_SWITCHES + SWITCH_INVOLUNTARY];

	if (p->torn)
		return 0;
	return since(c[CELL_ON_STAMPS], cpu + cpu / 1000 + IDENTITY_SWITCH_NS * switches +
						BIRTH_NS * c[CELL_THREADS_BORN] +
						LOST_SWITCH_NS * c[CELL_LOST_SWITCHES] +
						TICK_NS * t->running + p->unsettled_ns);
}

void totals_of(const struct process_snap *p, struct process_totals *ret_totals)
{
	struct process_totals t = { 0 };
	u64 steal;

	memcpy(t.cells, p->cells, sizeof(t.cells));
	t.runtime_ns = p->cells[CELL_ENDED_RUNTIME];
	for (size_t i = 0; i < p->nr_threads; i++) {
		if (p->threads[i].known)
			add_thread(&p->threads[i], &t);
	}
	t.run_delay_ns = t.cells[CELL_OFF_CPU + REASON_RUN_QUEUE] +
			 t.cells[CELL_OFF_CPU + REASON_PREEMPTED] - t.open_wait_ns;
	steal = steal_at_least(p, &t);
	if (steal > t.cells[CELL_STEAL]) /* of several processes it is their sum already */
		t.cells[CELL_STEAL] = steal;
	*ret_totals = t;
}

/* Raise mode @mode of @now to what it was; the sum of the modes, the kernel's total, stays. */
static void floor_mode(const u64 *last, u64 *now, enum cpu_mode mode, enum cpu_mode other)
{
	u64 raise = since(last[mode], now[mode]);

	now[mode] += raise;
	now[other] = since(now[other], raise);
}

void totals_floor_cells(const u64 last[NR_CELLS], u64 now[NR_CELLS])
{
	/* How a run in progress divides is an estimate, how long it is is not: see CELL_CPU. */
	floor_mode(&last[CELL_CPU], &now[CELL_CPU], MODE_USER, MODE_SYSTEM);
	floor_mode(&last[CELL_CPU], &now[CELL_CPU], MODE_SYSTEM, MODE_USER);
	for (size_t i = 0; i < NR_CELLS; i++) {
		if (now[i] < last[i])
			now[i] = last[i];
	}
}

void totals_floor(const struct process_totals *last, struct process_totals *now)
{
	totals_floor_cells(last->cells, now->cells);
}
