/* SPDX-License-Identifier: MIT */
/* skyobserve: reads the command line and calls the command. */
#include <ctype.h>
#include <string.h>

#include "user/base/log.h"
#include "user/base/standard.h"
#include "user/cmd/compare.h"
#include "user/cmd/crosscheck.h"
#include "user/cmd/doctor.h"
#include "user/cmd/explain.h"
#include "user/cmd/fit.h"
#include "user/cmd/inspect.h"
#include "user/cmd/options.h"
#include "user/cmd/profile.h"
#include "user/cmd/record.h"
#include "user/cmd/report.h"
#include "user/cmd/print.h"
#include "user/cmd/selftest.h"
#include "user/cmd/serve.h"
#include "user/cmd/targets.h"
#include "user/cmd/version.h"

static int cmd_help(const struct options *options);

static const struct command {
	const char *name;
	int (*run)(const struct options *options);
	const char *help;
} commands[] = {
	{ "serve", cmd_serve, "observe and serve metrics (the default)" },
	{ "top", cmd_top, "the same, with a live table on the terminal" },
	{ "record", cmd_record,
	  "what targets do in a window, into a file: -o FILE [--duration T]" },
	{ "report", cmd_report, "what a record says, whether it is valid: FILE... [--json]" },
	{ "compare", cmd_compare, "records of repeated runs beside each other: A... -- B..." },
	{ "fit", cmd_fit, "how costs grow with X, from records: X:FILE... [--knee pN=T]" },
	{ "doctor", cmd_doctor, "what this machine has of what is needed, and the remedy" },
	{ "inspect", cmd_inspect, "what is known of a program: --pid PID, or FILE" },
	{ "profile", cmd_profile, "what a pprof FILE says: values, cut stacks, top functions" },
	{ "crosscheck", cmd_crosscheck, "is a profile right? --profile FILE --record FILE" },
	{ "selftest", cmd_selftest, "workloads of known truth: a table of wanted = got" },
	{ "explain", cmd_explain, "what a metric is: [METRIC...], or a list of all" },
	{ "help", cmd_help, "this text" },
};

static int cmd_help(const struct options *options)
{
	struct buf out = { 0 };
	int status;

	(void)options;
	buf_str(&out, "skyobserve " SKYOBSERVE_VERSION
		      ": observes processes from outside, exactly, and serves it to Prometheus\n\n"
		      "usage: sudo skyobserve [COMMAND] --pid $(pgrep app) [OPTION...]\n\n");
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		buf_printf(&out, "  %-31s %s\n", commands[i].name, commands[i].help);
	buf_char(&out, '\n');
	options_help(&out);
	buf_str(&out,
		"\nExit status: 0 good; 1 failed, or a claim is refuted; 2 unresolved; 3 the "
		"target is gone,\nor the run is invalid; 64 wrong command line; 69 something is "
		"missing (privilege, feature).\nWith -- COMMAND its own: 128 and the signal it "
		"died of; 127 if not found, 126 if not executable.\n");
	status = print_whole(&out, EXIT_GOOD);
	buf_done(&out);
	return status;
}

static int version(void)
{
	struct buf out = { 0 };
	int status;

	buf_str(&out, "skyobserve " SKYOBSERVE_VERSION "\n");
	status = print_whole(&out, EXIT_GOOD);
	buf_done(&out);
	return status;
}

static int run(const struct options *options)
{
	struct err err = { { 0 } };

	if (options->help)
		return cmd_help(options);
	if (options->version)
		return version();
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (strcmp(commands[i].name, options->command) != 0)
			continue;
		if (options_check(options, &err)) {
			log_error("%s", err.text);
			return EXIT_USAGE;
		}
		return commands[i].run(options);
	}
	log_error("`%s` is not a command; see --help. %s", options->command,
		  isdigit((unsigned char)options->command[0])
			  ? "A process to observe is named by --pid"
			  : "A program to start goes behind --");
	return EXIT_USAGE;
}

int main(int argc, char **argv)
{
	struct options options;
	struct err err = { { 0 } };
	int status;

	standard_open();
	if (options_parse(argc - 1, argv + 1, &options, &err)) {
		log_error("%s", err.text);
		status = EXIT_USAGE;
	} else {
		status = run(&options);
	}
	options_done(&options);
	return status;
}
