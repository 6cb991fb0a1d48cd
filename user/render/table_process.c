/* SPDX-License-Identifier: MIT */
/* One process in the live table. */
#include "user/render/table_process.h"

#include <stdio.h>
#include <string.h>

#define DEFAULT_MAX_SYSCALLS 12

/* Exact counts up to here; more digits would not fit their column. */
#define MAX_EXACT_COUNT 10000000000ULL

#define MAX_KIND_ROWS 8

/* A column of text, whatever stands in it. */
struct cell {
	char text[HUMAN_WIDTH + 8];
};

static double interval_seconds(const struct table_input *in)
{
	return (double)in->interval_ns / (double)NS_PER_SEC;
}

/* Events of the interval: their rate, or their number. */
static struct cell cell_events(const struct table_input *in, u64 n)
{
	struct cell c;
	char human[HUMAN_WIDTH];

	if (in->totals && n < MAX_EXACT_COUNT) {
		snprintf(c.text, sizeof(c.text), "%llu", n);
		return c;
	}
	human_amount(in->totals ? (double)n : (double)n / interval_seconds(in), human);
	snprintf(c.text, sizeof(c.text), "%s", human);
	return c;
}

static struct cell cell_bytes(const struct table_input *in, u64 n)
{
	struct cell c;
	char human[HUMAN_WIDTH];

	human_bytes(in->totals ? (double)n : (double)n / interval_seconds(in), human);
	snprintf(c.text, sizeof(c.text), "%s%s", human, in->totals ? "" : "/s");
	return c;
}

/* CPU time: a percentage of one CPU, or the time itself. */
static struct cell cell_cpu(const struct table_input *in, u64 ns)
{
	struct cell c;
	char human[HUMAN_WIDTH];

	if (in->totals) {
		human_duration(ns, human);
		snprintf(c.text, sizeof(c.text), "%s", human);
	} else {
		human_amount(100 * (double)ns / (double)in->interval_ns, human);
		snprintf(c.text, sizeof(c.text), "%s %%", human);
	}
	return c;
}

/* Time off the CPU: how many threads were there at a time on average, or the time itself. */
static struct cell cell_off_cpu(const struct table_input *in, u64 ns)
{
	struct cell c;
	char human[HUMAN_WIDTH];

	if (in->totals)
		human_duration(ns, human);
	else
		human_amount((double)ns / (double)in->interval_ns, human);
	snprintf(c.text, sizeof(c.text), "%s", human);
	return c;
}

static struct cell cell_duration(u64 ns)
{
	struct cell c;
	char human[HUMAN_WIDTH];

	human_duration(ns, human);
	snprintf(c.text, sizeof(c.text), "%s", human);
	return c;
}

static struct cell cell_mean(u64 sum_ns, u64 n)
{
	struct cell none = { "-" };

	return n ? cell_duration(sum_ns / n) : none;
}

static const char *per_second(const struct table_input *in)
{
	return in->totals ? "" : "/s";
}

static void print_title(const struct activity *a, struct paper *p)
{
	char human[HUMAN_WIDTH];

	paper_begin(p, TABLE_INDENT, PAPER_STRONG,
		    a->process && a->process[0] ? a->process : "(no name)");
	if (a->pid)
		paper_item(p, PAPER_STRONG, "pid %s", a->pid);
	if (a->up.known && !a->up.u)
		paper_item(p, PAPER_BAD, "ended");
	else if (a->up.known)
		paper_item(p, PAPER_GOOD, "up %llu", a->up.u);
	if (a->threads.known)
		paper_item(p, PAPER_PLAIN, "threads %llu", a->threads.u);
	if (a->resident_bytes.known) {
		human_bytes((double)a->resident_bytes.u, human);
		paper_item(p, PAPER_PLAIN, "resident memory %s", human);
	}
	paper_end(p);
}

static void print_cpu(const struct table_input *in, const struct activity *a, struct paper *p)
{
	if (!a->cpu_ns.known)
		return;
	paper_begin(p, TABLE_INDENT, PAPER_FAINT, "  CPU");
	paper_item(p, PAPER_STRONG, "%s", cell_cpu(in, a->cpu_ns.u).text);
	if (a->user_ns.known)
		paper_item(p, PAPER_PLAIN, "user %s", cell_cpu(in, a->user_ns.u).text);
	if (a->system_ns.known)
		paper_item(p, PAPER_PLAIN, "system %s", cell_cpu(in, a->system_ns.u).text);
	paper_end(p);
}

