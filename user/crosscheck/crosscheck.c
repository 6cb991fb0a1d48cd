/* SPDX-License-Identifier: MIT */
/* From a profile and a record to claims. What a verdict takes is in judge.c. */
#include "user/crosscheck/crosscheck.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "user/crosscheck/about.h"
#include "user/crosscheck/collector.h"
#include "user/crosscheck/judge.h"
#include "user/crosscheck/leaves.h"

#define MAX_RUNS 64

/* What is known of one run. */
struct evidence {
	const struct crosscheck_input *in;
	struct claim_run *run;
	struct about about;
	struct bucket_table go;
	struct profile_sums samples, cpu; /* of the profile */
	double deff, deff_marking;	  /* of system calls, of marking; NaN: not known */
	struct interval spent;	 /* seconds of CPU time in the profile's window; NaN: not known */
	struct interval marking; /* share of it that background workers of the collector had */
	struct interval system;	 /* share of it inside of system calls, with the way into them */
	double coverage;	 /* at the middle of @spent */
};

static struct claim *add_claim(struct evidence *e, const char *id, const char *name,
			       enum claim_unit unit, bool required)
{
	struct claim *c = &e->run->claims[e->run->nr_claims];

	if (e->run->nr_claims < MAX_CLAIMS - 1)
		e->run->nr_claims++;
	claim_begin(c, id, name, unit);
	c->required = required;
	return c;
}

/* --- the exact side --- */

/* CPUs that were there, or more: the highest number of "0-3,5". */
static u32 nr_cpus(const struct record *r)
{
	u32 highest = 0, n = 0;

	for (const char *c = record_fact_text(r, "cpu.online");; c++) {
		if (*c >= '0' && *c <= '9' && n < 100000) {
			n = n * 10 + (u32)(*c - '0');
			continue;
		}
		highest = n > highest ? n : highest;
		n = 0;
		if (!*c)
			return highest + 1;
	}
}

static bool cpu_of(const struct evidence *e, const char *mode, struct window_amount *ret)
{
	const struct label labels[] = { { "process", e->about.process }, { "mode", mode } };
	struct window_series of = { .id = FAM_CPU, .labels = labels, .nr_labels = mode ? 2 : 1 };

	of.max_rate = (double)nr_cpus(e->in->record) * (double)NS_PER_SEC;
	return window_delta(e->in->record, &e->about.window, &of, ret);
}

/*
 * The time of a call that is neither in our stamps nor in user code: from the instruction to the
 * entry tracepoint and back, at most what a call that does nothing takes. The record has that.
 */
static double entries_ns(const struct evidence *e, double calls)
{
	u64 ns;

	return record_fact_number(e->in->record, "machine.empty_call_ns", &ns) ? calls * (double)ns
									       : NAN;
}

/* Shares that the edges leave possible. */
static void find_marking(struct evidence *e)
{
	struct interval seconds;

	if (e->spent.low <= 0 ||
	    !collector_spent(e->in->record, &e->about.window, e->about.process, &seconds))
		return;
	e->marking.low = fmin(1, seconds.low / e->spent.high);
	e->marking.high = fmin(1, seconds.high / e->spent.low);
}

static void find_exact(struct evidence *e)
{
	const struct label process = { "process", e->about.process };
	const struct window_series of_calls = { FAM_SYSCALLS, &process, 1, 0 };
	struct window_amount all, user, system, calls;
	double inside;

	e->spent = e->system = e->marking = (struct interval){ NAN, NAN };
	e->coverage = NAN;
	if (!e->about.process || !e->about.has_window || !cpu_of(e, "user", &user) ||
	    !cpu_of(e, "system", &system) || !cpu_of(e, NULL, &all))
		return;
	e->spent = (struct interval){ (double)all.least / (double)NS_PER_SEC,
				      (double)all.most / (double)NS_PER_SEC };
	if (all.most)
		e->coverage = 2 * (double)e->cpu.total / ((double)all.least + (double)all.most);
	find_marking(e);
	if (!window_delta(e->in->record, &e->about.window, &of_calls, &calls))
		return;
	inside = entries_ns(e, (double)calls.most);
	/* The smallest share and the largest one that the edges leave possible. */
	if (system.least + user.most && system.most + user.least && !isnan(inside)) {
		e->system.low = (double)system.least / ((double)system.least + (double)user.most);
		e->system.high = fmin(1, ((double)system.most + inside) /
						 ((double)system.most + (double)user.least));
	}
}

/* --- claims --- */

