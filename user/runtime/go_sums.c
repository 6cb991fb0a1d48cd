/* SPDX-License-Identifier: MIT */
/* Arithmetic of Go's allocator and collector, on copied bytes. */
#include "user/runtime/go_sums.h"

#include <string.h>

#include "user/runtime/runtime.h"

#define LARGEST_SMALL_BYTES 32768

_Static_assert(GO_SPAN_CLASSES == 2 * GO_SIZE_CLASSES, "each size with and without pointers");

/* Go src/runtime/mgcpacer.go. */
#define MIN_HEADROOM_BYTES (1ULL << 20)
#define HEADROOM_PERCENT   3
#define MIN_RUNWAY_BYTES   (64ULL << 10)

/* Where the members of heapStatsDelta go. */
static const struct delta_member {
	size_t at; /* in struct go_heap_sums */
	enum go_field field;
	u32 n;
} delta_members[] = {
#define MEMBER(field, member, n)                                                            \
	{                                                                                   \
		offsetof(struct go_heap_sums, member), GO_FIELD_HEAP_STATS_DELTA_##field, n \
	}
	MEMBER(RELEASED, released, 1),
	MEMBER(IN_HEAP, in_heap, 1),
	MEMBER(IN_STACKS, in_stacks, 1),
	MEMBER(IN_WORK_BUFS, in_work_bufs, 1),
	MEMBER(IN_PTR_SCALAR_BITS, in_ptr_scalar_bits, 1),
	MEMBER(TINY_ALLOC_COUNT, tiny_allocs, 1),
	MEMBER(LARGE_ALLOC, large_alloc_bytes, 1),
	MEMBER(LARGE_ALLOC_COUNT, large_allocs, 1),
	MEMBER(SMALL_ALLOC_COUNT, small_allocs, GO_SIZE_CLASSES),
	MEMBER(LARGE_FREE, large_free_bytes, 1),
	MEMBER(LARGE_FREE_COUNT, large_frees, 1),
	MEMBER(SMALL_FREE_COUNT, small_frees, GO_SIZE_CLASSES),
#undef MEMBER
};
#define NR_DELTA_MEMBERS (sizeof(delta_members) / sizeof(delta_members[0]))

/* Members may be negative in one generation: their sum is right all the same. */
static bool add_delta(const struct span *delta, const s32 *offsets, struct go_heap_sums *sums)
{
	for (size_t i = 0; i < NR_DELTA_MEMBERS; i++) {
		const struct delta_member *m = &delta_members[i];
		u64 *to = (u64 *)((u8 *)sums + m->at);
		s32 offset = offsets[m->field];

		if (offset < 0)
			continue; /* this version does not have it */
		for (u32 k = 0; k < m->n; k++) {
			u64 value;

			if (!span_u64_at(delta, (u64)offset + 8ULL * k, &value))
				return false;
			to[k] += value;
		}
	}
	return true;
}

static bool is_zero(const struct span *bytes)
{
	for (size_t i = 0; i < bytes->n; i++) {
		if (bytes->at[i])
			return false;
	}
	return true;
}

bool go_sums_of_heap(struct span memstats, const s32 *offsets, struct go_heap_sums *ret_sums)
{
	struct go_heap_sums sums = { 0 };
	s32 size = offsets[GO_FIELD_HEAP_STATS_DELTA_SIZE];
	s32 begin = offsets[GO_FIELD_MSTATS_HEAP_STATS];
	s32 gen_at = offsets[GO_FIELD_MSTATS_HEAP_STATS_GEN];
	u32 gen;

	if (size <= 0 || begin < 0 || gen_at < 0 || !span_u32_at(&memstats, (u64)gen_at, &gen) ||
	    gen >= GO_GENERATIONS)
		return false;
	for (u32 g = 0; g < GO_GENERATIONS; g++) {
		struct span delta;

		if (!span_slice(&memstats, (u64)begin + (u64)g * (u64)size, (u64)size, &delta) ||
		    !add_delta(&delta, offsets, &sums))
			return false;
		/* The generation to come is empty, but while the last one is added to this one. */
		if (g == (gen + 1) % GO_GENERATIONS && !is_zero(&delta))
			return false;
	}
	*ret_sums = sums;
	return true;
}

void go_sums_add_span(const struct go_cached_span *span, u32 heap_sweepgen,
		      const u16 class_bytes[GO_SIZE_CLASSES], struct go_cache_sums *sums)
{
	u32 class = span->index / 2;
	u32 age = span->sweepgen - heap_sweepgen;

	/* 1: cached before the sweep began, 3: since; everything else is no longer cached. */
	if (age != 1 && age != 3) {
		sums->moving++;
		return;
	}
	if (class >= GO_SIZE_CLASSES || span->span_class != span->index ||
	    span->slot_bytes != class_bytes[class] || span->allocated < span->allocated_before) {
		sums->wrong++;
		return;
	}
	sums->small_allocs[class] += span->allocated - span->allocated_before;
}

static u64 grown(u64 before, u64 after, bool *ret_down)
{
	if (after < before) {
		*ret_down = true;
		return 0;
	}
	return after - before;
}

