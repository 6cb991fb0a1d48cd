/* SPDX-License-Identifier: MIT */
/* Comparing records: reading them (each in a confined process), and what must not be compared. */
#include "user/cmd/compare.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "user/base/log.h"
#include "user/cmd/print.h"
#include "user/cmd/record_open.h"
#include "user/cmd/targets.h"
#include "user/model/ranges.h"
#include "user/record/record_file.h"
#include "user/render/compare_table.h"
#include "user/render/paper.h"
#include "user/runtime/confined.h"

#define DEADLINE_NS (60 * NS_PER_SEC)

struct run {
	const char *path;
	struct summary *summary;
};

struct comparison {
	struct run runs[2 * MAX_COMPARED]; /* A, then B */
	size_t n, nr_a;
};

/* In the confined process. */
static int work(int fd, const void *request, struct buf *ret_answer, struct err *err)
{
	struct summary *s = malloc(sizeof(*s));
	struct record r;
	int status;

	(void)request;
	if (!s)
		return err_set(err, -ENOMEM, "no memory for it");
	status = record_read(fd, &r, err);
	if (!status) {
		summary_of(&r, s);
		buf_add(ret_answer, s, sizeof(*s));
		record_done(&r);
	}
	free(s);
	return status;
}

/* @answer is as long as a summary. */
static int keep(struct run *run, const struct buf *answer, struct err *err)
{
	run->summary = calloc(1, sizeof(*run->summary));
	if (!run->summary)
		return err_set(err, -ENOMEM, "no memory for it");
	memcpy(run->summary, answer->bytes, sizeof(*run->summary));
	if (!summary_check(run->summary))
		return err_set(err, -EBADMSG, "the process that read it answered nonsense");
	return 0;
}

static int read_run(struct run *run, struct err *err)
{
	const struct confined_job job = { .work = work,
					  .max_bytes = sizeof(struct summary),
					  .max_ns = DEADLINE_NS };
	struct buf answer = { 0 };
	int fd = record_open(run->path, err), r;

	if (fd < 0)
		return fd;
	r = confined_run(fd, &job, &answer, err);
	close(fd);
	if (!r && answer.len != sizeof(*run->summary))
		r = err_set(err, -EBADMSG, "the process that read it answered nonsense");
	if (!r)
		r = keep(run, &answer, err);
	buf_done(&answer);
	return r ? err_prefix(err, r, "%s: ", run->path) : 0;
}

static const char *side_of(const struct comparison *c, size_t i)
{
	return i < c->nr_a ? "A" : "B";
}

/* Say why they are not compared; a line each. Texts are of strangers' files. */
static void say(bool refused, const char *fmt, const char *path, const char *one, const char *other)
{
	struct buf clean = { 0 };
	char line[1024];

	snprintf(line, sizeof(line), fmt, path, one, other);
	paper_clean(line, &clean);
	if (refused)
		log_error("compare: %s", clean.bytes ? clean.bytes : "");
	else
		log_warn("compare: %s", clean.bytes ? clean.bytes : "");
	buf_done(&clean);
}

/* Returns whether any is. */
static bool are_invalid(const struct comparison *c, bool allowed)
{
	bool found = false;

	for (size_t i = 0; i < c->n; i++) {
		if (!c->runs[i].summary->invalid)
			continue;
		found = true;
		say(!allowed, "%s is INVALID: %s%s", c->runs[i].path, c->runs[i].summary->why,
		    allowed ? "" : " (--invalid-ok compares it all the same)");
	}
	return found && !allowed;
}

static bool differ(const struct comparison *c, size_t i, size_t k, bool allowed)
{
	const struct summary *x = c->runs[i].summary, *y = c->runs[k].summary;
	const struct {
		const char *one, *other, *fmt;
	} facts[] = {
		{ x->kernel, y->kernel, "%s ran on kernel %s, the first run on %s" },
		{ x->cpu_model, y->cpu_model, "%s ran on a %s, the first run on a %s" },
		{ x->cpus, y->cpus, "%s had the CPUs %s, the first run %s" },
	};
	bool found = false;

	for (size_t f = 0; f < sizeof(facts) / sizeof(facts[0]); f++) {
		if (!strcmp(facts[f].one, facts[f].other))
			continue;
		say(!allowed, facts[f].fmt, c->runs[i].path, facts[f].one, facts[f].other);
		found = true;
	}
	if (x->by_program == y->by_program)
		return found && !allowed;
	/* Amounts per second and amounts in all have no common unit. */
	say(true, "%s %s, the first run %s", c->runs[i].path,
	    x->by_program ? "lasted as long as its program" : "is a window of a running process",
	    y->by_program ? "as long as its program" : "is such a window");
	return true;
}

/* Where a build id is missing the executables are compared. */
static bool same_build(const struct summary *x, const struct summary *y)
{
	if (x->builds_known && y->builds_known)
		return !strcmp(x->builds, y->builds);
	return !strcmp(x->programs, y->programs);
}

