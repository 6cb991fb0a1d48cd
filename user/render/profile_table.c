/* SPDX-License-Identifier: MIT */
/* What a profile says, in the layout of `go tool pprof -top`. */
#include "user/render/profile_table.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "user/render/paper.h"

#define WIDTH	     80
#define LABEL_COLUMN 17

static u64 absolute(s64 value)
{
	return value < 0 ? 0 - (u64)value : (u64)value;
}

void profile_percent(u64 part, u64 total, char ret_text[PROFILE_PERCENT_CHARS])
{
	double ratio = total ? (double)part / (double)total * 100 : 0;

	if (ratio >= 99.95 && ratio <= 100.05)
		snprintf(ret_text, PROFILE_PERCENT_CHARS, "  100%%");
	else
		snprintf(ret_text, PROFILE_PERCENT_CHARS, ratio >= 1 ? "%5.2f%%" : "%5.2g%%",
			 ratio);
}

/* From the largest; the last of each is the unit of the file. */
static const struct {
	const char *file_unit, *name;
	u64 size;
} units[] = {
	{ "nanoseconds", "s", NS_PER_SEC },
	{ "nanoseconds", "ms", NS_PER_MS },
	{ "nanoseconds", "us", 1000 },
	{ "nanoseconds", "ns", 1 },
	{ "bytes", "MiB", 1 << 20 },
	{ "bytes", "KiB", 1 << 10 },
	{ "bytes", "B", 1 },
};

static bool all_whole(const struct profile_top *top, u64 size)
{
	for (u32 i = 0; i < top->n; i++) {
		if (absolute(top->rows[i].flat) % size || absolute(top->rows[i].cum) % size)
			return false;
	}
	return true;
}

const char *profile_unit(const char *unit, const struct profile_top *top, u64 *ret_size)
{
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (!strcmp(units[i].file_unit, unit) && all_whole(top, units[i].size)) {
			*ret_size = units[i].size;
			return units[i].name;
		}
	}
	*ret_size = 1;
	return unit;
}

static void print_origin(struct paper *paper, const struct profile *p)
{
	char text[64];
	struct tm tm;
	time_t t = (time_t)(p->wall_ns / (s64)NS_PER_SEC);

	paper_title(paper, "PROFILE");
	paper_row(paper, LABEL_COLUMN, "kind", "%s", profile_kind_name(profile_kind(p)));
	if (p->nr_mappings && *p->mappings[0].file)
		paper_row(paper, LABEL_COLUMN, "program", "%s", p->mappings[0].file);
	if (p->nr_mappings && *p->mappings[0].build_id)
		paper_row(paper, LABEL_COLUMN, "build id", "%s", p->mappings[0].build_id);
	if (p->wall_ns > 0 && gmtime_r(&t, &tm) &&
	    strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &tm))
		paper_row(paper, LABEL_COLUMN, "began", "%s", text);
	if (p->duration_ns > 0)
		paper_row(paper, LABEL_COLUMN, "lasted", "%.9g s",
			  (double)p->duration_ns / (double)NS_PER_SEC);
	if (p->period)
		paper_row(paper, LABEL_COLUMN, "period", "%lld %s of %s", p->period,
			  p->period_type.unit, p->period_type.type);
	for (u32 i = 0; i < p->nr_comments; i++)
		paper_row(paper, LABEL_COLUMN, i ? "" : "comments", "%s", p->comments[i]);
	if (*p->drop_frames)
		paper_row(paper, LABEL_COLUMN, "drop frames", "%s (not applied here)",
			  p->drop_frames);
	paper_row(paper, LABEL_COLUMN, "holds",
		  "%u samples, %u locations, %u functions, %u mappings", p->nr_samples,
		  p->nr_locations, p->nr_functions, p->nr_mappings);
}

static void print_values(struct paper *paper, const struct profile *p)
{
	paper_title(paper, "VALUES");
	for (u32 i = 0; i < p->nr_types; i++) {
		struct profile_sums sums;

		if (profile_sum(p, i, &sums, NULL))
			paper_row(paper, LABEL_COLUMN, p->types[i].type, "too large to sum up");
		else
			paper_row(paper, LABEL_COLUMN, p->types[i].type, "%llu %s on %u stacks",
				  sums.total, p->types[i].unit, sums.nr_stacks);
	}
}

