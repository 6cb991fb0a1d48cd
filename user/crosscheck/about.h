/* SPDX-License-Identifier: MIT */
/* Whether a profile and a record are about the same thing: the gates of a cross-check. Pure. */
#ifndef SKYOBSERVE_CROSSCHECK_ABOUT_H
#define SKYOBSERVE_CROSSCHECK_ABOUT_H

#include "user/crosscheck/window.h"
#include "user/model/claims.h"

#define ABOUT_MAX_MISSING 0.01 /* of the profile's window, outside of the record's */

/* What was found of the two. */
struct about {
	const char *process; /* label of the target in the record; NULL: not found */
	const char *pid;
	struct seen_profile seen;   /* that the record saw being taken */
	bool has_seen, was_watched; /* watched: what its profiler got was looked at */
	struct window window;
	bool has_window;
	bool not_linux; /* its functions are of another system's runtime */
};

/*
 * Find the target that the profile is of, and the window; append the gates kind, program, target
 * and window to @run, then those of the record itself. Texts in *ret_about are the record's.
 */
void about_find(const struct profile *p, const struct record *r, struct claim_run *run,
		struct about *ret_about);

/* Append a gate. */
void about_gate(struct claim_run *run, const char *name, enum claim_gate_state state,
		const char *fmt, ...) __attribute__((format(printf, 4, 5)));

#endif /* SKYOBSERVE_CROSSCHECK_ABOUT_H */
