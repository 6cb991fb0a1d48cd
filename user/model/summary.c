/* SPDX-License-Identifier: MIT */
/* From a record to comparable numbers: per second (or per program), and per interaction. */
#include "user/model/summary.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "user/model/gates.h"

/* What is compared: the growth of a counter over the window, of all samples with a label. */
static const struct row {
	const char *what;
	const char *label, *value; /* NULL: of all samples */
	enum family_id family;
	bool each; /* also per interaction of a kind */
} rows[] = {
	{ SUMMARY_CPU, NULL, NULL, FAM_CPU, true },
	{ "CPU, user", "mode", "user", FAM_CPU, true },
	{ "CPU, system", "mode", "system", FAM_CPU, true },
	{ "off CPU, run_queue", "reason", "run_queue", FAM_OFF_CPU, false },
	{ "off CPU, preempted", "reason", "preempted", FAM_OFF_CPU, false },
	{ "off CPU, fsync", "reason", "fsync", FAM_OFF_CPU, true },
	{ "off CPU, block_io", "reason", "block_io", FAM_OFF_CPU, true },
	{ "off CPU, futex", "reason", "futex", FAM_OFF_CPU, true },
	{ "off CPU, socket", "reason", "socket", FAM_OFF_CPU, true },
	{ "system calls", NULL, NULL, FAM_SYSCALLS, true },
	{ "durable writes", NULL, NULL, FAM_FSYNCS, true },
	{ "bytes read", NULL, NULL, FAM_READ_BYTES, true },
	{ "bytes written", NULL, NULL, FAM_WRITTEN_BYTES, true },
	{ "page faults", NULL, NULL, FAM_PAGE_FAULTS, true },
	{ "switches, voluntary", "kind", "voluntary", FAM_SWITCHES, true },
	{ "switches, involuntary", "kind", "involuntary", FAM_SWITCHES, false },
	{ "Go objects", NULL, NULL, FAM_GO_ALLOCATED_OBJECTS, false },
	{ "Go bytes", NULL, NULL, FAM_GO_ALLOCATED_BYTES, false },
	{ "Go GC cycles", NULL, NULL, FAM_GO_GC_CYCLES, false },
};

#define NR_ROWS (sizeof(rows) / sizeof(rows[0]))

static enum quantity_unit unit_of(enum family_id id)
{
	if (!strcmp(family_descs[id].unit, "seconds"))
		return QUANTITY_SECONDS;
	return !strcmp(family_descs[id].unit, "bytes") ? QUANTITY_BYTES : QUANTITY_COUNT;
}

/*
 * Whose rows: the samples with these labels, of the process and of its kind if there is one (there
 * is room for one more), divided by @n.
 */
struct account {
	const struct record *r;
	struct label labels[3];
	size_t nr_labels;
	enum quantity_per per;
	char group[160];
	double n;
};

static void add(struct summary *s, const struct account *a, const char *what,
		enum quantity_unit unit, double value)
{
	struct quantity *q = &s->at[s->n];

	if (s->n == MAX_QUANTITIES) {
		s->left_out++;
		return;
	}
	*q = (struct quantity){ .unit = unit, .per = a->per, .value = value };
	snprintf(q->group, sizeof(q->group), "%s", a->group);
	snprintf(q->what, sizeof(q->what), "%s", what);
	if (a->nr_labels > 0)
		snprintf(q->process, sizeof(q->process), "%s", a->labels[0].value);
	if (a->nr_labels > 1)
		snprintf(q->kind, sizeof(q->kind), "%s", a->labels[1].value);
	s->n++;
}

static void add_rows(struct summary *s, struct account *a, bool each_only)
{
	for (size_t k = 0; k < NR_ROWS; k++) {
		const struct row *row = &rows[k];
		enum quantity_unit unit = unit_of(row->family);
		size_t nr_labels = a->nr_labels;
		u64 grown;

		if (each_only && !row->each)
			continue;
		if (row->label)
			a->labels[nr_labels++] = (struct label){ row->label, row->value };
		if (record_delta(a->r, row->family, a->labels, nr_labels, &grown))
			continue;
		add(s, a, row->what, unit,
		    (double)grown / a->n / (unit == QUANTITY_SECONDS ? (double)NS_PER_SEC : 1));
	}
}

static void add_latency(struct summary *s, const struct account *a, const struct hist *hist)
{
	struct latency *l = &s->latencies[s->nr_latencies];

	if (s->nr_latencies == MAX_LATENCIES) {
		s->left_out++;
		return;
	}
	snprintf(l->process, sizeof(l->process), "%s", a->labels[0].value);
	snprintf(l->kind, sizeof(l->kind), "%s", a->labels[1].value);
	l->hist = *hist;
	s->nr_latencies++;
}

