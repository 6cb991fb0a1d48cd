/* SPDX-License-Identifier: MIT */
/* What a pprof file says. It is read, and the report is made, in a confined process. */
#include "user/cmd/profile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "user/base/log.h"
#include "user/cmd/print.h"
#include "user/cmd/rules_file.h"
#include "user/cmd/targets.h"
#include "user/crosscheck/buckets.h"
#include "user/pprof/pprof.h"
#include "user/render/bucket_table.h"
#include "user/render/profile_raw.h"
#include "user/render/profile_table.h"
#include "user/runtime/confined.h"

#define DEADLINE_NS	 (60 * NS_PER_SEC)
#define MAX_REPORT_BYTES (512u << 20) /* of --raw */
#define DEFAULT_ROWS	 20

/* What the confined process is to do. */
struct request {
	const struct options *options;
	const struct buf *rules; /* the text; NULL: no buckets */
};

static int report_buckets(const struct profile *p, u32 type, const struct request *q,
			  struct buf *out, struct err *err)
{
	const char *name = q->options->rules;
	struct rules rules;
	struct bucket_table table = { 0 };
	int r = rules_parse((struct span){ (const u8 *)q->rules->bytes, q->rules->len }, &rules,
			    err);

	if (r)
		(void)err_prefix(err, r, "the rules %s: ", name);
	else
		r = buckets_of_profile(&rules, p, type, &table, err);
	if (!r)
		bucket_table(&table, name, &p->types[type], out);
	buckets_done(&table);
	rules_done(&rules);
	return r;
}

static int report(const struct profile *p, const struct request *q, struct buf *out,
		  struct err *err)
{
	const struct options *o = q->options;
	struct profile_sums sums;
	struct profile_top top;
	u32 type;
	int r;

	r = profile_find_type(p, o->sample_type, &type, err);
	if (!r)
		r = profile_sum(p, type, &sums, err);
	if (!r)
		r = profile_top(p, type, &top, err);
	if (r)
		return r;
	profile_table_head(p, type, &sums, out);
	if (q->rules)
		r = report_buckets(p, type, q, out, err);
	if (!r)
		profile_table_top(p, type, &sums, &top, o->rows ? o->rows : DEFAULT_ROWS, out);
	profile_top_done(&top);
	return r;
}

/* In the confined process. */
static int work(int fd, const void *request, struct buf *ret_answer, struct err *err)
{
	const struct request *q = request;
	struct profile p;
	int r = pprof_read(fd, &p, err);

	if (r)
		return r;
	if (q->options->raw)
		r = profile_raw(&p, ret_answer) ? err_set(err, -ENOMEM, "no memory for it") : 0;
	else
		r = report(&p, q, ret_answer, err);
	profile_done(&p);
	return r;
}

static int show(const char *path, const struct request *request)
{
	const struct confined_job job = { .work = work,
					  .request = request,
					  .max_bytes = MAX_REPORT_BYTES,
					  .max_ns = DEADLINE_NS };
	struct err err = { { 0 } };
	struct buf text = { 0 };
	int fd = open(path, O_RDONLY | O_CLOEXEC), status = EXIT_FAILED;

	if (fd < 0) {
		log_error("profile: %s: %s", path, strerror(errno));
		return EXIT_FAILED;
	}
	if (confined_run(fd, &job, &text, &err)) {
		log_error("profile: %s: %s", path, err.text);
	} else {
		print_clean(&text);
		if (fwrite(text.bytes, 1, text.len, stdout) != text.len || fflush(stdout))
			log_error("profile: the report could not be written");
		else
			status = EXIT_GOOD;
	}
	buf_done(&text);
	close(fd);
	return status;
}

int cmd_profile(const struct options *options)
{
	struct request request = { .options = options };
	struct err err = { { 0 } };
	struct buf rules = { 0 };
	int status;

	if (options->rest.n != 1) {
		log_error("profile: give one pprof file: skyobserve profile cpu.pb.gz");
		return EXIT_USAGE;
	}
	if (options->rules) {
		if (rules_file_read(options->rules, &rules, &err)) {
			log_error("profile: --rules %s", err.text);
			return EXIT_FAILED;
		}
		request.rules = &rules;
	}
	status = show(options->rest.word[0], &request);
	buf_done(&rules);
	return status;
}
