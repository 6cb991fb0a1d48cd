/* SPDX-License-Identifier: MIT */
/* Arithmetic of Go's allocator and collector, on bytes and numbers that are made up. */
#include "tests/lib/check.h"

#include <string.h>

#include "user/runtime/go_sums.h"
#include "user/runtime/runtime.h"

#define MIB (1ULL << 20)

/* A layout as that of Go 1.26, and room for its three generations. */
#define DELTA_BYTES 1168
#define GEN_AT	    (GO_GENERATIONS * DELTA_BYTES)

static u8 memstats[GEN_AT + 8];
static s32 offsets[NR_GO_FIELDS];
static u16 class_bytes[GO_SIZE_CLASSES];

static void put(u32 generation, enum go_field field, u32 i, u64 value)
{
	memcpy(memstats + (size_t)generation * DELTA_BYTES + offsets[field] + 8ULL * i, &value,
	       sizeof(value));
}

static void begin(u32 gen)
{
	memset(memstats, 0, sizeof(memstats));
	memset(offsets, 0xff, sizeof(offsets));
	offsets[GO_FIELD_HEAP_STATS_DELTA_SIZE] = DELTA_BYTES;
	offsets[GO_FIELD_MSTATS_HEAP_STATS] = 0;
	offsets[GO_FIELD_MSTATS_HEAP_STATS_GEN] = GEN_AT;
	offsets[GO_FIELD_HEAP_STATS_DELTA_IN_HEAP] = 16;
	offsets[GO_FIELD_HEAP_STATS_DELTA_TINY_ALLOC_COUNT] = 40;
	offsets[GO_FIELD_HEAP_STATS_DELTA_LARGE_ALLOC] = 48;
	offsets[GO_FIELD_HEAP_STATS_DELTA_LARGE_ALLOC_COUNT] = 56;
	offsets[GO_FIELD_HEAP_STATS_DELTA_SMALL_ALLOC_COUNT] = 64;
	offsets[GO_FIELD_HEAP_STATS_DELTA_LARGE_FREE] = 608;
	offsets[GO_FIELD_HEAP_STATS_DELTA_LARGE_FREE_COUNT] = 616;
	offsets[GO_FIELD_HEAP_STATS_DELTA_SMALL_FREE_COUNT] = 624;
	memcpy(memstats + GEN_AT, &gen, sizeof(gen));
	for (u32 i = 0; i < GO_SIZE_CLASSES; i++)
		class_bytes[i] = (u16)(8 * i);
	class_bytes[GO_SIZE_CLASSES - 1] = 32768;
}

static bool sums(size_t n, struct go_heap_sums *ret_sums)
{
	const struct span image = { memstats, n };

	return go_sums_of_heap(image, offsets, ret_sums);
}

TEST(heap_is_the_sum_of_its_generations)
{
	struct go_heap_sums s;

	begin(0);
	put(0, GO_FIELD_HEAP_STATS_DELTA_SMALL_ALLOC_COUNT, 3, 5);
	put(2, GO_FIELD_HEAP_STATS_DELTA_SMALL_ALLOC_COUNT, 3, 7);
	put(2, GO_FIELD_HEAP_STATS_DELTA_SMALL_FREE_COUNT, 67, 9);
	put(0, GO_FIELD_HEAP_STATS_DELTA_IN_HEAP, 0, (u64)-8192);
	put(2, GO_FIELD_HEAP_STATS_DELTA_IN_HEAP, 0, 16384);
	CHECK(sums(sizeof(memstats), &s));
	CHECK_EQ_U64(s.small_allocs[3], 12);
	CHECK_EQ_U64(s.small_frees[67], 9);
	CHECK_EQ_U64(s.in_heap, 8192);
	CHECK_EQ_U64(s.in_work_bufs, 0); /* this layout does not have it */
}

TEST(heap_that_is_being_merged_is_no_measure)
{
	struct go_heap_sums s;

	for (u32 gen = 0; gen < GO_GENERATIONS; gen++) {
		begin(gen);
		put((gen + 1) % GO_GENERATIONS, GO_FIELD_HEAP_STATS_DELTA_LARGE_FREE, 0, 1);
		CHECK(!sums(sizeof(memstats), &s));
	}
}

TEST(heap_of_strange_bytes_is_refused)
{
	struct go_heap_sums s;

	begin(3); /* there is no such generation */
	CHECK(!sums(sizeof(memstats), &s));
	begin(0);
	for (size_t n = 0; n < GEN_AT + 4; n += 37)
		CHECK(!sums(n, &s));
	offsets[GO_FIELD_HEAP_STATS_DELTA_SMALL_FREE_COUNT] = DELTA_BYTES;
	CHECK(!sums(sizeof(memstats), &s));
}