/* Threads at most whose first or last signal fell on an edge of the profile. */
static u64 nr_edge_signals(const struct evidence *e)
{
	const struct label process = { "process", e->about.process };
	size_t found;
	u64 threads;

	if (!e->about.process)
		return 0;
	threads = record_sum(record_end(e->in->record), FAM_THREADS, &process, 1, &found);

	return found ? threads : 0;
}

static void claim_census(struct evidence *e)
{
	struct claim *c = add_claim(e, "C1", "census", CLAIM_COUNT, true);

	if (e->about.has_seen) {
		judge_census(e->samples.total, e->about.seen.signals, 0, c);
		/* Signals that were on their way when the profile ended are in neither or both. */
		if (c->verdict == VERDICT_REFUTED && fabs(c->delta) <= (double)nr_edge_signals(e)) {
			c->text[0] = '\0';
			c->margin = (double)nr_edge_signals(e);
			c->verdict = VERDICT_CONFIRMED;
		}
		return;
	}
	c->reason = REASON_EXACT_SIDE_MISSING;
	snprintf(c->text, sizeof(c->text), "The record did not watch the signals of the profiler.");
}

static void claim_places(struct evidence *e, struct err *err, int *r)
{
	struct claim *c = add_claim(e, "C3", "places", CLAIM_SHARE, false);
	struct leaf_table leaves;

	c->reason = REASON_EXACT_SIDE_MISSING;
	if (!e->about.has_seen)
		return;
	*r = leaves_compare(e->in->profile, e->in->record, e->about.seen.number, &leaves, err);
	if (!*r && leaves.n) {
		c->reason = REASON_NONE;
		judge_reattribution(leaves.profile, leaves.ours, leaves.n,
				    JUDGE_REATTRIBUTED_MARGIN, c);
	}
	leaves_done(&leaves);
}

/*
 * Whether expirations of its timers that the kernel's tick came too late for make up for what is
 * missing; each thread may lose one more at its end.
 */
static bool is_explained(const struct evidence *e)
{
	const struct seen_profile *seen = &e->about.seen;
	double period = (double)seen->period_ns / (double)NS_PER_SEC;
	double all = ((double)seen->signals + (double)seen->overruns + (double)nr_edge_signals(e)) *
		     period;

	return all >= e->spent.low * (1 - JUDGE_COVERAGE_MARGIN);
}

static void claim_coverage(struct evidence *e)
{
	struct claim *c = add_claim(e, "C2", "coverage", CLAIM_SECONDS, true);
	const struct seen_profile *seen = &e->about.seen;
	u64 got = e->samples.total;
	/*
	 * A thread's first sample comes after a random part of the period, and what follows its
	 * last one has none: 0.41 periods of standard error each, 2.6 of which are 99 %.
	 */
	double jitter = (double)e->in->profile->period / (double)NS_PER_SEC *
			sqrt((double)nr_edge_signals(e));
	struct interval spent = { e->spent.low - jitter, e->spent.high + jitter };
	size_t n;

	judge_coverage((double)e->cpu.total / (double)NS_PER_SEC, spent, JUDGE_COVERAGE_MARGIN, c);
	if (c->verdict != VERDICT_REFUTED || c->delta > 0)
		return;
	n = strlen(c->text);
	/* The profile has all that its profiler got, and what that lost is known. */
	if (e->about.has_seen && got >= seen->signals && seen->overruns && is_explained(e)) {
		c->verdict = VERDICT_UNRESOLVED;
		c->reason = REASON_LOW_COVERAGE;
	}
	if (!e->about.has_seen)
		snprintf(c->text + n, sizeof(c->text) - n,
			 " Likely: lost signals (one timer for all threads, as in Go before 1.18), "
			 "a rate above the kernel's tick, or samples removed.");
	else if (got < seen->signals)
		snprintf(c->text + n, sizeof(c->text) - n,
			 " %llu samples that its profiler got are not in it.", seen->signals - got);
	else if (seen->overruns)
		snprintf(c->text + n, sizeof(c->text) - n,
			 " The kernel lost %.2f s of it: its tick came too late for %llu "
			 "expirations of the profiler's timers.",
			 (double)seen->overruns * (double)seen->period_ns / (double)NS_PER_SEC,
			 seen->overruns);
	else
		snprintf(c->text + n, sizeof(c->text) - n,
			 " Likely: threads that have no timer (the runtime's monitor, C).");
}