static void add_duration(struct summary *s, const struct account *a)
{
	const struct sample *end =
		record_find(record_end(a->r), FAM_INTERACTION_DURATION, a->labels, 2);
	struct hist hist;
	u64 n = 0;

	if (!end || record_delta_hist(a->r, FAM_INTERACTION_DURATION, end, &hist))
		return;
	for (u32 i = 0; i < NR_HIST_BUCKETS; i++)
		n += hist.counts[i];
	if (!n)
		return;
	add(s, a, "duration, mean", QUANTITY_SECONDS,
	    (double)hist.sum / (double)n / (double)NS_PER_SEC);
	add_latency(s, a, &hist);
}

static bool seen_before(const struct family *f, size_t i, const struct label *labels)
{
	for (size_t k = 0; k < i; k++) {
		if (sample_matches(&f->samples[k], labels, 2))
			return true;
	}
	return false;
}

static void add_kinds(struct summary *s, const struct record *r, const char *process, double whole)
{
	const struct family *f = &record_end(r)->families[FAM_INTERACTIONS];

	for (size_t i = 0; i < f->nr_samples && s->n < MAX_QUANTITIES; i++) {
		const char *of = record_label(&f->samples[i], "process");
		const char *kind = record_label(&f->samples[i], "interaction");
		struct account a = { .r = r,
				     .labels = { { "process", process }, { "interaction", kind } },
				     .nr_labels = 2 };
		u64 n;

		if (!of || !kind || strcmp(of, process) != 0 || seen_before(f, i, a.labels) ||
		    record_delta(r, FAM_INTERACTIONS, a.labels, 2, &n) || !n)
			continue;
		snprintf(a.group, sizeof(a.group), "%s, %s", process, kind);
		a.per = s->by_program ? QUANTITY_IN_ALL : QUANTITY_PER_SECOND;
		add(s, &a, s->by_program ? "how many" : "how many a second", QUANTITY_COUNT,
		    (double)n / whole);
		snprintf(a.group, sizeof(a.group), "%s, each %s", process, kind);
		a.n = (double)n;
		a.per = QUANTITY_PER_INTERACTION;
		add_rows(s, &a, true);
		add_duration(s, &a);
	}
}

/* What is there at one moment, and how many requests were in flight at once in the mean. */
static void add_state(struct summary *s, struct account *a, const char *process)
{
	static const struct {
		const char *what;
		enum family_id family;
	} gauges[] = { { SUMMARY_RESIDENT, FAM_RESIDENT },
		       { "Go heap, live", FAM_GO_HEAP_LIVE },
		       { SUMMARY_SESSIONS, FAM_SESSIONS } };
	const struct family *f = &record_end(a->r)->families[FAM_INTERACTION_DURATION];
	bool any = false;
	double ns = 0;

	a->per = QUANTITY_AT_END;
	snprintf(a->group, sizeof(a->group), "%s, at the end", process);
	for (size_t i = 0; i < sizeof(gauges) / sizeof(gauges[0]); i++) {
		size_t found;
		u64 sum = record_sum(record_end(a->r), gauges[i].family, a->labels, 1, &found);

		if (found)
			add(s, a, gauges[i].what, unit_of(gauges[i].family), (double)sum);
	}
	/* Little's law: the time of all of them, in the time of the window. */
	for (size_t i = 0; i < f->nr_samples; i++) {
		struct hist hist;

		if (!sample_matches(&f->samples[i], a->labels, 1) ||
		    record_delta_hist(a->r, FAM_INTERACTION_DURATION, &f->samples[i], &hist))
			continue;
		ns += (double)hist.sum;
		any = true;
	}
	a->per = QUANTITY_AVERAGE;
	snprintf(a->group, sizeof(a->group), "%s, on average", process);
	if (any)
		add(s, a, SUMMARY_IN_FLIGHT, QUANTITY_COUNT, ns / (double)s->window_ns);
}

static void add_process(struct summary *s, const struct record *r, const char *process)
{
	double whole = s->by_program ? 1 : (double)s->window_ns / (double)NS_PER_SEC;
	struct account a = {
		.r = r, .labels = { { "process", process } }, .nr_labels = 1, .n = whole
	};
	u64 interactions = 0;

	a.per = s->by_program ? QUANTITY_IN_ALL : QUANTITY_PER_SECOND;
	snprintf(a.group, sizeof(a.group), "%s, %s", process,
		 s->by_program ? "in all" : "per second");
	add_rows(s, &a, false);
	/* The number that needs no split: everything, divided by what was answered. */
	if (!record_delta(r, FAM_INTERACTIONS, a.labels, 1, &interactions) && interactions) {
		snprintf(a.group, sizeof(a.group), "%s, all of it per interaction", process);
		a.n = (double)interactions;
		a.per = QUANTITY_PER_INTERACTION;
		add_rows(s, &a, false);
	}
	add_state(s, &a, process);
	add_kinds(s, r, process, whole);
}