/* Runs of one side are of one program; that sides are of different ones may be the point. */
static bool builds_differ(const struct comparison *c, bool allowed)
{
	bool found = false;

	for (size_t i = 0; i < c->n; i++) {
		size_t first = i < c->nr_a ? 0 : c->nr_a;

		if (same_build(c->runs[i].summary, c->runs[first].summary))
			continue;
		say(!allowed, "%s is of another build (%s) than the first run of its side (%s)",
		    c->runs[i].path, c->runs[i].summary->builds, c->runs[first].summary->builds);
		found = true;
	}
	if (!same_build(c->runs[0].summary, c->runs[c->nr_a].summary))
		say(false, "%s: A is of build %s, B of %s", "note", c->runs[0].summary->builds,
		    c->runs[c->nr_a].summary->builds);
	return found && !allowed;
}

/* A file that is given twice would count as a run that agrees with itself. */
static bool are_doubled(const struct comparison *c)
{
	for (size_t i = 0; i < c->n; i++) {
		for (size_t k = 0; k < i; k++) {
			const struct summary *x = c->runs[i].summary, *y = c->runs[k].summary;

			if (x->begin_wall_ns != y->begin_wall_ns || x->window_ns != y->window_ns)
				continue;
			say(true, "%s is the same run as %s%s: give other runs", c->runs[i].path,
			    c->runs[k].path, "");
			return true;
		}
	}
	return false;
}

/* G17: whatever changes with time is in the difference of sides that ran one after the other. */
static void say_order(const struct comparison *c)
{
	u64 last[2] = { 0, 0 }, first[2] = { ~0ull, ~0ull };

	for (size_t i = 0; i < c->n; i++) {
		u64 at = c->runs[i].summary->begin_wall_ns;
		size_t side = side_of(c, i)[0] == 'B';

		last[side] = at > last[side] ? at : last[side];
		first[side] = at < first[side] ? at : first[side];
	}
	if (last[0] < first[1] || last[1] < first[0])
		log_warn("compare: one side ran wholly before the other, so that what changed with "
			 "time (heat, caches, neighbours) looks like a difference; take turns: "
			 "A B B A A B");
}

static int compare(const struct comparison *c, const struct options *o)
{
	struct compare_side a = { .n = c->nr_a }, b = { .n = c->n - c->nr_a };
	bool refused = are_doubled(c);
	struct buf out = { 0 };
	size_t unresolved;
	int status;

	/* All of it is said, not the first only. */
	refused |= are_invalid(c, o->invalid_ok);
	for (size_t i = 1; i < c->n; i++)
		refused |= differ(c, i, 0, o->different_ok);
	refused |= builds_differ(c, o->different_ok);
	if (refused) {
		log_error("compare: not compared");
		return EXIT_INVALID;
	}
	say_order(c);
	for (size_t i = 0; i < c->n; i++) {
		if (i < c->nr_a)
			a.runs[i] = c->runs[i].summary;
		else
			b.runs[i - c->nr_a] = c->runs[i].summary;
	}
	unresolved = compare_table_render(&a, &b, false, &out);
	status = unresolved && (a.n < RANGE_MIN_RUNS || b.n < RANGE_MIN_RUNS) ? EXIT_UNRESOLVED
									      : EXIT_GOOD;
	status = print_whole(&out, status);
	buf_done(&out);
	return status;
}

static bool take_words(const struct options *o, struct comparison *c)
{
	for (size_t i = 0; i < o->rest.n; i++) {
		if (c->n == MAX_COMPARED)
			return false;
		c->runs[c->n++].path = o->rest.word[i];
	}
	c->nr_a = c->n;
	for (char **word = o->program; word && *word; word++) {
		if (c->n - c->nr_a == MAX_COMPARED)
			return false;
		c->runs[c->n++].path = *word;
	}
	return true;
}

int cmd_compare(const struct options *options)
{
	struct comparison c = { .n = 0 };
	struct err err = { { 0 } };
	int status = EXIT_GOOD;

	if (!take_words(options, &c)) {
		log_error("compare: at most %d records a side", MAX_COMPARED);
		return EXIT_USAGE;
	}
	if (!c.nr_a || c.nr_a == c.n) {
		log_error("compare: give records of two sides, three or more each: "
			  "skyobserve compare a1.sky a2.sky a3.sky -- b1.sky b2.sky b3.sky");
		return EXIT_USAGE;
	}
	for (size_t i = 0; i < c.n && status == EXIT_GOOD; i++) {
		if (!read_run(&c.runs[i], &err))
			continue;
		log_error("compare: %s", err.text);
		status = EXIT_FAILED;
	}
	if (status == EXIT_GOOD)
		status = compare(&c, options);
	for (size_t i = 0; i < c.n; i++)
		free(c.runs[i].summary);
	return status;
}
