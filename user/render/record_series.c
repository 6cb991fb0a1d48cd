/* SPDX-License-Identifier: MIT */
/* Rates of the intervals between snapshots: a window whose thirds differ was not in a steady state.
 */
#include "user/render/record_series.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PROCESSES 16

static const struct row {
	const char *what;
	enum family_id family;
} rows[] = {
	{ "CPU", FAM_CPU },
	{ "system calls/s", FAM_SYSCALLS },
	{ "durable writes/s", FAM_FSYNCS },
	{ "interactions/s", FAM_INTERACTIONS },
};

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/*
 * Rates per second of the intervals, in order. Returns how many. What is not there at the end of an
 * interval, or went down in it, was not measured in it.
 */
static size_t rates_of(const struct record *r, enum family_id id, const struct label *process,
		       double *ret_rates)
{
	size_t n = 0;

	for (size_t i = 1; i < r->nr_frames; i++) {
		const struct record_frame *from = &r->frames[i - 1], *to = &r->frames[i];
		u64 ns = to->begin_ns - from->begin_ns, before, after;
		size_t had, has;

		before = record_sum(&from->set, id, process, 1, &had);
		after = record_sum(&to->set, id, process, 1, &has);
		/* The last one is as short as it happens to be. */
		if (!has || after < before || ns < NS_PER_SEC / 4)
			continue;
		ret_rates[n++] = (double)(after - before) / (double)ns *
				 (id == FAM_CPU ? 100 : (double)NS_PER_SEC);
	}
	return n;
}

static double mean(const double *rates, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += rates[i];
	return n ? sum / (double)n : 0;
}

static bool happened(const double *rates, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (rates[i] > 0)
			return true;
	}
	return false;
}

static void print_cells(struct paper *p, const char *what, bool percent, double *rates, size_t n)
{
	double first = mean(rates, n / 3), last = mean(rates + n - n / 3, n / 3);
	char cells[5][HUMAN_WIDTH], line[128];

	qsort(rates, n, sizeof(*rates), by_value);
	human_amount(rates[0], cells[0]);
	human_amount((rates[(n - 1) / 2] + rates[n / 2]) / 2, cells[1]);
	human_amount(rates[n - 1], cells[2]);
	human_amount(first, cells[3]);
	human_amount(last, cells[4]);
	snprintf(line, sizeof(line), "  %-18s%s%11s%11s%11s%11s%11s", what, percent ? " %" : "  ",
		 cells[0], cells[1], cells[2], cells[3], cells[4]);
	paper_begin(p, 0, PAPER_PLAIN, line);
	paper_end(p);
}

static void print_process(const struct record *r, const struct label *process, double *rates,
			  struct paper *p)
{
	bool begun = false;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t n = rates_of(r, rows[i].family, process, rates);

		if (n < 3 || !happened(rates, n))
			continue;
		if (!begun) {
			paper_begin(p, 0, PAPER_STRONG, process->value);
			paper_end(p);
		}
		begun = true;
		print_cells(p, rows[i].what, rows[i].family == FAM_CPU, rates, n);
	}
}

void record_series_print(const struct record *r, struct paper *p)
{
	const struct family *up = &record_end(r)->families[FAM_PROCESS_UP];
	double *rates = calloc(r->nr_frames, sizeof(*rates));
	char line[128];

	if (!rates) {
		p->buf->failed = true;
		return;
	}
	if (r->nr_frames > 3) {
		paper_title(p, "SERIES: RATES BETWEEN SNAPSHOTS");
		snprintf(line, sizeof(line), "  %-20s%11s%11s%11s%11s%11s", "", "lowest", "middle",
			 "highest", "1st third", "last third");
		paper_begin(p, 0, PAPER_FAINT, line);
		paper_end(p);
	}
	for (size_t i = 0; i < up->nr_samples && i < MAX_PROCESSES && r->nr_frames > 3; i++) {
		const char *name = record_label(&up->samples[i], "process");
		const struct label process = { "process", name ? name : "" };

		print_process(r, &process, rates, p);
	}
	free(rates);
}
