/* SPDX-License-Identifier: MIT */
/* `skyobserve compare A... -- B...`: records of repeated runs beside each other. */
#ifndef SKYOBSERVE_CMD_COMPARE_H
#define SKYOBSERVE_CMD_COMPARE_H

#include "user/cmd/options.h"

int cmd_compare(const struct options *options);

#endif /* SKYOBSERVE_CMD_COMPARE_H */
