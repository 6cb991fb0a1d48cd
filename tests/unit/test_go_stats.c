/* SPDX-License-Identifier: MIT */
/* Sums and floors of what Go programs say. */
#include "tests/lib/check.h"

#include "user/model/go_stats.h"

TEST(go_counters_never_go_down)
{
	struct go_counters last = { 10, 100, 5, 50, { 3, 1 }, 1, 1, { 7, 8 }, 1, { 0 } };
	struct go_counters now = { 12, 90, 5, 60, { 2, 2 }, 1, 0, { 6, 9 }, 1, { 0 } };

	go_counters_floor(&last, &now);
	CHECK_EQ_U64(now.allocated_objects, 12);
	CHECK_EQ_U64(now.allocated_bytes, 100);
	CHECK_EQ_U64(now.freed_objects, 5);
	CHECK_EQ_U64(now.freed_bytes, 60);
	CHECK_EQ_U64(now.gc_cycles[GO_GC_AUTOMATIC], 3);
	CHECK_EQ_U64(now.gc_cycles[GO_GC_FORCED], 2);
	CHECK_EQ_U64(now.cpu_known, 1);
	CHECK_EQ_U64(now.cpu_ns[0], 7);
	CHECK_EQ_U64(now.cpu_ns[1], 9);
}

TEST(go_stats_of_one_name_are_added_up)
{
	struct go_stats sum = { 0 };
	struct go_stats off = { .counted = true,
				.current = true,
				.begin_wall_ns = 20,
				.counters = { .allocated_objects = 7 },
				.gauges = { .heap_goal_bytes = ~0ULL - 1,
					    .goroutines = 3,
					    .memory_limit_bytes = 1000,
					    .gc_percent = -1 } };
	struct go_stats on = { .counted = true,
			       .current = true,
			       .begin_wall_ns = 10,
			       .counters = { .allocated_objects = 8 },
			       .gauges = { .heap_goal_bytes = 100,
					   .goroutines = 4,
					   .memory_limit_bytes = 500,
					   .gc_percent = 100 } };
	struct go_stats over = { .counted = true,
				 .begin_wall_ns = 15,
				 .counters = { .allocated_objects = 100 } };
	struct go_stats other = { 0 };

	go_stats_add(&sum, &other);
	CHECK(!sum.counted && !sum.current);
	go_stats_add(&sum, &off);
	go_stats_add(&sum, &on);
	go_stats_add(&sum, &over);
	go_stats_add(&sum, &other);
	CHECK_EQ_U64(sum.counters.allocated_objects, 115);
	CHECK_EQ_U64(sum.begin_wall_ns, 10);
	CHECK_EQ_U64(sum.gauges.heap_goal_bytes, ~0ULL);
	CHECK_EQ_U64(sum.gauges.goroutines, 7);
	CHECK_EQ_U64(sum.gauges.memory_limit_bytes, 500);
	CHECK(sum.gauges.gc_percent == -1);
}

TEST(go_gc_of_one_name_is_added_up)
{
	const struct go_gc one = { .stops_known = true,
				   .cells = { .stops = { [STOP_OTHER] = { 7, { 1 } } } } };
	const struct go_gc other = { .workers_known = true,
				     .cells = { .stop_cpu_ns = 3, .workers = { 0, 0, 9 } } };
	struct go_gc sum = { 0 };

	go_gc_add(&sum, &one);
	CHECK(sum.stops_known && !sum.workers_known);
	go_gc_add(&sum, &other);
	go_gc_add(&sum, &other);
	CHECK(sum.stops_known && sum.workers_known);
	CHECK_EQ_U64(sum.cells.stops[STOP_OTHER].sum, 7);
	CHECK_EQ_U64(sum.cells.stops[STOP_OTHER].counts[0], 1);
	CHECK_EQ_U64(sum.cells.stop_cpu_ns, 6);
	CHECK_EQ_U64(sum.cells.workers[GC_WORKER_IDLE], 18);
}