/* @row is the profile's side: its share against @exact. */
static void judge_row(struct evidence *e, const struct bucket_row *row, double deff,
		      struct interval exact, struct claim *c)
{
	struct share_evidence share = { .hits = row ? row->samples : 0,
					.n = e->samples.total,
					.deff = deff,
					.coverage = e->coverage,
					.exact = exact,
					.margin = JUDGE_SHARE_MARGIN };

	judge_share(&share, c);
	if (c->verdict == VERDICT_CONFIRMED &&
	    buckets_find(&e->go, "unwind_failed")->samples * 100 > e->samples.total) {
		c->verdict = VERDICT_UNRESOLVED;
		c->reason = REASON_UNWIND_FAILED;
	}
}

static void claim_calls(struct evidence *e)
{
	struct claim *c = add_claim(e, "C5", "system calls", CLAIM_SHARE, true);

	judge_row(e, buckets_find(&e->go, "syscall"), e->deff, e->system, c);
}

/*
 * Marking by background workers, which is what probes time. What goroutines that allocate do of it
 * (assists), sweeping and write barriers have no exact time: they are in neither side.
 */
static void claim_marking(struct evidence *e)
{
	const struct bucket_row *marking = buckets_find_overlap(&e->go, "gc_marking");
	const struct bucket_row *all = buckets_find(&e->go, "gc");
	struct claim *c = add_claim(e, "C6", "gc marking", CLAIM_SHARE, false);
	size_t n;

	judge_row(e, marking, e->deff_marking, e->marking, c);
	n = strlen(c->text);
	if (all && e->samples.total)
		snprintf(c->text + n, sizeof(c->text) - n,
			 "%sBackground workers only; with assists, sweeping and barriers, which "
			 "nothing times, the profile has %.1f %%.",
			 n ? " " : "", (double)all->samples * 100 / (double)e->samples.total);
}

static void claim_cpu(struct evidence *e)
{
	const struct label cpu = { "identity", "cpu" };
	const struct family_set *end = record_end(e->in->record);
	const struct sample *residual = record_find(end, FAM_IDENTITY_RESIDUAL, &cpu, 1);
	const struct sample *ok = record_find(end, FAM_IDENTITY_OK, &cpu, 1);
	struct claim *c = add_claim(e, "C9", "CPU total", CLAIM_SECONDS, true);

	judge_cpu((e->spent.low + e->spent.high) / 2, residual ? residual->real : NAN,
		  ok && (ok->kind == VALUE_REAL ? ok->real > 0 : ok->u > 0), JUDGE_CPU_MARGIN, c);
}

static void claim_stacks(struct evidence *e)
{
	struct claim *c = add_claim(e, "C12", "cumulative rows", CLAIM_SHARE, false);
	struct profile_depths d;
	u32 type;

	if (profile_find_type(e->in->profile, "samples", &type, NULL) || !e->samples.total)
		return;
	profile_depths(e->in->profile, type, PROFILE_CPU_DEPTH, &d);
	c->profiler = (double)d.total_at_limit / (double)e->samples.total;
	c->n = (double)e->samples.total;
	c->reason = REASON_EXACT_SIDE_MISSING;
	if (d.total_at_limit)
		snprintf(c->text, sizeof(c->text),
			 "%.1f %% of the samples have stacks of 64 calls, which is all that Go "
			 "keeps: "
			 "outer functions are missing from them, so their cumulative rows are too "
			 "small.",
			 c->profiler * 100);
}

/* Nothing that we record says anything of it. */
static void claim_foreign(struct evidence *e)
{
	const struct bucket_row *row = buckets_find(&e->go, "syscall");
	struct claim *c = add_claim(e, "C5", "system calls", CLAIM_SHARE, true);

	c->reason = REASON_NOT_LINUX;
	c->n = (double)e->samples.total;
	if (row && e->samples.total)
		c->profiler = (double)row->samples / (double)e->samples.total;
	snprintf(c->text, sizeof(c->text),
		 "The profile is of another system: its signals cannot be seen from here, and "
		 "nothing that is measured on Linux confirms or refutes it.");
}

static int find_profile(struct evidence *e, struct err *err)
{
	const struct profile *p = e->in->profile;
	u32 samples, cpu;
	int r = profile_find_type(p, "samples", &samples, err);

	if (!r)
		r = profile_find_type(p, "cpu", &cpu, err);
	if (!r)
		r = profile_sum(p, samples, &e->samples, err);
	if (!r)
		r = profile_sum(p, cpu, &e->cpu, err);
	if (!r)
		r = buckets_of_profile(e->in->go, p, cpu, &e->go, err);
	return r;
}

