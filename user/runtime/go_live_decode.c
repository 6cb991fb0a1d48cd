/* SPDX-License-Identifier: MIT */
/* What the copied variables of Go's runtime say, and the plan of where they are. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "user/runtime/go_impl.h"
#include "user/runtime/go_live_impl.h"

/* The largest of the tested versions has 13,512 bytes. */
#define MAX_VARIABLE_BYTES 65536

static const enum go_data needed_data[] = {
	GO_DATA_MEMSTATS,   GO_DATA_MHEAP,	GO_DATA_GC_CONTROLLER,
	GO_DATA_SCHED,	    GO_DATA_ALLP,	GO_DATA_ALLGLEN,
	GO_DATA_GOMAXPROCS, GO_DATA_EMPTYMSPAN, GO_DATA_CLASS_TO_SIZE,
};

/* Without one of them nothing is read. */
static const enum go_field needed_fields[] = {
	GO_FIELD_P_ID,
	GO_FIELD_P_STATS_SEQ,
	GO_FIELD_P_MCACHE,
	GO_FIELD_MCACHE_TINY_ALLOCS,
	GO_FIELD_MCACHE_ALLOC,
	GO_FIELD_MSPAN_SWEEPGEN,
	GO_FIELD_MSPAN_ALLOC_COUNT,
	GO_FIELD_MSPAN_SPANCLASS,
	GO_FIELD_MSPAN_ALLOC_COUNT_BEFORE_CACHE,
	GO_FIELD_MSPAN_ELEMSIZE,
	GO_FIELD_MSTATS_SIZE,
	GO_FIELD_MSTATS_HEAP_STATS,
	GO_FIELD_MSTATS_HEAP_STATS_GEN,
	GO_FIELD_MSTATS_NUMGC,
	GO_FIELD_MSTATS_NUMFORCEDGC,
	GO_FIELD_MSTATS_STACKS_SYS,
	GO_FIELD_MSTATS_MSPAN_SYS,
	GO_FIELD_MSTATS_MCACHE_SYS,
	GO_FIELD_MSTATS_BUCKHASH_SYS,
	GO_FIELD_MSTATS_GC_MISC_SYS,
	GO_FIELD_MSTATS_OTHER_SYS,
	GO_FIELD_HEAP_STATS_DELTA_SIZE,
	GO_FIELD_HEAP_STATS_DELTA_RELEASED,
	GO_FIELD_HEAP_STATS_DELTA_IN_HEAP,
	GO_FIELD_HEAP_STATS_DELTA_IN_STACKS,
	GO_FIELD_HEAP_STATS_DELTA_IN_WORK_BUFS,
	GO_FIELD_HEAP_STATS_DELTA_TINY_ALLOC_COUNT,
	GO_FIELD_HEAP_STATS_DELTA_LARGE_ALLOC,
	GO_FIELD_HEAP_STATS_DELTA_LARGE_ALLOC_COUNT,
	GO_FIELD_HEAP_STATS_DELTA_SMALL_ALLOC_COUNT,
	GO_FIELD_HEAP_STATS_DELTA_LARGE_FREE,
	GO_FIELD_HEAP_STATS_DELTA_LARGE_FREE_COUNT,
	GO_FIELD_HEAP_STATS_DELTA_SMALL_FREE_COUNT,
	GO_FIELD_GC_CONTROLLER_STATE_SIZE,
	GO_FIELD_GC_CONTROLLER_STATE_GC_PERCENT,
	GO_FIELD_GC_CONTROLLER_STATE_MEMORY_LIMIT,
	GO_FIELD_GC_CONTROLLER_STATE_TRIGGERED,
	GO_FIELD_GC_CONTROLLER_STATE_SWEEP_DIST_MIN_TRIGGER,
	GO_FIELD_GC_CONTROLLER_STATE_GC_PERCENT_HEAP_GOAL,
	GO_FIELD_GC_CONTROLLER_STATE_HEAP_LIVE,
	GO_FIELD_GC_CONTROLLER_STATE_HEAP_MARKED,
	GO_FIELD_GC_CONTROLLER_STATE_HEAP_IN_USE,
	GO_FIELD_GC_CONTROLLER_STATE_HEAP_RELEASED,
	GO_FIELD_GC_CONTROLLER_STATE_HEAP_FREE,
	GO_FIELD_GC_CONTROLLER_STATE_TOTAL_FREE,
	GO_FIELD_GC_CONTROLLER_STATE_MAPPED_READY,
	GO_FIELD_SCHEDT_NGSYS,
	GO_FIELD_MHEAP_SWEEPGEN,
};

