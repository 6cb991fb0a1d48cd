/* SPDX-License-Identifier: MIT */
/* Marking in a profile's window, from counters that are behind by what is under way. */
#include "tests/lib/check.h"

#include "user/crosscheck/collector.h"

static void add(struct family_set *set, enum family_id id, const char *phase, u64 value)
{
	struct sample *s = family_add(set, id);

	s->kind = id == FAM_GO_GC_CYCLES ? VALUE_COUNT : VALUE_NS;
	s->u = value;
	sample_label(set, s, "process", "app");
	if (phase)
		sample_label(set, s, "phase", phase);
}

/* A frame a second: cycles that are complete, ms of marking that are counted, ms of CPU time. */
static void frame(struct record *r, u64 cycles, u64 marked_ms, u64 cpu_ms)
{
	struct record_frame *f = record_frame_add(r);

	f->begin_ns = f->end_ns = r->nr_frames * NS_PER_SEC;
	add(&f->set, FAM_GO_GC_CYCLES, NULL, cycles);
	add(&f->set, FAM_GO_GC_CPU, "mark", marked_ms * NS_PER_MS);
	add(&f->set, FAM_GO_GC_CPU, "mark_idle", 0);
	add(&f->set, FAM_GO_GC_CPU, "stop_the_world", 77);
	add(&f->set, FAM_CPU, NULL, cpu_ms * NS_PER_MS);
}

static bool spent(struct record *r, size_t begin, size_t end, struct interval *ret)
{
	struct window w = { .outer_begin = begin,
			    .inner_begin = begin + 1,
			    .inner_end = end - 1,
			    .outer_end = end };

	return collector_spent(r, &w, "app", ret);
}

/* A half of the time, ten cycles a second: what may be under way is a second of it at most. */
TEST(marking_is_bounded_by_cycles_that_are_complete)
{
	struct interval found;
	struct record r = { 0 };

	for (u64 i = 0; i < 10; i++)
		frame(&r, 10 * i, 500 * i, 1000 * i);
	CHECK(spent(&r, 1, 8, &found));
	/* By frame 2 at most 1.5 s, the count of frame 3; by frame 7 at least 3.5 s. */
	CHECK_NEAR(found.low, 2.0, 1e-9);
	/* By frame 1 at least 0.5 s; by frame 8 at most 4.5 s, the count of frame 9. */
	CHECK_NEAR(found.high, 4.0, 1e-9);
	/* At the record's end: the count of frame 9, and what was spent since frame 8. */
	CHECK(spent(&r, 1, 9, &found));
	CHECK_NEAR(found.high, 5.0, 1e-9);
	record_done(&r);
}

TEST(a_cycle_that_takes_long_widens_the_bounds)
{
	struct interval found;
	struct record r = { 0 };

	/* No cycle ends, so a worker may have marked since the process was observed. */
	for (u64 i = 0; i < 6; i++)
		frame(&r, 7, 0, 1000 * i);
	CHECK(spent(&r, 1, 4, &found));
	CHECK_NEAR(found.low, 0, 0);
	CHECK_NEAR(found.high, 4.0, 1e-9);
	record_done(&r);
}

TEST(two_cycles_more_are_not_enough)
{
	struct interval found;
	struct record r = { 0 };

	for (u64 i = 0; i < 10; i++)
		frame(&r, 2 * i, 100 * i, 1000 * i);
	CHECK(spent(&r, 1, 5, &found));
	CHECK_NEAR(found.high, 0.7 - 0.1, 1e-9); /* of frame 7, not 6 */
	record_done(&r);
}

TEST(what_the_record_lacks_is_not_0)
{
	struct interval found;
	struct record r = { 0 };

	for (u64 i = 0; i < 5; i++)
		frame(&r, 10 * i, 500 * i, 1000 * i);
	r.frames[2].set.families[FAM_GO_GC_CPU].nr_samples = 0;
	CHECK(!spent(&r, 1, 4, &found));
	record_done(&r);
	r = (struct record){ 0 };
	for (u64 i = 0; i < 5; i++)
		frame(&r, 10 * i, i == 4 ? 0 : 500 * i, 1000 * i); /* it went down */
	CHECK(!spent(&r, 1, 3, &found));
	record_done(&r);
}
