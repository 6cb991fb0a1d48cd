/* SPDX-License-Identifier: MIT */
/*
 * What the command line says about kinds of interactions: routes, and when a response is a good
 * one; in the form in which the BPF programs read it (include/layout.h).
 */
#ifndef SKYOBSERVE_MODEL_ROUTES_H
#define SKYOBSERVE_MODEL_ROUTES_H

#include <stddef.h>

#include "layout.h"
#include "user/base/err.h"

/* Zeroed: none. */
struct routes {
	struct route_name names[MAX_ROUTES];
	u32 n;
	struct route_state *states; /* [0] fits nothing, [ROUTE_BEGIN] is the beginning */
	u32 nr_states;
};

/*
 * The machine for @n routes `METHOD /path`, of which the first one that fits counts. A segment
 * `:name` stands for one that is not empty, `*name` at the end for all that follows. -EINVAL names
 * the route that is wrong; -ENOMEM. routes_done frees it, also after a failure.
 */
int routes_build(const char *const *words, size_t n, struct routes *ret_routes, struct err *err);
void routes_done(struct routes *routes);

struct good_kind {
	struct route_name kind;
	struct good_rule rule;
};

/*
 * `KIND=prefix:TEXT` (the body of a good response begins with TEXT; \n, \r, \t, \\ and \xHH as in
 * C) or `KIND=min-bytes:N`. -EINVAL says what is wrong.
 */
int good_parse(const char *word, struct good_kind *ret_good, struct err *err);

#endif /* SKYOBSERVE_MODEL_ROUTES_H */
