/* SPDX-License-Identifier: MIT */
/* Places of the collector's probes. */
#include "user/runtime/go_gc.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "user/runtime/go_impl.h"

/* From here on it is passed on why and since when the world stands (runtime.worldStop). */
#define MINOR_WITH_STOPS 22

static void add_place(struct go_gc_places *places, enum go_gc_probe probe, u64 offset)
{
	places->at[places->n++] = (struct go_gc_place){ probe, offset };
}

/* Once a call, and with its arguments: never where the stack may still grow. */
static int check_entry(const struct go_target *go, enum go_point point, struct err *err)
{
	const struct target_function *f = &go->points[point];

	if (*f->why)
		return err_set(err, -ENOTSUP, "%s: %.100s", go_point_functions[point], f->why);
	if (!f->exact_exact)
		return err_set(err, -ENOTSUP, "%s has no place that is passed once a call",
			       go_point_functions[point]);
	return 0;
}

static int add_workers(const struct go_target *go, struct go_gc_places *places, struct err *err)
{
	const struct target_function *f = go->points;
	int r = check_entry(go, GO_POINT_GC_WORKER_STOP, err);

	r = r ? r : check_entry(go, GO_POINT_GC_WORKER_DRAIN, err);
	if (r)
		return r;
	add_place(places, GO_GC_WORKER_STOP, f[GO_POINT_GC_WORKER_STOP].exact_offset);
	add_place(places, GO_GC_WORKER_DRAIN, f[GO_POINT_GC_WORKER_DRAIN].exact_offset);
	places->workers = true;
	return 0;
}

static int add_stops(const struct go_target *go, struct go_gc_places *places, struct err *err)
{
	const struct target_function *start = &go->points[GO_POINT_GC_START_WORLD];
	int r;

	if (go->minor < MINOR_WITH_STOPS)
		return err_set(err, -ENOTSUP,
			       "stops of the world: Go before 1.%d does not pass on why it stands",
			       MINOR_WITH_STOPS);
	r = check_entry(go, GO_POINT_GC_START_WORLD, err);
	r = r ? r : check_entry(go, GO_POINT_GC_STOP_WORLD, err);
	if (!r && !start->nr_returns)
		r = err_set(err, -ENOTSUP, "%s does not return",
			    go_point_functions[GO_POINT_GC_START_WORLD]);
	if (r)
		return r;
	for (u32 i = 0; i < start->nr_returns; i++)
		add_place(places, GO_GC_STARTED_WORLD, start->return_offsets[i]);
	add_place(places, GO_GC_START_WORLD, start->exact_offset);
	add_place(places, GO_GC_STOP_WORLD, go->points[GO_POINT_GC_STOP_WORLD].exact_offset);
	places->stops = true;
	return 0;
}

int go_gc_find_places(const struct target *target, struct go_gc_places *ret_places, struct err *err)
{
	const struct go_target *go = &target->go;
	struct go_gc_places places = { 0 };
	struct go_version version = { 0 };
	struct err why = { { 0 } };

	if (strcmp(target->runtime, runtime_go.name) != 0)
		return err_set(err, -ENOENT, "it is not a Go program");
	if (target->file.machine != EM_X86_64)
		return err_set(err, -ENOTSUP, "the collector is only probed on x86-64");
	if (!go_version_parse(go->version_text, &version))
		return err_set(err, -ENOTSUP, "its Go version is not known");
	if (go_layout_tested(&version) == GO_UNTESTED)
		return err_set(err, -ENOTSUP, "%.60s has not been tested", go->version_text);
	(void)add_workers(go, &places, &why); /* one without the other is something, too */
	(void)add_stops(go, &places, &why);
	snprintf(places.why, sizeof(places.why), "%.150s", why.text);
	if (!places.n)
		return err_set(err, -ENOTSUP, "%.150s", why.text);
	*ret_places = places;
	return 0;
}
