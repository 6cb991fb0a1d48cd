/* SPDX-License-Identifier: MIT */
/* Verdicts for programs. */
#include <math.h>

#include "user/render/claims.h"
#include "user/render/json.h"
#include "user/render/number.h"

static const char *const unit_names[] = {
	[CLAIM_COUNT] = "count",
	[CLAIM_SECONDS] = "seconds",
	[CLAIM_SHARE] = "ratio",
	[CLAIM_FACTOR] = "factor",
};

static void print_number(const char *name, double value, struct buf *out)
{
	buf_printf(out, ",\"%s\":", name);
	if (isfinite(value))
		number_real(value, out);
	else
		buf_str(out, "null");
}

static void print_pair(const char *name, double low, double high, struct buf *out)
{
	buf_printf(out, ",\"%s\":", name);
	if (!isfinite(low) || !isfinite(high)) {
		buf_str(out, "null");
		return;
	}
	buf_char(out, '[');
	number_real(low, out);
	buf_char(out, ',');
	number_real(high, out);
	buf_char(out, ']');
}

static void print_claim(const struct claim *c, struct buf *out)
{
	buf_printf(out, "{\"id\":\"%s\",\"name\":", c->id);
	json_string(c->name, out);
	buf_printf(out, ",\"required\":%s,\"unit\":\"%s\"", c->required ? "true" : "false",
		   unit_names[c->unit]);
	print_number("profiler", c->profiler, out);
	print_pair("observer", c->low, c->high, out);
	print_number("delta", c->delta, out);
	print_pair("ci90", c->ci_low, c->ci_high, out);
	print_number("margin", c->margin, out);
	print_number("n", c->n, out);
	print_number("deff", c->deff, out);
	print_number("n_needed", c->n_needed, out);
	print_pair("bounds", c->bound_low, c->bound_high, out);
	buf_printf(out, ",\"verdict\":\"%s\",\"reason\":", verdict_names[c->verdict]);
	if (c->reason == REASON_NONE)
		buf_str(out, "null");
	else
		json_string(claim_reason_names[c->reason], out);
	buf_str(out, ",\"text\":");
	json_string(c->text, out);
	buf_char(out, '}');
}

static void print_claims(const struct claim *claims, u32 n, struct buf *out)
{
	buf_str(out, "\"claims\":[");
	for (u32 i = 0; i < n; i++) {
		buf_str(out, i ? ",\n" : "\n");
		print_claim(&claims[i], out);
	}
	buf_char(out, ']');
}

static void print_gates(const struct claim_run *run, struct buf *out)
{
	static const char *const states[] = { "not_measured", "holds", "warns", "invalid" };

	buf_str(out, "\"gates\":[");
	for (u32 i = 0; i < run->nr_gates; i++) {
		buf_str(out, i ? ",\n{\"name\":" : "\n{\"name\":");
		json_string(run->gates[i].name, out);
		buf_printf(out, ",\"state\":\"%s\",\"text\":", states[run->gates[i].state]);
		json_string(run->gates[i].text, out);
		buf_char(out, '}');
	}
	buf_str(out, "],\n");
}

void claims_json(const struct claim_report *report, struct buf *out)
{
	buf_printf(out, "{\"verdict\":\"%s\",\"runs\":[", verdict_names[report->verdict]);
	for (u32 i = 0; i < report->nr_runs; i++) {
		const struct claim_run *run = &report->runs[i];

		buf_str(out, i ? ",\n{\"profile\":" : "\n{\"profile\":");
		json_string(run->profile, out);
		buf_str(out, ",\"record\":");
		json_string(run->record, out);
		buf_str(out, ",\"target\":");
		json_string(run->target, out);
		buf_str(out, ",\n");
		print_gates(run, out);
		print_claims(run->claims, run->nr_claims, out);
		buf_char(out, '}');
	}
	buf_str(out, "],\n");
	print_claims(report->all, report->nr_all, out);
	buf_str(out, "}\n");
}
