/* SPDX-License-Identifier: MIT */
/* The command line of `skyobserve record`. How it runs is in serve.c, what it writes in recorder.c.
 */
#include "user/cmd/record.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "user/base/log.h"
#include "user/cmd/recorder.h"
#include "user/cmd/selftest.h"
#include "user/cmd/serve.h"
#include "user/cmd/targets.h"
#include "user/model/store.h"

#define MAX_DURATION_NS (31ull * 24 * 3600 * NS_PER_SEC)

bool record_duration(const char *word, u64 *ret_ns)
{
	static const struct {
		const char *unit;
		u64 ns;
	} units[] = { { "", NS_PER_SEC },
		      { "ms", NS_PER_MS },
		      { "s", NS_PER_SEC },
		      { "m", 60 * NS_PER_SEC },
		      { "h", 3600 * NS_PER_SEC } };
	size_t digits = strspn(word, "0123456789");
	u64 n;

	if (!digits || digits > 9)
		return false;
	n = strtoull(word, NULL, 10);
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(word + digits, units[i].unit) != 0)
			continue;
		if (!n || n > MAX_DURATION_NS / units[i].ns)
			return false;
		*ret_ns = n * units[i].ns;
		return true;
	}
	return false;
}

/* Before anything is observed: its loads are forked from this process. */
static int run_selftest(const struct options *o, struct record *r, struct err *err)
{
	static struct selftest_result result; /* 26 KB */
	struct selftest_config config = { .force_raw_tp = o->raw_tracepoints, .folder = "/tmp" };
	int status = options_groups(o->groups, &config.groups, err);

	if (!status)
		status = selftest_run(&config, &result, err);
	if (status)
		return status;
	record_fact_setf(r, "selftest.ok", "%u", result.verdicts[SELFTEST_OK]);
	record_fact_setf(r, "selftest.failed", "%u", result.verdicts[SELFTEST_FAILED]);
	record_fact_setf(r, "selftest.skipped", "%u", result.verdicts[SELFTEST_SKIPPED]);
	for (size_t i = 0; i < result.nr_rows; i++) {
		const struct selftest_row *row = &result.rows[i];

		if (row->verdict != SELFTEST_FAILED)
			continue;
		record_fact_setf(r, "selftest.first_failure", "%s: %s: got %llu", row->load,
				 row->what, row->got);
		break;
	}
	return 0;
}

/* A handler and not SIG_IGN, which a program that is started would inherit. */
static void too_large(int sig)
{
	(void)sig;
}

static int record(const struct options *o, u64 duration_ns)
{
	/* A limit of file sizes (ulimit -f) is an error of write(2) then, and does not kill us. */
	const struct sigaction keep_on = { .sa_handler = too_large };

	struct recorder *rec = NULL;
	struct err err = { { 0 } };
	int status = EXIT_FAILED;

	sigaction(SIGXFSZ, &keep_on, NULL);
	if (recorder_open(o, duration_ns, &rec, &err)) {
		log_error("record: %s", err.text);
		return EXIT_FAILED;
	}
	if (o->selftest && run_selftest(o, recorder_facts(rec), &err)) {
		log_error("record: the selftest: %s", err.text);
		status = EXIT_MISSING;
	} else {
		status = serve_record(o, rec);
	}
	recorder_free(rec);
	return status;
}

int cmd_record(const struct options *options)
{
	u64 duration_ns = 0;
	struct store store;

	if (!options->output) {
		log_error("record: where to? give -o FILE");
		return EXIT_USAGE;
	}
	if (options->duration && !record_duration(options->duration, &duration_ns)) {
		log_error("record: --duration %s: give it as 30s, 500ms, 5m or 1h",
			  options->duration);
		return EXIT_USAGE;
	}
	if (options->expect_store && !store_parse(options->expect_store, &store)) {
		log_error("record: --expect-store %s: give it as postgres, postgres:PORT, redis, "
			  "redis:PORT, sqlite:/PATH or memory",
			  options->expect_store);
		return EXIT_USAGE;
	}
	if (options->profiles.n > 1) {
		log_error("record: one profile at a time: give --profile once");
		return EXIT_USAGE;
	}
	if (options->profiles.n && (duration_ns < NS_PER_SEC || options->program)) {
		log_error("record: --profile is of a running process, for a --duration of a second "
			  "or more");
		return EXIT_USAGE;
	}
	return record(options, duration_ns);
}