u64 go_sums_between(const struct go_heap_sums *before, const struct go_heap_sums *after)
{
	bool down = false;
	u64 n = 0;

	n += grown(before->tiny_allocs, after->tiny_allocs, &down);
	n += grown(before->large_allocs, after->large_allocs, &down);
	n += grown(before->large_frees, after->large_frees, &down);
	for (size_t i = 0; i < GO_SIZE_CLASSES; i++) {
		n += grown(before->small_allocs[i], after->small_allocs[i], &down);
		n += grown(before->small_frees[i], after->small_frees[i], &down);
	}
	return down ? ~0ULL : n;
}

void go_sums_count(const struct go_heap_sums *heap, const struct go_cache_sums *caches,
		   const u16 class_bytes[GO_SIZE_CLASSES], struct go_counters *ret_counters)
{
	u64 tiny = heap->tiny_allocs + caches->tiny_allocs;
	struct go_counters c = { .allocated_objects = heap->large_allocs + tiny,
				 .allocated_bytes = heap->large_alloc_bytes,
				 .freed_objects = heap->large_frees + tiny,
				 .freed_bytes = heap->large_free_bytes };

	for (size_t i = 0; i < GO_SIZE_CLASSES; i++) {
		u64 allocs = heap->small_allocs[i] + caches->small_allocs[i];

		c.allocated_objects += allocs;
		c.allocated_bytes += allocs * class_bytes[i];
		c.freed_objects += heap->small_frees[i];
		c.freed_bytes += heap->small_frees[i] * class_bytes[i];
	}
	ret_counters->allocated_objects = c.allocated_objects;
	ret_counters->allocated_bytes = c.allocated_bytes;
	ret_counters->freed_objects = c.freed_objects;
	ret_counters->freed_bytes = c.freed_bytes;
}

static u64 limit_goal(const struct go_pacer *p)
{
	u64 non_heap = p->mapped_ready - p->heap_free - (p->total_alloc - p->total_free);
	u64 overage = p->mapped_ready > p->memory_limit ? p->mapped_ready - p->memory_limit : 0;
	u64 headroom = MIN_HEADROOM_BYTES;
	u64 goal;

	if (non_heap + overage >= p->memory_limit)
		return p->heap_marked;
	goal = p->memory_limit - (non_heap + overage);
	if (p->headroom_is_percent && goal / 100 * HEADROOM_PERCENT > headroom)
		headroom = goal / 100 * HEADROOM_PERCENT;
	goal = goal < headroom || goal - headroom < headroom ? headroom : goal - headroom;
	return goal < p->heap_marked ? p->heap_marked : goal;
}

/* --- durations --- */

/*
 * runtime.timeHistogram: @nr_octaves of 2^@part_bits counts, the first for all below 2^@first_bits
 * ns; then those below 0 and, in the later shape, those above.
 */
static const struct durations_shape {
	u32 bytes, nr_octaves, part_bits, first_bits;
	bool has_overflow;
} durations_shapes[] = {
	{ 8 * (45 * 16 + 1), 45, 4, 4, false },
	{ 8 * (40 * 4 + 2), 40, 2, 8, true },
};

/* The longest duration that is counted in part @i. */
static u64 part_end(const struct durations_shape *shape, u32 i)
{
	u32 octave = i >> shape->part_bits, part = i & ((1u << shape->part_bits) - 1);
	u64 base = octave ? 1ULL << (shape->first_bits + octave - 1) : 0;
	u64 width = (octave ? base : 1ULL << shape->first_bits) >> shape->part_bits;

	return base + (part + 1) * width - 1;
}

bool go_sums_durations(struct span image, u64 offset, u64 histogram_bytes, struct hist *ret_hist)
{
	const struct durations_shape *shape = durations_shapes;
	struct hist hist = { 0 };
	u64 count;
	u32 i, n;

	if (shape->bytes != histogram_bytes)
		shape++;
	if (shape->bytes != histogram_bytes)
		return false;
	n = shape->nr_octaves << shape->part_bits;
	for (i = 0; i < n; i++) {
		if (!span_u64_at(&image, offset + 8ULL * i, &count))
			return false;
		hist.counts[hist_bucket(part_end(shape, i))] += count;
	}
	/* Clocks that went back. */
	if (!span_u64_at(&image, offset + 8ULL * n, &count))
		return false;
	hist.counts[0] += count;
	if (shape->has_overflow) {
		if (!span_u64_at(&image, offset + 8ULL * (n + 1), &count))
			return false;
		hist.counts[NR_HIST_BUCKETS - 1] += count;
	}
	*ret_hist = hist;
	return true;
}

u64 go_sums_heap_goal(const struct go_pacer *pacer)
{
	u64 goal = pacer->percent_goal, by_limit = limit_goal(pacer);

	if (by_limit < goal)
		return by_limit;
	if (goal < pacer->sweep_trigger)
		goal = pacer->sweep_trigger;
	if (pacer->triggered != ~0ULL && goal < pacer->triggered + MIN_RUNWAY_BYTES)
		goal = pacer->triggered + MIN_RUNWAY_BYTES;
	return goal;
}

bool go_sums_classes_good(const u16 class_bytes[GO_SIZE_CLASSES])
{
	for (size_t i = 1; i < GO_SIZE_CLASSES; i++) {
		if (class_bytes[i] <= class_bytes[i - 1])
			return false;
	}
	return !class_bytes[0] && class_bytes[GO_SIZE_CLASSES - 1] == LARGEST_SMALL_BYTES;
}