/* --- spans --- */

static const struct go_cached_span good = { .index = 13,
					    .sweepgen = 43,
					    .allocated = 100,
					    .allocated_before = 30,
					    .span_class = 13,
					    .slot_bytes = 48 };

TEST(span_adds_what_was_taken_since_it_was_cached)
{
	struct go_cache_sums s = { 0 };

	begin(0);
	go_sums_add_span(&good, 40, class_bytes, &s); /* cached after the sweep began */
	go_sums_add_span(&good, 42, class_bytes, &s); /* before */
	CHECK_EQ_U64(s.small_allocs[6], 140);
	CHECK_EQ_U64(s.moving, 0);
	CHECK_EQ_U64(s.wrong, 0);
}

TEST(span_that_left_its_cache_adds_nothing)
{
	static const u32 sweepgens[] = { 0, 39, 41, 43, 44, ~0u };
	struct go_cache_sums s = { 0 };

	begin(0);
	for (size_t i = 0; i < sizeof(sweepgens) / sizeof(sweepgens[0]); i++)
		go_sums_add_span(&good, sweepgens[i], class_bytes, &s);
	CHECK_EQ_U64(s.small_allocs[6], 0);
	CHECK_EQ_U64(s.moving, 6);
}

TEST(span_that_contradicts_its_place_is_wrong)
{
	struct go_cached_span span[4] = { good, good, good, good };
	struct go_cache_sums s = { 0 };

	begin(0);
	span[0].span_class = 12;
	span[1].slot_bytes = 64;
	span[2].allocated_before = 101;
	span[3].index = span[3].span_class = 2 * GO_SIZE_CLASSES;
	for (int i = 0; i < 4; i++)
		go_sums_add_span(&span[i], 40, class_bytes, &s);
	CHECK_EQ_U64(s.wrong, 4);
	for (int i = 0; i < GO_SIZE_CLASSES; i++)
		CHECK_EQ_U64(s.small_allocs[i], 0);
}

/* --- totals --- */

TEST(between_two_readings_are_their_events)
{
	struct go_heap_sums a = { .tiny_allocs = 5 }, b = { .tiny_allocs = 7 };

	CHECK_EQ_U64(go_sums_between(&a, &a), 0);
	b.small_allocs[67] = 10;
	b.small_frees[1] = 100;
	b.large_allocs = 1000;
	CHECK_EQ_U64(go_sums_between(&a, &b), 1112);
	CHECK_EQ_U64(go_sums_between(&b, &a), ~0ULL);
}

TEST(counters_are_those_of_read_mem_stats)
{
	struct go_heap_sums heap = { .tiny_allocs = 100,
				     .large_alloc_bytes = 400000,
				     .large_allocs = 4,
				     .large_free_bytes = 100000,
				     .large_frees = 1 };
	struct go_cache_sums caches = { .tiny_allocs = 7 };
	struct go_counters c = { .gc_cycles = { 1, 2 } };

	begin(0);
	heap.small_allocs[2] = 10; /* of 16 bytes */
	heap.small_frees[2] = 3;
	caches.small_allocs[6] = 2; /* of 48 */
	go_sums_count(&heap, &caches, class_bytes, &c);
	CHECK_EQ_U64(c.allocated_objects, 107 + 4 + 10 + 2);
	CHECK_EQ_U64(c.allocated_bytes, 400000 + 160 + 96);
	CHECK_EQ_U64(c.freed_objects, 107 + 1 + 3);
	CHECK_EQ_U64(c.freed_bytes, 100000 + 48);
	CHECK_EQ_U64(c.gc_cycles[1], 2); /* not its business */
}

TEST(classes_of_go_and_others)
{
	begin(0);
	CHECK(go_sums_classes_good(class_bytes));
	class_bytes[5] = class_bytes[4];
	CHECK(!go_sums_classes_good(class_bytes));
	begin(0);
	class_bytes[GO_SIZE_CLASSES - 1] = 32767;
	CHECK(!go_sums_classes_good(class_bytes));
	begin(0);
	class_bytes[0] = 1;
	CHECK(!go_sums_classes_good(class_bytes));
}

/* --- the heap goal --- */

