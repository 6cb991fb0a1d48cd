/* SPDX-License-Identifier: MIT */
/* Verdicts: by figures that were worked out by hand, and on the numbers of a run that was
 * published. */
#include "tests/lib/check.h"

#include <math.h>

#include "user/crosscheck/judge.h"
#include "user/render/claims.h"

static struct claim begun(enum claim_unit unit)
{
	struct claim c;

	claim_begin(&c, "C5", "system calls", unit);
	c.required = true;
	return c;
}

static struct claim share(u64 hits, u64 n, double deff, double coverage, double low, double high,
			  double margin)
{
	struct share_evidence e = { hits, n, deff, coverage, { low, high }, margin };
	struct claim c = begun(CLAIM_SHARE);

	judge_share(&e, &c);
	return c;
}

/* 110 of 831 where 14.57 % was true: no difference is shown (z = -1.09), and no agreement. */
TEST(no_difference_is_not_agreement)
{
	struct claim c = share(110, 831, NAN, 1, 0.1457, 0.1457, 0.03);

	CHECK_EQ_INT(c.verdict, VERDICT_UNRESOLVED);
	CHECK_EQ_INT(c.reason, REASON_TOO_FEW_SAMPLES);
	CHECK_NEAR(c.n_needed, 1381, 1); /* 0.1324 * 0.8676 * (2 * 1.645)^2 / 0.03^2 */
	c = share(110, 831, NAN, 1, 0.1457, 0.1457, 0.05);
	CHECK_EQ_INT(c.verdict, VERDICT_CONFIRMED);
	/* The table's figure, at 15 %. */
	c = share(30, 200, NAN, 1, 0.15, 0.15, 0.03);
	CHECK_EQ_INT(c.reason, REASON_TOO_FEW_SAMPLES);
	CHECK_NEAR(c.n_needed, 1534, 0);
}

TEST(a_share_is_refuted_only_beyond_every_doubt)
{
	/* 40 % relabelled: 46.8 % where 9 to 11 % is exact. */
	struct claim c = share(1170, 2500, NAN, 1, 0.09, 0.11, 0.03);

	CHECK_EQ_INT(c.verdict, VERDICT_REFUTED);
	CHECK_STR(c.text, "Off by at least 35.8 points.");
	/* The same with half of the time not sampled: it could be 23.4 %, still outside. */
	c = share(1170, 2500, NAN, 0.5, 0.09, 0.11, 0.03);
	CHECK_EQ_INT(c.verdict, VERDICT_REFUTED);
	CHECK_STR(c.text, "Off by at least 12.4 points.");
	/* And where the exact side says only that it is at most 45 %, or the sample is small. */
	c = share(11700, 25000, NAN, 1, 0, 0.45, 0.03);
	CHECK_EQ_INT(c.verdict, VERDICT_UNRESOLVED);
	CHECK_EQ_INT(c.reason, REASON_EXACT_SIDE_BOUNDED);
	c = share(60, 600, NAN, 1, 0.05, 0.15, 0.03); /* more samples would not help */
	CHECK_EQ_INT(c.reason, REASON_EXACT_SIDE_BOUNDED);
	CHECK(isnan(c.n_needed));
	c = share(4, 10, NAN, 1, 0.09, 0.11, 0.03);
	CHECK_EQ_INT(c.verdict, VERDICT_UNRESOLVED);
	CHECK_EQ_INT(c.reason, REASON_TOO_FEW_SAMPLES);
}

