/* SPDX-License-Identifier: MIT */
/* Records of runs at several levels, into lines and knees. */
#include "user/cmd/fit.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/log.h"
#include "user/cmd/print.h"
#include "user/cmd/runs.h"
#include "user/cmd/targets.h"
#include "user/fit/knee.h"
#include "user/fit/line.h"
#include "user/render/fit_text.h"

_Static_assert(MAX_RUNS == MAX_FIT_RUNS, "one limit");

/* Levels that are measured are never equal: what differs by less is one. */
#define SAME_MEASURED 0.05

/* Where the X of a run comes from. */
static const struct source {
	const char *name,
		*what;	  /* of --x, and of the summary's quantity; NULL: given with the file */
	const char *word; /* in what is printed */
	double same;
} sources[] = {
	{ NULL, NULL, "X", 0 },
	{ "sessions", SUMMARY_SESSIONS, "session", 0 },
	{ "in-flight", SUMMARY_IN_FLIGHT, "request in flight", SAME_MEASURED },
};

struct fitting {
	const struct options *o;
	const struct source *source;
	struct runs runs;
	double x[MAX_RUNS]; /* as given */
	struct buf out;
	size_t shown, unresolved;
	size_t without_x; /* of one that was looked at */
};

/* --- the command line --- */

/* The X in front of a colon: a plain decimal, not below 0. */
static bool take_x(const char *word, double *ret_x, const char **ret_path)
{
	size_t n = strcspn(word, ":");
	char text[64], *end;

	if (!n || n >= sizeof(text) || word[n] != ':' || !word[n + 1])
		return false;
	memcpy(text, word, n);
	text[n] = '\0';
	if (strspn(text, "0123456789.eE+-") != n || !isdigit((unsigned char)text[0]))
		return false;
	*ret_x = strtod(text, &end);
	*ret_path = word + n + 1;
	return !*end && isfinite(*ret_x);
}

static int take_source(struct fitting *f)
{
	f->source = &sources[0];
	if (!f->o->x)
		return EXIT_GOOD;
	for (size_t i = 1; i < sizeof(sources) / sizeof(sources[0]); i++) {
		if (strcmp(f->o->x, sources[i].name) != 0)
			continue;
		f->source = &sources[i];
		return EXIT_GOOD;
	}
	log_error("fit: --x %s: what a record has as X is `sessions` or `in-flight`", f->o->x);
	return EXIT_USAGE;
}

static int take_words(struct fitting *f)
{
	const struct words *rest = &f->o->rest;

	if (rest->n < 2) {
		log_error("fit: give records at several levels of X: "
			  "skyobserve fit 10:a.sky 10:b.sky 30:c.sky 100:d.sky 300:e.sky");
		return EXIT_USAGE;
	}
	if (rest->n > MAX_RUNS) {
		log_error("fit: at most %d records", MAX_RUNS);
		return EXIT_USAGE;
	}
	for (size_t i = 0; i < rest->n; i++) {
		struct run *run = &f->runs.at[f->runs.n++];

		run->path = rest->word[i];
		if (f->source->what || take_x(rest->word[i], &f->x[i], &run->path))
			continue;
		log_error("fit: %s: its X is to stand in front, not below 0: X:FILE (or --x says "
			  "what of a record it is)",
			  rest->word[i]);
		return EXIT_USAGE;
	}
	return EXIT_GOOD;
}

/* --- what must not be fitted --- */

static bool are_refused(const struct fitting *f)
{
	const struct runs *runs = &f->runs;
	bool refused = runs_are_doubled(runs);

	refused |= runs_are_invalid(runs, f->o->invalid_ok);
	for (size_t i = 1; i < runs->n; i++) {
		refused |= runs_differ(runs, i, f->o->different_ok);
		if (runs_same_build(runs, i, 0))
			continue;
		runs_say(runs, !f->o->different_ok,
			 "%s is of another build (%s) than the first run (%s)", runs->at[i].path,
			 runs->at[i].summary->builds, runs->at[0].summary->builds);
		refused |= !f->o->different_ok;
	}
	return refused;
}

