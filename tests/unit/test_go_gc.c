/* SPDX-License-Identifier: MIT */
/* Where a Go program's collector is probed, and when it is refused. */
#include "tests/lib/check.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#include "user/runtime/go_gc.h"

static struct target target;

static void begin(const char *version, u32 minor)
{
	memset(&target, 0, sizeof(target));
	target.file.machine = EM_X86_64;
	snprintf(target.runtime, sizeof(target.runtime), "%s", runtime_go.name);
	snprintf(target.go.version_text, sizeof(target.go.version_text), "%s", version);
	target.go.minor = minor;
	for (u32 i = 0; i < NR_GO_POINTS; i++)
		target.go.points[i] =
			(struct target_function){ .vaddr = 0x1000 + i,
						  .exact_offset = 100 + i,
						  .cheap_offset = 7,
						  .exact_exact = true,
						  .nr_returns = 2,
						  .return_offsets = { 200 + i, 300 + i } };
}

static int find(struct go_gc_places *places, struct err *err)
{
	*err = (struct err){ { 0 } };
	return go_gc_find_places(&target, places, err);
}

TEST(go_gc_ends_come_before_begins)
{
	static const struct go_gc_place want[] = {
		{ GO_GC_WORKER_STOP, 100 + GO_POINT_GC_WORKER_STOP },
		{ GO_GC_WORKER_DRAIN, 100 + GO_POINT_GC_WORKER_DRAIN },
		{ GO_GC_STARTED_WORLD, 200 + GO_POINT_GC_START_WORLD },
		{ GO_GC_STARTED_WORLD, 300 + GO_POINT_GC_START_WORLD },
		{ GO_GC_START_WORLD, 100 + GO_POINT_GC_START_WORLD },
		{ GO_GC_STOP_WORLD, 100 + GO_POINT_GC_STOP_WORLD },
	};
	struct go_gc_places places;
	struct err err;

	begin("go1.24.4", 24);
	CHECK_EQ_INT(find(&places, &err), 0);
	CHECK(places.stops && places.workers && !*places.why);
	CHECK_EQ_U64(places.n, sizeof(want) / sizeof(want[0]));
	for (u32 i = 0; i < places.n; i++) {
		CHECK_EQ_U64(places.at[i].probe, want[i].probe);
		CHECK_EQ_U64(places.at[i].offset, want[i].offset);
	}
}

TEST(go_gc_of_old_runtimes_has_workers_only)
{
	struct go_gc_places places;
	struct err err;

	begin("go1.19.8", 19);
	CHECK_EQ_INT(find(&places, &err), 0);
	CHECK(places.workers && !places.stops);
	CHECK_EQ_U64(places.n, 2);
	CHECK(strstr(places.why, "before 1.22"));
}

TEST(go_gc_is_refused_with_its_reason)
{
	struct go_gc_places places;
	struct err err;

	begin("go1.28.1", 28);
	CHECK_EQ_INT(find(&places, &err), -ENOTSUP);
	CHECK_STR(err.text, "go1.28.1 has not been tested");
	begin("go1.24.4 X:nosuch", 24);
	CHECK_EQ_INT(find(&places, &err), -ENOTSUP);
	begin("", 0);
	CHECK_EQ_INT(find(&places, &err), -ENOTSUP);
	begin("go1.24.4", 24);
	target.file.machine = EM_AARCH64;
	CHECK_EQ_INT(find(&places, &err), -ENOTSUP);
	begin("go1.24.4", 24);
	target.runtime[0] = '\0';
	CHECK_EQ_INT(find(&places, &err), -ENOENT);
}

TEST(go_gc_never_where_the_stack_may_still_grow)
{
	struct go_gc_places places;
	struct err err;

	begin("go1.24.4", 24);
	target.go.points[GO_POINT_GC_STOP_WORLD].exact_exact = false;
	CHECK_EQ_INT(find(&places, &err), 0);
	CHECK(places.workers && !places.stops);
	CHECK(strstr(places.why, "runtime.stopTheWorldWithSema"));
	snprintf(target.go.points[GO_POINT_GC_WORKER_STOP].why, TARGET_TEXT, "%s", "it is gone");
	CHECK_EQ_INT(find(&places, &err), -ENOTSUP);
}

TEST(go_gc_of_a_function_that_does_not_return)
{
	struct go_gc_places places;
	struct err err;

	begin("go1.24.4", 24);
	target.go.points[GO_POINT_GC_START_WORLD].nr_returns = 0;
	CHECK_EQ_INT(find(&places, &err), 0);
	CHECK(places.workers && !places.stops);
	target.go.points[GO_POINT_GC_START_WORLD].nr_returns = TARGET_MAX_RETURNS;
	CHECK_EQ_INT(find(&places, &err), 0);
	CHECK_EQ_U64(places.n, TARGET_MAX_RETURNS + 4);
}