/* Free goroutines, by version. */
static const enum go_field free_lists[2][3] = {
	{ GO_FIELD_P_G_FREE_N, GO_FIELD_SCHEDT_G_FREE_N, GO_FIELD_SCHEDT_G_FREE_N },
	{ GO_FIELD_P_G_FREE_SIZE, GO_FIELD_SCHEDT_G_FREE_STACK_SIZE,
	  GO_FIELD_SCHEDT_G_FREE_NO_STACK_SIZE },
};

static const enum go_field cpu_fields[NR_GO_CPU_CLASSES] = {
	[GO_CPU_GC_MARK_ASSIST] = GO_FIELD_CPU_STATS_GC_ASSIST_TIME,
	[GO_CPU_GC_MARK_DEDICATED] = GO_FIELD_CPU_STATS_GC_DEDICATED_TIME,
	[GO_CPU_GC_MARK_IDLE] = GO_FIELD_CPU_STATS_GC_IDLE_TIME,
	[GO_CPU_GC_PAUSE] = GO_FIELD_CPU_STATS_GC_PAUSE_TIME,
	[GO_CPU_SCAVENGE_ASSIST] = GO_FIELD_CPU_STATS_SCAVENGE_ASSIST_TIME,
	[GO_CPU_SCAVENGE_BACKGROUND] = GO_FIELD_CPU_STATS_SCAVENGE_BG_TIME,
	[GO_CPU_IDLE] = GO_FIELD_CPU_STATS_IDLE_TIME,
	[GO_CPU_USER] = GO_FIELD_CPU_STATS_USER_TIME,
};

/* --- the plan --- */

static int check_version(const struct target *target, struct err *err)
{
	const struct go_target *go = &target->go;
	struct go_version version = { 0 };

	if (go->layout == TARGET_LAYOUT_NONE)
		return err_set(err, -ENOTSUP, "%.150s", go->layout_why);
	if (!go_version_parse(go->version_text, &version))
		return err_set(err, -ENOTSUP, "its Go version is not known");
	/* DWARF says where members are, not what they mean. */
	if (go_layout_tested(&version) == GO_UNTESTED)
		return err_set(err, -ENOTSUP, "%.60s has not been tested", go->version_text);
	return 0;
}

static int check_fields(const struct go_live_plan *plan, struct err *err)
{
	const s32 *at = plan->offsets;
	const enum go_field *lists = free_lists[plan->minor >= 25];

	for (size_t i = 0; i < sizeof(needed_fields) / sizeof(needed_fields[0]); i++) {
		const struct go_field_name *name = &go_field_names[needed_fields[i]];

		if (at[needed_fields[i]] < 0)
			return err_set(err, -ENOTSUP, "it has no known offset of %s.%s", name->type,
				       name->member);
	}
	for (size_t i = 0; i < 3; i++) {
		if (at[lists[i]] < 0)
			return err_set(err, -ENOTSUP, "it has no known offset of %s.%s",
				       go_field_names[lists[i]].type,
				       go_field_names[lists[i]].member);
	}
	if (at[GO_FIELD_HEAP_STATS_DELTA_LARGE_FREE] -
			    at[GO_FIELD_HEAP_STATS_DELTA_SMALL_ALLOC_COUNT] !=
		    8 * GO_SIZE_CLASSES ||
	    at[GO_FIELD_MCACHE_ALLOC_1] - at[GO_FIELD_MCACHE_ALLOC] != 8 ||
	    at[GO_FIELD_MSTATS_HEAP_STATS_GEN] - at[GO_FIELD_MSTATS_HEAP_STATS] !=
		    GO_GENERATIONS * at[GO_FIELD_HEAP_STATS_DELTA_SIZE])
		return err_set(err, -ENOTSUP, "its statistics have another shape than was tested");
	return 0;
}

