/* SPDX-License-Identifier: MIT */
/* `skyobserve serve` and `top`: observe, and answer scrapes from one event loop. */
#ifndef SKYOBSERVE_CMD_SERVE_H
#define SKYOBSERVE_CMD_SERVE_H

#include "user/cmd/options.h"

struct recorder;

/* Runs until SIGINT, SIGTERM or (with --exit-with-target) the end of the targets. */
int cmd_serve(const struct options *options);

/* The same with the live table on the terminal. */
int cmd_top(const struct options *options);

/*
 * Observe the same way, but into the file of @recorder instead of for scrapes: until its time is
 * over, or the program that was started or the last target has ended, or somebody stops it. Returns
 * an exit status.
 */
int serve_record(const struct options *options, struct recorder *recorder);

#endif /* SKYOBSERVE_CMD_SERVE_H */
