/* SPDX-License-Identifier: MIT */
/*
 * From a snapshot to what Prometheus reads, whole: tests/golden/publish_*.
 *
 * With GOLDEN_UPDATE=1 in the environment the files are written instead; read the difference before
 * it is committed.
 */
#include "tests/lib/check.h"

#include <errno.h>

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

static void read_file(const char *path, struct buf *ret_text)
{
	char chunk[4096];
	FILE *f = fopen(path, "r");
	size_t n;

	if (!f)
		FAIL("%s: %s; run from the top of the tree, GOLDEN_UPDATE=1 writes it", path,
		     strerror(errno));
	while ((n = fread(chunk, 1, sizeof(chunk), f)))
		buf_add(ret_text, chunk, n);
	fclose(f);
}

static void write_file(const char *path, const struct buf *text)
{
	FILE *f = fopen(path, "w");

	if (!f || fwrite(text->bytes, 1, text->len, f) != text->len || fclose(f))
		FAIL("%s: cannot write", path);
}

static void check_golden(const char *name, enum prom_format format)
{
	struct buf all = { 0 }, got = { 0 }, want = { 0 };
	char path[128];
	const char *g, *w;
	size_t line = 1;

	CHECK_EQ_INT(prom_render(&scene.set, format, &all), 0);
	without_texts(&all, &got);
	buf_done(&all);
	snprintf(path, sizeof(path), "tests/golden/publish_%s", name);
	if (getenv("GOLDEN_UPDATE"))
		write_file(path, &got);
	read_file(path, &want);
	for (g = got.bytes, w = want.bytes; *g && *w; line++) {
		size_t gn = strcspn(g, "\n"), wn = strcspn(w, "\n");

		if (gn != wn || memcmp(g, w, gn) != 0)
			FAIL("%s:%zu: got \"%.*s\", want \"%.*s\"", path, line, (int)gn, g, (int)wn,
			     w);
		g += gn + (g[gn] == '\n');
		w += wn + (w[wn] == '\n');
	}
	CHECK_EQ_U64(got.len, want.len);
	buf_done(&got);
	buf_done(&want);
}
TEST(publish_whole_scene)
{
	fill_scene();
	publish_scene();
	check_golden("scene.om", PROM_OPENMETRICS);
	end_scene();
}

TEST(publish_whole_scene_with_pids)
{
	fill_scene();
	/* Histograms are long, and the same: the small set of both. */
	scene.procs[0].details = scene.procs[2].details = false;
	scene.facts.label_pid = true;
	publish_scene();
	check_golden("pids.prom", PROM_TEXT);
	end_scene();
}

TEST(publish_what_is_charged_to_each_kind)
{
	begin_scene();
	fill_served(add_process("web", 80));
	publish_scene();
	check_golden("kinds.prom", PROM_TEXT);
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
	check_golden("groups_down.prom", PROM_TEXT);
	end_scene();
}

TEST(publish_nothing_observed)
{
	begin_scene();
	publish_scene();
	check_golden("nothing.prom", PROM_TEXT);
	end_scene();
}
