/* SPDX-License-Identifier: MIT */
/* `skyobserve inspect`: what is known of a program from its file. */
#ifndef SKYOBSERVE_CMD_INSPECT_H
#define SKYOBSERVE_CMD_INSPECT_H

#include "user/cmd/options.h"

/* One --pid PID or one FILE, on standard output, 80 columns. Returns an exit status. */
int cmd_inspect(const struct options *options);

#endif /* SKYOBSERVE_CMD_INSPECT_H */
