/* SPDX-License-Identifier: MIT */
/* The live table: its frame, and what it says about the observing itself. */
#include "user/render/table.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "user/model/identities.h"
#include "user/render/activity.h"
#include "user/render/paper.h"
#include "user/render/table_process.h"

#define DEFAULT_MAX_PROCESSES 4

static void print_header(const struct table_input *in, struct paper *p)
{
	char human[HUMAN_WIDTH];

	human_duration(in->interval_ns, human);
	paper_begin(p, TABLE_INDENT, PAPER_STRONG, "skyobserve");
	paper_item(p, PAPER_PLAIN, "%s %s", in->totals ? "totals of" : "rates over", human);
	if (in->address)
		paper_item(p, PAPER_PLAIN, "%s", in->address);
	paper_end(p);
}

static void print_processes(const struct table_input *in, struct paper *p)
{
	const struct family *up = &in->now->families[FAM_PROCESS_UP];
	size_t max = in->max_processes ? in->max_processes : DEFAULT_MAX_PROCESSES;
	struct activity a;

	for (size_t i = 0; i < up->nr_samples && i < max; i++) {
		paper_end(p);
		activity_measure(in->prev, in->now, &up->samples[i], &a);
		table_print_process(in, &a, p);
		p->buf->failed |= a.failed;
		activity_done(&a);
	}
	if (up->nr_samples <= max)
		return;
	paper_end(p);
	paper_begin(p, 0, PAPER_FAINT, "");
	paper_item(p, PAPER_FAINT, "observed and not shown: %zu", up->nr_samples - max);
	paper_end(p);
}

static const char *label_or(const struct sample *s, const char *name, const char *otherwise)
{
	const char *value = sample_label_value(s, name);

	return value ? value : otherwise;
}

static bool same_label(const struct sample *a, const struct sample *b, const char *name)
{
	return !strcmp(label_or(a, name, ""), label_or(b, name, ""));
}

/* The residual that belongs to a sample of FAM_IDENTITY_OK, or NULL. */
static const struct sample *residual_of(const struct family_set *set, const struct sample *ok)
{
	const struct family *f = &set->families[FAM_IDENTITY_RESIDUAL];

	for (size_t i = 0; i < f->nr_samples; i++) {
		const struct sample *s = &f->samples[i];

		if (same_label(s, ok, "identity") && same_label(s, ok, "process") &&
		    same_label(s, ok, "pid"))
			return s;
	}
	return NULL;
}

static void print_broken_identity(const struct family_set *set, const struct sample *ok,
				  struct paper *p)
{
	const struct sample *residual = residual_of(set, ok);
	char human[HUMAN_WIDTH] = "?";

	if (residual)
		human_amount(100 * (residual->real < 0 ? -residual->real : residual->real), human);
	paper_item(p, PAPER_BAD, "%s of %s is %s %% off", label_or(ok, "identity", "?"),
		   label_or(ok, "process", "all without details"), human);
}

static void print_books(const struct table_input *in, struct paper *p)
{
	const struct family *f = &in->now->families[FAM_IDENTITY_OK];
	size_t broken = 0;

	if (!f->nr_samples)
		return;
	paper_begin(p, TABLE_INDENT, PAPER_FAINT, "books");
	for (size_t i = 0; i < f->nr_samples; i++)
		broken += !f->samples[i].u;
	if (!broken)
		paper_item(p, PAPER_GOOD, "all %zu identities hold", f->nr_samples);
	else
		paper_item(p, PAPER_BAD, "%zu of %zu identities do not hold:", broken,
			   f->nr_samples);
	for (size_t i = 0; i < f->nr_samples; i++) {
		if (!f->samples[i].u)
			print_broken_identity(in->now, &f->samples[i], p);
	}
	paper_end(p);
}

static void print_lost(const struct table_input *in, struct paper *p)
{
	const struct family *f = &in->now->families[FAM_DROPPED];
	bool lost = false;

	if (!f->nr_samples)
		return;
	paper_begin(p, TABLE_INDENT, PAPER_FAINT, "lost");
	for (size_t i = 0; i < f->nr_samples; i++) {
		const struct sample *s = &f->samples[i];

		if (!s->u)
			continue;
		lost = true;
		paper_item(p, PAPER_BAD, "%s %llu", label_or(s, "reason", "?"), s->u);
	}
	if (!lost)
		paper_item(p, PAPER_GOOD, "nothing");
	paper_end(p);
}

