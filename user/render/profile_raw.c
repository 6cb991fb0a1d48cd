/* SPDX-License-Identifier: MIT */
/* A profile as `go tool pprof -raw` prints it. */
#include "user/render/profile_raw.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "user/base/utf8.h"
#include "user/render/number.h"

#define DURATION_CHARS 4 /* of "%.4v" */
#define LABEL_INDENT   "                "

/* "2026-12-02 18:53:23.5 +0000 UTC" */
static void print_time(s64 wall_ns, struct buf *out)
{
	s64 ns = wall_ns % (s64)NS_PER_SEC, s = wall_ns / (s64)NS_PER_SEC;
	struct buf fraction = { 0 };
	char text[64];
	struct tm tm;
	time_t t;

	if (ns < 0) {
		ns += (s64)NS_PER_SEC;
		s--;
	}
	t = (time_t)s;
	if (!gmtime_r(&t, &tm) || !strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm))
		return;
	number_seconds((u64)ns, &fraction); /* "0.5" or "0" */
	buf_printf(out, "Time: %s%s +0000 UTC\n", text, fraction.len > 1 ? fraction.bytes + 1 : "");
	out->failed |= fraction.failed;
	buf_done(&fraction);
}

/* A number of @unit_ns with the fraction that is left. */
static void print_in_unit(u64 ns, u64 unit_ns, struct buf *buf)
{
	number_seconds(ns / unit_ns * NS_PER_SEC + ns % unit_ns * (NS_PER_SEC / unit_ns), buf);
}

/* Go's Duration.String, of which "%.4v" leaves four characters. */
static void print_duration(s64 duration_ns, struct buf *out)
{
	u64 ns = duration_ns < 0 ? 0 - (u64)duration_ns : (u64)duration_ns, s = ns / NS_PER_SEC;
	struct buf text = { 0 };
	size_t at = 0;

	if (duration_ns < 0)
		buf_char(&text, '-');
	if (ns < 1000) {
		buf_printf(&text, "%lluns", ns);
	} else if (s == 0) {
		print_in_unit(ns, ns < NS_PER_MS ? 1000 : NS_PER_MS, &text);
		buf_str(&text, ns < NS_PER_MS ? "\xc2\xb5s" : "ms");
	} else {
		if (s >= 3600)
			buf_printf(&text, "%lluh", s / 3600);
		if (s >= 60)
			buf_printf(&text, "%llum", s / 60 % 60);
		number_seconds(ns % (60 * NS_PER_SEC), &text);
		buf_char(&text, 's');
	}
	out->failed |= text.failed;
	for (int i = 0; i < DURATION_CHARS && !text.failed && text.bytes[at]; i++) {
		u32 c;

		at += utf8_next(text.bytes + at, &c);
	}
	if (!text.failed)
		buf_printf(out, "Duration: %.*s\n", (int)at, text.bytes);
	buf_done(&text);
}

static void print_head(const struct profile *p, struct buf *out)
{
	for (u32 i = 0; i < p->nr_comments; i++)
		buf_printf(out, "Comment: %s\n", p->comments[i]);
	if (*p->period_type.type || *p->period_type.unit)
		buf_printf(out, "PeriodType: %s %s\n", p->period_type.type, p->period_type.unit);
	buf_printf(out, "Period: %lld\n", p->period);
	if (p->wall_ns)
		print_time(p->wall_ns, out);
	if (p->duration_ns)
		print_duration(p->duration_ns, out);
	buf_str(out, "Samples:\n");
	for (u32 i = 0; i < p->nr_types; i++)
		buf_printf(out, "%s%s/%s%s", i ? " " : "", p->types[i].type, p->types[i].unit,
			   i == p->default_type ? "[dflt]" : "");
	buf_char(out, '\n');
}

/* Keys as Go sorts them: with the colon that follows. */
static int compare_keys(const char *a, const char *b)
{
	size_t i = 0;

	while (a[i] && a[i] == b[i])
		i++;
	if (a[i] == b[i])
		return 0;
	return (a[i] ? (unsigned char)a[i] : ':') - (b[i] ? (unsigned char)b[i] : ':');
}

static int compare_labels(const void *a, const void *b)
{
	const struct profile_label *const *x = a, *const *y = b;
	int r = compare_keys((*x)->key, (*y)->key);

	/* In the file's order. */
	return r ? r : (*x > *y) - (*x < *y);
}

