/* SPDX-License-Identifier: MIT */
/*
 * Whether profiles are right. All files are read here as bytes only; what is in them is looked at,
 * and judged, in a confined process.
 */
#include "user/cmd/crosscheck.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "user/base/log.h"
#include "user/base/input_file.h"
#include "user/cmd/output_file.h"
#include "user/cmd/print.h"
#include "user/cmd/record_open.h"
#include "user/cmd/targets.h"
#include "user/crosscheck/crosscheck.h"
#include "user/pprof/pprof.h"
#include "user/record/record_file.h"
#include "user/render/claims.h"
#include "user/runtime/confined.h"

#define DEADLINE_NS	 (120 * NS_PER_SEC)
#define MAX_ANSWER_BYTES (16u << 20)
#define MAX_RUNS	 64

/* What the confined process is to do. */
struct request {
	const struct options *options;
	struct buf *profiles, *records; /* by run */
	size_t n;
};

/* In front of its answer: the report, then JUnit's XML. */
struct answer_head {
	u32 verdict;
	u32 junit_bytes;
};

static struct span bytes_of(const struct buf *buf)
{
	return (struct span){ (const u8 *)buf->bytes, buf->len };
}

/* --- in the confined process --- */

struct work {
	struct crosscheck_input runs[MAX_RUNS];
	struct profile profiles[MAX_RUNS];
	struct record records[MAX_RUNS];
	struct rules go;
	struct claim_report report;
};

static int parse_run(const struct request *q, size_t i, struct work *w, struct err *err)
{
	const struct options *o = q->options;
	int r = pprof_parse(bytes_of(&q->profiles[i]), &w->profiles[i], err);

	if (r)
		return err_prefix(err, r, "%s: ", o->profiles.word[i]);
	r = record_parse(bytes_of(&q->records[i]), &w->records[i], err);
	if (r)
		return err_prefix(err, r, "%s: ", o->records.word[i]);
	w->runs[i] = (struct crosscheck_input){ .profile_name = o->profiles.word[i],
						.record_name = o->records.word[i],
						.profile = &w->profiles[i],
						.record = &w->records[i],
						.go = &w->go };
	return 0;
}

static int answer(const struct claim_report *report, const struct options *o,
		  struct buf *ret_answer, struct err *err)
{
	struct buf shown = { 0 }, junit = { 0 };
	struct answer_head head = { .verdict = report->verdict };

	if (o->json)
		claims_json(report, &shown);
	else
		claims_table(report, &shown);
	claims_junit(report, &junit);
	head.junit_bytes = (u32)junit.len;
	buf_add(ret_answer, &head, sizeof(head));
	buf_add(ret_answer, shown.bytes, shown.len);
	buf_add(ret_answer, junit.bytes, junit.len);
	ret_answer->failed |= shown.failed || junit.failed;
	buf_done(&shown);
	buf_done(&junit);
	return ret_answer->failed ? err_set(err, -ENOMEM, "no memory for the report") : 0;
}

static int work(int fd, const void *request, struct buf *ret_answer, struct err *err)
{
	const struct request *q = request;
	struct work *w = calloc(1, sizeof(*w));
	struct span text;
	int r;

	(void)fd; /* all files were read before */
	if (!w)
		return err_set(err, -ENOMEM, "no memory for a cross-check");
	r = rules_shipped("go", &text) ? rules_parse(text, &w->go, err) : -ENOENT;
	for (size_t i = 0; i < q->n && !r; i++)
		r = parse_run(q, i, w, err);
	if (!r)
		r = crosscheck(w->runs, (u32)q->n, &w->report, err);
	if (!r)
		r = answer(&w->report, q->options, ret_answer, err);
	crosscheck_done(&w->report);
	for (size_t i = 0; i < q->n; i++) {
		profile_done(&w->profiles[i]);
		record_done(&w->records[i]);
	}
	rules_done(&w->go);
	free(w);
	return r;
}

/* --- outside of it --- */

