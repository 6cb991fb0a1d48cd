/* SPDX-License-Identifier: MIT */
/* `skyobserve crosscheck`: whether profiles are right, by records of the same time. */
#ifndef SKYOBSERVE_CMD_CROSSCHECK_H
#define SKYOBSERVE_CMD_CROSSCHECK_H

#include "user/cmd/options.h"

int cmd_crosscheck(const struct options *options);

#endif /* SKYOBSERVE_CMD_CROSSCHECK_H */