static void print_off_cpu(const struct table_input *in, const struct activity *a, struct paper *p)
{
	u64 sum = 0;

	if (!a->off_cpu_known)
		return;
	for (size_t i = 0; i < a->nr_off_cpu; i++)
		sum += a->off_cpu[i].u;
	paper_begin(p, TABLE_INDENT, PAPER_FAINT, "  off CPU");
	paper_item(p, PAPER_STRONG, "%s%s", cell_off_cpu(in, sum).text,
		   in->totals ? "" : " threads");
	for (size_t i = 0; i < a->nr_off_cpu; i++)
		paper_item(p, PAPER_PLAIN, "%s %s", a->off_cpu[i].name,
			   cell_off_cpu(in, a->off_cpu[i].u).text);
	paper_end(p);
}

static void print_switches(const struct table_input *in, const struct activity *a, struct paper *p)
{
	if (!a->voluntary.known && !a->faults.known)
		return;
	paper_begin(p, TABLE_INDENT, PAPER_FAINT, "  switches");
	if (a->voluntary.known)
		paper_item(p, PAPER_PLAIN, "voluntary %s%s", cell_events(in, a->voluntary.u).text,
			   per_second(in));
	if (a->involuntary.known)
		paper_item(p, PAPER_PLAIN, "involuntary %s%s",
			   cell_events(in, a->involuntary.u).text, per_second(in));
	if (a->faults.known)
		paper_item(p, PAPER_PLAIN, "page faults %s%s", cell_events(in, a->faults.u).text,
			   per_second(in));
	paper_end(p);
}

static void print_bytes(const struct table_input *in, const struct activity *a, struct paper *p)
{
	if (!a->read_bytes.known && !a->written_bytes.known)
		return;
	paper_begin(p, TABLE_INDENT, PAPER_FAINT, "  bytes");
	if (a->read_bytes.known)
		paper_item(p, PAPER_PLAIN, "read %s", cell_bytes(in, a->read_bytes.u).text);
	if (a->written_bytes.known)
		paper_item(p, PAPER_PLAIN, "written %s", cell_bytes(in, a->written_bytes.u).text);
	paper_end(p);
}

/* One row of six columns, 78 wide. */
static void print_row(struct paper *p, enum paper_style style, const char *const cells[6])
{
	char row[128];

	snprintf(row, sizeof(row), "  %-24.24s%11s%11s%11s%10s%10s", cells[0], cells[1], cells[2],
		 cells[3], cells[4], cells[5]);
	/* No blanks at the end of a line. */
	for (size_t n = strlen(row); n && row[n - 1] == ' '; n--)
		row[n - 1] = '\0';
	paper_begin(p, 0, style, row);
	paper_end(p);
}

static void print_call(const struct table_input *in, const struct call_activity *c, struct paper *p)
{
	struct cell calls = cell_events(in, c->calls), errors = cell_events(in, c->errors);
	struct cell mean = cell_mean(c->finished_ns, c->finished);
	struct cell flight = { "-" }, oldest = { "-" };
	char name[64], human[HUMAN_WIDTH];

	snprintf(name, sizeof(name), "%s%s%s%s", c->name, c->abi ? " (" : "", c->abi ? c->abi : "",
		 c->abi ? ")" : "");
	if (in->rates_too) {
		human_amount((double)c->calls / interval_seconds(in), human);
		snprintf(flight.text, sizeof(flight.text), "%s", human);
		oldest.text[0] = '\0';
	} else if (c->in_flight) {
		snprintf(flight.text, sizeof(flight.text), "%llu", c->in_flight);
		oldest = cell_duration(c->oldest_ns);
	}
	print_row(p, PAPER_PLAIN,
		  (const char *[6]){ name, calls.text, errors.text, mean.text, flight.text,
				     oldest.text });
}

/* What the rows that are not shown add up to; a call that blocks is never hidden silently. */
static void print_more_calls(const struct table_input *in, const struct activity *a, size_t shown,
			     struct paper *p)
{
	struct call_activity rest = { 0 };
	char name[64];

