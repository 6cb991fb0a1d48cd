/* SPDX-License-Identifier: MIT */
/* Kinds of interactions in a record: means over the window, and what belongs to none of them. */
#include "user/render/record_kinds.h"

#include <stdio.h>
#include <string.h>

#include "user/render/activity.h"

#define COST_COLUMN 16
#define MAX_KINDS   256

static const char *const reasons[NR_REASONS] = {
#define REASON(id, label, help) label,
#include "reasons.def"
#undef REASON
};

/* An account of a process: a kind, or the background. */
struct account {
	const struct record *r;
	struct label labels[3]; /* process, interaction, and what is asked for */
	double n;		/* what it is divided by */
};

static bool grown(struct account *a, enum family_id id, const char *label, const char *value,
		  u64 *ret)
{
	a->labels[2] = (struct label){ label, value };
	return !record_delta(a->r, id, a->labels, label ? 3 : 2, ret);
}

static void print_time(struct account *a, enum family_id id, const char *label, const char *value,
		       const char *word, struct paper *p)
{
	char human[HUMAN_WIDTH];
	u64 ns;

	if (!grown(a, id, label, value, &ns) || (label && !ns))
		return;
	human_duration((u64)((double)ns / a->n), human);
	paper_item(p, label ? PAPER_PLAIN : PAPER_STRONG, "%s %s", word, human);
}

static void print_count(struct account *a, enum family_id id, const char *word, struct paper *p)
{
	char human[HUMAN_WIDTH];
	u64 n;

	if (!grown(a, id, NULL, NULL, &n))
		return;
	human_amount((double)n / a->n, human);
	paper_item(p, PAPER_PLAIN, "%s %s", human, word);
}

static void print_cost(struct account *a, const char *label, struct paper *p)
{
	paper_begin(p, COST_COLUMN, PAPER_FAINT, label);
	print_time(a, FAM_CPU, NULL, NULL, "CPU", p);
	print_time(a, FAM_CPU, "mode", "user", "user", p);
	print_time(a, FAM_CPU, "mode", "system", "system", p);
	print_count(a, FAM_SYSCALLS, "calls", p);
	print_count(a, FAM_FSYNCS, "durable writes", p);
	print_count(a, FAM_PAGE_FAULTS, "page faults", p);
	paper_end(p);
	paper_begin(p, COST_COLUMN, PAPER_FAINT, "");
	print_time(a, FAM_OFF_CPU, NULL, NULL, "off CPU", p);
	for (u32 i = 0; i < NR_REASONS; i++)
		print_time(a, FAM_OFF_CPU, "reason", reasons[i], reasons[i], p);
	print_time(a, FAM_OFF_CPU, "reason", "go_scheduler", "go_scheduler", p);
	paper_end(p);
}

static void print_quantile(const struct hist *hist, u32 permille, const char *word, struct paper *p)
{
	u64 bound = hist_quantile_bound(hist, permille);
	char human[HUMAN_WIDTH];

	if (bound == (u64)-1) {
		paper_item(p, PAPER_PLAIN, "%s > 68.7 s", word);
	} else if (bound) {
		human_duration(bound, human);
		paper_item(p, PAPER_PLAIN, "%s <= %s", word, human);
	}
}

static void print_duration(const struct account *a, struct paper *p)
{
	const struct sample *end =
		record_find(record_end(a->r), FAM_INTERACTION_DURATION, a->labels, 2);
	char human[HUMAN_WIDTH];
	struct hist hist;
	u64 n = 0;

	if (!end || record_delta_hist(a->r, FAM_INTERACTION_DURATION, end, &hist))
		return;
	for (u32 i = 0; i < NR_HIST_BUCKETS; i++)
		n += hist.counts[i];
	if (!n)
		return;
	human_duration(hist.sum / n, human);
	paper_begin(p, COST_COLUMN, PAPER_FAINT, "");
	paper_item(p, PAPER_STRONG, "took %s", human);
	print_quantile(&hist, 500, "half", p);
	/* Below that the 99th percentile is one observation or none. */
	if (n >= 1000)
		print_quantile(&hist, 990, "99 %", p);
	paper_end(p);
}

static void print_codes(const struct account *a, struct paper *p)
{
	const struct family *f = &record_end(a->r)->families[FAM_INTERACTIONS];

	for (size_t i = 0; i < f->nr_samples; i++) {
		const char *code = record_label(&f->samples[i], "code");
		u64 n;

		if (!code || !sample_matches(&f->samples[i], a->labels, 2) ||
		    record_delta_sample(a->r, FAM_INTERACTIONS, &f->samples[i], &n) || !n)
			continue;
		paper_item(p, PAPER_PLAIN, "%s: %llu", code, n);
	}
}

static void print_kind(struct account *a, u64 n, struct paper *p)
{
	u64 window_ns = record_window_ns(a->r);
	char rate[HUMAN_WIDTH];

	human_amount(window_ns ? (double)n * (double)NS_PER_SEC / (double)window_ns : 0, rate);
	paper_begin(p, COST_COLUMN, PAPER_STRONG, a->labels[1].value);
	paper_item(p, PAPER_STRONG, "%llu", n);
	paper_item(p, PAPER_PLAIN, "%s/s", rate);
	print_codes(a, p);
	paper_end(p);
	if (!n)
		return;
	a->n = (double)n;
	print_cost(a, "  each", p);
	print_duration(a, p);
}

/* Whether an earlier sample is of the same process and kind: they differ by their code. */
static bool seen_before(const struct family *f, size_t i, const struct account *a)
{
	for (size_t k = 0; k < i; k++) {
		if (sample_matches(&f->samples[k], a->labels, 2))
			return true;
	}
	return false;
}

static void print_background(const struct record *r, struct paper *p)
{
	const struct family *up = &record_end(r)->families[FAM_PROCESS_UP];

	for (size_t i = 0; i < up->nr_samples && i < MAX_KINDS; i++) {
		const char *process = record_label(&up->samples[i], "process");
		struct account a = { .r = r,
				     .labels = { { "process", process ? process : "" },
						 { "interaction", "background" } },
				     .n = 1 };
		u64 ns;

		if (!grown(&a, FAM_CPU, NULL, NULL, &ns))
			continue;
		paper_begin(p, COST_COLUMN, PAPER_STRONG, "background");
		paper_item(p, PAPER_PLAIN, "of %s: what belongs to no interaction",
			   process ? process : "?");
		paper_end(p);
		print_cost(&a, "  in all", p);
	}
}

void record_kinds_print(const struct record *r, struct paper *p)
{
	const struct family *f = &record_end(r)->families[FAM_INTERACTIONS];
	size_t shown = 0;

	if (!f->nr_samples)
		return;
	paper_title(p, "INTERACTIONS");
	for (size_t i = 0; i < f->nr_samples && shown < MAX_KINDS; i++) {
		const char *process = record_label(&f->samples[i], "process");
		const char *kind = record_label(&f->samples[i], "interaction");
		struct account a = { .r = r,
				     .labels = { { "process", process ? process : "" },
						 { "interaction", kind ? kind : "" } } };
		u64 n;

		if (!kind || !process || seen_before(f, i, &a) ||
		    record_delta(r, FAM_INTERACTIONS, a.labels, 2, &n))
			continue;
		print_kind(&a, n, p);
		shown++;
	}
	print_background(r, p);
}
