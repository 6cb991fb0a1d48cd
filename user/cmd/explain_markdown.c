/* SPDX-License-Identifier: MIT */
/* docs/METRICS.md: the metric table and the closed sets, for readers. */
#include "user/cmd/explain_impl.h"

#include <string.h>

#include "user/cmd/targets.h"

/* As in user/model/identities.h, which a test compares. */
static const struct {
	const char *one, *other;
} identity_sides[NR_IDENTITIES] = {
	[IDENTITY_CPU] = { "our CPU time (scheduler's clock, charged)",
			   "utime + stime of /proc/PID/stat" },
	[IDENTITY_CPU_STAMPS] = { "our CPU time", "time between our switch stamps" },
	[IDENTITY_MODES] = { "user + system", "runtime by the threads' own books" },
	[IDENTITY_IN_FLIGHT] = { "entries - exits of all threads", "calls that threads are in" },
	[IDENTITY_SYSCALLS] = { "sum over the calls by name", "entries by the threads' counts" },
	[IDENTITY_STAMPS] = { "on + waiting + blocked between our stamps",
			      "wall time of the threads" },
	[IDENTITY_RUN_QUEUE] = { "waiting between our stamps", "the kernel's run_delay" },
	[IDENTITY_WALL] = { "CPU time + run_delay + blocked", "wall time of the threads" },
	[IDENTITY_SWITCHES] = { "voluntary + involuntary (charged)",
				"the kernel's sums of all threads" },
};

static const struct {
	enum exit_status status;
	const char *meaning;
} exit_rows[] = {
	{ EXIT_GOOD, "good" },
	{ EXIT_FAILED, "failed; in `selftest`, a row failed" },
	{ EXIT_UNRESOLVED, "it could not be decided" },
	{ EXIT_INVALID, "the run is invalid, or the target is gone" },
	{ EXIT_USAGE, "wrong command line" },
	{ EXIT_MISSING, "something needed is missing: privilege, or a feature of the kernel "
			"(`skyobserve doctor` says what)" },
};

static const char head[] =
	"# Metrics\n"
	"\n"
	"Printed by `skyobserve explain --markdown`; do not edit. `skyobserve explain METRIC` says "
	"the "
	"same of one\n"
	"metric on the terminal.\n"
	"\n"
	"* Base units. Counters end in `_total`, infos in `_info` with the value 1, histograms "
	"have "
	"`_bucket`,\n"
	"  `_sum` and `_count`.\n"
	"* `process` is the command name of the process when it was taken in, or what `--name` "
	"says. "
	"Processes of\n"
	"  one name are summed; `skyobserve_process_info` has the identity of each. `--label-pid` "
	"adds "
	"a label `pid`\n"
	"  to the series of living processes.\n"
	"* What is not measured is absent. What is measured and has not happened is 0 from the "
	"first "
	"scrape on, for\n"
	"  every closed set of labels; series of open sets appear with their first event.\n"
	"* Counters never go down. A process that has ended keeps its counts.\n"
	"* Method: *exact* means that every event was seen, or that the number is the kernel's own "
	"total; *bounded*\n"
	"  has the error that is stated; *sampled* has a statistical one.\n"
	"* Probe groups: without one of them the metric lacks series, or is absent.\n"
	"* Identities: they would notice if the metric were wrong (see [below](#identities)).\n";

static void print_fact(struct buf *out, const char *word, struct buf *text)
{
	out->failed |= text->failed;
	if (text->len && !text->failed)
		buf_printf(out, "* %s: %s\n", word, text->bytes);
	buf_clear(text);
}

static void print_metric(const struct metric_book *book, enum family_id id, struct buf *out)
{
	const struct family_desc *d = &family_descs[id];
	const struct metric_facts *f = &book->facts[id];
	char name[METRIC_NAME_BYTES];
	struct buf text = { 0 };

	explain_name(id, name);
	buf_printf(out, "\n### `%s`\n\n%s%s%s. %s\n\n", name, explain_type(id),
		   d->unit[0] ? ", " : "", d->unit, d->help);
	if (!f->published)
		buf_str(out, "* this version does not measure it\n");
	explain_labels(f, "`", &text);
	print_fact(out, "labels", &text);
	buf_printf(&text, "%s, error: %s", explain_method(id), d->error);
	print_fact(out, "method", &text);
	explain_groups(f->groups, "`", &text);
	print_fact(out, "probe groups", &text);
	explain_identities(f->identities, "`", &text);
	print_fact(out, "identities", &text);
	if (f->small_set)
		buf_str(out, "* also with `--all`, for processes that are no targets\n");
	buf_done(&text);
}

