/* SPDX-License-Identifier: MIT */
/* `skyobserve serve` and `top`: observe, and answer scrapes from one event loop. */
#ifndef SKYOBSERVE_CMD_SERVE_H
#define SKYOBSERVE_CMD_SERVE_H

#include "user/cmd/options.h"

/* Runs until SIGINT, SIGTERM or (with --exit-with-target) the end of the targets. */
int cmd_serve(const struct options *options);

/* The same with the live table on the terminal. */
int cmd_top(const struct options *options);

#endif /* SKYOBSERVE_CMD_SERVE_H */
