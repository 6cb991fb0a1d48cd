/* SPDX-License-Identifier: MIT */
/*
 * Whatever a snapshot holds (torn records, names of strangers, numbers at their ends), it is
 * published as text that Prometheus reads: valid UTF-8, every line of the known form, no series
 * twice.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/utf8.h"
#include "user/model/publish.h"
#include "user/render/prom.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define MAX_PROCS  3
#define MAX_PARTS  4 /* of a kind, of one process */
#define MAX_SERIES 8192

/* --- from bytes to a snapshot; when the bytes end, zeros follow --- */

struct source {
	const uint8_t *bytes;
	size_t n;
};

static void take(struct source *s, void *ret, size_t n)
{
	size_t have = n < s->n ? n : s->n;

	memset(ret, 0, n);
	if (have)
		memcpy(ret, s->bytes, have);
	s->bytes += have;
	s->n -= have;
}

static u32 take_below(struct source *s, u32 n)
{
	uint8_t byte;

	take(s, &byte, 1);
	return byte % n;
}

/* A number with its highest bit anywhere. */
static u64 take_u64(struct source *s)
{
	u32 bits = take_below(s, 65);
	u64 value = 0;

	take(s, &value, (bits + 7) / 8);
	return value;
}

static void take_u64s(struct source *s, u64 *ret, size_t n)
{
	/* A few of them, so that one input can reach all. */
	for (u32 i = take_below(s, 8); i > 0; i--) {
		u16 at;

		take(s, &at, sizeof(at));
		ret[at % n] = take_u64(s);
	}
}

static void take_text(struct source *s, char *ret, size_t n)
{
	size_t len = take_below(s, 200);

	len = len < n ? len : n - 1;
	take(s, ret, len);
	ret[len] = '\0';
}

static void take_record(struct source *s, struct task_record *ret)
{
	take(s, ret, take_below(s, 2) ? sizeof(*ret) : offsetof(struct task_record, cell));
	ret->known &= 1;
	ret->cell.abi %= 3; /* an abi that is none has no label of its own */
}

static void *parts(size_t n, size_t bytes)
{
	void *p = calloc(n + 1, bytes);

	if (!p)
		abort();
	return p;
}

static void take_parts(struct source *s, struct process_snap *p)
{
	p->nr_call_hists = take_below(s, MAX_PARTS);
	p->call_hists = parts(p->nr_call_hists, sizeof(*p->call_hists));
	for (size_t i = 0; i < p->nr_call_hists; i++) {
		p->call_hists[i].nr = (u32)take_u64(s);
		take_u64s(s, (u64 *)&p->call_hists[i].hist, sizeof(struct hist) / sizeof(u64));
	}
	p->nr_errors = take_below(s, MAX_PARTS);
	p->errors = parts(p->nr_errors, sizeof(*p->errors));
	for (size_t i = 0; i < p->nr_errors; i++)
		take(s, &p->errors[i], sizeof(p->errors[i]));
	p->nr_foreign = take_below(s, MAX_PARTS);
	p->foreign = parts(p->nr_foreign, sizeof(*p->foreign));
	for (size_t i = 0; i < p->nr_foreign; i++)
		p->foreign[i] = (struct foreign_count){ ABI_COMPAT + take_below(s, 2),
							(u32)take_u64(s), take_u64(s) };
	p->nr_threads = take_below(s, MAX_PARTS);
	p->threads = parts(p->nr_threads, sizeof(*p->threads));
	for (size_t i = 0; i < p->nr_threads; i++)
		take_record(s, &p->threads[i]);
}

static void take_go(struct source *s, struct go_stats *go)
{
	go->counted = take_below(s, 2);
	go->current = take_below(s, 2);
	go->begin_wall_ns = take_u64(s);
	take_u64s(s, (u64 *)&go->counters, sizeof(go->counters) / sizeof(u64));
	take_u64s(s, (u64 *)&go->gauges, sizeof(go->gauges) / sizeof(u64));
}

static void take_process(struct source *s, struct process_snap *p, u32 i, struct arena *texts)
{
	char name[sizeof(p->id.name)], exe[256];

	p->id.pid = (pid_t)i + 1;
	take_text(s, name, sizeof(name));
	utf8_repair(name, p->id.name, sizeof(p->id.name)); /* as it is done when it is taken in */
	take_text(s, p->id.comm, sizeof(p->id.comm));
	take_text(s, exe, sizeof(exe));
	p->id.exe = arena_strdup(texts, exe);
	p->alive = take_below(s, 2);
	p->details = take_below(s, 2);
	p->incarnations = take_u64(s);
	p->begin_ns = take_u64(s);
	p->read_ns = take_u64(s);
	take_u64s(s, p->cells, NR_CELLS);
	if (take_below(s, 4)) {
		if (process_snap_add_details(p, p->details))
			abort();
		take_u64s(s, p->calls, NR_CALL_SLOTS);
	}
	if (p->hists)
		take_u64s(s, (u64 *)p->hists, sizeof(*p->hists) / sizeof(u64));
	p->enters_before = take_u64(s);
	p->enters_after = take_u64(s);
	p->unsettled_ns = take_u64(s);
	take_parts(s, p);
	take_go(s, &p->go);
	p->books_begin.valid = take_below(s, 2);
	p->books_now.valid = take_below(s, 2);
	p->books_begin.cpu_ticks = take_u64(s);
	p->books_now.cpu_ticks = take_u64(s);
	p->books_now.read_ns = take_u64(s);
	p->books_now.resident_bytes = take_u64(s);
	p->ended_now.nvcsw = take_u64(s);
	p->ended_begin.nivcsw = take_u64(s);
}

