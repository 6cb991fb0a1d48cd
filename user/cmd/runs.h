/* SPDX-License-Identifier: MIT */
/* Records of several runs, in numbers, and what must not be put beside each other. */
#ifndef SKYOBSERVE_CMD_RUNS_H
#define SKYOBSERVE_CMD_RUNS_H

#include <stdbool.h>
#include <stddef.h>

#include "user/base/err.h"
#include "user/model/summary.h"

#define MAX_RUNS 128

struct run {
	const char *path;
	struct summary *summary;
};

/* Begins zeroed, with @command ("compare") and the paths; messages begin with @command. */
struct runs {
	const char *command;
	struct run at[MAX_RUNS];
	size_t n;
};

/*
 * Read all of them, each in a confined process. 0, or a negative errno if one could not be read,
 * which was logged. runs_done frees what was read, also after a failure.
 */
int runs_read(struct runs *runs);
void runs_done(struct runs *runs);

/* --- Each of these logs what it finds, a line each, and returns whether that is refused. --- */

/* A file that is given twice would be a run that agrees with itself. */
bool runs_are_doubled(const struct runs *runs);
bool runs_are_invalid(const struct runs *runs, bool allowed);
/* Run @i had another machine than the first; or is a window where the first is a program. */
bool runs_differ(const struct runs *runs, size_t i, bool allowed);
/* Runs @i and @k are of the same program, as far as is known. */
bool runs_same_build(const struct runs *runs, size_t i, size_t k);

/* Log a line, as an error or a warning; @fmt takes the three texts (of strangers' files). */
void runs_say(const struct runs *runs, bool refused, const char *fmt, const char *path,
	      const char *one, const char *other);

#endif /* SKYOBSERVE_CMD_RUNS_H */
