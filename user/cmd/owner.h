/* SPDX-License-Identifier: MIT */
/* How the work for one interaction of a program is told from that for another. */
#ifndef SKYOBSERVE_CMD_OWNER_H
#define SKYOBSERVE_CMD_OWNER_H

#include <sys/types.h>

#include "layout.h"
#include "user/base/err.h"

/*
 * Read the program that @pid executes (in a confined process, up to some seconds). Goroutines of a
 * Go program, threads of any other. -ENOTSUP: a Go program whose goroutines cannot be read (an
 * untested version, another architecture), @err says why: its threads would tell lies.
 */
int owner_of(pid_t pid, struct owner_how *ret_how, struct err *err);

#endif /* SKYOBSERVE_CMD_OWNER_H */
