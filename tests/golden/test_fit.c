/* SPDX-License-Identifier: MIT */
/*
 * Whole outputs of fits, for people and for programs, with tests/golden/fit.*.
 *
 * With GOLDEN_UPDATE=1 in the environment the files are written instead; read the difference before
 * it is committed.
 */
#include "tests/lib/golden.h"

#include "user/fit/knee.h"
#include "user/fit/line.h"
#include "user/render/fit_text.h"

/* Quantities whose truth is known, by what a line does with them. */
static double cost(int which, double x, int run)
{
	static const double noise[] = { 0.01, -0.012, 0.003, 0.007, -0.009, 0.001, -0.002 };
	double part = noise[(run * 5 + (int)x) % 7];

	switch (which) {
	case 0: /* a line from nearly 0 on */
		return (0.002 + 0.00002 * x) * (1 + part);
	case 1: /* a curve */
		return (0.0002 + 0.00002 * x + 1e-7 * x * x) * (1 + part);
	case 2: /* exact */
		return 2 + 3 * x;
	default: /* bytes */
		return 40e6 + 585e3 * x + 4e6 * part * (x + 1);
	}
}

static const struct fit_about abouts[] = {
	{ "app\x1b[31m, each POST /event", "CPU", QUANTITY_SECONDS, "X", 0 },
	{ "app\x1b[31m, each GET /", "CPU", QUANTITY_SECONDS, "X", 2 },
	{ "app\x1b[31m, each GET /", "system calls", QUANTITY_COUNT, "X", 0 },
	{ "app\x1b[31m, at the end", "resident memory", QUANTITY_BYTES, "session", 0 },
};

static const struct fit_about durations = { "app, each GET /", "duration", QUANTITY_SECONDS, "X",
					    0 };

static struct fit_line line_of(int which)
{
	static const double xs[] = { 3, 60, 120, 240, 480, 974 }, sessions[] = { 100, 300, 500 };
	struct fit_point points[MAX_FIT_RUNS];
	struct fit_line line;
	size_t n = 0;

	for (int run = 0; run < 3; run++) {
		for (size_t i = 0; i < (which == 3 ? 3 : 6); i++) {
			double x = which == 3 ? sessions[i] : xs[i];

			points[n++] = (struct fit_point){ x, cost(which, x, run) };
		}
	}
	fit_line(points, n, 0, &line);
	return line;
}

static struct fit_knee knee_of(u64 ns)
{
	static const u64 slow[] = { 0, 4, 30, 800 };
	const struct knee_budget budget = { 0.99, ns };
	struct hist hists[4];
	struct knee_run runs[4];
	struct fit_knee knee;

	memset(hists, 0, sizeof(hists));
	for (size_t i = 0; i < 4; i++) {
		hists[i].counts[hist_bucket(3000000)] = 4000 - slow[i];
		hists[i].counts[hist_bucket(300000000)] = slow[i];
		runs[i] = (struct knee_run){ (double)(1u << 2 * i), &hists[i] };
	}
	hists[0].counts[hist_bucket(3000000)] = 400;
	knee_find(runs, 4, 0, &budget, &knee);
	return knee;
}

static const struct {
	const char *name;
	u64 ns;
} budgets[] = { { "p99=100ms", 100000000 }, { "p99=1s", 1000000000 }, { "p99=1ms", 1000000 } };

TEST(fits_read_as_they_did)
{
	struct buf out = { 0 };

	for (int i = 0; i < 4; i++) {
		struct fit_line line = line_of(i);

		buf_str(&out, i ? "\n" : "");
		fit_line_text(&abouts[i], &line, &out);
	}
	for (size_t i = 0; i < 3; i++) {
		struct fit_knee knee = knee_of(budgets[i].ns);

		buf_char(&out, '\n');
		fit_knee_text(&durations, &knee, budgets[i].name, &out);
	}
	golden_check("fit.txt", &out);
}

TEST(fits_are_the_json_that_they_were)
{
	struct buf out = { 0 };

	for (int i = 0; i < 4; i++) {
		struct fit_line line = line_of(i);

		fit_line_json(&abouts[i], &line, &out);
		buf_char(&out, '\n');
	}
	for (size_t i = 0; i < 3; i++) {
		struct fit_knee knee = knee_of(budgets[i].ns);

		fit_knee_json(&durations, &knee, budgets[i].name, &out);
		buf_char(&out, '\n');
	}
	golden_check("fit.jsonl", &out);
}
