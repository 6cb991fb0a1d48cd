/* SPDX-License-Identifier: MIT */
/* Facts about metrics, found by publishing made-up snapshots. Knows no kernel. */
#include "user/cmd/explain_facts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user/model/publish.h"

/* What a made-up snapshot has. */
enum what_happens {
	HAPPENS_MUCH,	 /* every optional thing is there */
	HAPPENS_NOTHING, /* a process that has done nothing: what is there anyway is a closed set */
};

/* Any native call, as long as it is not 0, and any errno. */
#define SOME_CALL 1
#define SOME_CODE 2
/* Larger than any tolerance. */
#define PERTURBATION (1000 * NS_PER_SEC)

struct made_up {
	struct snapshot snap;
	struct process_totals totals;
	struct exporter_facts facts;
};

static void fill_thread(struct process_snap *p)
{
	struct task_record *rec = calloc(1, sizeof(*rec));

	if (!rec)
		return;
	rec->known = 1;
	rec->leader = 1;
	rec->now_ns = NS_PER_SEC;
	rec->cell.nr = SOME_CALL;
	rec->cell.enters = 1;
	rec->cell.run_state = RUN_BLOCKED;
	rec->cell.reason = REASON_OTHER;
	p->threads = rec;
	p->nr_threads = 1;
}

static void fill_events(struct process_snap *p)
{
	if (process_snap_add_details(p, true))
		return;
	p->calls[SOME_CALL] = 1;
	p->call_hists = calloc(1, sizeof(*p->call_hists));
	p->errors = calloc(2, sizeof(*p->errors));
	p->foreign = calloc(1, sizeof(*p->foreign));
	if (!p->call_hists || !p->errors || !p->foreign)
		return;
	p->call_hists[0].nr = SOME_CALL;
	p->nr_call_hists = 1;
	p->errors[0] = (struct error_count){ ERROR_SYSCALL, SOME_CALL, SOME_CODE, 1 };
	p->errors[1] = (struct error_count){ ERROR_DURABLE, DURABLE_FSYNC, SOME_CODE, 1 };
	p->nr_errors = 2;
	p->foreign[0] = (struct foreign_count){ ABI_COMPAT, SOME_CALL, 1 };
	p->nr_foreign = 1;
}

/* Interactions: the background, and a kind that has what the process has. */
static int fill_kinds(struct process_snap *p, enum what_happens what, const char *text)
{
	struct kind_snap *k = calloc(2, sizeof(*k));

	p->kinds = k;
	if (!k)
		return -ENOMEM;
	p->nr_kinds = 2;
	p->goroutines = true;
	snprintf(k[1].name, sizeof(k[1].name), "%s", text);
	k[1].account = 1;
	memcpy(k[1].cells, p->cells, sizeof(k[1].cells));
	if (p->calls)
		memcpy(k[1].calls, p->calls, sizeof(k[1].calls));
	if (what == HAPPENS_NOTHING)
		return 0;
	k[1].codes[0] = (struct code_count){ SOME_CODE, OUTCOME_NONE, 1 };
	k[1].codes[1] = (struct code_count){ SOME_CODE, OUTCOME_GOOD, 1 };
	k[1].nr_codes = 2;
	return 0;
}

static void fill_ourselves(struct snapshot *snap)
{
	snap->maps = calloc(1, sizeof(*snap->maps));
	snap->programs = calloc(1, sizeof(*snap->programs));
	if (!snap->maps || !snap->programs)
		return;
	snap->maps[0].name = "";
	snap->nr_maps = 1;
	snap->nr_programs = 1;
	snap->bpf_stats_on = true;
	snap->machine.steal_ticks = 1;
}

static void fill_program(struct program_facts *program, const char *text)
{
	program->known = 1;
	snprintf(program->runtime, sizeof(program->runtime), "%s", text);
	snprintf(program->runtime_version, sizeof(program->runtime_version), "%s", text);
	snprintf(program->build_id, sizeof(program->build_id), "%s", text);
}

