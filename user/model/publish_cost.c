/* SPDX-License-Identifier: MIT */
/* What observing costs, to families. */
#include "user/model/publish_impl.h"

/* Without a window that is over: since it is observed. */
static bool overhead_of(const struct merged *m, const u64 ns[NR_GROUPS], double *ret_ratio)
{
	u64 cost = m->window_cost_ns, cpu = m->window_cpu_ns;

	if (!cpu) {
		cpu = m->cells[CELL_CPU + MODE_USER] + m->cells[CELL_CPU + MODE_SYSTEM];
		cost = 0;
		for (u32 g = 0; g < NR_GROUPS; g++)
			cost += ns[g];
	}
	*ret_ratio = cpu ? (double)cost / (double)cpu : 0;
	return cpu != 0;
}

/* Groups that are down, or that hit nobody, have series once something was paid for them. */
void publish_cost(struct publication *pub)
{
	struct cost_hits hits;
	u64 ns[NR_GROUPS];
	double ratio;

	if (!pub->snap->prices.known)
		return;
	cost_count(pub->m->cells, &hits);
	cost_by_group(&hits, &pub->snap->prices, ns);
	for (u32 g = 0; g < NR_GROUPS; g++) {
		if (ns[g])
			label(pub, add_process(pub, FAM_OVERHEAD_SECONDS, VALUE_NS, ns[g]), "group",
			      publish_group_names[g]);
	}
	if (overhead_of(pub->m, ns, &ratio)) {
		struct sample *s = add_process(pub, FAM_OVERHEAD, VALUE_REAL, 0);

		s->real = ratio;
		label(pub, s, "method", "predicted");
	}
}

/* Of groups that are down nothing was measured. */
void publish_prices(struct publication *pub)
{
	for (u32 i = 0; i < NR_COSTS && pub->snap->prices.known; i++) {
		struct sample *s;

		if (!pub->snap->groups[cost_group(i)].up)
			continue;
		s = add_value(pub, FAM_PROBE_COST, VALUE_NS, (u64)pub->snap->prices.ns[i]);
		label(pub, s, "group", publish_group_names[cost_group(i)]);
		label(pub, s, "event", cost_name(i));
	}
}