TEST(a_share_is_confirmed_only_within_every_doubt)
{
	CHECK_EQ_INT(share(250, 2500, NAN, 1, 0.10, 0.10, 0.03).verdict, VERDICT_CONFIRMED);
	CHECK_EQ_INT(share(250, 2500, NAN, 1, 0.09, 0.11, 0.03).verdict, VERDICT_CONFIRMED);
	CHECK_EQ_INT(share(250, 2500, NAN, 1, 0.07, 0.13, 0.03).reason, REASON_EXACT_SIDE_BOUNDED);
	CHECK_EQ_INT(share(250, 2500, NAN, 0.9, 0.10, 0.10, 0.03).reason, REASON_LOW_COVERAGE);
	CHECK_EQ_INT(share(250, 2500, 5, 1, 0.10, 0.10, 0.03).reason, REASON_OVERDISPERSED);
	CHECK_EQ_INT(share(250, 2500, 3, 1, 0.10, 0.10, 0.03).verdict, VERDICT_CONFIRMED);
	CHECK_EQ_INT(share(320, 2500, NAN, 1, 0.10, 0.10, 0.03).reason, REASON_STRADDLES);
	CHECK_EQ_INT(share(250, 2500, NAN, 1, NAN, NAN, 0.03).verdict, VERDICT_NOT_TESTABLE);
	CHECK_EQ_INT(share(0, 0, NAN, 1, 0.1, 0.1, 0.03).verdict, VERDICT_UNRESOLVED);
	CHECK_EQ_INT(share(0, 2500, NAN, 1, 0, 0, 0.03).verdict, VERDICT_CONFIRMED);
}

TEST(a_census_is_equal)
{
	struct claim c = begun(CLAIM_COUNT);

	judge_census(295, 295, 0, &c);
	CHECK_EQ_INT(c.verdict, VERDICT_CONFIRMED);
	judge_census(294, 295, 0, &c);
	CHECK_EQ_INT(c.verdict, VERDICT_REFUTED);
	CHECK(strstr(c.text, "1 signals of its profiler are not in the profile"));
	c = begun(CLAIM_COUNT);
	judge_census(300, 295, 4, &c);
	CHECK_EQ_INT(c.verdict, VERDICT_REFUTED);
	CHECK(strstr(c.text, "5 samples for which there was no signal"));
	judge_census(291, 295, 4, &c);
	CHECK_EQ_INT(c.verdict, VERDICT_CONFIRMED);
}

TEST(coverage_knows_its_edges)
{
	static const struct {
		double sampled, low, high;
		enum verdict verdict;
	} cases[] = {
		{ 2.95, 2.95, 2.96, VERDICT_CONFIRMED },
		{ 20.88, 25, 25, VERDICT_REFUTED }, /* 83.5 % */
		{ 24.9, 24, 26, VERDICT_UNRESOLVED },
		{ 30, 24, 26, VERDICT_REFUTED },
		{ 1, NAN, NAN, VERDICT_NOT_TESTABLE },
		{ 1, 0, 2, VERDICT_UNRESOLVED },
		{ 1, 0, 0, VERDICT_NOT_TESTABLE },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct claim c = begun(CLAIM_SECONDS);

		judge_coverage(cases[i].sampled, (struct interval){ cases[i].low, cases[i].high },
			       0.02, &c);
		if (c.verdict != cases[i].verdict)
			FAIL("case %zu is %s, want %s", i, verdict_names[c.verdict],
			     verdict_names[cases[i].verdict]);
	}
}

TEST(places_that_differ_are_counted_once)
{
	u64 profile[] = { 94, 10, 4, 2 }, ours[] = { 94, 10, 4, 2 };
	struct claim c = begun(CLAIM_SHARE);

	judge_reattribution(profile, ours, 4, 0.005, &c);
	CHECK_EQ_INT(c.verdict, VERDICT_CONFIRMED);
	ours[0] = 84;
	ours[1] = 20;
	judge_reattribution(profile, ours, 4, 0.005, &c);
	CHECK_EQ_INT(c.verdict, VERDICT_REFUTED);
	CHECK_NEAR(c.profiler, 10.0 / 110, 1e-12);
}

TEST(cpu_totals_agree_within_a_percent)
{
	struct claim c = begun(CLAIM_SECONDS);

	judge_cpu(10, 0.004, true, 0.01, &c);
	CHECK_EQ_INT(c.verdict, VERDICT_CONFIRMED);
	judge_cpu(0.1, 0.2, true, 0.01, &c); /* two ticks */
	CHECK_EQ_INT(c.verdict, VERDICT_UNRESOLVED);
	judge_cpu(10, 0.2, false, 0.01, &c);
	CHECK_EQ_INT(c.verdict, VERDICT_REFUTED);
	judge_cpu(NAN, 0.2, false, 0.01, &c);
	CHECK_EQ_INT(c.verdict, VERDICT_NOT_TESTABLE);
}

