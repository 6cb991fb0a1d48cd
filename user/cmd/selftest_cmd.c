/* SPDX-License-Identifier: MIT */
/* The command and the table of `skyobserve selftest`. */
#include "user/cmd/selftest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "user/base/log.h"
#include "user/cmd/print.h"
#include "user/cmd/selftest_loads.h"
#include "user/cmd/targets.h"
#include "user/cmd/version.h"
#include "user/render/paper.h"
#include "user/render/table.h"

#define TABLE_COLUMNS 80
#define WHY_COLUMN    9

static void amount(enum selftest_unit unit, u64 n, char ret_text[HUMAN_WIDTH])
{
	if (unit == SELFTEST_NS)
		human_duration(n, ret_text);
	else
		snprintf(ret_text, HUMAN_WIDTH, "%llu%s", (unsigned long long)n,
			 unit == SELFTEST_BYTES ? " B" : "");
}

static void wanted(const struct selftest_row *row, char *ret_text, size_t n)
{
	char low[HUMAN_WIDTH], high[HUMAN_WIDTH];

	amount(row->unit, row->low, low);
	amount(row->unit, row->high, high);
	if (row->low == row->high)
		snprintf(ret_text, n, "%s", low);
	else
		snprintf(ret_text, n, "%s .. %s", low, high);
}

/* @before is the row above, or NULL: the same reason is said once in a row. */
static void print_row(struct paper *p, const struct selftest_row *row,
		      const struct selftest_row *before)
{
	static const struct {
		const char *word;
		enum paper_style style;
	} verdicts[NR_SELFTEST_VERDICTS] = {
		[SELFTEST_OK] = { "ok", PAPER_GOOD },
		[SELFTEST_FAILED] = { "FAIL", PAPER_BAD },
		[SELFTEST_SKIPPED] = { "skip", PAPER_FAINT },
	};
	char want[2 * HUMAN_WIDTH + 8] = "", got[HUMAN_WIDTH] = "", line[128];

	if (row->verdict != SELFTEST_SKIPPED && (row->high || row->got || !row->why[0])) {
		wanted(row, want, sizeof(want));
		amount(row->unit, row->got, got);
	}
	snprintf(line, sizeof(line), "%-8.8s %-32.32s %21s  %9s", row->load, row->what, want, got);
	paper_begin(p, 0, PAPER_PLAIN, line);
	paper_item(p, verdicts[row->verdict].style, "%s", verdicts[row->verdict].word);
	paper_end(p);
	if (row->verdict == SELFTEST_OK || !row->why[0])
		return;
	if (before && before->verdict == row->verdict && !strcmp(before->why, row->why))
		return;
	paper_begin(p, WHY_COLUMN, PAPER_PLAIN, "");
	paper_text(p, PAPER_PLAIN, row->why);
	paper_end(p);
}

void selftest_render(const struct selftest_result *result, bool colour, struct buf *out)
{
	struct paper p = { .buf = out, .width = TABLE_COLUMNS, .colour = colour };
	char took[HUMAN_WIDTH], line[128];

	snprintf(line, sizeof(line), "%-8s %-32s %21s  %9s", "LOAD", "WHAT", "WANTED", "GOT");
	paper_begin(&p, 0, PAPER_STRONG, line);
	paper_end(&p);
	for (size_t i = 0; i < result->nr_rows; i++)
		print_row(&p, &result->rows[i], i ? &result->rows[i - 1] : NULL);
	human_duration(result->elapsed_ns, took);
	buf_printf(out, "\n%zu rows: %u ok, %u failed, %u skipped, in %s\n", result->nr_rows,
		   result->verdicts[SELFTEST_OK], result->verdicts[SELFTEST_FAILED],
		   result->verdicts[SELFTEST_SKIPPED], took);
	buf_printf(out, "%u loads were observed, beside %u neighbours that did the same\n",
		   result->nr_loads, result->nr_neighbours);
	if (!result->chain_holds)
		table_render_chain(result->chain_breaks, result->switches, colour, out);
}

int cmd_selftest(const struct options *options)
{
	const char *folder = getenv("TMPDIR");
	struct selftest_config config = { .force_raw_tp = options->raw_tracepoints,
					  .folder = folder && *folder ? folder : "/tmp" };
	static struct selftest_result result; /* 26 KB */
	struct err err = { { 0 } };
	struct buf out = { 0 };
	int status;

	if (options->rest.n) {
		log_error("selftest: `%s` is one word too many", options->rest.word[0]);
		return EXIT_USAGE;
	}
	if (options_groups(options->groups, &config.groups, &err)) {
		log_error("%s", err.text);
		return EXIT_USAGE;
	}
	if (selftest_run(&config, &result, &err)) {
		log_error("%s", err.text);
		return EXIT_MISSING;
	}
	status = result.verdicts[SELFTEST_FAILED] ? EXIT_FAILED : EXIT_GOOD;
	selftest_render(&result, isatty(STDOUT_FILENO) && !getenv("NO_COLOR"), &out);
	status = print_whole(&out, status);
	buf_done(&out);
	return status;
}
