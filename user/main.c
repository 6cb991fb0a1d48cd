/* SPDX-License-Identifier: MIT */
/* skyobserve: reads the command line and calls the command. */
#include <stdio.h>
#include <string.h>

#include "user/base/log.h"
#include "user/cmd/doctor.h"
#include "user/cmd/explain.h"
#include "user/cmd/inspect.h"
#include "user/cmd/options.h"
#include "user/cmd/profile.h"
#include "user/cmd/selftest.h"
#include "user/cmd/serve.h"
#include "user/cmd/targets.h"
#include "user/cmd/version.h"

static const struct command {
	const char *name;
	int (*run)(const struct options *options);
	const char *help;
} commands[] = {
	{ "serve", cmd_serve, "observe and serve metrics (the default)" },
	{ "top", cmd_top, "the same, with a live table on the terminal" },
	{ "doctor", cmd_doctor, "what this machine has of what is needed, and the remedy" },
	{ "inspect", cmd_inspect, "what is known of a program: --pid PID, or FILE" },
	{ "profile", cmd_profile, "what a pprof FILE says: values, cut stacks, top functions" },
	{ "selftest", cmd_selftest, "workloads of known truth: a table of wanted = got" },
	{ "explain", cmd_explain, "what a metric is: [METRIC...], or a list of all" },
};

static void help(void)
{
	struct buf out = { 0 };

	buf_str(&out, "skyobserve " SKYOBSERVE_VERSION
		      ": observes processes from outside, exactly, and serves it to Prometheus\n\n"
		      "usage: sudo skyobserve [COMMAND] --pid $(pgrep app) [OPTION...]\n\n");
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		buf_printf(&out, "  %-31s %s\n", commands[i].name, commands[i].help);
	buf_char(&out, '\n');
	options_help(&out);
	if (!out.failed)
		fputs(out.bytes, stdout);
	buf_done(&out);
}

static int run(const struct options *options)
{
	if (options->help) {
		help();
		return EXIT_GOOD;
	}
	if (options->version) {
		puts("skyobserve " SKYOBSERVE_VERSION);
		return EXIT_GOOD;
	}
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (!strcmp(commands[i].name, options->command))
			return commands[i].run(options);
	}
	log_error("`%s` is not a command; see --help", options->command);
	return EXIT_USAGE;
}

int main(int argc, char **argv)
{
	struct options options;
	struct err err = { { 0 } };
	int status;

	if (options_parse(argc - 1, argv + 1, &options, &err)) {
		log_error("%s", err.text);
		status = EXIT_USAGE;
	} else {
		status = run(&options);
	}
	options_done(&options);
	return status;
}
