/* SPDX-License-Identifier: MIT */
/* Verdicts for people. */
#include <math.h>
#include <stdio.h>

#include "user/render/claims.h"
#include "user/render/paper.h"

#define WIDTH	     80
#define NUMBER_CHARS 48
#define RANGE_CHARS  160 /* two of them */
#define TEXT_COLUMN  4
#define LABEL_COLUMN 11

static void number(enum claim_unit unit, double value, char ret_text[NUMBER_CHARS])
{
	if (isnan(value))
		snprintf(ret_text, NUMBER_CHARS, "-");
	else if (unit == CLAIM_SHARE)
		snprintf(ret_text, NUMBER_CHARS, "%.1f%%", value * 100);
	else if (unit == CLAIM_SECONDS)
		snprintf(ret_text, NUMBER_CHARS, "%.2f s", value);
	else
		snprintf(ret_text, NUMBER_CHARS, unit == CLAIM_COUNT ? "%.0f" : "%.1f", value);
}

/* One number, or from where to where. */
static void numbers(const struct claim *c, char ret_text[RANGE_CHARS])
{
	char low[NUMBER_CHARS], high[NUMBER_CHARS];

	number(c->unit, c->low, low);
	number(c->unit, c->high, high);
	if (c->low == c->high || isnan(c->low))
		snprintf(ret_text, RANGE_CHARS, "%s", low);
	else
		snprintf(ret_text, RANGE_CHARS, "%s to %s", low, high);
}

/* Differences of shares are points, those of amounts are relative; counts are counts. */
static void difference(const struct claim *c, double value, char ret_text[NUMBER_CHARS])
{
	if (isnan(value) || c->unit == CLAIM_FACTOR)
		ret_text[0] = '\0';
	else if (c->unit == CLAIM_COUNT)
		snprintf(ret_text, NUMBER_CHARS, "%+.0f", value);
	else
		snprintf(ret_text, NUMBER_CHARS, "%+.1f", value * 100);
}

static void print_text(struct paper *p, const char *text)
{
	paper_begin(p, TEXT_COLUMN, PAPER_PLAIN, "");
	paper_text(p, PAPER_PLAIN, text);
	paper_end(p);
}

static void print_verdict(const struct claim *c, struct buf *out)
{
	buf_str(out, verdict_names[c->verdict]);
	if (c->reason != REASON_NONE)
		buf_printf(out, " %s", claim_reason_names[c->reason]);
	if (c->verdict == VERDICT_CONFIRMED && c->margin > 0)
		buf_printf(out,
			   c->unit == CLAIM_SHARE    ? " within %.3g points"
			   : c->unit == CLAIM_COUNT  ? " within %.0f"
			   : c->unit == CLAIM_FACTOR ? " at most %.3g"
						     : " within %.3g%%",
			   c->unit == CLAIM_SHARE || c->unit == CLAIM_SECONDS ? c->margin * 100
									      : c->margin);
	if (c->verdict == VERDICT_UNRESOLVED && c->n_needed > c->n)
		buf_printf(out, ", needs %.0f samples, has %.0f", c->n_needed, c->n);
}

static void print_claim(struct paper *p, const struct claim *c)
{
	char profiler[NUMBER_CHARS], observer[RANGE_CHARS], delta[NUMBER_CHARS];
	char low[NUMBER_CHARS], high[NUMBER_CHARS], ci[RANGE_CHARS] = "";

	number(c->unit, c->profiler, profiler);
	numbers(c, observer);
	difference(c, c->delta, delta);
	difference(c, c->ci_low, low);
	difference(c, c->ci_high, high);
	if (*low)
		snprintf(ci, sizeof(ci), "%s .. %s", low, high);
	buf_printf(p->buf, "%-3s %-17s %9s %17s %7s %15s  ", c->id, c->name, profiler, observer,
		   delta, ci);
	print_verdict(c, p->buf);
	buf_char(p->buf, '\n');
	if (c->text[0])
		print_text(p, c->text);
	/* Shares of a profile that did not see all time. */
	if (c->bound_low < c->bound_high) {
		char text[128];

		snprintf(text, sizeof(text),
			 "With the time that was not sampled the share is %.1f to %.1f %%.",
			 c->bound_low * 100, c->bound_high * 100);
		print_text(p, text);
	}
}

static void print_claims(struct paper *p, const struct claim *claims, u32 n)
{
	if (!n)
		return;
	buf_str(p->buf, "    claim              profiler          observer   delta"
			"          90% CI  verdict\n");
	for (u32 i = 0; i < n; i++)
		print_claim(p, &claims[i]);
}

static void print_gates(struct paper *p, const struct claim_run *run)
{
	static const char *const states[] = { "not measured", "holds", "warning", "INVALID" };
	u32 held = 0, known = 0;

	for (u32 i = 0; i < run->nr_gates; i++) {
		held += run->gates[i].state == CLAIM_GATE_HOLDS;
		known += run->gates[i].state != CLAIM_GATE_UNKNOWN;
	}
	paper_row(p, LABEL_COLUMN, "gates", "%u of %u hold", held, known);
	for (u32 i = 0; i < run->nr_gates; i++) {
		const struct claim_gate *g = &run->gates[i];

		if (g->state == CLAIM_GATE_WARNS || g->state == CLAIM_GATE_INVALID)
			paper_row(p, LABEL_COLUMN, "", "%s: %s: %s", g->name, states[g->state],
				  g->text);
	}
}

static void print_run(struct paper *p, const struct claim_run *run)
{
	paper_title(p, "CROSS-CHECK");
	paper_row(p, LABEL_COLUMN, "profile", "%s", run->profile);
	paper_row(p, LABEL_COLUMN, "record", "%s", run->record);
	if (run->target[0])
		paper_row(p, LABEL_COLUMN, "target", "%s", run->target);
	print_gates(p, run);
	print_claims(p, run->claims, run->nr_claims);
}

void claims_table(const struct claim_report *report, struct buf *out)
{
	struct paper p = { .buf = out, .width = WIDTH };

	for (u32 i = 0; i < report->nr_runs; i++)
		print_run(&p, &report->runs[i]);
	if (report->nr_all) {
		paper_title(&p, "ALL RUNS");
		print_claims(&p, report->all, report->nr_all);
	}
	buf_printf(out, "\nverdict: %s\n", verdict_names[report->verdict]);
}
