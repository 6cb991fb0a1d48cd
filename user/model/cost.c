/* SPDX-License-Identifier: MIT */
/* Hits of probes and what they cost. */
#include "user/model/cost.h"

static const struct {
	enum probe_group group;
	const char *name;
} events[NR_COSTS] = {
#define COST(id, group, event, help) { GROUP_##group, event },
#include "user/model/costs.def"
#undef COST
};

void cost_count(const u64 cells[NR_CELLS], struct cost_hits *ret_hits)
{
	bool functions = cells[CELL_FUNCTION_ENTRIES] != 0; /* then no request is looked for */

	*ret_hits = (struct cost_hits){
		.n = {
			[COST_CALL] = cells[CELL_TRACED_CALLS],
			[COST_SWITCH] = cells[CELL_SWITCHES + SWITCH_VOLUNTARY] +
					cells[CELL_SWITCHES + SWITCH_INVOLUNTARY],
			[COST_LIFE] = cells[CELL_THREADS_BORN] + cells[CELL_THREADS_ENDED],
			[COST_URING] = cells[CELL_URING_HITS],
			[COST_OWNER] = cells[CELL_ASKED_CALLS],
			[COST_OWNER_THREAD] = cells[CELL_ASKED_THREADS],
			[COST_REQUEST] = functions ? 0 : cells[CELL_BEGUN],
			[COST_FUNCTION_ENTRY] = cells[CELL_FUNCTION_ENTRIES],
			[COST_FUNCTION_RETURN] = cells[CELL_FUNCTION_RETURNS],
			[COST_GC_ENTRY] = cells[CELL_GC_ENTRIES],
			[COST_GC_RETURN] = cells[CELL_GC_RETURNS],
			[COST_SIGNAL] = cells[CELL_SIGNAL_HITS],
		},
	};
}

void cost_by_group(const struct cost_hits *hits, const struct cost_prices *prices,
		   u64 ret_ns[NR_GROUPS])
{
	double ns[NR_GROUPS] = { 0 };

	for (u32 i = 0; i < NR_COSTS; i++)
		ns[events[i].group] += (double)hits->n[i] * prices->ns[i];
	for (u32 g = 0; g < NR_GROUPS; g++)
		ret_ns[g] = (u64)ns[g];
}

enum probe_group cost_group(enum cost_event event)
{
	return events[event].group;
}

const char *cost_name(enum cost_event event)
{
	return events[event].name;
}
