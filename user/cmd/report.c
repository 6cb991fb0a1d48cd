/* SPDX-License-Identifier: MIT */
/* What records say. Each is read, and its report made, in a confined process. */
#include "user/cmd/report.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "user/base/log.h"
#include "user/cmd/print.h"
#include "user/cmd/record_open.h"
#include "user/cmd/targets.h"
#include "user/model/gates.h"
#include "user/record/record_file.h"
#include "user/render/record_report.h"
#include "user/runtime/confined.h"

#define DEADLINE_NS	 (60 * NS_PER_SEC)
#define MAX_REPORT_BYTES (256u << 20)

struct report_request {
	const char *path;
	bool json;
};

/* In the confined process. The first byte of the answer says whether the record is valid. */
static int work(int fd, const void *request, struct buf *ret_answer, struct err *err)
{
	const struct report_request *asked = request;
	struct gate gates[NR_GATES];
	struct record r;
	int status = record_read(fd, &r, err);

	if (status)
		return status;
	gates_of(&r, gates);
	buf_char(ret_answer, gates_invalid(gates) ? '0' : '1');
	if (asked->json)
		status = record_report_json(&r, asked->path, ret_answer);
	else
		record_report_render(&r, asked->path, false, ret_answer);
	record_done(&r);
	return status ? err_set(err, status, "no memory for its report") : 0;
}

static int report(const char *path, bool json)
{
	const struct report_request request = { path, json };
	const struct confined_job job = { .work = work,
					  .request = &request,
					  .max_bytes = MAX_REPORT_BYTES,
					  .max_ns = DEADLINE_NS };
	struct err err = { { 0 } };
	struct buf text = { 0 };
	int fd = record_open(path, &err), status = EXIT_FAILED;

	if (fd < 0) {
		log_error("report: %s", err.text);
		return EXIT_FAILED;
	}
	if (confined_run(fd, &job, &text, &err)) {
		log_error("report: %s: %s", path, err.text);
	} else if (text.len) {
		status = text.bytes[0] == '1' ? EXIT_GOOD : EXIT_INVALID;
		/* What is left of that byte would be the first of the text. */
		memmove(text.bytes, text.bytes + 1, text.len);
		text.len--;
		print_clean(&text);
		status = print_whole(&text, status);
	}
	buf_done(&text);
	close(fd);
	return status;
}

int cmd_report(const struct options *options)
{
	int status = EXIT_GOOD;

	if (!options->rest.n) {
		log_error("report: give one record or more: skyobserve report run.sky");
		return EXIT_USAGE;
	}
	for (size_t i = 0; i < options->rest.n; i++) {
		int one = report(options->rest.word[i], options->json);

		/* That one could not be read counts more than that one is invalid. */
		if (one == EXIT_FAILED || (one && status == EXIT_GOOD))
			status = one;
	}
	return status;
}
