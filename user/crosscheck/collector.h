/* SPDX-License-Identifier: MIT */
/*
 * CPU time that Go's background workers spent on marking in a profile's window (group go_gc).
 *
 * A worker is counted when it stops. So what was spent up to a moment is no less than what was
 * counted by then, and no more than what was counted once the cycles that could be under way were
 * complete, or than that plus all that the process spent since they can have begun.
 */
#ifndef SKYOBSERVE_CROSSCHECK_COLLECTOR_H
#define SKYOBSERVE_CROSSCHECK_COLLECTOR_H

#include "user/crosscheck/window.h"
#include "user/stats/shares.h"

/* In seconds. False: the record does not have it. */
bool collector_spent(const struct record *r, const struct window *w, const char *process,
		     struct interval *ret_seconds);

#endif /* SKYOBSERVE_CROSSCHECK_COLLECTOR_H */