int go_live_plan(const struct target *target, struct go_live_plan *ret_plan, struct err *err)
{
	const struct go_target *go = &target->go;
	struct go_live_plan plan = { .base_vaddr = target->file.base_vaddr,
				     .pie = target->file.pie,
				     .minor = go->minor };
	int r;

	if (strcmp(target->runtime, runtime_go.name) != 0)
		return err_set(err, -ENOENT, "it is not a Go program");
	r = check_version(target, err);
	if (r)
		return r;
	for (size_t i = 0; i < sizeof(needed_data) / sizeof(needed_data[0]); i++) {
		const struct target_variable *v = &go->variables[needed_data[i]];

		if (v->found == TARGET_NOT_FOUND)
			return err_set(err, -ENOTSUP, "%s: %.120s", go_data_names[needed_data[i]],
				       v->why);
		plan.vaddrs[needed_data[i]] = v->vaddr;
	}
	plan.vaddrs[GO_DATA_WORK] = go->variables[GO_DATA_WORK].vaddr; /* 0: not found */
	memcpy(plan.offsets, go->offsets, sizeof(plan.offsets));
	r = check_fields(&plan, err);
	if (r)
		return r;
	*ret_plan = plan;
	return 0;
}

/* --- sizes --- */

static size_t end_of(const struct go_live *live, enum go_field field, size_t n)
{
	s32 at = live->plan.offsets[field];

	return at < 0 ? 0 : (size_t)at + n;
}

static size_t larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

static int room_for(struct go_globals *g, const struct go_live *live, struct err *err)
{
	g->memstats = calloc(1, live->memstats_bytes);
	g->controller = calloc(1, live->controller_bytes);
	g->sched = calloc(1, live->sched_bytes);
	if (!g->memstats || !g->controller || !g->sched)
		return err_set(err, -ENOMEM, "no memory for a Go program");
	return 0;
}

/* CPU time is not needed: a program without it has the rest. */
static void find_cpu(struct go_live *live)
{
	const s32 *at = live->plan.offsets;
	s32 bytes = at[GO_FIELD_CPU_STATS_SIZE];
	bool known = live->plan.vaddrs[GO_DATA_WORK] && at[GO_FIELD_WORK_TYPE_CPU_STATS] >= 0 &&
		     bytes > 0 && bytes <= GO_CPU_BYTES;

	for (size_t i = 0; i < NR_GO_CPU_CLASSES && known; i++)
		known = at[cpu_fields[i]] >= 0;
	live->cpu_bytes = known ? (size_t)bytes : 0;
}

/* Pauses are not needed either. From Go 1.22 on they are in runtime.sched, before in its memstats.
 */
static enum go_field pauses_field(const struct go_live *live)
{
	return live->plan.minor >= 22 ? GO_FIELD_SCHEDT_STW_TOTAL_TIME_GC
				      : GO_FIELD_MSTATS_GC_PAUSE_DIST;
}

static void find_pauses(struct go_live *live)
{
	const s32 *at = live->plan.offsets;
	enum go_field field = pauses_field(live);
	s32 bytes = at[GO_FIELD_TIME_HISTOGRAM_SIZE];

	live->pause_histogram_bytes = 0;
	if (bytes <= 0 || at[field] < 0 || at[GO_FIELD_MSTATS_PAUSE_TOTAL_NS] < 0)
		return;
	live->pause_histogram_bytes = (u64)bytes;
	if (field == GO_FIELD_SCHEDT_STW_TOTAL_TIME_GC)
		live->sched_bytes = larger(live->sched_bytes, end_of(live, field, (size_t)bytes));
}

int go_live_sizes(struct go_live *live, struct err *err)
{
	const enum go_field *lists = free_lists[live->plan.minor >= 25];
	size_t span_begin = end_of(live, GO_FIELD_MSPAN_SWEEPGEN, 0);
	size_t span_end = end_of(live, GO_FIELD_MSPAN_ELEMSIZE, 8);

	find_cpu(live);
	live->memstats_bytes = end_of(live, GO_FIELD_MSTATS_SIZE, 0);
	live->controller_bytes = end_of(live, GO_FIELD_GC_CONTROLLER_STATE_SIZE, 0);
	live->sched_bytes = larger(end_of(live, GO_FIELD_SCHEDT_NGSYS, 4),
				   larger(end_of(live, lists[1], 4), end_of(live, lists[2], 4)));
	find_pauses(live);
	live->span_bytes = span_end > span_begin ? span_end - span_begin : 0;
	if (!live->memstats_bytes || live->memstats_bytes > MAX_VARIABLE_BYTES ||
	    !live->controller_bytes || live->controller_bytes > MAX_VARIABLE_BYTES ||
	    !live->sched_bytes || live->sched_bytes > MAX_VARIABLE_BYTES || !live->span_bytes ||
	    live->span_bytes > GO_SPAN_BYTES)
		return err_set(err, -EBADMSG, "its statistics have another shape than was tested");
	return room_for(&live->before, live, err) ?: room_for(&live->after, live, err);
}

/* --- decoding --- */