static void take_snapshot(struct source *s, struct snapshot *ret)
{
	ret->nr_processes = take_below(s, MAX_PROCS + 1);
	ret->nr_counted = ret->nr_processes - (ret->nr_processes ? take_below(s, 2) : 0);
	ret->processes = parts(ret->nr_processes, sizeof(*ret->processes));
	for (u32 i = 0; i < NR_GROUPS; i++) {
		ret->groups[i].up = take_below(s, 4) != 3;
		take_text(s, ret->groups[i].reason, sizeof(ret->groups[i].reason));
	}
	ret->begin_ns = take_u64(s);
	ret->end_ns = take_u64(s);
	ret->wall_minus_mono_ns = take_u64(s);
	take_u64s(s, ret->drops, NR_DROPS);
	take(s, &ret->machine, sizeof(ret->machine));
	for (u32 i = 0; i < ret->nr_processes; i++)
		take_process(s, &ret->processes[i], i, &ret->texts);
}

/* --- what Prometheus would read --- */

static char *series[MAX_SERIES]; /* in the output */
static size_t nr_series;

static bool is_name_char(char c, bool first)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == ':' ||
	       (!first && c >= '0' && c <= '9');
}

static char *skip_name(char *at)
{
	if (!is_name_char(*at, true))
		abort();
	while (is_name_char(*at, false))
		at++;
	return at;
}

static char *skip_labels(char *at)
{
	do {
		at = skip_name(at + 1);
		if (*at++ != '=' || *at++ != '"')
			abort();
		for (; *at != '"'; at++) {
			if (*at == '\n' || !*at || (*at == '\\' && !strchr("\\\"n", *++at)))
				abort();
		}
		at++;
	} while (*at == ',');
	if (*at++ != '}')
		abort();
	return at;
}

/* NAME [{LABELS}] VALUE; the series is cut out. Returns the beginning of the next line. */
static char *read_line(char *line)
{
	char *at = skip_name(line), *end;

	if (*at == '{')
		at = skip_labels(at);
	if (*at != ' ')
		abort();
	*at = '\0';
	if (nr_series < MAX_SERIES)
		series[nr_series++] = line;
	(void)strtod(at + 1, &end);
	if (end == at + 1 || *end != '\n')
		abort();
	return end + 1;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void check_output(struct buf *out)
{
	u32 c;

	for (const char *at = out->bytes; *at; at += utf8_next(at, &c)) {
		(void)utf8_next(at, &c);
		if ((c != '\n' && utf8_is_control(c)) ||
		    (c == UTF8_REPLACEMENT && strncmp(at, UTF8_REPLACEMENT_STR, 3) != 0))
			abort();
	}
	for (char *line = out->bytes; *line;)
		line = *line == '#' ? strchr(line, '\n') + 1 : read_line(line);
	qsort(series, nr_series, sizeof(series[0]), by_text);
	for (size_t i = 1; i < nr_series; i++) {
		if (!strcmp(series[i - 1], series[i])) {
			fprintf(stderr, "twice: %s\n", series[i]);
			abort();
		}
	}
	nr_series = 0;
}

static void render(const struct family_set *set, enum prom_format format)
{
	struct buf out = { 0 };

	if (prom_render(set, format, &out) || strlen(out.bytes) != out.len)
		abort();
	check_output(&out);
	buf_done(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct source source = { bytes, n };
	struct exporter_facts facts = { .label_pid = take_below(&source, 2) };
	struct process_totals totals[MAX_PROCS], last = { 0 };
	struct family_set set = { 0 };
	struct snapshot snap = { 0 };

	take_snapshot(&source, &snap);
	for (size_t i = 0; i < snap.nr_processes; i++) {
		totals_of(&snap.processes[i], &totals[i]);
		take_u64s(&source, last.cells, NR_CELLS);
		totals_floor(&last, &totals[i]);
		for (size_t k = 0; k < NR_CELLS; k++) {
			if (totals[i].cells[k] < last.cells[k])
				abort();
		}
	}
	publish(&snap, totals, &facts, &set);
	if (set.failed)
		abort();
	render(&set, take_below(&source, 2) ? PROM_OPENMETRICS : PROM_TEXT);
	family_set_done(&set);
	snapshot_done(&snap);
	return 0;
}
