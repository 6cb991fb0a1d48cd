/* SPDX-License-Identifier: MIT */
/* The command line. */
#ifndef SKYOBSERVE_CMD_OPTIONS_H
#define SKYOBSERVE_CMD_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "types.h"
#include "user/base/buf.h"
#include "user/base/err.h"

/* Words of the command line; the words themselves belong to argv. */
struct words {
	const char **word;
	size_t n;
};

struct options {
	const char *command; /* "serve" if none was given */
	struct words rest;   /* words that belong to no option */
	struct words pids, comms, exes, cgroups, listen, hosts, interactions, routes, goods,
		profiles, records, ofs;
	char **program;	 /* what stands behind --, NULL-terminated (argv's), or NULL */
	u64 given;	 /* a bit per row of options.def: it was there */
	bool pids_given; /* --pid was there, even with nothing behind it */
	const char *name, *telemetry_path, *groups, *user, *sample_type, *rules;
	bool all, all_syscalls, follow, label_pid, exit_with_target, live, raw_tracepoints, raw,
		markdown, help, version;
	u32 max_requests, interval_seconds, max_processes, max_threads, max_kinds, rows;
	/* Of records. */
	const char *output, *duration, *expect_store;
	bool isolated, selftest, json, invalid_ok, different_ok;
	/* Of cross-checks. */
	const char *junit;
	bool unresolved_ok;
	/* Of fits. */
	const char *x, *kind, *knee;
};

/*
 * Parse @argv without the program's name. Returns 0 or -EINVAL with the wrong word and what to do.
 * options_done frees what was collected, also after a failure.
 */
int options_parse(int argc, char **argv, struct options *ret_options, struct err *err);
void options_done(struct options *options);

/* Whether the command uses all options that were given: 0, or -EINVAL with the one and its
 * commands. */
int options_check(const struct options *options, struct err *err);

/* The table of options, for --help. */
void options_help(struct buf *out);

/* "sched,syscalls" to a mask of enum probe_group; NULL is all. */
int options_groups(const char *list, u32 *ret_groups, struct err *err);

#endif /* SKYOBSERVE_CMD_OPTIONS_H */