/* Labels of one key; a unit of one of them is shown with all of them. */
static u32 print_key(const struct profile_label *const *labels, u32 n, struct buf *out)
{
	const char *key = labels[0]->key;
	bool units = false;
	u32 same;

	for (same = 0; same < n && !strcmp(labels[same]->key, key); same++)
		units |= *labels[same]->unit;
	buf_printf(out, "%s:[", key);
	for (u32 i = 0; i < same; i++) {
		if (i)
			buf_char(out, ' ');
		if (labels[i]->text)
			buf_str(out, labels[i]->text);
		else
			buf_printf(out, units ? "%lld %s" : "%lld", labels[i]->number,
				   labels[i]->unit);
	}
	buf_char(out, ']');
	return same;
}

/* Texts on one line, numbers on another. */
static int print_labels(const struct profile *p, const struct profile_sample *s, bool texts,
			struct buf *out)
{
	const struct profile_label **sorted = calloc(s->nr_labels, sizeof(const void *));
	u32 n = 0;

	if (!sorted)
		return -ENOMEM;
	for (u32 i = 0; i < s->nr_labels; i++) {
		const struct profile_label *label = &p->labels[s->first_label + i];

		if (texts == (label->text != NULL))
			sorted[n++] = label;
	}
	if (n) {
		qsort(sorted, n, sizeof(const void *), compare_labels);
		buf_str(out, LABEL_INDENT);
		for (u32 i = 0; i < n;) {
			if (i)
				buf_char(out, ' ');
			i += print_key(sorted + i, n - i, out);
		}
		buf_char(out, '\n');
	}
	free(sorted);
	return 0;
}

static int print_sample(const struct profile *p, u32 sample, struct buf *out)
{
	const struct profile_sample *s = &p->samples[sample];
	int r;

	for (u32 i = 0; i < p->nr_types; i++)
		buf_printf(out, " %10lld", profile_value(p, sample, i));
	buf_str(out, ": ");
	for (u32 i = 0; i < s->nr_frames; i++)
		buf_printf(out, "%llu ", p->locations[p->frames[s->first_frame + i]].id);
	buf_char(out, '\n');
	if (!s->nr_labels)
		return 0;
	r = print_labels(p, s, true, out);
	return r ? r : print_labels(p, s, false, out);
}

static void print_line(const struct profile *p, const struct profile_line *line, struct buf *out)
{
	const struct profile_function *f;

	if (line->function == PROFILE_NONE) {
		buf_str(out, "??\n");
		return;
	}
	f = &p->functions[line->function];
	buf_printf(out, "%s %s:%lld s=%lld", f->name, f->file, line->line, f->start_line);
	if (strcmp(f->name, f->system_name) != 0)
		buf_printf(out, "(%s)", f->system_name);
	buf_char(out, '\n');
}

static void print_location(const struct profile *p, const struct profile_location *l,
			   struct buf *out)
{
	buf_printf(out, "%6llu: 0x%llx ", l->id, l->address);
	if (l->mapping != PROFILE_NONE)
		buf_printf(out, "M=%llu ", p->mappings[l->mapping].id);
	if (l->folded)
		buf_str(out, "[F] ");
	if (!l->nr_lines)
		buf_char(out, '\n');
	for (u32 i = 0; i < l->nr_lines; i++) {
		if (i)
			buf_str(out, "             ");
		print_line(p, &p->lines[l->first_line + i], out);
	}
}

int profile_raw(const struct profile *p, struct buf *out)
{
	int r = 0;

	print_head(p, out);
	for (u32 i = 0; i < p->nr_samples && !r; i++)
		r = print_sample(p, i, out);
	buf_str(out, "Locations\n");
	for (u32 i = 0; i < p->nr_locations; i++)
		print_location(p, &p->locations[i], out);
	buf_str(out, "Mappings\n");
	for (u32 i = 0; i < p->nr_mappings; i++) {
		const struct profile_mapping *m = &p->mappings[i];

		buf_printf(out, "%llu: 0x%llx/0x%llx/0x%llx %s %s %s%s%s%s\n", m->id, m->start,
			   m->limit, m->offset, m->file, m->build_id,
			   m->has_functions ? "[FN]" : "", m->has_filenames ? "[FL]" : "",
			   m->has_line_numbers ? "[LN]" : "", m->has_inline_frames ? "[IN]" : "");
	}
	return r || out->failed ? -ENOMEM : 0;
}