	if (shown == a->nr_calls)
		return;
	for (size_t i = shown; i < a->nr_calls; i++) {
		const struct call_activity *c = &a->calls[i];

		rest.calls += c->calls;
		rest.errors += c->errors;
		rest.finished += c->finished;
		rest.finished_ns += c->finished_ns;
		rest.in_flight += c->in_flight;
		if (c->oldest_ns > rest.oldest_ns)
			rest.oldest_ns = c->oldest_ns;
	}
	snprintf(name, sizeof(name), "%zu more", a->nr_calls - shown);
	rest.name = name;
	print_call(in, &rest, p);
}

static void print_calls(const struct table_input *in, const struct activity *a, struct paper *p)
{
	size_t max = in->max_syscalls ? in->max_syscalls : DEFAULT_MAX_SYSCALLS;
	size_t shown = a->nr_calls < max ? a->nr_calls : max;

	if (!a->nr_calls)
		return;
	print_row(p, PAPER_FAINT,
		  (const char *[6]){ "system call", in->totals ? "calls" : "calls/s",
				     in->totals ? "errors" : "errors/s", "mean",
				     in->rates_too ? "calls/s" : "in flight",
				     in->rates_too ? "" : "oldest" });
	for (size_t i = 0; i < shown; i++)
		print_call(in, &a->calls[i], p);
	print_more_calls(in, a, shown, p);
}

static void print_durable(const struct table_input *in, const struct durable_activity *d,
			  struct paper *p)
{
	struct cell done = cell_events(in, d->done), failed = cell_events(in, d->failed);
	struct cell mean, p99 = { "-" };
	u64 n = 0, bound = hist_quantile_bound(&d->durations, 990);
	char name[64];

	for (size_t i = 0; i < NR_HIST_BUCKETS; i++)
		n += d->durations.counts[i];
	mean = cell_mean(d->durations.sum, n);
	if (bound == (u64)-1)
		snprintf(p99.text, sizeof(p99.text), "> 68.7 s");
	else if (bound)
		p99 = cell_duration(bound);
	snprintf(name, sizeof(name), "%s%s", d->call,
		 d->via && !strcmp(d->via, "io_uring") ? " (io_uring)" : "");
	print_row(p, PAPER_PLAIN,
		  (const char *[6]){ name, done.text, failed.text, mean.text, p99.text, "" });
}

static void print_durables(const struct table_input *in, const struct activity *a, struct paper *p)
{
	if (!a->nr_durables)
		return;
	print_row(p, PAPER_FAINT,
		  (const char *[6]){ "durable write", in->totals ? "done" : "done/s",
				     in->totals ? "failed" : "failed/s", "mean", "p99 <=", "" });
	for (size_t i = 0; i < a->nr_durables; i++)
		print_durable(in, &a->durables[i], p);
}

/* What one interaction of a kind costs: the mean over those that were answered. */
static void print_kinds(const struct table_input *in, const struct activity *a, struct paper *p)
{
	if (!a->nr_kinds)
		return;
	print_row(p, PAPER_FAINT,
		  (const char *[6]){ "interaction", in->totals ? "answered" : "answered/s", "took",
				     "CPU", "off CPU", "calls" });
	for (size_t i = 0; i < a->nr_kinds && i < MAX_KIND_ROWS; i++) {
		const struct kind_activity *k = &a->kinds[i];
		struct cell n = cell_events(in, k->answered);
		struct cell took = cell_mean(k->wall_ns, k->answered);
		struct cell cpu = cell_mean(k->cpu_ns, k->answered);
		struct cell off = cell_mean(k->off_cpu_ns, k->answered);
		char calls[HUMAN_WIDTH] = "-";

		if (k->answered)
			human_amount((double)k->calls / HIST_ONE / (double)k->answered, calls);
		print_row(
			p, PAPER_PLAIN,
			(const char *[6]){ k->name, n.text, took.text, cpu.text, off.text, calls });
	}
	if (a->nr_kinds > MAX_KIND_ROWS) {
		paper_begin(p, 0, PAPER_FAINT, "");
		paper_item(p, PAPER_FAINT, "  %zu more kinds", a->nr_kinds - MAX_KIND_ROWS);
		paper_end(p);
	}
}

void table_print_process(const struct table_input *in, const struct activity *a, struct paper *p)
{
	print_title(a, p);
	print_cpu(in, a, p);
	print_off_cpu(in, a, p);
	print_switches(in, a, p);
	print_bytes(in, a, p);
	print_kinds(in, a, p);
	print_calls(in, a, p);
	print_durables(in, a, p);
}
