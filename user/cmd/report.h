/* SPDX-License-Identifier: MIT */
/* `skyobserve report`: what records say. */
#ifndef SKYOBSERVE_CMD_REPORT_H
#define SKYOBSERVE_CMD_REPORT_H

#include "user/cmd/options.h"

int cmd_report(const struct options *options);

#endif /* SKYOBSERVE_CMD_REPORT_H */
