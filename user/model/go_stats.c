/* SPDX-License-Identifier: MIT */
/* Sums and floors of what Go's runtime says. */
#include "user/model/go_stats.h"

#include <stddef.h>

#define NR_COUNTERS (sizeof(struct go_counters) / sizeof(u64))

_Static_assert(sizeof(struct go_counters) % sizeof(u64) == 0, "counters are nothing but u64");

void go_counters_floor(const struct go_counters *last, struct go_counters *now)
{
	const u64 *had = (const u64 *)last;
	u64 *have = (u64 *)now;

	for (size_t i = 0; i < NR_COUNTERS; i++) {
		if (have[i] < had[i])
			have[i] = had[i];
	}
}

void go_counters_add(struct go_counters *sum, const struct go_counters *more)
{
	const u64 *from = (const u64 *)more;
	u64 *to = (u64 *)sum;

	for (size_t i = 0; i < NR_COUNTERS; i++)
		to[i] += from[i];
}

/* Goals and limits are near the largest number if there is none. */
static void add_bounded(u64 *sum, u64 more)
{
	*sum = *sum > ~0ULL - more ? ~0ULL : *sum + more;
}

static void add_gauges(struct go_gauges *sum, const struct go_gauges *more)
{
	add_bounded(&sum->heap_live_bytes, more->heap_live_bytes);
	add_bounded(&sum->heap_goal_bytes, more->heap_goal_bytes);
	add_bounded(&sum->goroutines, more->goroutines);
	add_bounded(&sum->max_procs, more->max_procs);
	if (more->memory_limit_bytes < sum->memory_limit_bytes)
		sum->memory_limit_bytes = more->memory_limit_bytes;
	if (more->gc_percent < sum->gc_percent)
		sum->gc_percent = more->gc_percent;
	for (size_t i = 0; i < NR_GO_MEMORY_CLASSES; i++)
		add_bounded(&sum->memory_bytes[i], more->memory_bytes[i]);
}

void go_gc_add(struct go_gc *sum, const struct go_gc *more)
{
	const u64 *from = (const u64 *)&more->cells;
	u64 *to = (u64 *)&sum->cells;

	sum->stops_known |= more->stops_known;
	sum->workers_known |= more->workers_known;
	for (size_t i = 0; i < sizeof(sum->cells) / sizeof(u64); i++)
		to[i] += from[i];
}

void go_stats_add(struct go_stats *sum, const struct go_stats *more)
{
	if (more->counted) {
		if (!sum->counted || more->begin_wall_ns < sum->begin_wall_ns)
			sum->begin_wall_ns = more->begin_wall_ns;
		go_counters_add(&sum->counters, &more->counters);
		sum->counted = true;
	}
	if (!more->current)
		return;
	if (sum->current)
		add_gauges(&sum->gauges, &more->gauges);
	else
		sum->gauges = more->gauges;
	sum->current = true;
}