/* 64 MiB allocated, 8 MiB free, 80 MiB mapped: 8 MiB are not of the heap. */
static const struct go_pacer pacer = { .percent_goal = 100 * MIB,
				       .sweep_trigger = 10 * MIB,
				       .triggered = ~0ULL,
				       .heap_marked = 50 * MIB,
				       .heap_free = 8 * MIB,
				       .total_alloc = 164 * MIB,
				       .total_free = 100 * MIB,
				       .mapped_ready = 80 * MIB,
				       .memory_limit = ~0ULL >> 1,
				       .headroom_is_percent = true };

TEST(goal_without_a_limit_is_that_of_gogc)
{
	struct go_pacer p = pacer;

	CHECK_EQ_U64(go_sums_heap_goal(&p), 100 * MIB);
	p.sweep_trigger = 120 * MIB;
	CHECK_EQ_U64(go_sums_heap_goal(&p), 120 * MIB);
	p.triggered = 130 * MIB;
	CHECK_EQ_U64(go_sums_heap_goal(&p), 130 * MIB + 65536);
}

TEST(goal_by_the_limit_keeps_headroom)
{
	struct go_pacer p = pacer;
	u64 room = 92 * MIB; /* the limit less what is not of the heap */

	p.memory_limit = 100 * MIB;
	CHECK_EQ_U64(go_sums_heap_goal(&p), room - room / 100 * 3);
	p.headroom_is_percent = false; /* Go 1.19 */
	CHECK_EQ_U64(go_sums_heap_goal(&p), room - MIB);
	p.memory_limit = 40 * MIB; /* far beyond: what lives is the least */
	CHECK_EQ_U64(go_sums_heap_goal(&p), 50 * MIB);
	p.memory_limit = 1 * MIB;
	CHECK_EQ_U64(go_sums_heap_goal(&p), 50 * MIB);
}

/* --- durations --- */

/* What timeHistogram.record of Go 1.19 and of Go 1.20 does: the number of the count. */
static u32 part_of_old(u64 duration)
{
	u32 super = 0, sub = (u32)duration;

	if (duration >= 16) {
		super = 64 - (u32)__builtin_clzll(duration) - 4;
		if (super * 16 >= 45 * 16)
			return 45 * 16 - 1;
		sub = (u32)((duration >> (super - 1)) % 16);
	}
	return super * 16 + sub;
}

static u32 part_of_new(u64 duration)
{
	u32 len = duration ? 64 - (u32)__builtin_clzll(duration) : 0;
	u32 bit = len < 9 ? 9 : len, bucket = len < 9 ? 0 : len - 9 + 1;

	if (bucket >= 40)
		return 40 * 4 + 1; /* the overflow, behind the underflow */
	return bucket * 4 + (u32)((duration >> (bit - 1 - 2)) % 4);
}

static void check_duration(u64 duration, u32 want)
{
	static const struct {
		u32 (*part_of)(u64 duration);
		u64 bytes;
	} shapes[] = { { part_of_old, 5768 }, { part_of_new, 1296 } };
	static u8 image[8 + 5768];

	for (size_t i = 0; i < 2; i++) {
		const struct span span = { image, 8 + shapes[i].bytes };
		struct hist hist;

		memset(image, 0, sizeof(image));
		image[8 + 8 * (size_t)shapes[i].part_of(duration)] = 3;
		CHECK(go_sums_durations(span, 8, shapes[i].bytes, &hist));
		for (u32 k = 0; k < NR_HIST_BUCKETS; k++)
			CHECK_EQ_U64(hist.counts[k], k == want ? 3 : 0);
	}
}

TEST(durations_of_the_runtime_are_in_the_bucket_of_their_length)
{
	static const u64 others[] = { 0, 1, 15, 16, 255, 256, 511, 512, 1000, 123456789 };

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		check_duration(others[i], hist_bucket(others[i]));
	for (u32 i = 0; i < NR_HIST_BOUNDS; i++) {
		check_duration(hist_bound(i) - 1, i);
		check_duration(hist_bound(i) + 1, i + 1);
		check_duration(hist_bound(i), i + 1); /* the runtime cannot tell it from longer */
	}
	check_duration(1ULL << 50, NR_HIST_BUCKETS - 1);
}

TEST(durations_of_another_shape_are_refused)
{
	static u8 image[1296];
	const struct span span = { image, sizeof(image) };
	struct hist hist;

	CHECK(go_sums_durations(span, 0, 1296, &hist));
	CHECK(!go_sums_durations(span, 8, 1296, &hist));
	CHECK(!go_sums_durations(span, ~0ULL - 7, 1296, &hist));
	CHECK(!go_sums_durations(span, 0, 1288, &hist));
	CHECK(!go_sums_durations(span, 0, 5768, &hist));
}