/* Whatever changes with time is in a slope if X only went up, or down. */
static void say_order(const struct fitting *f)
{
	size_t up = 0, down = 0;

	for (size_t i = 0; i < f->runs.n; i++) {
		for (size_t k = 0; k < i; k++) {
			bool later = f->runs.at[i].summary->begin_wall_ns >
				     f->runs.at[k].summary->begin_wall_ns;

			up += f->x[i] > f->x[k] ? later : f->x[i] < f->x[k] && !later;
			down += f->x[i] > f->x[k] ? !later : f->x[i] < f->x[k] && later;
		}
	}
	if (!f->source->what && up + down > 1 && (!up || !down))
		log_warn("fit: X only went %s as time went on, so that what changed with time "
			 "(heat, caches, fragmentation) is in the slope; mix the levels",
			 up ? "up" : "down");
}

/* --- lines --- */

/* False: that run does not say what its X is for this process. */
static bool x_of(const struct fitting *f, size_t run, const char *process, double *ret_x)
{
	const struct summary *s = f->runs.at[run].summary;

	*ret_x = f->x[run];
	if (!f->source->what)
		return true;
	for (u32 i = 0; i < s->n; i++) {
		if (strcmp(s->at[i].process, process) != 0 ||
		    strcmp(s->at[i].what, f->source->what) != 0)
			continue;
		*ret_x = s->at[i].value;
		return true;
	}
	return false;
}

static bool is_of_kind(const struct options *o, const char *kind)
{
	return !o->kind || !strcmp(o->kind, kind);
}

static bool is_asked(const struct fitting *f, const struct quantity *q)
{
	const struct options *o = f->o;

	if (!is_of_kind(o, q->kind))
		return false;
	if (f->source->what && !strcmp(q->what, f->source->what))
		return false; /* it is X itself */
	/* What is done per second is about the load; it is fitted if it is asked for. */
	if (!o->ofs.n)
		return (!strcmp(q->what, SUMMARY_CPU) && q->per != QUANTITY_PER_SECOND) ||
		       !strcmp(q->what, SUMMARY_RESIDENT);
	for (size_t i = 0; i < o->ofs.n; i++) {
		if (!strcmp(o->ofs.word[i], q->what) || !strcmp(o->ofs.word[i], "all"))
			return true;
	}
	return false;
}

static void begin_object(struct fitting *f)
{
	if (f->o->json)
		buf_str(&f->out, f->shown ? ",\n" : "\n");
	else if (f->shown)
		buf_char(&f->out, '\n');
	f->shown++;
}

static void show_line(struct fitting *f, const struct quantity *q)
{
	struct fit_about about = {
		.group = q->group, .what = q->what, .unit = q->unit, .x = f->source->word
	};
	struct fit_point points[MAX_FIT_RUNS];
	struct fit_line line;
	bool happened = false;
	size_t n = 0;

	for (size_t i = 0; i < f->runs.n; i++) {
		const struct quantity *had = summary_find(f->runs.at[i].summary, q->group, q->what);

		if (!had || had->unit != q->unit) {
			about.without++;
			continue;
		}
		if (!x_of(f, i, q->process, &points[n].x)) {
			about.without++;
			f->without_x++;
			continue;
		}
		points[n].y = had->value;
		happened |= points[n++].y > 0;
	}
	if (!n || !happened)
		return;
	fit_line(points, n, f->source->same, &line);
	f->unresolved += line.refused != 0;
	begin_object(f);
	if (f->o->json)
		fit_line_json(&about, &line, &f->out);
	else
		fit_line_text(&about, &line, &f->out);
}

/* Each quantity of any run, as it is met first. */
static void show_lines(struct fitting *f)
{
	for (size_t run = 0; run < f->runs.n; run++) {
		const struct summary *s = f->runs.at[run].summary;

		for (u32 i = 0; i < s->n; i++) {
			const struct quantity *q = &s->at[i];
			bool seen = !is_asked(f, q);

			for (size_t k = 0; k < run && !seen; k++)
				seen = summary_find(f->runs.at[k].summary, q->group, q->what);
			if (!seen)
				show_line(f, q);
		}
	}
}

/* --- knees --- */

static const struct latency *latency_of(const struct summary *s, const struct latency *of)
{
	for (u32 i = 0; i < s->nr_latencies; i++) {
		if (!strcmp(s->latencies[i].process, of->process) &&
		    !strcmp(s->latencies[i].kind, of->kind))
			return &s->latencies[i];
	}
	return NULL;
}

