/* SPDX-License-Identifier: MIT */
/* What observing costs each process. */
#include "user/cmd/observer_cost.h"

#include <string.h>

/* Shorter windows say little: ticks and batches are as long. */
#define WINDOW_NS     (1 * NS_PER_SEC)
#define WINDOW_CPU_NS (10 * NS_PER_MS)

static u64 calls_of(const struct process_snap *p)
{
	u64 n = p->cells[CELL_SMALL_SYSCALLS] + p->calls_elsewhere;

	for (u32 i = 0; i < NR_CALL_SLOTS && p->calls; i++)
		n += p->calls[i];
	for (size_t i = 0; i < p->nr_foreign; i++)
		n += p->foreign[i].n;
	return n;
}

static void begin_window(struct observed_cost *cost, u64 now, u64 cpu, const u64 ns[NR_GROUPS])
{
	cost->begun = true;
	cost->window_begin_ns = now;
	cost->begin_cpu_ns = cpu;
	memcpy(cost->begin_ns, ns, sizeof(cost->begin_ns));
}

static void end_window(struct observed_cost *cost, u64 cpu, const u64 ns[NR_GROUPS])
{
	cost->windows++;
	cost->window_cpu_ns = cpu - cost->begin_cpu_ns;
	for (u32 g = 0; g < NR_GROUPS; g++)
		cost->window_ns[g] = ns[g] - cost->begin_ns[g];
}

void observed_cost_step(struct observed_cost *cost, const struct cost_prices *prices, bool asked,
			struct process_snap *snap, struct process_totals *totals)
{
	u64 calls = calls_of(snap), ns[NR_GROUPS];
	u64 cpu = totals->cells[CELL_CPU + MODE_USER] + totals->cells[CELL_CPU + MODE_SYSTEM];
	struct cost_hits hits;

	if (calls > cost->calls) {
		if (asked && snap->goroutines)
			cost->asked_calls += calls - cost->calls;
		else if (asked)
			cost->asked_threads += calls - cost->calls;
		cost->calls = calls;
	}
	totals->cells[CELL_TRACED_CALLS] = cost->calls;
	totals->cells[CELL_ASKED_CALLS] = cost->asked_calls;
	totals->cells[CELL_ASKED_THREADS] = cost->asked_threads;
	if (!prices->known)
		return;
	cost_count(totals->cells, &hits);
	cost_by_group(&hits, prices, ns);
	if (cost->begun && snap->read_ns - cost->window_begin_ns >= WINDOW_NS &&
	    cpu >= cost->begin_cpu_ns + WINDOW_CPU_NS) {
		end_window(cost, cpu, ns);
		cost->begun = false;
	}
	if (!cost->begun)
		begin_window(cost, snap->read_ns, cpu, ns);
	if (!snap->alive)
		return;
	snap->window_cpu_ns = cost->window_cpu_ns;
	for (u32 g = 0; g < NR_GROUPS; g++)
		snap->window_cost_ns += cost->window_ns[g];
}