static int judge_run(struct evidence *e, struct err *err)
{
	int r;

	about_find(e->in->profile, e->in->record, e->run, &e->about);
	if (profile_kind(e->in->profile) != PROFILE_CPU)
		return 0;
	r = find_profile(e, err);
	if (r)
		return r;
	if (e->about.not_linux) {
		claim_foreign(e);
		return 0;
	}
	find_exact(e);
	claim_census(e);
	claim_coverage(e);
	claim_places(e, err, &r);
	if (r)
		return r;
	claim_calls(e);
	claim_marking(e);
	claim_cpu(e);
	claim_stacks(e);
	judge_holm(e->run->claims, e->run->nr_claims);
	return 0;
}

/* --- all runs --- */

/* Design effect of a bucket over the runs; NaN with fewer than three. */
static void claim_repeats(struct evidence *runs, u32 n, const char *bucket, const char *name,
			  struct claim_report *report)
{
	struct claim *c = &report->all[report->nr_all++];
	double hits[MAX_RUNS], all[MAX_RUNS];

	claim_begin(c, "C10", name, CLAIM_FACTOR);
	c->required = true;
	for (u32 i = 0; i < n; i++) {
		const struct bucket_row *row = buckets_find(&runs[i].go, bucket);

		hits[i] = row ? (double)row->samples : 0;
		all[i] = (double)runs[i].samples.total;
		if (!all[i]) {
			c->reason = REASON_TOO_FEW_SAMPLES;
			return;
		}
	}
	judge_repeatability(hits, all, n, c);
}

static double deff_of(const struct evidence *runs, u32 n, const char *bucket)
{
	double hits[MAX_RUNS], all[MAX_RUNS];

	for (u32 i = 0; i < n; i++) {
		const struct bucket_row *row = buckets_find(&runs[i].go, bucket);

		row = row ? row : buckets_find_overlap(&runs[i].go, bucket);
		hits[i] = row ? (double)row->samples : 0;
		all[i] = (double)runs[i].samples.total;
		if (!all[i])
			return NAN;
	}
	return n < 3 ? NAN : share_homogeneity(hits, all, n).deff;
}

/* With the design effect that the repeats have: each run is judged again. */
static int judge_with_repeats(struct evidence *runs, u32 n, struct err *err)
{
	double deff = deff_of(runs, n, "syscall"), marking = deff_of(runs, n, "gc_marking");
	int r = 0;

	if (isnan(deff))
		return 0;
	for (u32 i = 0; i < n && !r; i++) {
		buckets_done(&runs[i].go);
		runs[i].run->nr_claims = runs[i].run->nr_gates = 0;
		runs[i].deff = deff;
		runs[i].deff_marking = marking;
		r = judge_run(&runs[i], err);
	}
	return r;
}

int crosscheck(const struct crosscheck_input *runs, u32 n, struct claim_report *ret_report,
	       struct err *err)
{
	struct evidence *all;
	int r = 0;

	*ret_report = (struct claim_report){ 0 };
	if (!n || n > MAX_RUNS)
		return err_set(err, -EINVAL, "1 to %d runs can be compared", MAX_RUNS);
	all = arena_zalloc(&ret_report->arena, n * sizeof(*all));
	ret_report->runs = arena_zalloc(&ret_report->arena, n * sizeof(*ret_report->runs));
	if (!all || !ret_report->runs)
		return err_set(err, -ENOMEM, "no memory for a cross-check");
	ret_report->nr_runs = n;
	for (u32 i = 0; i < n && !r; i++) {
		ret_report->runs[i] = (struct claim_run){ .profile = runs[i].profile_name,
							  .record = runs[i].record_name };
		all[i] = (struct evidence){ .in = &runs[i],
					    .run = &ret_report->runs[i],
					    .deff = NAN,
					    .deff_marking = NAN };
		r = judge_run(&all[i], err);
		if (r)
			(void)err_prefix(err, r, "%s: ", runs[i].profile_name);
	}
	if (!r && n > 1) {
		claim_repeats(all, n, "syscall", "repeats: calls", ret_report);
		claim_repeats(all, n, "gc", "repeats: gc", ret_report);
		r = judge_with_repeats(all, n, err);
	}
	for (u32 i = 0; i < n; i++)
		buckets_done(&all[i].go);
	ret_report->verdict = claims_verdict(ret_report);
	return r;
}

void crosscheck_done(struct claim_report *report)
{
	arena_done(&report->arena);
	*report = (struct claim_report){ 0 };
}
