/* SPDX-License-Identifier: MIT */
/* `skyobserve fit X:FILE...`: how costs grow with what X is, and where a latency budget breaks. */
#ifndef SKYOBSERVE_CMD_FIT_H
#define SKYOBSERVE_CMD_FIT_H

#include "user/cmd/options.h"

int cmd_fit(const struct options *options);

#endif /* SKYOBSERVE_CMD_FIT_H */
