/* SPDX-License-Identifier: MIT */
/*
 * Verdicts for CI, in the XML that JUnit's readers take.
 *
 * Source: the Jenkins schema, github.com/jenkinsci/xunit-plugin junit-10.xsd.
 */
#include <string.h>

#include "user/base/utf8.h"
#include "user/render/claims.h"

/* Text of an attribute. XML 1.0 has no form for control characters. */
static void print_text(const char *text, struct buf *out)
{
	while (*text) {
		u32 c;
		size_t n = utf8_next(text, &c);

		if (c == '&' || c == '<' || c == '>' || c == '"')
			buf_printf(out, "&#%u;", c);
		else if (utf8_is_control(c) || c == 0xfffe || c == 0xffff)
			buf_char(out, '?');
		else if (c == UTF8_REPLACEMENT)
			buf_str(out, UTF8_REPLACEMENT_STR);
		else
			buf_add(out, text, n);
		text += n;
	}
}

struct junit_case {
	const char *class, *name, *name_rest;
	const char *element; /* what else than passed; "" */
	const char *type, *text;
};

static void print_case(const struct junit_case *c, struct buf *out)
{
	buf_printf(out, "    <testcase classname=\"%s\" name=\"", c->class);
	print_text(c->name, out);
	if (*c->name_rest)
		buf_char(out, ' ');
	print_text(c->name_rest, out);
	if (!*c->element) {
		buf_str(out, "\"/>\n");
		return;
	}
	buf_printf(out, "\"><%s type=\"", c->element);
	print_text(c->type, out);
	buf_str(out, "\" message=\"");
	print_text(c->type, out);
	if (*c->text)
		buf_str(out, ": ");
	print_text(c->text, out);
	buf_str(out, "\"/></testcase>\n");
}

static void print_gate(const struct claim_gate *g, struct buf *out)
{
	static const char *const elements[] = { "skipped", "", "", "error" };
	static const char *const types[] = { "not measured", "", "", "INVALID" };
	const struct junit_case c = { "gates",	       g->name, "", elements[g->state],
				      types[g->state], g->text };

	print_case(&c, out);
}

static void print_claim(const struct claim *c, struct buf *out)
{
	static const char *const elements[NR_VERDICTS] = {
		[VERDICT_CONFIRMED] = "",	  [VERDICT_REFUTED] = "failure",
		[VERDICT_UNRESOLVED] = "skipped", [VERDICT_NOT_TESTABLE] = "skipped",
		[VERDICT_INVALID] = "error",
	};
	const char *reason = claim_reason_names[c->reason];
	struct junit_case j = { "claims",
				c->id,
				c->name,
				elements[c->verdict],
				*reason ? reason : verdict_names[c->verdict],
				c->text };

	/* What is not required is reported, and fails nothing. */
	if (c->verdict == VERDICT_REFUTED && !c->required)
		j.element = "skipped";
	print_case(&j, out);
}

struct counts {
	u32 tests, failures, errors, skipped;
};

static struct counts count(const struct claim_run *run, const struct claim *claims, u32 n)
{
	struct counts all = { .tests = n + (run ? run->nr_gates : 0) };

	for (u32 i = 0; run && i < run->nr_gates; i++) {
		all.errors += run->gates[i].state == CLAIM_GATE_INVALID;
		all.skipped += run->gates[i].state == CLAIM_GATE_UNKNOWN;
	}
	for (u32 i = 0; i < n; i++) {
		bool refuted = claims[i].verdict == VERDICT_REFUTED;

		all.failures += refuted && claims[i].required;
		all.errors += claims[i].verdict == VERDICT_INVALID;
		all.skipped += claims[i].verdict == VERDICT_UNRESOLVED ||
			       claims[i].verdict == VERDICT_NOT_TESTABLE ||
			       (refuted && !claims[i].required);
	}
	return all;
}

static void print_suite(const char *name, const struct claim_run *run, const struct claim *claims,
			u32 n, struct buf *out)
{
	struct counts all = count(run, claims, n);

	buf_str(out, "  <testsuite name=\"");
	print_text(name, out);
	buf_printf(out, "\" tests=\"%u\" failures=\"%u\" errors=\"%u\" skipped=\"%u\">\n",
		   all.tests, all.failures, all.errors, all.skipped);
	for (u32 i = 0; run && i < run->nr_gates; i++)
		print_gate(&run->gates[i], out);
	for (u32 i = 0; i < n; i++)
		print_claim(&claims[i], out);
	buf_str(out, "  </testsuite>\n");
}

void claims_junit(const struct claim_report *report, struct buf *out)
{
	buf_str(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
	for (u32 i = 0; i < report->nr_runs; i++)
		print_suite(report->runs[i].profile, &report->runs[i], report->runs[i].claims,
			    report->runs[i].nr_claims, out);
	if (report->nr_all)
		print_suite("all runs", NULL, report->all, report->nr_all, out);
	buf_str(out, "</testsuites>\n");
}
