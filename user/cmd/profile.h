/* SPDX-License-Identifier: MIT */
/* `skyobserve profile`: what a pprof file says. */
#ifndef SKYOBSERVE_CMD_PROFILE_H
#define SKYOBSERVE_CMD_PROFILE_H

#include "user/cmd/options.h"

int cmd_profile(const struct options *options);

#endif /* SKYOBSERVE_CMD_PROFILE_H */