/* @text stands for everything that is not ours to choose: names, reasons, versions. */
static int make_up(struct made_up *m, enum what_happens what, const char *text)
{
	struct process_snap *p = calloc(1, sizeof(*p));

	*m = (struct made_up){ .facts = { .version = text,
					  .libbpf_version = text,
					  .arch = text,
					  .scrape_ns = 1,
					  .broker_resident_bytes = 1,
					  .start_wall_ns = 1 } };
	m->snap.processes = p;
	if (!p)
		return -ENOMEM;
	m->snap.nr_processes = m->snap.nr_counted = 1;
	m->snap.machine.tick_hz = 100;
	m->snap.machine.online_cpus = 1;
	for (u32 g = 0; g < NR_GROUPS; g++) {
		/* Functions are interactions instead of requests. */
		m->snap.groups[g].up = g != GROUP_FUNCTIONS;
		snprintf(m->snap.groups[g].reason, sizeof(m->snap.groups[g].reason), "%s", text);
	}
	p->id.pid = 1;
	snprintf(p->id.comm, sizeof(p->id.comm), "%s", text);
	snprintf(p->id.name, sizeof(p->id.name), "%s", text);
	p->id.exe = text;
	p->alive = true;
	p->details = true;
	p->incarnations = 1;
	p->books_begin.valid = p->books_now.valid = true;
	p->go.counted = p->go.current = true;
	p->gc = calloc(1, sizeof(*p->gc));
	if (!p->gc)
		return -ENOMEM;
	p->gc->stops_known = p->gc->workers_known = true;
	p->go.counters.programs = p->go.counters.cpu_known = p->go.counters.pauses_known = 1;
	fill_program(&p->program, text);
	fill_thread(p);
	if (!p->threads)
		return -ENOMEM;
	if (what == HAPPENS_NOTHING) {
		p->threads[0].cell.nr = NO_CALL;
		p->threads[0].cell.enters = 0;
		return fill_kinds(p, what, text);
	}
	fill_events(p);
	fill_ourselves(&m->snap);
	return p->nr_foreign && m->snap.nr_programs ? fill_kinds(p, what, text) : -ENOMEM;
}

static void made_up_done(struct made_up *m)
{
	snapshot_done(&m->snap);
}

/* As the observer does it; @ret_set is empty. */
static int publish_made_up(struct made_up *m, struct family_set *ret_set)
{
	totals_of(&m->snap.processes[0], &m->totals);
	publish(&m->snap, &m->totals, &m->facts, ret_set);
	return ret_set->failed ? -ENOMEM : 0;
}

/* --- labels --- */

static const char *value_of(const struct sample *s, const char *label)
{
	for (u32 i = 0; i < s->nr_labels; i++) {
		if (!strcmp(s->labels[i].name, label))
			return s->labels[i].value;
	}
	return NULL;
}

static struct metric_label *label_of(struct metric_facts *f, const char *name)
{
	struct metric_label *l;

	for (u32 i = 0; i < f->nr_labels; i++) {
		if (!strcmp(f->labels[i].name, name))
			return &f->labels[i];
	}
	if (f->nr_labels == MAX_SAMPLE_LABELS)
		return NULL;
	l = &f->labels[f->nr_labels++];
	*l = (struct metric_label){ .name = name, .always = true };
	return l;
}

static void find_labels(const struct family *full, struct metric_facts *f)
{
	for (size_t i = 0; i < full->nr_samples; i++) {
		for (u32 k = 0; k < full->samples[i].nr_labels; k++)
			(void)label_of(f, full->samples[i].labels[k].name); /* NULL: no room */
	}
	for (u32 k = 0; k < f->nr_labels; k++) {
		for (size_t i = 0; i < full->nr_samples; i++)
			f->labels[k].always &=
				value_of(&full->samples[i], f->labels[k].name) != NULL;
	}
}

static bool has_value(const struct metric_label *l, const char *value)
{
	for (u32 i = 0; i < l->nr_values; i++) {
		if (!strcmp(l->values[i], value))
			return true;
	}
	return false;
}

/*
 * The values of a label where nothing happens are its closed set, unless they are the text that
 * was put in, or the process's number.
 */
static void find_values(const struct family *quiet, const char *text, struct metric_label *l)
{
	for (size_t i = 0; i < quiet->nr_samples; i++) {
		const char *value = value_of(&quiet->samples[i], l->name);
		bool ours = value && strcmp(value, text) && strcmp(l->name, "pid");

		if (ours && has_value(l, value))
			continue;
		if (!ours || l->nr_values == MAX_LABEL_VALUES) {
			l->nr_values = 0;
			return;
		}
		l->values[l->nr_values++] = value;
	}
}

/* --- groups and identities --- */

/*
 * Families that have fewer series in @set than in @full get @bit in their groups. Interactions only
 * divide what others count: those that go with them are theirs.
 */
static void note_fewer(const struct family_set *full, const struct family_set *set, u32 bit,
		       struct metric_facts *facts)
{
	for (u32 i = 0; i < NR_FAMILIES; i++) {
		size_t n = set->families[i].nr_samples;
		bool divided = bit == 1u << GROUP_INTERACTIONS && n;

		if (n < full->families[i].nr_samples && !divided)
			facts[i].groups |= bit;
	}
}

