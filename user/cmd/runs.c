/* SPDX-License-Identifier: MIT */
/* Reading records of several runs, and saying why they are not put beside each other. */
#include "user/cmd/runs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "user/base/log.h"
#include "user/cmd/record_open.h"
#include "user/record/record_file.h"
#include "user/render/paper.h"
#include "user/runtime/confined.h"

#define DEADLINE_NS (60 * NS_PER_SEC)

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

int runs_read(struct runs *runs)
{
	struct err err = { { 0 } };

	for (size_t i = 0; i < runs->n; i++) {
		int r = read_run(&runs->at[i], &err);

		if (!r)
			continue;
		log_error("%s: %s", runs->command, err.text);
		return r;
	}
	return 0;
}

void runs_done(struct runs *runs)
{
	for (size_t i = 0; i < runs->n; i++)
		free(runs->at[i].summary);
	*runs = (struct runs){ 0 };
}

void runs_say(const struct runs *runs, bool refused, const char *fmt, const char *path,
	      const char *one, const char *other)
{
	struct buf clean = { 0 };
	char line[1024];

	snprintf(line, sizeof(line), fmt, path, one, other);
	paper_clean(line, &clean);
	if (refused)
		log_error("%s: %s", runs->command, clean.bytes ? clean.bytes : "");
	else
		log_warn("%s: %s", runs->command, clean.bytes ? clean.bytes : "");
	buf_done(&clean);
}

bool runs_are_invalid(const struct runs *runs, bool allowed)
{
	bool found = false;

	for (size_t i = 0; i < runs->n; i++) {
		if (!runs->at[i].summary->invalid)
			continue;
		found = true;
		runs_say(runs, !allowed, "%s is INVALID: %s%s", runs->at[i].path,
			 runs->at[i].summary->why,
			 allowed ? "" : " (--invalid-ok takes it all the same)");
	}
	return found && !allowed;
}

bool runs_differ(const struct runs *runs, size_t i, bool allowed)
{
	const struct summary *x = runs->at[i].summary, *y = runs->at[0].summary;
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
		runs_say(runs, !allowed, facts[f].fmt, runs->at[i].path, facts[f].one,
			 facts[f].other);
		found = true;
	}
	if (x->by_program == y->by_program)
		return found && !allowed;
	/* Amounts per second and amounts in all have no common unit. */
	runs_say(runs, true, "%s %s, the first run %s", runs->at[i].path,
		 x->by_program ? "lasted as long as its program"
			       : "is a window of a running process",
		 y->by_program ? "as long as its program" : "is such a window");
	return true;
}

/* Where a build id is missing the executables are compared. */
bool runs_same_build(const struct runs *runs, size_t i, size_t k)
{
	const struct summary *x = runs->at[i].summary, *y = runs->at[k].summary;

	if (x->builds_known && y->builds_known)
		return !strcmp(x->builds, y->builds);
	return !strcmp(x->programs, y->programs);
}

bool runs_are_doubled(const struct runs *runs)
{
	for (size_t i = 0; i < runs->n; i++) {
		for (size_t k = 0; k < i; k++) {
			const struct summary *x = runs->at[i].summary, *y = runs->at[k].summary;

			if (x->begin_wall_ns != y->begin_wall_ns || x->window_ns != y->window_ns)
				continue;
			runs_say(runs, true, "%s is the same run as %s%s: give other runs",
				 runs->at[i].path, runs->at[k].path, "");
			return true;
		}
	}
	return false;
}