/* Two at 0.4 % each: of two tests the second may be at 1 %, of three at 0.5 %. */
TEST(many_tests_refute_less)
{
	struct claim claims[4];

	for (u32 i = 0; i < 4; i++) {
		claims[i] = begun(CLAIM_SHARE);
		claims[i].verdict = VERDICT_REFUTED;
	}
	claims[0].p_outside = 0.008;
	claims[1].p_outside = 1e-9;
	judge_holm(claims, 4);
	CHECK_EQ_INT(claims[0].verdict, VERDICT_REFUTED);
	claims[2].p_outside = 0.006;
	judge_holm(claims, 4);
	CHECK_EQ_INT(claims[1].verdict, VERDICT_REFUTED);
	CHECK_EQ_INT(claims[2].verdict, VERDICT_UNRESOLVED);
	CHECK_EQ_INT(claims[0].verdict, VERDICT_UNRESOLVED);
	CHECK_EQ_INT(claims[3].verdict, VERDICT_REFUTED); /* not tested by its chance */
}

/*
 * Three profiles of one application at 94 elements that were published: system calls at 42.7, 88.7
 * and 87.0 % of self time, collector at 27.8, 4.4 and 4.7 %, of 83.5 % of the CPU time, while the
 * work was identical. 25 s at 100 samples a second of one core: 2,088 samples each. The fixed term
 * of an interaction was measured as at most 0.216 of 1.855 ms.
 */
#define N 2088
static const double syscalls[] = { 0.427, 0.887, 0.870 }, collector[] = { 0.278, 0.044, 0.047 };

static struct claim repeats(const double *shares)
{
	double hits[3], n[3];
	struct claim c = begun(CLAIM_FACTOR);

	for (int i = 0; i < 3; i++) {
		n[i] = N;
		hits[i] = shares[i] * N;
	}
	judge_repeatability(hits, n, 3, &c);
	return c;
}

TEST(published_repeats_are_no_samples_of_one_share)
{
	struct claim c = repeats(syscalls);

	CHECK_EQ_INT(c.verdict, VERDICT_REFUTED);
	CHECK_NEAR(c.deff, 717, 0.5);
	CHECK_STR(c.text, "chi-square 1434.6 with 2 degrees of freedom: these runs are not samples "
			  "of one share; 2088 samples of one of them are worth 2.9.");
	c = repeats(collector);
	CHECK_NEAR(c.deff, 349, 0.5);
	CHECK(strstr(c.text, "chi-square 697.6"));
	c = begun(CLAIM_FACTOR);
	judge_repeatability(syscalls, syscalls, 1, &c);
	CHECK_EQ_INT(c.verdict, VERDICT_NOT_TESTABLE);
}

TEST(published_coverage_is_refuted)
{
	struct claim c = begun(CLAIM_SECONDS);

	judge_coverage(0.835 * 25, (struct interval){ 25, 25 }, JUDGE_COVERAGE_MARGIN, &c);
	CHECK_EQ_INT(c.verdict, VERDICT_REFUTED);
	CHECK_STR(c.text, "16.5 % of the CPU time has no sample; which part is not known, so every "
			  "share carries that much doubt.");
}