static void add_word(char *words, size_t size, const char *word)
{
	size_t len = strlen(words);

	snprintf(words + len, size - len, "%s%s", len ? " " : "", word);
}

static void set_builds(struct summary *s, const struct record *r)
{
	s->builds_known = true;
	for (u32 i = 0; strlen(s->builds) < sizeof(s->builds) - 1; i++) {
		const char *build, *exe;
		char name[64];

		snprintf(name, sizeof(name), "target.%u.build_id", i);
		build = record_fact_text(r, name);
		snprintf(name, sizeof(name), "target.%u.go_build_id", i);
		build = build[0] ? build : record_fact_text(r, name);
		snprintf(name, sizeof(name), "target.%u.exe", i);
		exe = record_fact_text(r, name);
		if (!build[0] && !exe[0])
			break;
		s->builds_known &= build[0] != '\0';
		add_word(s->builds, sizeof(s->builds), build[0] ? build : exe);
		add_word(s->programs, sizeof(s->programs), exe);
	}
}

static void set_why(struct summary *s, const struct record *r)
{
	struct gate gates[NR_GATES];

	gates_of(r, gates);
	s->invalid = gates_invalid(gates);
	for (u32 i = 0; i < NR_GATES; i++) {
		if (gates[i].state != GATE_INVALID)
			continue;
		snprintf(s->why, sizeof(s->why), "%s: %s", gate_names[i], gates[i].text);
		break;
	}
}

static bool is_named(const struct family *up, size_t before, const char *process)
{
	for (size_t i = 0; i < before; i++) {
		const char *name = record_label(&up->samples[i], "process");

		if (name && !strcmp(name, process))
			return true;
	}
	return false;
}

void summary_of(const struct record *r, struct summary *ret_summary)
{
	static const struct account whole = { .per = QUANTITY_IN_ALL, .group = "the program" };
	struct summary *s = ret_summary;
	const struct family *up = &record_end(r)->families[FAM_PROCESS_UP];

	memset(s, 0, sizeof(*s));
	snprintf(s->kernel, sizeof(s->kernel), "%s", record_fact_text(r, "machine.kernel"));
	snprintf(s->cpu_model, sizeof(s->cpu_model), "%s",
		 record_fact_text(r, "machine.cpu_model"));
	snprintf(s->cpus, sizeof(s->cpus), "%s", record_fact_text(r, "cpu.online"));
	set_builds(s, r);
	set_why(s, r);
	s->by_program = r->end == RECORD_END_PROGRAM;
	s->begin_wall_ns = r->frames[0].wall_ns;
	s->window_ns = record_window_ns(r);
	if (!s->window_ns)
		return;
	if (s->by_program)
		add(s, &whole, "time", QUANTITY_SECONDS, (double)s->window_ns / (double)NS_PER_SEC);
	for (size_t i = 0; i < up->nr_samples && s->n < MAX_QUANTITIES; i++) {
		const char *process = record_label(&up->samples[i], "process");

		/* With a pid label a name is there more than once: its sums are the same. */
		if (process && !is_named(up, i, process))
			add_process(s, r, process);
	}
}

static void end_text(char *text, size_t n)
{
	text[n - 1] = '\0';
}

bool summary_check(struct summary *s)
{
	end_text(s->kernel, sizeof(s->kernel));
	end_text(s->cpu_model, sizeof(s->cpu_model));
	end_text(s->cpus, sizeof(s->cpus));
	end_text(s->builds, sizeof(s->builds));
	end_text(s->why, sizeof(s->why));
	end_text(s->programs, sizeof(s->programs));
	if (s->n > MAX_QUANTITIES || s->by_program > 1 || s->nr_latencies > MAX_LATENCIES)
		return false;
	for (u32 i = 0; i < s->nr_latencies; i++) {
		end_text(s->latencies[i].process, sizeof(s->latencies[i].process));
		end_text(s->latencies[i].kind, sizeof(s->latencies[i].kind));
	}
	for (u32 i = 0; i < s->n; i++) {
		end_text(s->at[i].group, sizeof(s->at[i].group));
		end_text(s->at[i].process, sizeof(s->at[i].process));
		end_text(s->at[i].kind, sizeof(s->at[i].kind));
		end_text(s->at[i].what, sizeof(s->at[i].what));
		if (s->at[i].unit >= NR_QUANTITY_UNITS || !isfinite(s->at[i].value) ||
		    s->at[i].value < 0)
			return false;
	}
	return true;
}

const struct quantity *summary_find(const struct summary *s, const char *group, const char *what)
{
	for (u32 i = 0; i < s->n; i++) {
		if (!strcmp(s->at[i].group, group) && !strcmp(s->at[i].what, what))
			return &s->at[i];
	}
	return NULL;
}
