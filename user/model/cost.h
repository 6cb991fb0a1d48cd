/* SPDX-License-Identifier: MIT */
/*
 * What observing costs a target, predicted: how often its probes were hit, times what a hit costs
 * on this machine (user/cmd/calibrate.h measures it at the start). Pure.
 *
 * Hits are counts that are kept anyway. Not in it: what the whole machine pays for hooks that look
 * at everybody, and the observer's own CPU time.
 */
#ifndef SKYOBSERVE_MODEL_COST_H
#define SKYOBSERVE_MODEL_COST_H

#include <stdbool.h>

#include "families.h"
#include "types.h"

enum cost_event {
#define COST(id, group, event, help) COST_##id,
#include "user/model/costs.def"
#undef COST
	NR_COSTS
};

/* What one hit costs the target's CPU, ns. */
struct cost_prices {
	bool known; /* they were measured */
	double ns[NR_COSTS];
};

struct cost_hits {
	u64 n[NR_COSTS];
};

/* Hits of a process, or of several, since they are observed: what their totals (totals.h) say. */
void cost_count(const u64 cells[NR_CELLS], struct cost_hits *ret_hits);

/* ns by group, added up over the events of each. */
void cost_by_group(const struct cost_hits *hits, const struct cost_prices *prices,
		   u64 ret_ns[NR_GROUPS]);

/* The group that an event is paid for, and its name in labels. */
enum probe_group cost_group(enum cost_event event);
const char *cost_name(enum cost_event event);

#endif /* SKYOBSERVE_MODEL_COST_H */