/* If the fixed term bounds the calls, all three runs are refuted, with their lowest bounds. */
TEST(published_shares_are_refuted_by_the_fixed_term)
{
	static const char *const texts[] = { "Off by at least 24.0 points.",
					     "Off by at least 62.4 points.",
					     "Off by at least 61.0 points." };

	for (int i = 0; i < 3; i++) {
		struct claim c = share((u64)(syscalls[i] * N + 0.5), N, 717, 0.835, 0,
				       0.216 / 1.855, JUDGE_SHARE_MARGIN);

		CHECK_EQ_INT(c.verdict, VERDICT_REFUTED);
		CHECK_STR(c.text, texts[i]);
	}
	/* Without it nothing is known, whatever they say of each other. */
	CHECK_EQ_INT(share(892, N, 717, 0.835, NAN, NAN, JUDGE_SHARE_MARGIN).verdict,
		     VERDICT_NOT_TESTABLE);
	/* At 974 elements, where runs repeat to a point, they are refuted by the same term. */
	CHECK_EQ_INT(share((u64)(0.026 * N), N, 1, 0.835, 0, 0.216 / 19.05, 0.01).verdict,
		     VERDICT_UNRESOLVED);
	CHECK_EQ_INT(share((u64)(0.051 * N), N, 1, 0.835, 0, 0.216 / 19.05, 0.01).verdict,
		     VERDICT_REFUTED);
}

/* --- the verdict over all, and its three forms --- */

static struct claim_run run_of(enum verdict verdict, enum claim_gate_state gate)
{
	struct claim_run run = {
		.profile = "a <b>.pb.gz", .record = "run\x1b.sky", .nr_claims = 2, .nr_gates = 1
	};

	run.claims[0] = share(250, 2500, NAN, 0.9, 0.10, 0.11, 0.03);
	run.claims[0].verdict = verdict;
	run.claims[1] = begun(CLAIM_COUNT);
	run.claims[1].required = false;
	run.claims[1].verdict = VERDICT_REFUTED;
	run.gates[0].name = "window";
	run.gates[0].state = gate;
	snprintf(run.gates[0].text, sizeof(run.gates[0].text), "a \"window\"");
	return run;
}

TEST(the_worst_required_claim_decides)
{
	static const struct {
		enum verdict claim;
		enum claim_gate_state gate;
		enum verdict all;
	} cases[] = {
		{ VERDICT_CONFIRMED, CLAIM_GATE_HOLDS, VERDICT_CONFIRMED },
		{ VERDICT_CONFIRMED, CLAIM_GATE_WARNS, VERDICT_CONFIRMED },
		{ VERDICT_CONFIRMED, CLAIM_GATE_INVALID, VERDICT_INVALID },
		{ VERDICT_REFUTED, CLAIM_GATE_HOLDS, VERDICT_REFUTED },
		{ VERDICT_UNRESOLVED, CLAIM_GATE_HOLDS, VERDICT_UNRESOLVED },
		{ VERDICT_NOT_TESTABLE, CLAIM_GATE_HOLDS, VERDICT_UNRESOLVED },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct claim_run run = run_of(cases[i].claim, cases[i].gate);
		struct claim_report report = { .runs = &run, .nr_runs = 1 };

		CHECK_EQ_INT(claims_verdict(&report), cases[i].all);
	}
}

TEST(texts_of_a_report_are_harmless)
{
	struct claim_run run = run_of(VERDICT_REFUTED, CLAIM_GATE_INVALID);
	struct claim_report report = { .runs = &run, .nr_runs = 1, .verdict = VERDICT_INVALID };
	struct buf table = { 0 }, json = { 0 }, junit = { 0 };

	report.all[0] = repeats(syscalls);
	report.nr_all = 1;
	claims_table(&report, &table);
	claims_json(&report, &json);
	claims_junit(&report, &junit);
	CHECK(strstr(table.bytes, "verdict: INVALID\n") && !strchr(table.bytes, '\x1b'));
	CHECK(strstr(table.bytes, "window: INVALID: a \"window\""));
	CHECK(strstr(json.bytes, "\"text\":\"a \\\"window\\\"\"") && !strchr(json.bytes, '\x1b'));
	CHECK(strstr(json.bytes, "\"profiler\":0.1,\"observer\":[0.1,0.11]"));
	CHECK(strstr(junit.bytes, "<testsuite name=\"a &#60;b&#62;.pb.gz\" tests=\"3\" "
				  "failures=\"1\" errors=\"1\" skipped=\"1\">"));
	CHECK(strstr(junit.bytes, "<testsuite name=\"all runs\" tests=\"1\" failures=\"1\""));
	buf_done(&table);
	buf_done(&json);
	buf_done(&junit);
}
