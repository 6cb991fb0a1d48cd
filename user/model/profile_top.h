/* SPDX-License-Identifier: MIT */
/* The functions of a profile with what was measured in them and below them. */
#ifndef SKYOBSERVE_MODEL_PROFILE_TOP_H
#define SKYOBSERVE_MODEL_PROFILE_TOP_H

#include "user/model/profile.h"

/*
 * Functions of one name are one row. cum counts a stack once, however often the function is on it,
 * so rows overlap and their cum may not be summed; flat sums to the total.
 */
struct profile_top_row {
	const char *name; /* of the profile; a location without a function is "<unknown>" */
	s64 flat, cum;
};

struct profile_top {
	struct profile_top_row *rows;
	u32 n;
};

/*
 * All functions, the largest flat first, then by name: the order of `go tool pprof -top`. Names are
 * @p's. -EOVERFLOW if a sum does not fit, -ENOMEM; profile_top_done afterwards.
 *
 * Source: github.com/google/pprof internal/graph/graph.go, newGraph and FlatNameOrder.
 */
int profile_top(const struct profile *p, u32 type, struct profile_top *ret_top, struct err *err);
void profile_top_done(struct profile_top *top);

#endif /* SKYOBSERVE_MODEL_PROFILE_TOP_H */
