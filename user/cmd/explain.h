/* SPDX-License-Identifier: MIT */
/* `skyobserve explain`: what a metric is, where it comes from, how exact it is, what checks it. */
#ifndef SKYOBSERVE_CMD_EXPLAIN_H
#define SKYOBSERVE_CMD_EXPLAIN_H

#include "user/cmd/options.h"

/*
 * Explain the metrics that are named, with or without prefix and suffix; without any, list all;
 * with --markdown print docs/METRICS.md. Returns EXIT_GOOD, or EXIT_USAGE for an unknown name, with
 * the nearest one.
 */
int cmd_explain(const struct options *options);

#endif /* SKYOBSERVE_CMD_EXPLAIN_H */