/* 0 where there is nothing: the plan has shown that what is needed is there. */
static u64 u64_of(const struct span *image, s32 offset)
{
	u64 value = 0;

	if (offset < 0 || !span_u64_at(image, (u64)offset, &value))
		return 0;
	return value;
}

static u32 u32_of(const struct span *image, s32 offset)
{
	u32 value = 0;

	if (offset < 0 || !span_u32_at(image, (u64)offset, &value))
		return 0;
	return value;
}

struct span go_live_memstats(const struct go_live *live, const struct go_globals *globals)
{
	return (struct span){ globals->memstats, live->memstats_bytes };
}

void go_live_decode_span(const struct go_live *live, const struct go_span_copy *copy,
			 struct go_cached_span *ret_span)
{
	const struct span image = { copy->bytes, live->span_bytes };
	const s32 *at = live->plan.offsets;
	s32 from = at[GO_FIELD_MSPAN_SWEEPGEN];
	s32 before = at[GO_FIELD_MSPAN_ALLOC_COUNT_BEFORE_CACHE] - from;
	u8 span_class = 0;

	(void)span_u8_at(&image, (u64)(at[GO_FIELD_MSPAN_SPANCLASS] - from), &span_class);
	*ret_span = (struct go_cached_span){
		.index = copy->index,
		.sweepgen = u32_of(&image, 0),
		.allocated = u32_of(&image, at[GO_FIELD_MSPAN_ALLOC_COUNT] - from) & 0xffff,
		.allocated_before = u32_of(&image, before) & 0xffff,
		.span_class = span_class,
		.slot_bytes = u64_of(&image, at[GO_FIELD_MSPAN_ELEMSIZE] - from),
	};
}

/* ReadMemStats flushes the caches into totalAlloc first, which is then @allocated_bytes. */
static u64 heap_goal(const struct go_live *live, const struct span *gc, u64 allocated_bytes)
{
	const s32 *at = live->plan.offsets;
	struct go_pacer pacer = {
		.percent_goal = u64_of(gc, at[GO_FIELD_GC_CONTROLLER_STATE_GC_PERCENT_HEAP_GOAL]),
		.sweep_trigger =
			u64_of(gc, at[GO_FIELD_GC_CONTROLLER_STATE_SWEEP_DIST_MIN_TRIGGER]),
		.triggered = u64_of(gc, at[GO_FIELD_GC_CONTROLLER_STATE_TRIGGERED]),
		.heap_marked = u64_of(gc, at[GO_FIELD_GC_CONTROLLER_STATE_HEAP_MARKED]),
		.heap_free = u64_of(gc, at[GO_FIELD_GC_CONTROLLER_STATE_HEAP_FREE]),
		.total_alloc = allocated_bytes,
		.total_free = u64_of(gc, at[GO_FIELD_GC_CONTROLLER_STATE_TOTAL_FREE]),
		.mapped_ready = u64_of(gc, at[GO_FIELD_GC_CONTROLLER_STATE_MAPPED_READY]),
		.memory_limit = u64_of(gc, at[GO_FIELD_GC_CONTROLLER_STATE_MEMORY_LIMIT]),
		.headroom_is_percent = live->plan.minor >= 21,
	};

	return go_sums_heap_goal(&pacer);
}

/* runtime.gcount. */
static u64 goroutines(const struct go_live *live, const struct go_globals *g)
{
	const struct span sched = { g->sched, live->sched_bytes };
	const enum go_field *lists = free_lists[live->plan.minor >= 25];
	const s32 *at = live->plan.offsets;
	s64 n = (s64)(g->nr_all_gs & 0xffffffff);

	n -= (s32)u32_of(&sched, at[GO_FIELD_SCHEDT_NGSYS]);
	n -= (s32)u32_of(&sched, at[lists[1]]);
	if (lists[2] != lists[1])
		n -= (s32)u32_of(&sched, at[lists[2]]);
	for (u32 i = 0; i < g->allp.n; i++)
		n -= (s32)live->procs[i].nr_free_gs;
	return n < 1 ? 1 : (u64)n;
}

