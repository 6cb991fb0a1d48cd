/* SPDX-License-Identifier: MIT */
/* What a pprof file says. It is read, and the report is made, in a confined process. */
#include "user/cmd/profile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "user/base/log.h"
#include "user/base/utf8.h"
#include "user/cmd/targets.h"
#include "user/pprof/pprof.h"
#include "user/render/profile_raw.h"
#include "user/render/profile_table.h"
#include "user/runtime/confined.h"

#define DEADLINE_NS	 (60 * NS_PER_SEC)
#define MAX_REPORT_BYTES (512u << 20) /* of --raw */
#define DEFAULT_ROWS	 20

static int report(const struct profile *p, const struct options *o, struct buf *out,
		  struct err *err)
{
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
	profile_table_top(p, type, &sums, &top, o->rows ? o->rows : DEFAULT_ROWS, out);
	profile_top_done(&top);
	return 0;
}

/* In the confined process. */
static int work(int fd, const void *request, struct buf *ret_answer, struct err *err)
{
	const struct options *o = request;
	struct profile p;
	int r = pprof_read(fd, &p, err);

	if (r)
		return r;
	if (o->raw)
		r = profile_raw(&p, ret_answer) ? err_set(err, -ENOMEM, "no memory for it") : 0;
	else
		r = report(&p, o, ret_answer, err);
	profile_done(&p);
	return r;
}

/* Whatever the process answered, a terminal gets lines of harmless text. */
static void clean(struct buf *text)
{
	char *line = text->bytes;

	for (size_t i = 0; i < text->len; i++) {
		if (!text->bytes[i])
			text->bytes[i] = '?';
	}
	while (line && *line) {
		char *end = strchr(line, '\n');
		char *rest = end ? end + 1 : NULL;
		size_t n;

		if (end)
			*end = '\0';
		n = strlen(line);
		utf8_hide_controls(line);
		/* It gets no longer; what it got shorter is filled up in front of the newline. */
		memset(line + strlen(line), ' ', n - strlen(line));
		if (end)
			*end = '\n';
		line = rest;
	}
}

int cmd_profile(const struct options *options)
{
	const struct confined_job job = { .work = work,
					  .request = options,
					  .max_bytes = MAX_REPORT_BYTES,
					  .max_ns = DEADLINE_NS };
	struct err err = { { 0 } };
	struct buf text = { 0 };
	const char *path;
	int fd, status = EXIT_FAILED;

	if (options->rest.n != 1) {
		log_error("profile: give one pprof file: skyobserve profile cpu.pb.gz");
		return EXIT_USAGE;
	}
	path = options->rest.word[0];
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		log_error("profile: %s: %s", path, strerror(errno));
		return EXIT_FAILED;
	}
	if (confined_run(fd, &job, &text, &err)) {
		log_error("profile: %s: %s", path, err.text);
	} else {
		clean(&text);
		if (fwrite(text.bytes, 1, text.len, stdout) != text.len || fflush(stdout))
			log_error("profile: the report could not be written");
		else
			status = EXIT_GOOD;
	}
	buf_done(&text);
	close(fd);
	return status;
}
