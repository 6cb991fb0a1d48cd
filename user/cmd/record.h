/* SPDX-License-Identifier: MIT */
/* `skyobserve record`: what targets do in a window, into a file. */
#ifndef SKYOBSERVE_CMD_RECORD_H
#define SKYOBSERVE_CMD_RECORD_H

#include "user/cmd/options.h"

int cmd_record(const struct options *options);

/* "30s", "500ms", "5m", "1h"; a number alone is seconds. False if it is none, or above 31 days. */
bool record_duration(const char *word, u64 *ret_ns);

#endif /* SKYOBSERVE_CMD_RECORD_H */