static int status_of(u32 verdict, const struct options *o)
{
	switch (verdict) {
	case VERDICT_CONFIRMED:
		return EXIT_GOOD;
	case VERDICT_REFUTED:
		return EXIT_FAILED;
	case VERDICT_UNRESOLVED:
		return o->unresolved_ok ? EXIT_GOOD : EXIT_UNRESOLVED;
	default:
		return EXIT_INVALID;
	}
}

static int write_junit(const char *path, const struct buf *junit)
{
	struct err err = { { 0 } };
	int fd = output_file_create(path, &err), r;

	if (fd < 0) {
		log_error("crosscheck: --junit: %s", err.text);
		return fd;
	}
	r = output_file_write(fd, junit);
	if (r)
		log_error("crosscheck: --junit: %s: %s", path, strerror(-r));
	close(fd);
	return r;
}

/* The parts of an answer, which may be anything, into files and onto the terminal. */
static int print_answer(const struct buf *bytes, const struct options *o)
{
	struct answer_head head;
	struct buf shown = { 0 }, junit = { 0 };
	size_t rest;
	int status = EXIT_FAILED;

	if (bytes->len < sizeof(head)) {
		log_error("crosscheck: the process that judges gave no answer");
		return EXIT_FAILED;
	}
	memcpy(&head, bytes->bytes, sizeof(head));
	rest = bytes->len - sizeof(head);
	if (head.junit_bytes > rest) {
		log_error("crosscheck: the process that judges answered nonsense");
		return EXIT_FAILED;
	}
	buf_add(&shown, bytes->bytes + sizeof(head), rest - head.junit_bytes);
	buf_add(&junit, bytes->bytes + bytes->len - head.junit_bytes, head.junit_bytes);
	if (shown.failed || junit.failed) {
		log_error("crosscheck: no memory for the report");
	} else if (!o->junit || !write_junit(o->junit, &junit)) {
		print_clean(&shown);
		status = print_whole(&shown, status_of(head.verdict, o));
	}
	buf_done(&shown);
	buf_done(&junit);
	return status;
}

static int read_file(const char *path, size_t max_bytes, struct buf *ret_bytes)
{
	struct err err = { { 0 } };
	int fd = record_open(path, &err), r;

	if (fd < 0) {
		log_error("crosscheck: %s", err.text);
		return fd;
	}
	r = input_file_read(fd, max_bytes, ret_bytes, &err);
	if (r)
		log_error("crosscheck: %s: %s", path, err.text);
	close(fd);
	return r;
}

static int judge(const struct request *q)
{
	const struct confined_job job = {
		.work = work, .request = q, .max_bytes = MAX_ANSWER_BYTES, .max_ns = DEADLINE_NS
	};
	struct buf bytes = { 0 };
	struct err err = { { 0 } };
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC), status = EXIT_FAILED;

	if (fd < 0)
		log_error("crosscheck: /dev/null: %s", strerror(errno));
	else if (confined_run(fd, &job, &bytes, &err))
		log_error("crosscheck: %s", err.text);
	else
		status = print_answer(&bytes, q->options);
	buf_done(&bytes);
	if (fd >= 0)
		close(fd);
	return status;
}

int cmd_crosscheck(const struct options *options)
{
	struct buf profiles[MAX_RUNS] = { { 0 } }, records[MAX_RUNS] = { { 0 } };
	struct request q = { .options = options,
			     .profiles = profiles,
			     .records = records,
			     .n = options->profiles.n };
	int status = EXIT_FAILED, r = 0;

	if (!q.n || q.n != options->records.n || q.n > MAX_RUNS || options->rest.n) {
		log_error("crosscheck: give a record for each profile: --profile cpu.pb.gz "
			  "--record run.sky, %d times at most",
			  MAX_RUNS);
		return EXIT_USAGE;
	}
	for (size_t i = 0; i < q.n && !r; i++) {
		r = read_file(options->profiles.word[i], PPROF_MAX_FILE_BYTES, &profiles[i]);
		if (!r)
			r = read_file(options->records.word[i], RECORD_MAX_FILE_BYTES, &records[i]);
	}
	if (!r)
		status = judge(&q);
	for (size_t i = 0; i < q.n; i++) {
		buf_done(&profiles[i]);
		buf_done(&records[i]);
	}
	return status;
}
