/* SPDX-License-Identifier: MIT */
/* Families of Go programs. */
#include "user/model/publish_impl.h"

static const char *const go_memory_names[NR_GO_MEMORY_CLASSES] = {
	[GO_MEMORY_LIVE] = "live",	   [GO_MEMORY_FREE] = "free",
	[GO_MEMORY_RELEASED] = "released", [GO_MEMORY_STACKS] = "stacks",
	[GO_MEMORY_METADATA] = "metadata", [GO_MEMORY_OTHER] = "other",
};
static const char *const go_cpu_names[NR_GO_CPU_CLASSES] = {
	"gc_mark_assist",  "gc_mark_dedicated",	  "gc_mark_idle", "gc_pause",
	"scavenge_assist", "scavenge_background", "idle",	  "user",
};
static const char *const stop_names[NR_STOP_REASONS] = {
#define STOP(id, label, help) label,
#include "stops.def"
#undef STOP
};
static const char *const worker_names[NR_GC_WORKERS] = { "dedicated", "fractional", "idle" };
static const char *const go_gc_names[NR_GO_GC_KINDS] = { "automatic", "forced" };

static void publish_go_gauges(struct publication *pub)
{
	const struct go_gauges *g = &pub->m->go.gauges;

	(void)add_process(pub, FAM_GO_HEAP_LIVE, VALUE_COUNT, g->heap_live_bytes);
	(void)add_process(pub, FAM_GO_HEAP_GOAL, VALUE_COUNT, g->heap_goal_bytes);
	(void)add_process(pub, FAM_GO_GOROUTINES, VALUE_COUNT, g->goroutines);
	(void)add_process(pub, FAM_GO_MAX_PROCS, VALUE_COUNT, g->max_procs);
	(void)add_process(pub, FAM_GO_MEMORY_LIMIT, VALUE_COUNT, g->memory_limit_bytes);
	add_process(pub, FAM_GO_GC_PERCENT, VALUE_REAL, 0)->real = (double)g->gc_percent;
	for (u32 i = 0; i < NR_GO_MEMORY_CLASSES; i++)
		label(pub, add_process(pub, FAM_GO_MEMORY, VALUE_COUNT, g->memory_bytes[i]),
		      "class", go_memory_names[i]);
}

/* They count since the program started, not since it is observed. */
static struct sample *add_go_sample(struct publication *pub, enum family_id id,
				    enum value_kind kind, u64 value)
{
	struct sample *s = add_process(pub, id, kind, value);

	s->created_wall_ns = pub->m->go.begin_wall_ns;
	return s;
}

/* Of processes that are probed, since they are. */
static void publish_stops(struct publication *pub, const struct go_gc_cells *c)
{
	for (u32 i = 0; i < NR_STOP_REASONS; i++) {
		struct sample *s = add_process(pub, FAM_GO_STOPS, VALUE_NS, 0);

		label(pub, s, "reason", stop_names[i]);
		add_hist_sample(pub, s, &c->stops[i]);
	}
}

static void publish_gc_cpu(struct publication *pub, const struct go_gc *gc)
{
	const u64 *worker = gc->cells.worker_cpu_ns;

	if (gc->workers_known) {
		label(pub,
		      add_process(pub, FAM_GO_GC_CPU, VALUE_NS,
				  worker[GC_WORKER_DEDICATED] + worker[GC_WORKER_FRACTIONAL]),
		      "phase", "mark");
		label(pub, add_process(pub, FAM_GO_GC_CPU, VALUE_NS, worker[GC_WORKER_IDLE]),
		      "phase", "mark_idle");
	}
	if (gc->stops_known)
		label(pub, add_process(pub, FAM_GO_GC_CPU, VALUE_NS, gc->cells.stop_cpu_ns),
		      "phase", "stop_the_world");
}

static void publish_gc(struct publication *pub)
{
	const struct go_gc *gc = &pub->m->gc;

	if (gc->stops_known)
		publish_stops(pub, &gc->cells);
	for (u32 i = 0; i < NR_GC_WORKERS && gc->workers_known; i++)
		label(pub, add_process(pub, FAM_GO_GC_WORKER, VALUE_NS, gc->cells.worker_ns[i]),
		      "mode", worker_names[i]);
	if (pub->snap->groups[GROUP_SCHED].up)
		publish_gc_cpu(pub, gc);
}

/* Counters stay when the process has ended; gauges do not. */
void publish_go(struct publication *pub)
{
	const struct go_counters *c = &pub->m->go.counters;

	publish_gc(pub);
	/* While the group is down, counters stay where they were. */
	if (!pub->m->go.counted)
		return;
	(void)add_go_sample(pub, FAM_GO_ALLOCATED_OBJECTS, VALUE_COUNT, c->allocated_objects);
	(void)add_go_sample(pub, FAM_GO_ALLOCATED_BYTES, VALUE_COUNT, c->allocated_bytes);
	(void)add_go_sample(pub, FAM_GO_FREED_OBJECTS, VALUE_COUNT, c->freed_objects);
	(void)add_go_sample(pub, FAM_GO_FREED_BYTES, VALUE_COUNT, c->freed_bytes);
	for (u32 i = 0; i < NR_GO_GC_KINDS; i++)
		label(pub, add_go_sample(pub, FAM_GO_GC_CYCLES, VALUE_COUNT, c->gc_cycles[i]),
		      "kind", go_gc_names[i]);
	/* A sum that one program is missing from is no sum. */
	if (c->pauses_known && c->pauses_known == c->programs)
		add_hist_sample(pub, add_go_sample(pub, FAM_GO_GC_PAUSE, VALUE_NS, 0), &c->pauses);
	for (u32 i = 0; i < NR_GO_CPU_CLASSES && c->cpu_known && c->cpu_known == c->programs; i++) {
		label(pub, add_go_sample(pub, FAM_GO_RUNTIME_CPU, VALUE_NS, c->cpu_ns[i]), "class",
		      go_cpu_names[i]);
	}
	if (pub->m->go.current)
		publish_go_gauges(pub);
}