static int find_groups(struct made_up *m, struct metric_book *book)
{
	int r = 0;

	for (u32 g = 0; g < NR_GROUPS && !r; g++) {
		struct family_set without = { 0 };
		bool up = m->snap.groups[g].up;

		m->snap.groups[g].up = false;
		r = publish_made_up(m, &without);
		m->snap.groups[g].up = up;
		note_fewer(&book->full, &without, 1u << g, book->facts);
		family_set_done(&without);
	}
	return r;
}

/* The residuals as they are, so that what moves one of them can be told. */
static void residuals(struct made_up *m, s64 ret_residuals[NR_IDENTITIES])
{
	struct identity ids[NR_IDENTITIES];

	totals_of(&m->snap.processes[0], &m->totals);
	identities_of(&m->snap, &m->snap.processes[0], &m->totals, ids);
	for (u32 i = 0; i < NR_IDENTITIES; i++)
		ret_residuals[i] = ids[i].checked ? ids[i].residual : 0;
}

static void note_moved(struct made_up *m, const s64 before[NR_IDENTITIES], u32 *ret_identities)
{
	s64 after[NR_IDENTITIES];

	residuals(m, after);
	for (u32 i = 0; i < NR_IDENTITIES; i++) {
		if (after[i] != before[i])
			*ret_identities |= 1u << i;
	}
}

static void find_identities(struct made_up *m, struct metric_facts *facts)
{
	static const struct {
		enum family_id family;
		u32 first, last;
	} cells[] = {
#define CELLS(id, ...) { FAM_##id, CELL_##id, CELL_##id##_LAST },
#define BOOK(...)
#define FAMILY(...)
#define EXPORTER(...)
#include "families.def"
#undef CELLS
#undef BOOK
#undef FAMILY
#undef EXPORTER
	};
	struct process_snap *p = &m->snap.processes[0];
	s64 before[NR_IDENTITIES];

	residuals(m, before);
	for (size_t i = 0; i < sizeof(cells) / sizeof(cells[0]); i++) {
		for (u32 c = cells[i].first; c <= cells[i].last; c++) {
			p->cells[c] += PERTURBATION;
			note_moved(m, before, &facts[cells[i].family].identities);
			p->cells[c] -= PERTURBATION;
		}
	}
	p->calls[SOME_CALL] += PERTURBATION;
	note_moved(m, before, &facts[FAM_SYSCALLS].identities);
	p->calls[SOME_CALL] -= PERTURBATION;
	p->threads[0].cell.nr = NO_CALL;
	note_moved(m, before, &facts[FAM_SYSCALLS_IN_FLIGHT].identities);
	p->threads[0].cell.nr = SOME_CALL;
}

/* --- all --- */

/* A process without details has no counts by name, and no interactions. */
static int find_small_set(struct made_up *m, struct metric_facts *facts)
{
	struct process_snap *p = &m->snap.processes[0];
	struct family_set small = { 0 };
	int r;

	p->details = false;
	p->nr_kinds = 0; /* not looked for, unless somebody asks for it */
	p->calls[SOME_CALL] = 0;
	p->nr_call_hists = p->nr_errors = p->nr_foreign = 0;
	p->go = (struct go_stats){ 0 }; /* only targets are read */
	free(p->gc);
	p->gc = NULL;
	r = publish_made_up(m, &small);
	for (u32 i = 0; i < NR_FAMILIES; i++) {
		const struct family *f = &small.families[i];

		facts[i].small_set = f->nr_samples && value_of(&f->samples[0], "process");
	}
	family_set_done(&small);
	return r;
}

static int find_quiet(struct metric_book *book, const char *text)
{
	struct made_up m;
	int r = make_up(&m, HAPPENS_NOTHING, text);

	if (!r)
		r = publish_made_up(&m, &book->quiet);
	made_up_done(&m);
	return r;
}

int metric_book_make(struct metric_book *ret_book)
{
	static const char *const text = "?";
	struct metric_book *b = ret_book;
	struct made_up m;
	int r;

	*b = (struct metric_book){ 0 };
	r = make_up(&m, HAPPENS_MUCH, text);
	if (!r)
		r = publish_made_up(&m, &b->full);
	if (!r)
		r = find_quiet(b, text);
	for (u32 i = 0; i < NR_FAMILIES && !r; i++) {
		struct metric_facts *f = &b->facts[i];

		f->published = b->full.families[i].nr_samples != 0;
		find_labels(&b->full.families[i], f);
		for (u32 k = 0; k < f->nr_labels; k++)
			find_values(&b->quiet.families[i], text, &f->labels[k]);
	}
	if (!r)
		r = find_groups(&m, b);
	if (!r) {
		find_identities(&m, b->facts);
		r = find_small_set(&m, b->facts);
	}
	made_up_done(&m);
	return r;
}

void metric_book_done(struct metric_book *book)
{
	family_set_done(&book->full);
	family_set_done(&book->quiet);
}
