/* SPDX-License-Identifier: MIT */
/*
 * From a snapshot to what Prometheus reads, whole: tests/golden/publish_*.
 *
 * With GOLDEN_UPDATE=1 in the environment the files are written instead; read the difference before
 * it is committed.
 */
#include "tests/lib/golden.h"

#include "tests/golden/scene.h"
#include "user/render/prom.h"

/* The texts of the table are not what is tested here: they may change without these files. */
static void without_texts(const struct buf *all, struct buf *ret_rest)
{
	for (const char *line = all->bytes; *line;) {
		size_t n = strcspn(line, "\n") + 1;

		if (strncmp(line, "# HELP ", 7) != 0 &&
		    strncmp(line, "skyobserve_method_info{", 23) != 0)
			buf_add(ret_rest, line, n);
		line += n;
	}
}

static void check_golden(const char *name, enum prom_format format)
{
	struct buf all = { 0 }, got = { 0 };

	CHECK_EQ_INT(prom_render(&scene.set, format, &all), 0);
	without_texts(&all, &got);
	buf_done(&all);
	golden_check(name, &got);
}

TEST(publish_whole_scene)
{
	fill_scene();
	publish_scene();
	check_golden("publish_scene.om", PROM_OPENMETRICS);
	end_scene();
}

TEST(publish_whole_scene_with_pids)
{
	fill_scene();
	/* Histograms are long, and the same: the small set of both. */
	scene.procs[0].details = scene.procs[2].details = false;
	scene.facts.label_pid = true;
	publish_scene();
	check_golden("publish_pids.prom", PROM_TEXT);
	end_scene();
}

TEST(publish_what_is_charged_to_each_kind)
{
	begin_scene();
	fill_served(add_process("web", 80));
	publish_scene();
	check_golden("publish_kinds.prom", PROM_TEXT);
	CHECK_EQ_U64(scene.set.families[FAM_SESSIONS].nr_samples, 1);
	end_scene();
}

TEST(publish_no_sessions_where_connections_are_not_looked_at)
{
	begin_scene();
	scene.snap.groups[GROUP_FUNCTIONS].up = true;
	fill_served(add_process("web", 80));
	publish_scene();
	CHECK_EQ_U64(scene.set.families[FAM_SESSIONS].nr_samples, 0);
	end_scene();
}

TEST(publish_without_groups_only_what_proc_says)
{
	fill_scene();
	for (u32 i = 0; i < NR_GROUPS; i++) {
		scene.snap.groups[i].up = false;
		snprintf(scene.snap.groups[i].reason, sizeof(scene.snap.groups[i].reason), "%s",
			 "no BTF");
	}
	for (size_t i = 0; i < scene.snap.nr_processes; i++) {
		scene.procs[i].go = (struct go_stats){ 0 };
		scene.procs[i].gc = NULL;
	}
	publish_scene();
	check_golden("publish_groups_down.prom", PROM_TEXT);
	end_scene();
}

TEST(publish_nothing_observed)
{
	begin_scene();
	publish_scene();
	check_golden("publish_nothing.prom", PROM_TEXT);
	end_scene();
}