static void print_limit(struct paper *paper, const struct profile *p, u32 type, u32 limit,
			const struct profile_sums *sums, const char *of)
{
	struct profile_depths d;
	char percent[PROFILE_PERCENT_CHARS];

	profile_depths(p, type, limit, &d);
	profile_percent(d.total_at_limit, sums->total, percent);
	paper_row(paper, LABEL_COLUMN, "cut",
		  "%u of %u stacks, %s of the values, have %u calls or more: %s", d.nr_at_limit,
		  sums->nr_stacks, percent + strspn(percent, " "), limit, of);
}

static void print_stacks(struct paper *paper, const struct profile *p, u32 type,
			 const struct profile_sums *sums)
{
	struct profile_depths d;

	profile_depths(p, type, 1, &d);
	paper_title(paper, "STACKS");
	paper_row(paper, LABEL_COLUMN, "deepest", "%u calls", d.deepest);
	switch (profile_kind(p)) {
	case PROFILE_CPU:
		print_limit(paper, p, type, PROFILE_CPU_DEPTH, sums,
			    "Go keeps no more of a CPU sample, so outer calls are missing");
		break;
	case PROFILE_HEAP:
	case PROFILE_CONTENTION:
	case PROFILE_GOROUTINE:
		print_limit(paper, p, type, PROFILE_OTHER_DEPTH_OLD, sums,
			    "cut if the Go is older than 1.23, which keeps no more");
		print_limit(paper, p, type, PROFILE_OTHER_DEPTH, sums,
			    "cut in any Go, which since 1.23 keeps no more");
		break;
	default:
		paper_row(paper, LABEL_COLUMN, "cut", "not known for this kind of profile");
		break;
	}
}

void profile_table_head(const struct profile *p, u32 type, const struct profile_sums *sums,
			struct buf *out)
{
	struct paper paper = { .buf = out, .width = WIDTH };

	print_origin(&paper, p);
	print_values(&paper, p);
	print_stacks(&paper, p, type, sums);
}

/* One line, of any width: a name that is cut cannot be searched for. */
static void print_row(const struct profile_top_row *r, u64 total, s64 size, s64 *sum,
		      struct buf *out)
{
	char flat[PROFILE_PERCENT_CHARS], running[PROFILE_PERCENT_CHARS];
	char cum[PROFILE_PERCENT_CHARS];

	*sum += r->flat; /* cannot overflow: the absolute values sum to less */
	profile_percent(absolute(r->flat), total, flat);
	profile_percent(absolute(*sum), total, running);
	profile_percent(absolute(r->cum), total, cum);
	buf_printf(out, "%12lld %s %s %12lld %s  ", r->flat / size, flat, running, r->cum / size,
		   cum);
	paper_clean(r->name, out);
	buf_char(out, '\n');
}

void profile_table_top(const struct profile *p, u32 type, const struct profile_sums *sums,
		       const struct profile_top *top, u32 max_rows, struct buf *out)
{
	struct paper paper = { .buf = out, .width = WIDTH };
	u32 n = top->n < max_rows ? top->n : max_rows;
	s64 sum = 0;
	u64 size;
	const char *unit = profile_unit(p->types[type].unit, top, &size);
	char head[256];

	snprintf(head, sizeof(head), "TOP %u of %u functions by %s, in %s", n, top->n,
		 p->types[type].type, unit);
	paper_title(&paper, head);
	buf_str(out, "        flat  flat%   sum%          cum   cum%  function\n");
	for (u32 i = 0; i < n; i++)
		print_row(&top->rows[i], sums->total, (s64)size, &sum, out);
	paper_begin(&paper, 0, PAPER_PLAIN, "");
	paper_text(&paper, PAPER_PLAIN,
		   "cum counts each stack that a function is on, so its rows overlap: they may not "
		   "be added up.");
	paper_end(&paper);
}
