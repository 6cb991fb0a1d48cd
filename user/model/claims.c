/* SPDX-License-Identifier: MIT */
/* Claims: names, and the verdict over all of them. */
#include "user/model/claims.h"

#include <math.h>

const char *const verdict_names[NR_VERDICTS] = {
	[VERDICT_CONFIRMED] = "CONFIRMED",   [VERDICT_REFUTED] = "REFUTED",
	[VERDICT_UNRESOLVED] = "UNRESOLVED", [VERDICT_NOT_TESTABLE] = "NOT_TESTABLE",
	[VERDICT_INVALID] = "INVALID",
};

const char *const claim_reason_names[NR_CLAIM_REASONS] = {
	[REASON_NONE] = "",
	[REASON_TOO_FEW_SAMPLES] = "TOO_FEW_SAMPLES",
	[REASON_STRADDLES] = "STRADDLES_MARGIN",
	[REASON_OVERDISPERSED] = "OVERDISPERSED",
	[REASON_LOW_COVERAGE] = "LOW_COVERAGE",
	[REASON_EXACT_SIDE_MISSING] = "EXACT_SIDE_MISSING",
	[REASON_EXACT_SIDE_BOUNDED] = "EXACT_SIDE_BOUNDED",
	[REASON_WINDOW_EDGES] = "WINDOW_EDGES",
	[REASON_RULES_INCOMPLETE] = "RULES_INCOMPLETE",
	[REASON_UNWIND_FAILED] = "UNWIND_FAILED",
	[REASON_FEW_RUNS] = "FEW_RUNS",
	[REASON_NOT_LINUX] = "NOT_LINUX",
};

void claim_begin(struct claim *c, const char *id, const char *name, enum claim_unit unit)
{
	*c = (struct claim){ .id = id,
			     .name = name,
			     .unit = unit,
			     .profiler = NAN,
			     .low = NAN,
			     .high = NAN,
			     .delta = NAN,
			     .ci_low = NAN,
			     .ci_high = NAN,
			     .margin = NAN,
			     .n = NAN,
			     .deff = NAN,
			     .n_needed = NAN,
			     .bound_low = NAN,
			     .bound_high = NAN,
			     .p_outside = NAN,
			     .verdict = VERDICT_NOT_TESTABLE };
}

bool claim_run_is_invalid(const struct claim_run *run)
{
	for (u32 i = 0; i < run->nr_gates; i++) {
		if (run->gates[i].state == CLAIM_GATE_INVALID)
			return true;
	}
	return false;
}

static void count(const struct claim *claims, u32 n, u32 counts[NR_VERDICTS])
{
	for (u32 i = 0; i < n; i++) {
		if (claims[i].required)
			counts[claims[i].verdict]++;
	}
}

enum verdict claims_verdict(const struct claim_report *report)
{
	u32 counts[NR_VERDICTS] = { 0 };

	for (u32 i = 0; i < report->nr_runs; i++) {
		if (claim_run_is_invalid(&report->runs[i]))
			return VERDICT_INVALID;
		count(report->runs[i].claims, report->runs[i].nr_claims, counts);
	}
	count(report->all, report->nr_all, counts);
	if (counts[VERDICT_REFUTED])
		return VERDICT_REFUTED;
	if (counts[VERDICT_UNRESOLVED] || !counts[VERDICT_CONFIRMED])
		return VERDICT_UNRESOLVED;
	return VERDICT_CONFIRMED;
}