static void print_gates(const struct table_input *in, struct paper *p)
{
	const struct family *f = &in->now->families[FAM_QUALITY_OK];
	bool begun = false;

	for (size_t i = 0; i < f->nr_samples; i++) {
		if (f->samples[i].u)
			continue;
		if (!begun)
			paper_begin(p, TABLE_INDENT, PAPER_FAINT, "gates not held");
		begun = true;
		paper_item(p, PAPER_BAD, "%s", label_or(&f->samples[i], "gate", "?"));
	}
	if (begun)
		paper_end(p);
}

void table_render_chain(u64 breaks, u64 switches, bool colour, struct buf *buf)
{
	struct paper p = { .buf = buf, .width = TABLE_WIDTH, .colour = colour };
	char line[128], share[HUMAN_WIDTH];

	human_amount(100 * (double)breaks / (double)(switches ? switches : 1), share);
	snprintf(line, sizeof(line), "%llu of %llu (%s %%)", (unsigned long long)breaks,
		 (unsigned long long)switches, share);
	paper_begin(&p, 0, PAPER_STRONG, "note:");
	paper_text(&p, PAPER_PLAIN, line);
	paper_text(&p, PAPER_PLAIN,
		   "context switches of this machine were not reported by its kernel.");
	paper_text(&p, PAPER_PLAIN, chain_meaning);
	paper_text(&p, PAPER_PLAIN, "Only another kernel is a remedy.");
	paper_end(&p);
}

/* A gate by itself says nothing: what this one means, and what to do. */
static void print_chain(const struct table_input *in, struct buf *buf)
{
	const struct family *breaks = &in->now->families[FAM_CHAIN_BREAKS];
	const struct family *switches = &in->now->families[FAM_SWITCH_CHAIN];
	const struct family *gates = &in->now->families[FAM_QUALITY_OK];

	for (size_t i = 0; i < gates->nr_samples; i++) {
		const struct sample *gate = &gates->samples[i];

		if (!gate->u && !strcmp(label_or(gate, "gate", ""), "chain") &&
		    breaks->nr_samples && switches->nr_samples)
			table_render_chain(breaks->samples[0].u, switches->samples[0].u, in->colour,
					   buf);
	}
}

/* Why group @up is not up, by its info sample. */
static const char *group_reason(const struct family_set *set, const struct sample *up)
{
	const struct family *f = &set->families[FAM_GROUP];

	for (size_t i = 0; i < f->nr_samples; i++) {
		if (same_label(&f->samples[i], up, "group"))
			return label_or(&f->samples[i], "reason", "");
	}
	return "";
}

static void print_not_measured(const struct table_input *in, struct paper *p)
{
	const struct family *groups = &in->now->families[FAM_GROUP_UP];
	const struct family *steal = &in->now->families[FAM_STEAL_SUPPORTED];
	const char *heading = "not measured";

	for (size_t i = 0; i < groups->nr_samples; i++) {
		const struct sample *s = &groups->samples[i];
		const char *reason;

		reason = group_reason(in->now, s);
		if (s->u || !strcmp(reason, "not asked for"))
			continue;
		paper_begin(p, TABLE_INDENT, PAPER_FAINT, heading);
		paper_item(p, PAPER_BAD, "%s%s", label_or(s, "group", "?"), reason[0] ? ":" : "");
		paper_text(p, PAPER_PLAIN, reason);
		paper_end(p);
		heading = "";
	}
	if (!steal->nr_samples || steal->samples[0].u)
		return;
	paper_begin(p, TABLE_INDENT, PAPER_FAINT, heading);
	paper_text(p, PAPER_PLAIN, "steal: this kernel has not accounted for any");
	paper_end(p);
}

int table_render(const struct table_input *in, struct buf *buf)
{
	struct paper p = { .buf = buf, .width = TABLE_WIDTH, .colour = in->colour };

	if (in->now->failed || (in->prev && in->prev->failed))
		return -ENOMEM;
	if (!in->interval_ns)
		return -EINVAL;
	print_header(in, &p);
	print_processes(in, &p);
	paper_end(&p);
	print_books(in, &p);
	print_lost(in, &p);
	print_gates(in, &p);
	print_not_measured(in, &p);
	print_chain(in, buf);
	return buf->failed ? -ENOMEM : 0;
}
