/* SPDX-License-Identifier: MIT */
/*
 * Arithmetic of Go's allocator and collector, on bytes that were copied out of a process. Pure: it
 * reads no process, and takes no byte for true without a bound.
 *
 * Source: Go src/runtime/mstats.go (readmemstats_m, heapStatsDelta, consistentHeapStats), mcache.go
 * (refill, releaseAll), mgcpacer.go (heapGoalInternal, memoryLimitHeapGoal), of Go 1.19 to 1.27.
 */
#ifndef SKYOBSERVE_RUNTIME_GO_SUMS_H
#define SKYOBSERVE_RUNTIME_GO_SUMS_H

#include <stddef.h>

#include "user/base/span.h"
#include "user/model/go_stats.h"

/* The same in all versions from 1.16 on; checked against the process. */
#define GO_SIZE_CLASSES 68
#define GO_SPAN_CLASSES 136U /* with and without pointers */
#define GO_GENERATIONS	3

/* runtime.heapStatsDelta, over all generations. */
struct go_heap_sums {
	u64 released, in_heap, in_stacks, in_work_bufs, in_ptr_scalar_bits;
	u64 tiny_allocs;
	u64 large_alloc_bytes, large_allocs, small_allocs[GO_SIZE_CLASSES];
	u64 large_free_bytes, large_frees, small_frees[GO_SIZE_CLASSES];
};

/* What was allocated from spans that are cached, and is not in the sums yet. */
struct go_cache_sums {
	u64 tiny_allocs;
	u64 small_allocs[GO_SIZE_CLASSES];
	u32 moving; /* spans and caches that were on their way to the sums: counted as nothing */
	u32 wrong;  /* spans that are not what their place says */
};

/* A cached span as it was read; @index is its place in mcache.alloc. */
struct go_cached_span {
	u32 index;
	u32 sweepgen;
	u32 allocated, allocated_before; /* slots now, and when it was cached */
	u32 span_class;
	u64 slot_bytes;
};

/*
 * Sum up consistentHeapStats at @memstats (runtime.memstats from its beginning) by the offsets of a
 * layout. False if there are too few bytes, or the generations are being merged at this moment, so
 * that some are there twice.
 */
bool go_sums_of_heap(struct span memstats, const s32 *offsets, struct go_heap_sums *ret_sums);

/*
 * Add a span that a cache holds. One that is leaving the cache (its sweepgen says so,
 * @heap_sweepgen is that of the heap) may be in the sums already and adds nothing: the total is
 * never too high.
 */
void go_sums_add_span(const struct go_cached_span *span, u32 heap_sweepgen,
		      const u16 class_bytes[GO_SIZE_CLASSES], struct go_cache_sums *sums);

/*
 * Events by which two readings of the sums differ, ~0 if one of them went down: what can be missing
 * in a total of the first one and caches that were read in between.
 */
u64 go_sums_between(const struct go_heap_sums *before, const struct go_heap_sums *after);

/* The first four counters: what ReadMemStats would say. */
void go_sums_count(const struct go_heap_sums *heap, const struct go_cache_sums *caches,
		   const u16 class_bytes[GO_SIZE_CLASSES], struct go_counters *ret_counters);

/*
 * Put runtime.timeHistogram at @offset of @image into our buckets, which are unions of its own:
 * exact, but for a duration of just a bound's length. @histogram_bytes, the size of the type, tells
 * which of its two shapes it is. Without a sum. False if it is none of them, or not all there.
 *
 * Source: Go src/runtime/histogram.go: 16 parts an octave up to Go 1.19, then 4.
 */
bool go_sums_durations(struct span image, u64 offset, u64 histogram_bytes, struct hist *ret_hist);

/* Members of gcControllerState that the heap goal is made from. */
struct go_pacer {
	u64 percent_goal, sweep_trigger, triggered, heap_marked;
	u64 heap_free, total_alloc, total_free, mapped_ready;
	u64 memory_limit;
	bool headroom_is_percent; /* Go 1.21 and later */
};

u64 go_sums_heap_goal(const struct go_pacer *pacer);

/* Sizes of the classes begin with 0, grow, and end with 32 KiB. */
bool go_sums_classes_good(const u16 class_bytes[GO_SIZE_CLASSES]);

#endif /* SKYOBSERVE_RUNTIME_GO_SUMS_H */