static void show_knee(struct fitting *f, const struct latency *of, const struct knee_budget *budget)
{
	struct knee_run runs[MAX_FIT_RUNS];
	struct fit_knee knee;
	char group[sizeof(of->process) + sizeof(of->kind) + 16];
	struct fit_about about = {
		.group = group, .what = "duration", .unit = QUANTITY_SECONDS, .x = f->source->word
	};
	size_t n = 0;

	snprintf(group, sizeof(group), "%s, each %s", of->process, of->kind);
	for (size_t i = 0; i < f->runs.n; i++) {
		const struct latency *had = latency_of(f->runs.at[i].summary, of);

		if (had && x_of(f, i, of->process, &runs[n].x))
			runs[n++].durations = &had->hist;
		else
			about.without++;
		f->without_x += had && !(n && runs[n - 1].durations == &had->hist);
	}
	if (!n)
		return;
	knee_find(runs, n, f->source->same, budget, &knee);
	f->unresolved += knee.verdict == KNEE_UNRESOLVED;
	begin_object(f);
	if (f->o->json)
		fit_knee_json(&about, &knee, f->o->knee, &f->out);
	else
		fit_knee_text(&about, &knee, f->o->knee, &f->out);
}

static void show_knees(struct fitting *f, const struct knee_budget *budget)
{
	for (size_t run = 0; run < f->runs.n; run++) {
		const struct summary *s = f->runs.at[run].summary;

		for (u32 i = 0; i < s->nr_latencies; i++) {
			const struct latency *l = &s->latencies[i];
			bool seen = !is_of_kind(f->o, l->kind);

			for (size_t k = 0; k < run && !seen; k++)
				seen = latency_of(f->runs.at[k].summary, l);
			if (!seen)
				show_knee(f, l, budget);
		}
	}
	if (!f->o->json && f->shown)
		buf_str(&f->out,
			"\nA duration is from the read of a request's first byte to the write "
			"that ends its\nresponse: what it waited before that read is not in "
			"it. Clients that wait for an\nanswer before they ask again send "
			"less where it is slow.\n");
}

/* --- both --- */

static int say_nothing(const struct fitting *f)
{
	if (f->without_x)
		log_error("fit: the records do not have %s: they need requests over HTTP/1.x, "
			  "observed (--interaction http); or give X with each file, X:FILE",
			  f->o->x);
	else
		log_error("fit: there is nothing to fit: no record has what %s asks for",
			  f->o->kind	? "--kind"
			  : f->o->ofs.n ? "--of"
			  : f->o->knee	? "--knee (requests over HTTP/1.x)"
					: "is fitted by default, CPU or resident memory,"
					  " that --of all");
	return EXIT_FAILED;
}

static int fit(struct fitting *f, const struct knee_budget *budget)
{
	int status;

	if (are_refused(f)) {
		log_error("fit: not fitted");
		return EXIT_INVALID;
	}
	say_order(f);
	if (f->o->json)
		buf_printf(&f->out, "{\"%s\":[", f->o->knee ? "knees" : "lines");
	if (f->o->knee)
		show_knees(f, budget);
	else
		show_lines(f);
	if (!f->shown)
		return say_nothing(f);
	if (f->o->json)
		buf_str(&f->out, "\n]}\n");
	status = f->unresolved && !f->o->unresolved_ok ? EXIT_UNRESOLVED : EXIT_GOOD;
	return print_whole(&f->out, status);
}

int cmd_fit(const struct options *options)
{
	struct fitting f = { .o = options, .runs = { .command = "fit" } };
	struct knee_budget budget = { 0 };
	int status;

	if (options->program) {
		log_error("fit: records have no sides; they are given without `--`");
		return EXIT_USAGE;
	}
	if (options->knee && knee_parse(options->knee, &budget)) {
		log_error("fit: --knee %s is no budget; p99=100ms is one", options->knee);
		return EXIT_USAGE;
	}
	if (options->knee && options->ofs.n) {
		log_error("fit: --knee is about durations: --of means nothing beside it");
		return EXIT_USAGE;
	}
	status = take_source(&f);
	if (status == EXIT_GOOD)
		status = take_words(&f);
	if (status == EXIT_GOOD)
		status = runs_read(&f.runs) ? EXIT_FAILED : fit(&f, &budget);
	buf_done(&f.out);
	runs_done(&f.runs);
	return status;
}