enum subject {
	SUBJECT_PROCESS,
	SUBJECT_OBSERVER,
	SUBJECT_EXPORTER
};

static enum subject subject_of(const struct metric_book *book, enum family_id id)
{
	const struct metric_facts *f = &book->facts[id];

	if (family_descs[id].exporter)
		return SUBJECT_EXPORTER;
	for (u32 i = 0; i < f->nr_labels; i++) {
		if (!strcmp(f->labels[i].name, "process"))
			return SUBJECT_PROCESS;
	}
	return SUBJECT_OBSERVER;
}

static void print_metrics(const struct metric_book *book, enum subject subject, struct buf *out)
{
	for (u32 i = 0; i < NR_FAMILIES; i++) {
		if (subject_of(book, i) == subject)
			print_metric(book, i, out);
	}
}

static void print_sets(struct buf *out)
{
	buf_str(out, "\n## Reasons\n\n"
		     "Values of `reason` of the off-CPU metrics: why a thread was not on a CPU.\n\n"
		     "| reason | meaning |\n|---|---|\n");
#define REASON(id, label, help) buf_str(out, "| `" label "` | " help " |\n");
#include "reasons.def"
#undef REASON
	buf_str(out, "\n## Stops of the world\n\nValues of `reason` of "
		     "`skyobserve_go_stop_the_world_seconds`.\n\n| reason | who |\n|---|---|\n");
#define STOP(id, label, help) buf_str(out, "| `" label "` | " help " |\n");
#include "stops.def"
#undef STOP
	buf_str(out, "\n## Durable writes\n\nValues of `call` and `via`.\n\n"
		     "| call | via |\n|---|---|\n");
#define DURABLE(id, call, via) buf_str(out, "| `" call "` | `" via "` |\n");
#include "durable.def"
#undef DURABLE
	buf_str(out, "\n## Losses\n\nValues of `reason` of `skyobserve_dropped_events_total`.\n\n"
		     "| reason | meaning |\n|---|---|\n");
#define DROP(id, label, help) buf_str(out, "| `" label "` | " help " |\n");
#include "drops.def"
#undef DROP
	buf_str(out, "\n## Probe groups\n\nA group that the kernel refuses is off with its reason "
		     "(`skyobserve_probe_group_info`); the others run.\n\n"
		     "| group | what it observes |\n|---|---|\n");
#define GROUP(id, label, help) buf_str(out, "| `" label "` | " help " |\n");
#include "groups.def"
#undef GROUP
}

static void print_identities(struct buf *out)
{
	buf_str(out, "\n## Identities\n\nThe same total from two independent sources; "
		     "`skyobserve_identity_residual_ratio` is how far they are\napart, "
		     "`skyobserve_identity_ok` whether that is within its bound "
		     "([MEASUREMENT.md](MEASUREMENT.md)).\n\n"
		     "| identity | one side | other side |\n|---|---|---|\n");
	for (u32 i = 0; i < NR_IDENTITIES; i++)
		buf_printf(out, "| `%s` | %s | %s |\n", identity_names[i], identity_sides[i].one,
			   identity_sides[i].other);
}

void explain_markdown(const struct metric_book *book, struct buf *out)
{
	buf_str(out, head);
	buf_str(out, "\n## Metrics of processes\n");
	print_metrics(book, SUBJECT_PROCESS, out);
	buf_str(out, "\n## Metrics of the observer\n");
	print_metrics(book, SUBJECT_OBSERVER, out);
	buf_str(out, "\n## Standard metrics of the exporter's own process\n");
	print_metrics(book, SUBJECT_EXPORTER, out);
	print_sets(out);
	print_identities(out);
	buf_str(out, "\n## Exit status\n\n| status | meaning |\n|---|---|\n");
	for (size_t i = 0; i < sizeof(exit_rows) / sizeof(exit_rows[0]); i++)
		buf_printf(out, "| %d | %s |\n", (int)exit_rows[i].status, exit_rows[i].meaning);
}