/* As readmemstats_m adds up MemStats.Sys. */
static void memory_classes(const struct go_live *live, const struct span *gc,
			   const struct span *stats, const struct go_heap_sums *heap, u64 *ret)
{
	const s32 *at = live->plan.offsets;

	ret[GO_MEMORY_LIVE] = u64_of(gc, at[GO_FIELD_GC_CONTROLLER_STATE_HEAP_IN_USE]);
	ret[GO_MEMORY_FREE] = u64_of(gc, at[GO_FIELD_GC_CONTROLLER_STATE_HEAP_FREE]);
	ret[GO_MEMORY_RELEASED] = u64_of(gc, at[GO_FIELD_GC_CONTROLLER_STATE_HEAP_RELEASED]);
	ret[GO_MEMORY_STACKS] = heap->in_stacks + u64_of(stats, at[GO_FIELD_MSTATS_STACKS_SYS]);
	ret[GO_MEMORY_METADATA] = u64_of(stats, at[GO_FIELD_MSTATS_MSPAN_SYS]) +
				  u64_of(stats, at[GO_FIELD_MSTATS_MCACHE_SYS]) +
				  u64_of(stats, at[GO_FIELD_MSTATS_BUCKHASH_SYS]) +
				  u64_of(stats, at[GO_FIELD_MSTATS_GC_MISC_SYS]) +
				  heap->in_work_bufs + heap->in_ptr_scalar_bits;
	ret[GO_MEMORY_OTHER] = u64_of(stats, at[GO_FIELD_MSTATS_OTHER_SYS]);
}

/* As of the end of the last cycle; the world stands still while it is written. */
static void cpu_classes(const struct go_live *live, const struct go_globals *globals,
			struct go_counters *ret)
{
	const struct span cpu = { globals->cpu, live->cpu_bytes };
	const s32 *at = live->plan.offsets;

	ret->programs = 1;
	ret->cpu_known = live->cpu_bytes > 0;
	for (size_t i = 0; i < NR_GO_CPU_CLASSES && live->cpu_bytes; i++) {
		s64 ns = (s64)u64_of(&cpu, at[cpu_fields[i]]);

		ret->cpu_ns[i] = ns > 0 ? (u64)ns : 0;
	}
}

/* The sum is brought up to date at the end of a cycle; a pause is counted when it ends. */
static void pauses(const struct go_live *live, const struct go_globals *globals,
		   struct go_counters *ret)
{
	const struct span stats = go_live_memstats(live, globals);
	const struct span sched = { globals->sched, live->sched_bytes };
	enum go_field field = pauses_field(live);
	s32 at = live->plan.offsets[field];

	if (!live->pause_histogram_bytes ||
	    !go_sums_durations(field == GO_FIELD_MSTATS_GC_PAUSE_DIST ? stats : sched, (u64)at,
			       live->pause_histogram_bytes, &ret->pauses))
		return;
	ret->pauses_known = 1;
	ret->pauses.sum = u64_of(&stats, live->plan.offsets[GO_FIELD_MSTATS_PAUSE_TOTAL_NS]);
}

bool go_live_decode(const struct go_live *live, const struct go_globals *globals,
		    const struct go_heap_sums *heap, struct go_gauges *ret_gauges,
		    struct go_counters *ret_counters)
{
	const struct span gc = { globals->controller, live->controller_bytes };
	const struct span stats = go_live_memstats(live, globals);
	const s32 *at = live->plan.offsets;
	u32 cycles = u32_of(&stats, at[GO_FIELD_MSTATS_NUMGC]);
	u32 forced = u32_of(&stats, at[GO_FIELD_MSTATS_NUMFORCEDGC]);
	struct go_gauges g = {
		.heap_live_bytes = u64_of(&gc, at[GO_FIELD_GC_CONTROLLER_STATE_HEAP_LIVE]),
		.heap_goal_bytes = heap_goal(live, &gc, ret_counters->allocated_bytes),
		.goroutines = goroutines(live, globals),
		.max_procs = globals->max_procs,
		.memory_limit_bytes = u64_of(&gc, at[GO_FIELD_GC_CONTROLLER_STATE_MEMORY_LIMIT]),
		.gc_percent = (s32)u32_of(&gc, at[GO_FIELD_GC_CONTROLLER_STATE_GC_PERCENT]),
	};

	memory_classes(live, &gc, &stats, heap, g.memory_bytes);
	if (g.memory_bytes[GO_MEMORY_LIVE] != heap->in_heap ||
	    g.memory_bytes[GO_MEMORY_RELEASED] != heap->released)
		return false;
	*ret_gauges = g;
	cpu_classes(live, globals, ret_counters);
	pauses(live, globals, ret_counters);
	ret_counters->gc_cycles[GO_GC_FORCED] = forced;
	/* The runtime counts the cycle first. */
	ret_counters->gc_cycles[GO_GC_AUTOMATIC] = cycles > forced ? cycles - forced : 0;
	return true;
}
